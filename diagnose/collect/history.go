package collect

import (
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// mostRanges is how many ranges are kept of one offset-syncs topic, all partitions together: 32 MiB, and as much again that slices
// hold in reserve.
const mostRanges = 1 << 20

// history keeps the ranges of all partitions of an offset-syncs topic while it streams by. Where they grow too many, the partitions
// with the most are thinned out; one that consists of nothing but short epochs loses the oldest.
type history struct {
	most  int
	total int
	of    map[*partitionFold]*kept
}

type kept struct {
	ranges.Index
	thinned bool
}

func (h *history) add(p *partitionFold, s translate.Sync) {
	k := h.of[p]
	if k == nil {
		k = &kept{}
		h.of[p] = k
	}
	before := k.Size()
	k.Add(s)
	h.total += k.Size() - before
	if h.total > h.most {
		h.shrink()
	}
}

// shrink goes on until a quarter is free, so that it is seldom called.
func (h *history) shrink() {
	for h.total > h.most*3/4 {
		before, largest := h.total, 0
		for _, k := range h.of {
			largest = max(largest, k.Size())
		}
		for _, k := range h.of {
			if size := k.Size(); size > largest/2 {
				k.shrink()
				h.total += k.Size() - size
			}
		}
		if h.total == before { // as many partitions: each keeps its newest sync
			h.most = 2 * h.total
		}
	}
}

func (k *kept) shrink() {
	before := k.Size()
	if k.Thin() {
		k.thinned = true
	}
	if k.Size() > before*3/4 {
		k.DropOldest()
	}
}

func (h *history) result(p *partitionFold) {
	k := h.of[p]
	if k == nil {
		return
	}
	p.out.Thinned = k.thinned
	if l := k.Lost(); l.Epochs > 0 {
		p.out.Lost = &snapshot.LostEpochs{Count: l.Epochs, Top: l.Top, Tail: l.Tail}
	}
	p.out.Epochs = nil
	for _, e := range k.Epochs() {
		var out snapshot.Epoch
		for _, r := range e.Ranges() {
			out = append(out, snapshot.Stretch(r))
		}
		p.out.Epochs = append(p.out.Epochs, out)
	}
}
