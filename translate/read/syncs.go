package read

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

// SyncStats tell what one offset-syncs topic held.
type SyncStats struct {
	Cluster, Topic string
	Start, End     int64 // as they were when its turn came; it was read up to there
	Records        int64
	// Bad is how many records are no offset sync; FirstBad says where the first stands and why.
	Bad      int64
	FirstBad string
	// Shared are partitions whose downstream offsets go on along two lines in turn: two set-ups write into this topic.
	Shared []kafka.TopicPartition
	Took   time.Duration
	Err    error
}

// watched is one partition of an offset-syncs topic that is asked for.
type watched struct {
	count   int
	lines   lines
	forward []*pair
	swapped []*pair
}

type syncTopic struct {
	cluster, topic string
	parts          map[kafka.TopicPartition]*watched
	stats          SyncStats
}

// readSyncs streams each offset-syncs topic once, for all partitions that are asked, and keeps what brackets their positions.
func (l *locator) readSyncs(ctx context.Context) {
	var topics []*syncTopic
	for _, p := range l.pairs {
		r := p.syncs
		if r.Cluster == "" {
			p.syncsWhy = "there are no offset syncs"
			continue
		}
		i := slices.IndexFunc(topics, func(t *syncTopic) bool { return t.cluster == r.Cluster && t.topic == r.Topic })
		if i < 0 {
			i = len(topics)
			topics = append(topics, &syncTopic{cluster: r.Cluster, topic: r.Topic, parts: map[kafka.TopicPartition]*watched{}, stats: SyncStats{Cluster: r.Cluster, Topic: r.Topic}})
		}
		w := topics[i].parts[r.Of]
		if w == nil {
			w = &watched{}
			topics[i].parts[r.Of] = w
		}
		at := make([]int64, len(p.at))
		for i, x := range p.at {
			at[i] = l.ps[x].Offset
		}
		p.brackets = ranges.NewBrackets(at)
		if r.Swapped {
			w.swapped = append(w.swapped, p)
		} else {
			w.forward = append(w.forward, p)
		}
	}
	var wg sync.WaitGroup
	for _, t := range topics {
		wg.Go(func() { l.readTopic(ctx, t) })
	}
	wg.Wait()
	for _, t := range topics {
		t.finish()
		l.stats.Syncs = append(l.stats.Syncs, t.stats)
	}
}

func (l *locator) readTopic(ctx context.Context, t *syncTopic) {
	begun := time.Now()
	defer func() { t.stats.Took = time.Since(begun) }()
	cl := l.clusters[t.cluster]
	if cl.Client == nil {
		t.stats.Err = &lost{t.cluster}
		return
	}
	l.o.Progress("offset syncs in " + t.topic + " on " + t.cluster)
	as := cl.Client.ListOffsets(ctx, []wire.OffsetQuery{{Topic: t.topic, Timestamp: wire.AtStart}, {Topic: t.topic, Timestamp: wire.AtEnd, Committed: true}})
	for _, a := range as {
		if a.Err != nil {
			t.stats.Err = a.Err
			return
		}
	}
	t.stats.Start, t.stats.End = as[0].Offset, as[1].Offset
	if t.stats.Start >= t.stats.End {
		return
	}
	_, t.stats.Err = cl.Client.ReadPartition(ctx, t.topic, 0, t.stats.Start, t.stats.End, wire.ReadOptions{Committed: true}, func(r *kafka.Record) error {
		t.add(r)
		return nil
	})
}

// add takes the next record; one that is no offset sync is counted, as MirrorMaker 2 would fail on it or pass it over.
func (t *syncTopic) add(r *kafka.Record) {
	t.stats.Records++
	s, _, err := formatters.DecodeOffsetSync(r.Key, r.Value)
	if err != nil {
		if t.stats.Bad++; t.stats.Bad == 1 {
			t.stats.FirstBad = fmt.Sprintf("offset %d: %v", r.Offset, err)
		}
		return
	}
	t.see(s, r.Offset, r.Timestamp)
}

func (t *syncTopic) see(s mm2.OffsetSync, offset, time int64) {
	w := t.parts[kafka.TopicPartition{Topic: s.Topic, Partition: s.Partition}]
	if w == nil || s.Upstream < 0 || s.Downstream < 0 {
		return
	}
	x := translate.Sync{Upstream: s.Upstream, Downstream: s.Downstream, Offset: offset, Time: time}
	w.count++
	w.lines.add(x)
	for _, p := range w.forward {
		p.brackets.Add(x)
	}
	x.Upstream, x.Downstream = x.Downstream, x.Upstream
	for _, p := range w.swapped {
		p.brackets.Add(x)
	}
}

// finish hands each pair its syncs, or says why it has none.
func (t *syncTopic) finish() {
	for tp, w := range t.parts {
		shared := w.lines.two()
		if shared {
			t.stats.Shared = append(t.stats.Shared, tp)
		}
		for _, p := range slices.Concat(w.forward, w.swapped) {
			p.synced = w.count
			switch {
			case t.stats.Err != nil: // a part of the syncs would pass for all of them
				p.syncsWhy = reason("the offset syncs could not be read", plan.Place{Cluster: t.cluster, TopicPartition: kafka.TopicPartition{Topic: t.topic}}, t.stats.Err)
				p.synced = 0
			case shared:
				p.syncsWhy = fmt.Sprintf("the offset syncs of %v in %s go on along two lines in turn: two set-ups write them, about two different targets, and which is which cannot be told", tp, t.topic)
			case w.count == 0:
				p.syncsWhy = fmt.Sprintf("%s holds no offset sync of %v", t.topic, tp)
			}
			if p.syncsWhy != "" {
				p.brackets = nil
			}
		}
	}
	slices.SortFunc(t.stats.Shared, kafka.TopicPartition.Compare)
}
