// Package read answers where positions lie on another cluster, from the clusters themselves: it streams the offset syncs, takes
// the ends of both logs, gives translate/match pages of both and keeps to a read budget.
//
// What may enter: reading through internal/wire, caches of what was read, and which position is asked when. Nothing is written,
// and nothing is decided here: which place is proved is translate/match's word, what the syncs allow that of translate/ranges. A
// read that failed is an answer without records and with the reason, never a smaller one.
package read
