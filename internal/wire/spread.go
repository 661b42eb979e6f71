package wire

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

const (
	firstWait = 50 * time.Millisecond
	lastWait  = time.Second
)

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// worthIt says whether a failed try is to be repeated: the fault is a passing one and the patience, counted from since, lasts.
func (c *Client) worthIt(ctx context.Context, err error, since time.Time) bool {
	if ctx.Err() != nil || !passing(err) {
		return false
	}
	limit := c.patience
	if CodeOf(err) == kafka.UnknownTopicOrPartition || errors.Is(err, errEmpty) {
		limit = min(limit, c.unknownFor)
	}
	// Without a proof that __consumer_offsets exists every broker is asked at once; that none coordinates the group is then
	// most likely its absence.
	if CodeOf(err) == kafka.NotCoordinator && !c.known(offsetsTopic) {
		limit = min(limit, c.unknownFor)
	}
	if CodeOf(err) == 0 {
		if failing := c.failingSince(); !failing.IsZero() && failing.Before(since) {
			since = failing // a dead broker costs the patience once, not once for every read
		}
	}
	return time.Since(since) < limit
}

// heard notes how a connection to an address went: the time of the first failure since it last answered.
func (c *Client) heard(addr string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		delete(c.failing, addr)
		return
	}
	if _, ok := c.failing[addr]; !ok {
		if c.failing == nil {
			c.failing = map[string]time.Time{}
		}
		c.failing[addr] = time.Now()
	}
}

// failingSince is when the address that fails longest began to fail; zero when all that were asked answer.
func (c *Client) failingSince() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	var oldest time.Time
	for _, t := range c.failing {
		if oldest.IsZero() || t.Before(oldest) {
			oldest = t
		}
	}
	return oldest
}

// quietLimit is how long an address may stay silent: less once it has failed for longer than the patience.
func (c *Client) quietLimit(addr string) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t, ok := c.failing[addr]; ok && time.Since(t) > c.patience {
		return min(c.timeout, 2*time.Second)
	}
	return c.timeout
}

// retry runs f until it succeeds, fails for good, or the patience ends.
func (c *Client) retry(ctx context.Context, f func(try int) error) error {
	since, wait := time.Now(), firstWait
	for try := 0; ; try++ {
		err := f(try)
		if err == nil {
			return nil
		}
		if !c.worthIt(ctx, err, since) {
			return err
		}
		c.logf("try %d: %v", try+1, err)
		if pause(ctx, wait) != nil {
			return err
		}
		wait = min(2*wait, lastWait)
	}
}

// placing says which broker answers for which keys, and why some have none. try > 0 means: look anew. A key may be placed on
// several brokers; one good answer is enough.
type placing[K comparable] func(ctx context.Context, keys []K, try int) (map[int32][]K, map[K]error)

// spread asks the right broker for each key, brokers side by side, chunks one after another, and asks again with a fresh
// look-up what failed for a passing reason. ask keeps the answers itself and gives the keys that failed. What stays failed is
// in the result; every other key was answered.
func spread[K comparable](ctx context.Context, c *Client, keys []K, chunk int, place placing[K], ask func(ctx context.Context, n node, keys []K) map[K]error) map[K]error {
	failed := map[K]error{}
	since, wait := time.Now(), firstWait
	for try := 0; len(keys) > 0; try++ {
		round := askRound(ctx, c, keys, chunk, try, place, ask)
		if len(round) < len(keys) {
			since, wait = time.Now(), firstWait
		}
		var again []K
		for _, k := range keys {
			err, bad := round[k]
			if !bad {
				delete(failed, k)
				continue
			}
			failed[k] = err
			if c.worthIt(ctx, err, since) {
				again = append(again, k)
			}
		}
		if keys = again; len(keys) == 0 {
			break
		}
		c.logf("try %d: %d of the answers are missing, the first: %v", try+1, len(keys), failed[keys[0]])
		if pause(ctx, wait) != nil {
			break
		}
		wait = min(2*wait, lastWait)
	}
	return failed
}

func askRound[K comparable](ctx context.Context, c *Client, keys []K, chunk, try int, place placing[K], ask func(context.Context, node, []K) map[K]error) map[K]error {
	parts, round := place(ctx, keys, try)
	if round == nil {
		round = map[K]error{}
	}
	placed := len(round)
	for _, p := range parts {
		placed += len(p)
	}
	if placed < len(keys) { // a place that forgets a key must not make it look answered
		known := map[K]bool{}
		for _, p := range parts {
			for _, k := range p {
				known[k] = true
			}
		}
		for _, k := range keys {
			if _, bad := round[k]; !bad && !known[k] {
				round[k] = errors.New("no broker was found for it")
			}
		}
	}
	good := map[K]bool{}
	var mu sync.Mutex
	var wg sync.WaitGroup
	for id, part := range parts {
		wg.Add(1)
		go func() {
			defer wg.Done()
			n, ok := c.nodeOf(id)
			for ks := range slices.Chunk(part, chunk) {
				var bad map[K]error
				if ok {
					bad = ask(ctx, n, ks)
				} else {
					bad = all(ks, c.fail("routing", node{id: id}, errGone))
				}
				mu.Lock()
				for _, k := range ks {
					err, failed := bad[k]
					if !failed {
						good[k] = true
					} else if old := round[k]; old == nil || passing(old) {
						round[k] = err
					}
				}
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	for k := range good {
		delete(round, k)
	}
	return round
}

func all[K comparable](keys []K, err error) map[K]error {
	m := make(map[K]error, len(keys))
	for _, k := range keys {
		m[k] = err
	}
	return m
}
