package collect

import (
	"context"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
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
	sp, err := extent(ctx, cl, f.Heartbeats, 0)
	var newest int64
	if err == nil && sp.start < sp.end {
		_, err = cl.Client.ReadPartition(ctx, f.Heartbeats, 0, max(sp.start, sp.end-recentBeats), sp.end, wire.ReadOptions{Committed: true}, func(r *kafka.Record) error {
			if h, _, err := formatters.DecodeHeartbeat(r.Key, r.Value); err == nil && h.Source == f.Source && h.Target == f.Target {
				newest = max(newest, h.Timestamp)
			}
			return nil
		})
	}
	switch {
	case err != nil:
		f.Heartbeat = snapshot.NotKnown[int64](gapOf(cl.Alias, "Fetch", f.Heartbeats, err))
	case newest == 0:
		f.Heartbeat = snapshot.None[int64]()
	default:
		f.Heartbeat = snapshot.Is(newest)
	}
}
