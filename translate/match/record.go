package match

// Record is one record of a partition as far as the comparison needs it. Key, Value and Headers are fingerprints.
type Record struct {
	Offset  int64
	Time    int64 // ms
	Key     uint64
	Value   uint64
	Headers uint64
	Flags   Flags
}

// Flags of a record.
type Flags uint8

const (
	// NullKey and NullValue tell an absent part from an empty one.
	NullKey Flags = 1 << iota
	NullValue
	// AppendTime: the broker set the time (bit 3 of the batch's attributes), so it says nothing about the original.
	AppendTime
	// Control is a transaction marker.
	Control
	// Aborted is a record of an aborted transaction.
	Aborted
)

// Has says whether all of the given flags are set.
func (r Record) Has(f Flags) bool { return r.Flags&f == f }

// Mask says which parts of two records must be alike.
type Mask uint8

// Parts of a record.
const (
	Keys Mask = 1 << iota
	Values
	HeaderSets
	Times
)

// agreement tells what two records have in common; ok is false where that does not make them the same record: the value or a
// key that is there must agree, and the time unless the copy's broker sets it.
func agreement(s, d Record, reverse bool) (m Mask, ok bool) {
	untimed := d.Has(AppendTime) || reverse && s.Has(AppendTime)
	const null = NullKey | NullValue
	if s.Key == d.Key && s.Flags&NullKey == d.Flags&NullKey {
		m |= Keys
	}
	if s.Value == d.Value && s.Flags&NullValue == d.Flags&NullValue {
		m |= Values
	}
	if s.Headers == d.Headers {
		m |= HeaderSets
	}
	if s.Time == d.Time && !untimed {
		m |= Times
	}
	body := m&Values != 0 || m&Keys != 0 && !s.Has(NullKey)
	if s.Flags&null != d.Flags&null {
		body = false
	}
	return m, body && (m&Times != 0 || untimed)
}

// print is the fingerprint of a record under a mask.
type print struct {
	key, value, headers uint64
	time                int64
	flags               Flags
}

func (m Mask) of(r Record) print {
	var p print
	if m&Keys != 0 {
		p.key, p.flags = r.Key, p.flags|r.Flags&NullKey
	}
	if m&Values != 0 {
		p.value, p.flags = r.Value, p.flags|r.Flags&NullValue
	}
	if m&HeaderSets != 0 {
		p.headers = r.Headers
	}
	if m&Times != 0 {
		p.time = r.Time
	}
	return p
}

// Bounds are a partition's log start, last stable offset and log end. The target's are taken before the source's, so that each
// copy's original is in view.
type Bounds struct{ Start, Stable, End int64 }

// Within gives the offset of the log that lies nearest: max(log start, min(o, log end)).
func (b Bounds) Within(o int64) int64 { return max(b.Start, min(o, b.End)) }

// Side is one partition on one cluster.
type Side interface {
	Bounds() Bounds
	// Read gives the records in [from, to), ascending, with markers and aborted records flagged. It may stop early: next is
	// where to go on, everything in [from, next) was given.
	Read(from, to int64) (rs []Record, next int64, err error)
}

// TimeIndex is what a Side may offer besides: the first offset whose time is at or above ts (ms), as ListOffsets by timestamp
// gives it; ok is false where there is none.
type TimeIndex interface {
	OffsetAt(ts int64) (offset int64, ok bool, err error)
}
