package read

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// Budget bounds the reading of user records, both clusters together. Offset syncs and log ends are not counted: without them
// there is no answer at all. 0 is without limit. Requests that are under way when it is used up still count, so up to one page
// for each partition in work may come on top of Bytes.
type Budget struct {
	Bytes int64 // as they come from the brokers, compressed
	Time  time.Duration
}

// budget is a Budget being spent.
type budget struct {
	of    Budget
	spent atomic.Int64
	late  atomic.Bool
}

// begin starts the time; the context ends with it, so that a request that hangs does not outlive it.
func (b Budget) begin(ctx context.Context) (*budget, context.Context, context.CancelFunc) {
	x := &budget{of: b}
	ctx, cancel := context.WithCancelCause(ctx)
	if b.Time > 0 {
		t := time.AfterFunc(b.Time, func() {
			x.late.Store(true)
			cancel(errLate)
		})
		return x, ctx, func() { t.Stop(); cancel(nil) }
	}
	return x, ctx, func() { cancel(nil) }
}

var errLate = errors.New("the time of the read budget is used up")

// over says what is used up; empty while something is left.
func (b *budget) over() string {
	switch {
	case b.late.Load():
		return fmt.Sprintf("the read budget of %v is used up", b.of.Time)
	case b.of.Bytes > 0 && b.spent.Load() >= b.of.Bytes:
		return fmt.Sprintf("the read budget of %s is used up", Bytes(b.of.Bytes))
	}
	return ""
}

// left is how many bytes may still be read.
func (b *budget) left() int64 {
	if b.of.Bytes <= 0 {
		return 1 << 62
	}
	return max(0, b.of.Bytes-b.spent.Load())
}

// Bytes writes a number of bytes with a binary unit.
func Bytes(n int64) string {
	switch {
	case n >= 1<<30 && n%(1<<28) == 0:
		return fmt.Sprintf("%.4gGB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.4gMB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.4gKB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%dB", n)
}
