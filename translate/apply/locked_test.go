package apply

import (
	"context"
	"sync"
)

// oneByOne lets a world be asked from several goroutines.
type oneByOne struct {
	*world
	mu sync.Mutex
}

func locked(w *world) Target { return &oneByOne{world: w} }

func (l *oneByOne) Commit(ctx context.Context, group string, vs []Value, keepMs int64) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.Commit(ctx, group, vs, keepMs)
}

func (l *oneByOne) AlterShare(ctx context.Context, group string, vs []Value) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.world.AlterShare(ctx, group, vs)
}
