package formatters

import (
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// OffsetSyncText gives the line that Kafka's OffsetSyncFormatter prints (2.7.0 and later, KIP-597).
func OffsetSyncText(s mm2.OffsetSync) string {
	b := append(make([]byte, 0, 96), "OffsetSync{topicPartition="...)
	b = appendPartition(b, s.Topic, s.Partition)
	b = appendOffsets(b, s.Upstream, s.Downstream)
	return string(append(b, '}'))
}

// CheckpointText gives the line that the CheckpointFormatter of Kafka version v prints. The zero version gives the
// spelling of new releases.
func CheckpointText(c mm2.Checkpoint, v mm2.Version) string {
	b := append(make([]byte, 0, 128), "Checkpoint{consumerGroupId="...)
	b = append(b, c.Group...)
	b = append(b, ", topicPartition="...)
	b = appendPartition(b, c.Topic, c.Partition)
	b = appendOffsets(b, c.Upstream, c.Downstream)
	b = append(b, ", "...)
	b = append(b, metadataWord(v)...)
	b = append(b, '=')
	b = append(b, c.Metadata...)
	return string(append(b, '}'))
}

// HeartbeatText gives the line that Kafka's HeartbeatFormatter prints.
func HeartbeatText(h mm2.Heartbeat) string {
	return "Heartbeat{sourceClusterAlias=" + h.Source + ", targetClusterAlias=" + h.Target +
		", timestamp=" + strconv.FormatInt(h.Timestamp, 10) + "}"
}

// metadataWord: up to 3.5.0 the word was misspelt; 3.5.1 and 3.6.0 corrected it.
func metadataWord(v mm2.Version) string {
	if !v.IsZero() && v.Before(3, 5, 1) {
		return misspelt
	}
	return "metadata"
}

const misspelt = "metatadata"

func appendPartition(b []byte, topic string, partition int32) []byte {
	b = append(append(b, topic...), '-')
	return strconv.AppendInt(b, int64(partition), 10)
}

func appendOffsets(b []byte, up, down int64) []byte {
	b = strconv.AppendInt(append(b, ", upstreamOffset="...), up, 10)
	return strconv.AppendInt(append(b, ", downstreamOffset="...), down, 10)
}

// IsText says that the line begins like one of the three text forms, blanks before it left out.
func IsText(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "OffsetSync{") || strings.HasPrefix(line, "Checkpoint{") || strings.HasPrefix(line, "Heartbeat{")
}
