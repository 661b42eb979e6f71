package plan

import (
	"cmp"
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// shares takes the positions of a share group (KIP-932): the lowest open record, or the lower end of [start, end - lag] where only
// that can be read. Every partition of each topic is planned, since one that is left out begins by share.auto.offset.reset.
func (p *planner) shares(w *wanted, g *snapshot.Group) {
	if g.Shares.Unknown() {
		w.refusals = append(w.refusals, notKnown(Unmapped, fmt.Sprintf("how far share group %s has come on %s", g.ID, p.from.Alias), cmp.Or(g.Shares.Why(), notAsked)))
		return
	}
	have := map[string]map[int32]bool{}
	var order []string
	for _, o := range g.Shares.Or(nil) {
		if p.skips(g.ID, o.Topic) {
			continue
		}
		if have[o.Topic] == nil {
			have[o.Topic] = map[int32]bool{}
			order = append(order, o.Topic)
		}
		have[o.Topic][o.Partition] = true
		p.share(w, o)
	}
	if len(order) == 0 && len(w.rows) == 0 {
		p.leave("without any committed offset", g.ID)
	}
	for _, topic := range order {
		f := p.from.topic(topic)
		t, st := f.Get()
		if st != snapshot.Known {
			w.refusals = append(w.refusals, notKnown(Unmapped, "how many partitions "+topic+" has", f.Why()))
			continue
		}
		for _, part := range t.Partitions {
			if !have[topic][part.ID] {
				p.share(w, snapshot.SharePosition{Topic: topic, Partition: part.ID, Start: -1, Lag: -1, End: -1})
			}
		}
	}
	if len(w.rows) > 0 {
		w.g.Remarks = append(w.g.Remarks, "a share group: records done beyond the first open one, and rejected ones, are delivered again, delivery counts begin at 1, and the order of deliveries is not kept; taking the write back restores start offsets only, not acknowledgements")
	}
}

func (p *planner) share(w *wanted, o snapshot.SharePosition) {
	f := p.from.partition(o.Topic, o.Partition)
	log, st := f.Get()
	end := o.End
	if end < 0 && st == snapshot.Known {
		end = log.End.Or(-1)
	}
	low, high := o.Start, end
	why := "the broker does not tell the lag"
	switch {
	case o.Open != nil:
		low, high, why = *o.Open, *o.Open, "the lowest record that is not done"
	case o.Start < 0:
		low, why = log.Start.Or(-1), "the group never read this partition: its beginning"
	case o.Lag == 0 && end >= 0:
		low, high, why = end, end, "all is done"
	case o.Lag > 0 && end >= 0:
		high = max(low, end-o.Lag)
		why = fmt.Sprintf("at least the first of %s", finding.Count(int(o.Lag), "open record"))
	}
	if low < 0 || end < 0 {
		if x := p.row(w, o.Topic, o.Partition, nil, "committed", 0); x != nil && x.refusal == nil {
			x.pos = -1
			x.refusal = notKnown(Unmapped, fmt.Sprintf("the ends of %s-%d on %s", o.Topic, o.Partition, p.from.Alias), cmp.Or(f.Why(), log.Start.Why(), log.End.Why(), notAsked))
		}
		return
	}
	if x := p.row(w, o.Topic, o.Partition, &Committed{Offset: low, Epoch: -1}, "committed", 0); x != nil {
		x.bound = &[2]int64{low, high}
		if x.row.Because == "" {
			x.row.Because = why
		}
	}
}

// shareBefore is what a share group has on the cluster that is written: its stored start, and how far it has come at most. Everything
// from there on is open; of what lies between, some was done, and setting the start anew delivers it again.
func (p *planner) shareBefore(g *wanted, w *want) {
	if g.target == nil {
		return
	}
	r := &w.row
	if g.target.Shares.Unknown() {
		if len(g.refusals) == 0 {
			w.refusal = notKnown(WouldRewind, fmt.Sprintf("how far share group %s has come in %s-%d on %s", g.g.TargetGroup, r.TargetTopic, r.Partition, p.to.Alias), cmp.Or(g.target.Shares.Why(), notAsked))
		}
		return
	}
	for _, o := range g.target.Shares.Or(nil) {
		if o.Topic != r.TargetTopic || o.Partition != r.Partition || o.Start < 0 {
			continue
		}
		r.Before = &Committed{Offset: o.Start, Epoch: -1}
		come := o.Start
		if o.Lag >= 0 {
			lag := o.Lag
			r.BeforeLag = &lag
			come = max(come, o.End-o.Lag)
		}
		if o.Open != nil {
			come = max(o.Start, *o.Open)
		}
		w.come = &come
	}
}
