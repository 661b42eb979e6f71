package collect

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// sourcePartition is how the source connector names a partition in its source offsets; what another connector stored in the
// same topic has no cluster.
type sourcePartition struct {
	Cluster   string `json:"cluster"`
	Partition *int32 `json:"partition"`
	Topic     string `json:"topic"`
}

type sourceOffset struct {
	Offset *int64 `json:"offset"`
}

// positions keep the newest source offset of each partition of one flow's source.
type positions map[kafka.TopicPartition]snapshot.Position

func (ps positions) put(source string, p sourcePartition, o *sourceOffset, time int64) {
	if p.Cluster != source || p.Topic == "" || p.Partition == nil {
		return
	}
	tp := kafka.TopicPartition{Topic: p.Topic, Partition: *p.Partition}
	if o == nil || o.Offset == nil { // reset (KIP-875)
		delete(ps, tp)
		return
	}
	ps[tp] = snapshot.Position{Topic: p.Topic, Partition: *p.Partition, Offset: *o.Offset, Time: time}
}

func (ps positions) fact() snapshot.Fact[[]snapshot.Position] {
	out := slices.Collect(maps.Values(ps))
	slices.SortFunc(out, func(a, b snapshot.Position) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return snapshot.Is(append([]snapshot.Position{}, out...))
}

// readPositions reads the source offsets that a dedicated MirrorMaker 2, or Strimzi's worker, stores. A key is
// ["MirrorSourceConnector",{"cluster":"a","partition":0,"topic":"orders"}], a value {"offset":17}.
func (c *collector) readPositions(ctx context.Context, f *snapshot.Flow) {
	ps := positions{}
	gap := c.readJSON(ctx, c.workerOf(f), workerTopic(f, "offset.storage.topic", "offsets"), func(r *kafka.Record) error {
		var key [2]json.RawMessage
		if err := json.Unmarshal(r.Key, &key); err != nil {
			return err
		}
		var name string
		if err := json.Unmarshal(key[0], &name); err != nil || name != storedName(f, "MirrorSourceConnector") {
			return err
		}
		var p sourcePartition
		if err := json.Unmarshal(key[1], &p); err != nil {
			return err
		}
		var o *sourceOffset
		if r.Value != nil {
			if err := json.Unmarshal(r.Value, &o); err != nil {
				return err
			}
		}
		ps.put(f.Source, p, o, r.Timestamp)
		return nil
	})
	if gap = ofResource(f, gap); gap != nil {
		f.Positions = snapshot.NotKnown[[]snapshot.Position](gap)
		return
	}
	f.Positions = ps.fact()
}

// restPositions asks a Connect worker for the source connector's offsets (KIP-875).
func (c *collector) restPositions(ctx context.Context, f *snapshot.Flow) {
	if f.SourceConnector == "" {
		f.Positions = snapshot.NotKnown[[]snapshot.Position](&snapshot.Gap{Code: "absent", Why: "the Connect cluster has no MirrorSourceConnector for " + f.Name()})
		return
	}
	path := "/connectors/" + url.PathEscape(f.SourceConnector) + "/offsets"
	var answer struct {
		Offsets []struct {
			Partition sourcePartition `json:"partition"`
			Offset    *sourceOffset   `json:"offset"`
		} `json:"offsets"`
	}
	if _, err := c.Connect.get(ctx, path, &answer); err != nil {
		g := &snapshot.Gap{Code: "failed", API: "Connect REST GET " + path, Why: err.Error()}
		var he *httpError
		if errors.As(err, &he) && he.status == http.StatusNotFound {
			g.Code, g.Why = "unsupported", "Kafka Connect tells its connectors' offsets from 3.5 on (KIP-875): "+err.Error()
		}
		f.Positions = snapshot.NotKnown[[]snapshot.Position](g)
		return
	}
	ps := positions{}
	for _, o := range answer.Offsets {
		ps.put(f.Source, o.Partition, o.Offset, 0)
	}
	f.Positions = ps.fact()
}
