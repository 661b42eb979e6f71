// Package plan decides, before anything is written, which offsets are to be set on a cluster and why: positions wanted, answers
// found, refusals, and what a running MirrorMaker 2 will make of them. A plan is a value that can be shown, kept in a file,
// applied, verified and taken back.
//
// What may enter: pure decisions over a snapshot and over answers that somebody else read. No connection, no clock, no file.
package plan
