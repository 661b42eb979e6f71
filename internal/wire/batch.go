package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

var (
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
	errCut     = errors.New("a record is cut short")
)

// Layout of a record batch, format 2 (KIP-98): positions in its header.
const (
	atLength     = 8
	atEpoch      = 12
	atMagic      = 16
	atCRC        = 17
	atAttributes = 21
	atLastDelta  = 23
	atFirstTime  = 27
	atMaxTime    = 35
	atProducer   = 43
	atCount      = 57
	headerSize   = 61

	attrCodec         = 0x07
	attrLogAppendTime = 0x08
	attrTransactional = 0x10
	attrControl       = 0x20
)

// batch is one batch's header and its records, still compressed.
type batch struct {
	base, last int64
	epoch      int32
	attr       uint16
	firstTime  int64
	maxTime    int64
	producer   int64
	count      int
	records    []byte
}

// nextBatch takes the first batch of b. ok is false when the rest is less than a batch: brokers cut the last one at the
// fetch size. Batches that end before from are given without a check of their checksum.
func nextBatch(b []byte, from int64) (bt batch, rest []byte, ok bool, err error) {
	if len(b) < atMagic+1 {
		return bt, nil, false, nil
	}
	n := int64(int32(binary.BigEndian.Uint32(b[atLength:]))) + 12
	bt.base = int64(binary.BigEndian.Uint64(b))
	if m := b[atMagic]; m != 2 {
		if m < 2 {
			return bt, nil, false, fmt.Errorf("the batch at offset %d has record format %d of Kafka before 0.11, which is not read", bt.base, m)
		}
		return bt, nil, false, fmt.Errorf("the batch at offset %d has record format %d, which is not known", bt.base, m)
	}
	if n < headerSize {
		return bt, nil, false, fmt.Errorf("the batch at offset %d has length %d, below its header", bt.base, n)
	}
	if n > int64(len(b)) {
		return bt, nil, false, nil
	}
	raw := b[:n]
	delta := int32(binary.BigEndian.Uint32(raw[atLastDelta:]))
	bt.last = bt.base + int64(delta)
	bt.epoch = int32(binary.BigEndian.Uint32(raw[atEpoch:]))
	bt.attr = binary.BigEndian.Uint16(raw[atAttributes:])
	bt.firstTime = int64(binary.BigEndian.Uint64(raw[atFirstTime:]))
	bt.maxTime = int64(binary.BigEndian.Uint64(raw[atMaxTime:]))
	bt.producer = int64(binary.BigEndian.Uint64(raw[atProducer:]))
	bt.count = int(int32(binary.BigEndian.Uint32(raw[atCount:])))
	bt.records = raw[headerSize:]
	if delta < 0 || bt.base < 0 || bt.last < bt.base || bt.count < 0 {
		return bt, nil, false, fmt.Errorf("the batch at offset %d has impossible numbers (last offset delta %d, %d records)", bt.base, delta, bt.count)
	}
	if bt.last >= from && crc32.Checksum(raw[atAttributes:], castagnoli) != binary.BigEndian.Uint32(raw[atCRC:]) {
		return bt, nil, false, fmt.Errorf("the batch at offset %d has a wrong checksum: it is damaged on the broker's disk or on the way", bt.base)
	}
	return bt, b[n:], true, nil
}

// decoder gives the records of batches; it keeps its buffers between calls.
type decoder struct {
	inflater
	rec  PageRecord
	keys map[string]string // header keys that were seen: few, and the same in every record
}

// abortMarker tells an abort marker from a commit marker; ok is false for an empty or foreign control batch.
func (d *decoder) abortMarker(bt batch) (abort, ok bool, err error) {
	err = d.each(bt, func(_ int64, key []byte) error {
		// key: version int16, type int16; type 0 aborts, 1 commits.
		if len(key) >= 4 && !ok {
			abort, ok = binary.BigEndian.Uint16(key[2:]) == 0, true
		}
		return nil
	})
	return abort, ok, err
}

