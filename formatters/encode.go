package formatters

import (
	"encoding/binary"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// EncodeOffsetSync gives key and value as MirrorMaker 2 writes them. It fails for a name that is too long or not UTF-8.
func EncodeOffsetSync(s mm2.OffsetSync) (key, value []byte, err error) {
	if key, err = appendString(nil, "topic", s.Topic); err != nil {
		return nil, nil, err
	}
	key = binary.BigEndian.AppendUint32(key, uint32(s.Partition))
	value = binary.BigEndian.AppendUint64(nil, uint64(s.Upstream))
	return key, binary.BigEndian.AppendUint64(value, uint64(s.Downstream)), nil
}

// EncodeCheckpoint gives key and value as MirrorMaker 2 writes them; see EncodeOffsetSync.
func EncodeCheckpoint(c mm2.Checkpoint) (key, value []byte, err error) {
	if key, err = appendString(nil, "group", c.Group); err != nil {
		return nil, nil, err
	}
	if key, err = appendString(key, "topic", c.Topic); err != nil {
		return nil, nil, err
	}
	key = binary.BigEndian.AppendUint32(key, uint32(c.Partition))
	value = binary.BigEndian.AppendUint16(nil, uint16(c.Version))
	value = binary.BigEndian.AppendUint64(value, uint64(c.Upstream))
	value = binary.BigEndian.AppendUint64(value, uint64(c.Downstream))
	if value, err = appendString(value, "metadata", c.Metadata); err != nil {
		return nil, nil, err
	}
	return key, value, nil
}

// EncodeHeartbeat gives key and value as MirrorMaker 2 writes them; see EncodeOffsetSync.
func EncodeHeartbeat(h mm2.Heartbeat) (key, value []byte, err error) {
	if key, err = appendString(nil, "sourceClusterAlias", h.Source); err != nil {
		return nil, nil, err
	}
	if key, err = appendString(key, "targetClusterAlias", h.Target); err != nil {
		return nil, nil, err
	}
	value = binary.BigEndian.AppendUint16(nil, uint16(h.Version))
	return key, binary.BigEndian.AppendUint64(value, uint64(h.Timestamp)), nil
}
