// Package apply carries a plan out on the cluster it was made for, proves what came of it, and takes it back.
//
// What may enter: reading again what a plan assumes, refusing, writing committed offsets, reading them back, and the journal
// that makes every step of it known after a crash. The cluster is behind the interface Target, so that death at any step can be
// tried; NewTarget makes one of a connection. Nothing is decided here about which offsets are right: that is the plan's. No
// rendering, no prompts, no exit codes.
//
// The order of one group is always: read again, refuse or not; note the pre-image and the intent on disk; one request; read
// back; note what was found. A process that dies leaves at most intents without a result, and the value on the cluster tells
// which of them took effect.
package apply