// each walks the records of a batch; the fields are in d.rec.
func (d *decoder) each(bt batch, fn func(off int64, key []byte) error) error {
	if bt.count == 0 && len(bt.records) == 0 { // the cleaner keeps the header of an emptied batch
		return nil
	}
	r, err := d.inflate(int(bt.attr&attrCodec), bt.records)
	if err != nil {
		return fmt.Errorf("the batch at offset %d does not decompress: %w", bt.base, err)
	}
	for i := 0; i < bt.count; i++ {
		l, s := varint(r)
		if s <= 0 || l < 1 || l > int64(len(r)-s) {
			return fmt.Errorf("the batch at offset %d: %w", bt.base, errCut)
		}
		body := r[s : s+int(l)]
		r = r[s+int(l):]
		off, err := d.record(bt, body)
		if err != nil {
			return fmt.Errorf("the batch at offset %d: %w", bt.base, err)
		}
		if err := fn(off, d.rec.Key); err != nil {
			return err
		}
	}
	if len(r) != 0 {
		return fmt.Errorf("the batch at offset %d holds more bytes than its %d records", bt.base, bt.count)
	}
	return nil
}

func (d *decoder) record(bt batch, b []byte) (int64, error) {
	b = b[1:] // attributes, unused
	td, s := varint(b)
	if s <= 0 {
		return 0, errCut
	}
	b = b[s:]
	od, s := varint(b)
	if s <= 0 {
		return 0, errCut
	}
	if od < 0 || od > bt.last-bt.base {
		return 0, fmt.Errorf("a record lies at offset delta %d, outside its batch", od)
	}
	b = b[s:]
	key, b, ok := field(b)
	if !ok {
		return 0, errCut
	}
	value, b, ok := field(b)
	if !ok {
		return 0, errCut
	}
	n, s := varint(b)
	if s <= 0 || n < 0 || n > int64(len(b)) {
		return 0, errCut
	}
	b = b[s:]
	hs := d.rec.Headers[:0]
	for ; n > 0; n-- {
		var k, v []byte
		if k, b, ok = field(b); !ok || k == nil {
			return 0, errCut
		}
		if v, b, ok = field(b); !ok {
			return 0, errCut
		}
		hs = append(hs, kafka.Header{Key: d.headerKey(k), Value: v})
	}
	if len(b) != 0 {
		return 0, errors.New("a record holds more bytes than its fields")
	}
	r := &d.rec.Record
	r.Offset, r.Key, r.Value, r.Headers = bt.base+od, key, value, hs
	r.LeaderEpoch, r.ProducerID = bt.epoch, bt.producer
	if r.Timestamp = bt.firstTime + td; bt.attr&attrLogAppendTime != 0 {
		r.Timestamp = bt.maxTime // the broker writes only the batch's maximum (KIP-32)
	}
	return r.Offset, nil
}

// headerKey makes a string of a header's key, without a new copy for those that were seen before.
func (d *decoder) headerKey(k []byte) string {
	if s, ok := d.keys[string(k)]; ok {
		return s
	}
	s := string(k)
	if len(d.keys) < 256 && len(k) < 256 {
		if d.keys == nil {
			d.keys = map[string]string{}
		}
		d.keys[s] = s
	}
	return s
}

// field takes a length and that many bytes; a negative length is null.
func field(b []byte) (f, rest []byte, ok bool) {
	l, s := varint(b)
	if s <= 0 || l > int64(len(b)-s) {
		return nil, nil, false
	}
	if l < 0 {
		return nil, b[s:], true
	}
	return b[s : s+int(l) : s+int(l)], b[s+int(l):], true
}

func varint(b []byte) (int64, int) {
	if len(b) > 0 && b[0] < 0x80 { // one byte is by far the most frequent
		return int64(b[0]>>1) ^ -int64(b[0]&1), 1
	}
	if len(b) > 1 && b[1] < 0x80 {
		u := uint64(b[0]&0x7f) | uint64(b[1])<<7
		return int64(u>>1) ^ -int64(u&1), 2
	}
	return binary.Varint(b)
}
