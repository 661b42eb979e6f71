package wire

// ErrEmpty is the fault of a page of which the broker gives no batch although the log goes on: everything up to its end was
// compacted away, or, with PageQuery.Committed, everything up to the last stable offset.
var ErrEmpty = errEmpty
