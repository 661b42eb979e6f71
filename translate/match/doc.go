// Package match finds the exact place of a source position on the target by comparing the records of both: what MirrorMaker 2
// leaves between two offset syncs, this decides. It also counts, in records, how far any other offset is from that place.
//
// What may enter: the comparison as pure code over sides that are read by somebody else. It never raises a position on a guess:
// what is not proved falls back to the lower end of what is possible, and says so.
//
// The offset syncs of a partition are taken as a chain in the order of the topic (chain.go), and what holds for the partition as a
// whole is found out once: which syncs speak of the topics as they are now, how far the newest copy has come, and whether an
// earlier one came further, as after an unclean stop of MirrorMaker 2 (prepare.go, whole.go, judge.go). Then each position walks
// from the nearest sync below it (place.go, walk.go), or from a pair of records that is found around a guess where none is near
// (narrow.go). Where an earlier copy may have come further, the lower of both answers is used (doubt.go); a position that may
// stand on the target once more later is not called exact (border.go).
//
// What has lost its original, or differs in nothing from its neighbours, is told by its number: counted from the copy of the first
// record left (original.go), or along both logs where they are whole and go along to the first sync or to both ends (even.go). Where
// the target holds more than that, alike records are called exact no more (whole.go). Backwards the number alone is never enough
// (reverse.go): a topic that was made anew with alike records would give the number of a record that nobody has read.
//
// What cannot be seen: records whose payloads and times are all alike, of which the syncs were lost that show where MirrorMaker 2
// began again, or that a topic was made anew; and, where nothing but the number tells, repeats that make up exactly for records that
// were left out. The newest syncs survive in a compacted topic, so that this takes a damaged one. Stretches too long to read are
// taken as mirrored once where the target holds no more offsets there than the source.
package match
