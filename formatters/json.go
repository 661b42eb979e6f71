package formatters

import (
	"bytes"
	"encoding/json"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Place is where a record stood in its topic; Timestamp in ms. Text forms do not tell it.
type Place struct {
	Partition int32
	Offset    int64
	Timestamp int64
}

type placeJSON struct {
	RecordPartition *int32 `json:"recordPartition,omitempty"`
	RecordOffset    *int64 `json:"recordOffset,omitempty"`
	RecordTimestamp *int64 `json:"recordTimestamp,omitempty"`
}

func (p *Place) json() placeJSON {
	if p == nil {
		return placeJSON{}
	}
	return placeJSON{&p.Partition, &p.Offset, &p.Timestamp}
}

// OffsetSyncJSON gives one JSON object, fields in a fixed order, no newline. p may be nil.
func OffsetSyncJSON(s mm2.OffsetSync, n Notes, p *Place) []byte {
	return object(struct {
		Kind string `json:"kind"`
		placeJSON
		Topic      string   `json:"topic"`
		Partition  int32    `json:"partition"`
		Upstream   int64    `json:"upstreamOffset"`
		Downstream int64    `json:"downstreamOffset"`
		Notes      []string `json:"notes,omitempty"`
	}{"offset-sync", p.json(), s.Topic, s.Partition, s.Upstream, s.Downstream, n})
}

// CheckpointJSON gives one JSON object; see OffsetSyncJSON.
func CheckpointJSON(c mm2.Checkpoint, n Notes, p *Place) []byte {
	return object(struct {
		Kind string `json:"kind"`
		placeJSON
		Group      string   `json:"group"`
		Topic      string   `json:"topic"`
		Partition  int32    `json:"partition"`
		Upstream   int64    `json:"upstreamOffset"`
		Downstream int64    `json:"downstreamOffset"`
		Metadata   string   `json:"metadata"`
		Version    int16    `json:"version"`
		Notes      []string `json:"notes,omitempty"`
	}{"checkpoint", p.json(), c.Group, c.Topic, c.Partition, c.Upstream, c.Downstream, c.Metadata, c.Version, n})
}

// HeartbeatJSON gives one JSON object; see OffsetSyncJSON.
func HeartbeatJSON(h mm2.Heartbeat, n Notes, p *Place) []byte {
	return object(struct {
		Kind string `json:"kind"`
		placeJSON
		Source    string   `json:"sourceClusterAlias"`
		Target    string   `json:"targetClusterAlias"`
		Timestamp int64    `json:"timestamp"`
		Version   int16    `json:"version"`
		Notes     []string `json:"notes,omitempty"`
	}{"heartbeat", p.json(), h.Source, h.Target, h.Timestamp, h.Version, n})
}

// BadJSON gives one JSON object for a record or line that is not of its kind.
func BadJSON(k Kind, err error, p *Place) []byte {
	return object(struct {
		Kind string `json:"kind"`
		placeJSON
		Expected string `json:"expected"`
		Error    string `json:"error"`
	}{"undecodable", p.json(), string(k), err.Error()})
}

// object encodes flat values, which cannot fail. Arrows and the like in names stay readable.
func object(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
