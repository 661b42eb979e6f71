// Package evidence recognises texts that an operator has at hand and turns them into facts of a snapshot. Log files of
// MirrorMaker 2 are the first kind.
//
// What may enter: readers of text, streaming and with bounded memory, that keep what tells something and remove secrets. No
// connection, no clock, no opening of files, no judgement.
package evidence
