package read

import (
	"encoding/binary"
	"hash/maphash"
	"slices"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/match"
)

// page is a stretch of one partition as it came in one fetch: every record in [from, next) is in recs, ascending, with markers
// and aborted records among them.
type page struct {
	from, next int64 // offsets
	recs       []match.Record
	size       int   // bytes asked for
	bytes      int64 // bytes that came, compressed
	batch      int   // bytes of the largest batch in it
	marked     bool  // some of it was written by transactions
	used       uint64
}

// cut gives the records of a page in [from, to).
func (p *page) cut(from, to int64) []match.Record {
	i := at(p.recs, from)
	if to >= p.next {
		return p.recs[i:len(p.recs):len(p.recs)]
	}
	j := i + at(p.recs[i:], to)
	return p.recs[i:j:j]
}

// trim leaves [from, next) of a page.
func (p *page) trim(from, next int64) {
	p.recs = p.cut(from, next)
	p.from, p.next = max(p.from, from), min(p.next, next)
}

func at(rs []match.Record, offset int64) int {
	i, _ := slices.BinarySearchFunc(rs, offset, func(r match.Record, o int64) int {
		switch {
		case r.Offset < o:
			return -1
		case r.Offset > o:
			return 1
		}
		return 0
	})
	return i
}

// seed is drawn anew in each run, so that nobody can write records that collide. Two different records pass for the same one only
// where the 64-bit fingerprints of all parts in which they differ collide, and everything else of them, the time included, is
// alike: of a million pairs that differ in one part alone, one in 2*10^13 runs. What it would cost is one pair that is no pair,
// within a walk whose neighbours agree or do not.
var seed = maphash.MakeSeed()

// fingerprint makes the record that is compared. null parts and empty ones differ by their flags.
func fingerprint(r *kafka.Record, flags match.Flags) match.Record {
	if r.Key == nil {
		flags |= match.NullKey
	}
	if r.Value == nil {
		flags |= match.NullValue
	}
	return match.Record{Offset: r.Offset, Time: r.Timestamp, Key: maphash.Bytes(seed, r.Key), Value: maphash.Bytes(seed, r.Value), Headers: headers(r.Headers), Flags: flags}
}

// headers is one fingerprint over all headers in their order, which MirrorMaker 2 keeps; lengths stand before the parts, so that
// no two different lists run together.
func headers(hs []kafka.Header) uint64 {
	if len(hs) == 0 {
		return 0
	}
	var h maphash.Hash
	h.SetSeed(seed)
	var b [8]byte
	part := func(n int) {
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	for _, x := range hs {
		part(len(x.Key))
		h.WriteString(x.Key)
		if x.Value == nil {
			part(-1)
			continue
		}
		part(len(x.Value))
		h.Write(x.Value)
	}
	return h.Sum64()
}
