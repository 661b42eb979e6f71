package wire

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"reflect"
	"strings"
	"testing"

	"github.com/klauspost/compress/snappy"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// crafted describes a batch as a broker may hold it.
type crafted struct {
	base      int64
	lastDelta int32
	deltas    []int32 // offsets of its records; nil is an empty batch
	codec     string
	attr      int16
	producer  int64
	epoch     int32
	maxTime   int64
	control   int16 // with attrControl: 0 abort, 1 commit
	value     string
	headers   []kmsg.Header
}

func (c crafted) last() int64 { return c.base + int64(c.lastDelta) }

func (c crafted) raw(t testing.TB) []byte {
	t.Helper()
	var rs []byte
	for _, d := range c.deltas {
		r := kmsg.Record{OffsetDelta: d, TimestampDelta64: int64(d), Key: []byte("key"), Value: []byte(c.value), Headers: c.headers}
		if c.attr&attrControl != 0 {
			r.Key = []byte{0, 0, byte(c.control >> 8), byte(c.control)}
		}
		r.Length = int32(len(r.AppendTo(nil)) - 1)
		rs = append(rs, r.AppendTo(nil)...)
	}
	attr := c.attr
	if c.codec != "" {
		codec := map[string]kgo.CompressionCodec{"gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression()}
		if c.codec == "xerial" {
			rs, attr = xerialFrames(rs), attr|2
		} else {
			comp, err := kgo.DefaultCompressor(codec[c.codec])
			if err != nil {
				t.Fatal(err)
			}
			var dst bytes.Buffer
			out, used := comp.Compress(&dst, rs)
			rs, attr = bytes.Clone(out), attr|int16(used)
		}
	}
	b := kmsg.RecordBatch{
		FirstOffset: c.base, PartitionLeaderEpoch: c.epoch, Magic: 2, Attributes: attr, LastOffsetDelta: c.lastDelta, FirstTimestamp: 1000,
		MaxTimestamp: c.maxTime, ProducerID: c.producer, NumRecords: int32(len(c.deltas)), Records: rs,
	}
	return sealed(b.AppendTo(nil))
}

// sealed sets length and checksum.
func sealed(raw []byte) []byte {
	binary.BigEndian.PutUint32(raw[atLength:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[atCRC:], crc32.Checksum(raw[atAttributes:], castagnoli))
	return raw
}

// xerialFrames writes two blocks in the frame of Java's snappy library.
func xerialFrames(b []byte) []byte {
	out := append(bytes.Clone(xerial), 0, 0, 0, 1, 0, 0, 0, 1)
	for _, part := range [][]byte{b[:len(b)/2], b[len(b)/2:]} {
		blk := snappy.Encode(nil, part)
		out = binary.BigEndian.AppendUint32(out, uint32(len(blk)))
		out = append(out, blk...)
	}
	return out
}

func decodeAll(raw []byte) (recs []kafka.Record, err error) {
	var d decoder
	for b := raw; ; {
		bt, rest, ok, err := nextBatch(b, 0)
		if err != nil || !ok {
			return recs, err
		}
		b = rest
		if err := d.each(bt, func(int64, []byte) error {
			r := d.rec.Record
			r.Key, r.Value, r.Headers = bytes.Clone(r.Key), bytes.Clone(r.Value), append([]kafka.Header(nil), r.Headers...)
			recs = append(recs, r)
			return nil
		}); err != nil {
			return recs, err
		}
	}
}

func TestBatchFields(t *testing.T) {
	for _, codec := range []string{"", "gzip", "snappy", "xerial", "lz4", "zstd"} {
		for _, appendTime := range []bool{false, true} {
			c := crafted{base: 100, lastDelta: 9, deltas: []int32{2, 7}, codec: codec, producer: 77, epoch: 5, maxTime: 9999, value: strings.Repeat("v", 300),
				headers: []kmsg.Header{{Key: "h", Value: []byte("x")}, {Key: "", Value: nil}}}
			want := []kafka.Record{{Offset: 102, Timestamp: 1002}, {Offset: 107, Timestamp: 1007}}
			if appendTime {
				c.attr = attrLogAppendTime
				want[0].Timestamp, want[1].Timestamp = 9999, 9999
			}
			for i := range want {
				want[i].LeaderEpoch, want[i].ProducerID, want[i].Key, want[i].Value = 5, 77, []byte("key"), []byte(c.value)
				want[i].Headers = []kafka.Header{{Key: "h", Value: []byte("x")}, {Key: "", Value: nil}}
			}
			got, err := decodeAll(c.raw(t))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s appendTime=%v:\n got %+v, %v\nwant %+v", codec, appendTime, got, err, want)
			}
		}
	}
}

func TestBatchNullKeyAndValue(t *testing.T) {
	r := kmsg.Record{}
	r.Length = int32(len(r.AppendTo(nil)) - 1)
	b := kmsg.RecordBatch{Magic: 2, NumRecords: 1, ProducerID: -1, PartitionLeaderEpoch: -1, Records: r.AppendTo(nil)}
	got, err := decodeAll(sealed(b.AppendTo(nil)))
	if err != nil || len(got) != 1 || got[0].Key != nil || got[0].Value != nil || got[0].ProducerID != -1 || got[0].LeaderEpoch != -1 {
		t.Errorf("%+v %v", got, err)
	}
}

func TestBatchDamage(t *testing.T) {
	good := crafted{base: 5, lastDelta: 1, deltas: []int32{0, 1}, value: "value"}
	for _, tt := range []struct {
		name, want string
		damage     func(b []byte) []byte
	}{
		{"flipped byte", "the batch at offset 5 has a wrong checksum", func(b []byte) []byte { b[len(b)-1] ^= 1; return b }},
		{"old format", "record format 1 of Kafka before 0.11", func(b []byte) []byte { b[atMagic] = 1; return b }},
		{"new format", "record format 3, which is not known", func(b []byte) []byte { b[atMagic] = 3; return b }},
		{"short length", "below its header", func(b []byte) []byte { binary.BigEndian.PutUint32(b[atLength:], 20); return b }},
		{"negative last delta", "impossible numbers", func(b []byte) []byte { binary.BigEndian.PutUint32(b[atLastDelta:], 0xffffffff); return sealed(b) }},
		{"negative count", "impossible numbers", func(b []byte) []byte { binary.BigEndian.PutUint32(b[atCount:], 0xffffffff); return sealed(b) }},
		{"too many records", "cut short", func(b []byte) []byte { binary.BigEndian.PutUint32(b[atCount:], 3); return sealed(b) }},
		{"too few records", "more bytes than its 1 records", func(b []byte) []byte { binary.BigEndian.PutUint32(b[atCount:], 1); return sealed(b) }},
		{"record outside", "outside its batch", func(b []byte) []byte { binary.BigEndian.PutUint32(b[atLastDelta:], 0); return sealed(b) }},
		{"unknown codec", "compression codec 7 is not known", func(b []byte) []byte { b[atAttributes+1] |= 7; return sealed(b) }},
		{"not gzip", "does not decompress", func(b []byte) []byte { b[atAttributes+1] |= 1; return sealed(b) }},
	} {
		if _, err := decodeAll(tt.damage(good.raw(t))); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestInflateLimit(t *testing.T) {
	for _, codec := range []string{"gzip", "snappy", "xerial", "lz4", "zstd"} {
		c := crafted{deltas: []int32{0}, codec: codec, value: strings.Repeat("0", 1<<20)}
		bt, _, ok, err := nextBatch(c.raw(t), 0)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		d := decoder{inflater: inflater{limit: 1 << 16}}
		if err := d.each(bt, func(int64, []byte) error { return nil }); err == nil {
			t.Errorf("%s: a batch of 1 MiB passed a limit of 64 KiB", codec)
		}
	}
}

// FuzzBatches: no panic, no endless walk, and records only inside their batches.
func FuzzBatches(f *testing.F) {
	for _, codec := range []string{"", "gzip", "snappy", "xerial", "lz4", "zstd"} {
		f.Add(crafted{base: 3, lastDelta: 4, deltas: []int32{0, 4}, codec: codec, value: "value", headers: []kmsg.Header{{Key: "a", Value: []byte("b")}}}.raw(f))
	}
	f.Add(crafted{base: 3, lastDelta: 4}.raw(f))
	f.Add(crafted{base: 3, deltas: []int32{0}, attr: attrControl | attrTransactional}.raw(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= headerSize && b[atMagic] == 2 {
			binary.BigEndian.PutUint32(b[atCRC:], crc32.Checksum(b[atAttributes:min(len(b), max(headerSize, int(int32(binary.BigEndian.Uint32(b[atLength:])))+12))], castagnoli))
		}
		d := decoder{inflater: inflater{limit: 1 << 20}}
		for rest := b; ; {
			bt, next, ok, err := nextBatch(rest, 0)
			if err != nil || !ok {
				return
			}
			if len(next) >= len(rest) {
				t.Fatal("no progress")
			}
			rest = next
			if d.each(bt, func(off int64, _ []byte) error {
				if off < bt.base || off > bt.last {
					t.Fatalf("offset %d outside %d..%d", off, bt.base, bt.last)
				}
				return nil
			}) != nil {
				return
			}
			d.abortMarker(bt)
		}
	})
}

func FuzzFetchAnswer(f *testing.F) {
	for _, v := range []int16{4, 7, 11} {
		r := kmsg.NewPtrFetchResponse()
		r.Version = v
		t := kmsg.NewFetchResponseTopic()
		t.Topic = "t"
		p := kmsg.NewFetchResponseTopicPartition()
		p.AbortedTransactions = append(p.AbortedTransactions, kmsg.FetchResponseTopicPartitionAbortedTransaction{ProducerID: 1, FirstOffset: 2})
		p.RecordBatches = []byte("batches")
		t.Partitions = append(t.Partitions, p)
		r.Topics = append(r.Topics, t)
		b := r.AppendTo(nil)
		got, _, err := parseFetch(b, v, "t", 0)
		if err != nil || string(got.records) != "batches" || len(got.aborted) != 1 || got.aborted[0] != (aborted{1, 2}) {
			f.Fatalf("v%d: %+v %v", v, got, err)
		}
		if _, _, err := parseFetch(b, v, "u", 0); err == nil {
			f.Fatal("an answer about another topic was taken")
		}
		if _, _, err := parseFetch(b, v, "t", 1); err == nil {
			f.Fatal("an answer about another partition was taken")
		}
		f.Add(b, v)
	}
	f.Fuzz(func(t *testing.T, b []byte, v int16) {
		got, _, err := parseFetch(b, 4+(v&7), "t", 0)
		if err == nil && len(got.records) > len(b) {
			t.Fatal("records out of nothing")
		}
	})
}
