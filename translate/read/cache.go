package read

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

const (
	// firstPage is the least that costs no more than one request does anyway: 16 KB took longer with any delay on the way, 256 KB
	// only more bytes.
	firstPage = 64 << 10
	// widestPage is what a walk doubles up to.
	widestPage = 1 << 20
	// batches is how many of the largest batch seen a page of a walk should hold: the last batch of an answer is usually cut and
	// thrown away.
	batches    = 4
	mostOfPage = 8 << 20
	// keptRecords is how many records all caches keep together, about 100 MB.
	keptRecords = 2 << 20
)

// pager reads pages. A page begins at or below from (a fetch gives the whole batch that holds the offset) and goes beyond it.
type pager interface {
	page(ctx context.Context, tp kafka.TopicPartition, from int64, size int, committed bool) (*page, error)
}

// cache holds the pages of one partition of one cluster, for all positions on it and for steps in either direction. A page is
// asked for once, also by several at the same time.
type cache struct {
	tp     kafka.TopicPartition
	pages  pager
	first  int // bytes of a first page
	most   int // records that are kept
	stable int64

	mu    sync.Mutex
	kept  []*page // by offset, none overlapping
	hint  int
	count int
	turn  uint64
	bytes int64 // read so far, with the offsets that they covered
	span  int64
	batch int
	users int
}

func newCache(tp kafka.TopicPartition, pages pager, first, most int) *cache {
	return &cache{tp: tp, pages: pages, first: first, most: most}
}

// read gives the records of [from, to) that one page holds; next is where to go on. got is what had to be fetched for it, nil
// where the page was there.
func (c *cache) read(ctx context.Context, from, to int64, may func() error) (rs []match.Record, next int64, got *page, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.find(from)
	if p == nil {
		if err := may(); err != nil {
			return nil, from, nil, err
		}
		if p, err = c.pages.page(ctx, c.tp, from, c.size(from), from < c.stable); err != nil {
			return nil, from, nil, err
		}
		if p.next <= from || p.from > from {
			return nil, from, nil, errors.New("a page does not hold the offset that it was asked for")
		}
		whole := *p
		got = &whole
		c.put(p, from)
	}
	c.turn++
	p.used = c.turn
	return p.cut(from, to), min(p.next, to), got, nil
}

// add takes a page that was read for an offset beforehand.
func (c *cache) add(p *page, from int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.find(from) == nil {
		c.put(p, from)
	}
}

// marked says whether the page of an offset was written by transactions, in part at least; true where it is not kept any more.
func (c *cache) marked(offset int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.find(offset)
	return p == nil || p.marked
}

// has says whether an offset is in a page.
func (c *cache) has(offset int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(offset) != nil
}

func (c *cache) find(offset int64) *page {
	if c.hint < len(c.kept) {
		if p := c.kept[c.hint]; p.from <= offset && offset < p.next {
			return p
		}
	}
	i := c.above(offset) - 1
	if i < 0 || offset >= c.kept[i].next {
		return nil
	}
	c.hint = i
	return c.kept[i]
}

// above is the index of the first page that begins above an offset.
func (c *cache) above(offset int64) int {
	i, _ := slices.BinarySearchFunc(c.kept, offset, func(p *page, o int64) int {
		if p.from <= o {
			return -1
		}
		return 1
	})
	return i
}

// size is how many bytes to ask for: more with each page that goes on about where one ended, less where the next page is near.
func (c *cache) size(from int64) int {
	n := c.first
	i := c.above(from)
	if i > 0 && from-c.kept[i-1].next <= (c.kept[i-1].next-c.kept[i-1].from)/2 {
		n = max(n, min(2*c.kept[i-1].size, max(widestPage, c.first)))
		n = max(n, min(batches*c.batch, mostOfPage))
	}
	if i < len(c.kept) && c.span > 0 {
		gap := float64(c.kept[i].from-from) * float64(c.bytes) / float64(c.span)
		n = min(n, int(min(gap*1.25, 1<<30))+c.batch+4096)
	}
	return n
}

// put keeps a page, cut where its neighbours begin, and drops those that were not used for longest.
func (c *cache) put(p *page, from int64) {
	c.bytes += p.bytes
	c.span += p.next - p.from
	c.batch = max(c.batch, p.batch)
	i := c.above(from)
	low, high := p.from, p.next
	if i > 0 {
		low = max(low, c.kept[i-1].next)
	}
	if i < len(c.kept) {
		high = min(high, c.kept[i].from)
	}
	p.trim(low, high)
	c.kept = slices.Insert(c.kept, i, p)
	c.count += len(p.recs)
	for c.count > c.most && len(c.kept) > 1 {
		old := -1
		for i, x := range c.kept {
			if x != p && (old < 0 || x.used < c.kept[old].used) {
				old = i
			}
		}
		c.count -= len(c.kept[old].recs)
		c.kept = slices.Delete(c.kept, old, old+1)
	}
	c.hint = 0
}
