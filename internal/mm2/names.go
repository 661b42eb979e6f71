package mm2

import "strings"

// HeartbeatsTopic is the name of the heartbeats topic under every policy that comes with Kafka.
const HeartbeatsTopic = "heartbeats"

// Location is offset-syncs.topic.location: the cluster that holds the offset-syncs topic.
type Location string

// The locations (KIP-716, 3.0.0); before 3.0.0 it is always the source.
const (
	OnSource Location = "source"
	OnTarget Location = "target"
)

// Names are the internal topics of a flow. The three Connect topics are those of dedicated mode, on the target.
type Names struct {
	OffsetSyncs    string
	OffsetSyncsOn  string // alias of the cluster
	Checkpoints    string // on the target
	Heartbeats     string // on the target of the heartbeat connector
	ConnectOffsets string
	ConnectStatus  string
	ConnectConfigs string
	Certain        bool // false: an unknown policy may name the first three otherwise (3.1.0+)
}

// NamesOf gives the names for the flow source->target. The name carries the alias of the other cluster, whichever side the
// topic lives on.
func NamesOf(p Policy, source, target string, location Location, v Version) Names {
	n := Names{
		OffsetSyncs:    OffsetSyncsTopic(target, p.Internal),
		OffsetSyncsOn:  source,
		Checkpoints:    CheckpointsTopic(source, p.Internal),
		Heartbeats:     HeartbeatsTopic,
		ConnectOffsets: "mm2-offsets." + source + ".internal",
		ConnectStatus:  "mm2-status." + source + ".internal",
		ConnectConfigs: "mm2-configs." + source + ".internal",
		Certain:        p.Kind != PolicyUnknown || !v.IsZero() && v.Before(3, 1, 0),
	}
	if location == OnTarget && (v.IsZero() || v.AtLeast(3, 0, 0)) {
		n.OffsetSyncs, n.OffsetSyncsOn = OffsetSyncsTopic(source, p.Internal), target
	}
	return n
}

// OffsetSyncsTopic gives the name of an offset-syncs topic; alias is the *other* cluster's.
func OffsetSyncsTopic(alias, internalSeparator string) string {
	return "mm2-offset-syncs" + internalSeparator + alias + internalSeparator + "internal"
}

// CheckpointsTopic gives the name of the checkpoints topic of flows from source.
func CheckpointsTopic(source, internalSeparator string) string {
	return source + internalSeparator + "checkpoints" + internalSeparator + "internal"
}

// IsInternal says that a topic is never mirrored, whatever the topic filter says. From 4.0 on (KIP-1074) only MirrorMaker
// 2's own topics and those of Kafka count; before, any name ending in ".internal" or "-internal". An unknown policy of
// 3.1.0+ may have its own rule: known is false.
func (p Policy) IsInternal(topic string, v Version) (yes, known bool) {
	known = p.Kind != PolicyUnknown || !v.IsZero() && v.Before(3, 1, 0)
	if strings.HasPrefix(topic, "__") || strings.HasPrefix(topic, ".") {
		return true, known
	}
	suffix := p.Internal + "internal"
	if v.IsZero() || v.AtLeast(4, 0, 0) {
		return strings.HasPrefix(topic, "mm2") && strings.HasSuffix(topic, suffix) ||
			strings.HasSuffix(topic, p.Internal+"checkpoints"+suffix), known
	}
	return strings.HasSuffix(topic, suffix) || strings.HasSuffix(topic, ".internal") || strings.HasSuffix(topic, "-internal"), known
}
