package collect

import (
	"context"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// recentBeats is how many of the newest heartbeats are read: all flows into a cluster share the topic.
const recentBeats = 2000

// heartbeat reads when MirrorMaker 2 last wrote a heartbeat for the flow; absent when the newest ones hold none of it.
func (c *collector) heartbeat(ctx context.Context, f *snapshot.Flow) {
	cl := c.by[f.Target]
	st, gap := c.topicState(ctx, cl, f.Heartbeats)
	switch st {
	case snapshot.Absent:
		f.Heartbeat = snapshot.None[int64]()
		return
	case snapshot.Unknown:
		f.Heartbeat = snapshot.NotKnown[int64](gap)
		return
	}
	var newest int64
	err := readBeats(ctx, cl.Client, f.Heartbeats, func(h mm2.Heartbeat) {
		if h.Source == f.Source && h.Target == f.Target {
			newest = max(newest, h.Timestamp)
		}
	})
	switch {
	case err != nil:
		f.Heartbeat = snapshot.NotKnown[int64](gapOf(cl.Alias, "Fetch", f.Heartbeats, err))
	case newest == 0:
		f.Heartbeat = snapshot.None[int64]()
	default:
		f.Heartbeat = snapshot.Is(newest)
	}
}

// readBeats gives the newest heartbeats of a cluster; what is none is passed over: here it only means that nothing is heard.
func readBeats(ctx context.Context, c *wire.Client, topic string, fn func(mm2.Heartbeat)) error {
	sp, err := extent(ctx, &cluster{Cluster: Cluster{Client: c}}, topic, 0)
	if err != nil || sp.start >= sp.end {
		return err
	}
	_, err = c.ReadPartition(ctx, topic, 0, max(sp.start, sp.end-recentBeats), sp.end, wire.ReadOptions{Committed: true}, func(r *kafka.Record) error {
		if h, _, err := formatters.DecodeHeartbeat(r.Key, r.Value); err == nil {
			fn(h)
		}
		return nil
	})
	return err
}
