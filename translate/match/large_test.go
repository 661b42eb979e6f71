package match

import (
	"slices"
	"sort"
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

// made is a side whose records are computed, not stored: those of offsets in bounds, less holes, with markers. nth is how many
// data records lie below an offset, so that a copy is found by counting.
type made struct {
	bounds  Bounds
	first   int64 // number of the first data record
	odd     []int64
	control map[int64]bool
	record  func(n int64) Record // of the n-th data record, without offset
	page    int64
	pages   map[int64]bool // that were read: a reader keeps them
	records int
}

func (m *made) Bounds() Bounds { return m.bounds }

// number is which data record stands at an offset, or comes next.
func (m *made) number(offset int64) int64 {
	return m.first + offset - int64(sort.Search(len(m.odd), func(i int) bool { return m.odd[i] >= offset }))
}

func (m *made) Read(from, to int64) ([]Record, int64, error) {
	if m.pages == nil {
		m.pages = map[int64]bool{}
	}
	m.pages[from/m.page] = true
	var out []Record
	from, to = max(from, m.bounds.Start), min(to, m.bounds.End, (from/m.page+1)*m.page)
	for ; from < to; from++ {
		if _, odd := slices.BinarySearch(m.odd, from); odd {
			if m.control[from] {
				out = append(out, Record{Offset: from, Flags: Control})
			}
			continue
		}
		r := m.record(m.number(from))
		r.Offset = from
		out = append(out, r)
	}
	m.records += len(out)
	return out, from, nil
}

type madeTimed struct{ *made }

func (m madeTimed) OffsetAt(ts int64) (int64, bool, error) {
	b := m.bounds
	at := b.Start + int64(sort.Search(int(b.End-b.Start), func(i int) bool { return m.record(m.number(b.Start+int64(i))).Time >= ts }))
	return at, at < b.End, nil
}

// mixed is a value that differs from record to record.
func mixed(n int64) uint64 { return uint64(n)*0x9e3779b97f4a7c15 + 1 }

func plain(n int64) Record {
	return Record{Time: 1_700_000_000_000 + n/3, Value: mixed(n), Flags: NullKey}
}

// published is a topic of a million records that was mirrored from offset 100,000 on, up to 1,000,000.
func published(record func(int64) Record, odd []int64, control map[int64]bool, onTarget bool) (src, dst *made) {
	src = &made{bounds: Bounds{0, 1_000_200, 1_000_200}, record: record, page: 500}
	dst = &made{bounds: Bounds{0, 900_000, 900_000}, first: 100_000, record: record, page: 500}
	if onTarget {
		dst.odd, dst.control = odd, control
		dst.bounds.Stable += int64(len(odd))
		dst.bounds.End = dst.bounds.Stable
	} else {
		src.odd, src.control = odd, control
		dst.bounds.Stable -= int64(len(odd))
		dst.bounds.End = dst.bounds.Stable
	}
	return src, dst
}

// odds are 40 markers and 7 holes between a sync and the position, from an offset on.
func odds(from int64) (odd []int64, control map[int64]bool) {
	control = map[int64]bool{}
	for i := range int64(47) {
		at := from + 20 + 29*i
		odd = append(odd, at)
		control[at] = i < 40
	}
	return odd, control
}

func TestPublished(t *testing.T) {
	sync := []translate.Sync{{Upstream: 100_000}, {Upstream: 996_900, Downstream: 896_900}}
	source, onSource := odds(996_900)
	target, onTarget := odds(896_900)
	for _, c := range []struct {
		name          string
		odd           []int64
		control       map[int64]bool
		onTarget      bool
		syncs         []translate.Sync
		timed         bool
		u, want       int64
		verdict       Verdict
		uncopied      int64
		mm2, mm2Reads int64
		pages         int
	}{
		{"plain", nil, nil, false, sync, true, 998_400, 898_400, Exact, 0, 896_901, 1_499, 24},
		{"plain, no time index", nil, nil, false, sync, false, 998_400, 898_400, Exact, 0, 896_901, 1_499, 24},
		{"markers and holes on the source", source, onSource, false, sync, true, 998_400, 898_353, Exact, 0, 896_901, 1_452, 24},
		{"markers and holes on the target", target, onTarget, true, sync, true, 998_400, 898_447, Exact, 0, 896_901, 1_499, 24},
		{"beyond the mirrored end", nil, nil, false, sync, true, 1_000_100, 900_000, NotMirrored, 100, 896_901, 3_099, 24},
		{"only the first sync", nil, nil, false, sync[:1], true, 998_400, 898_400, Exact, 0, 1, 898_399, 20},
		{"no sync", nil, nil, false, nil, true, 998_400, 898_400, Exact, 0, 0, 898_400, 20},
		{"no sync, far from both ends", nil, nil, false, nil, true, 550_000, 450_000, Exact, 0, 0, 450_000, 20},
		{"no sync, nothing copied yet", nil, nil, false, nil, true, 1_000_100, 900_000, NotMirrored, 100, 0, 900_000, 20},
		{"no sync, before anything copied", nil, nil, false, nil, true, 500, 0, Exact, 0, 0, 0, 20},
		{"only the first sync, with markers and holes", source, onSource, false, sync[:1], true, 998_400, 898_353, Exact, 0, 1, 898_352, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, dst := published(plain, c.odd, c.control, c.onTarget)
			var s, d Side = src, dst
			if c.timed {
				s, d = madeTimed{src}, madeTimed{dst}
			}
			m := New(s, d, c.syncs, Options{Isolation: Uncommitted, Most: 50_000})
			a, err := m.Locate(c.u)
			if err != nil {
				t.Fatal(err)
			}
			if a.T != c.want || a.Verdict != c.verdict || a.Uncopied != c.uncopied {
				t.Errorf("got %+v, want %d, %s, %d not mirrored", a, c.want, c.verdict, c.uncopied)
			}
			if n := len(src.pages) + len(dst.pages); n > c.pages {
				t.Errorf("%d pages of the source, %d of the target, at most %d in all", len(src.pages), len(dst.pages), c.pages)
			}
			if n := src.records + dst.records; n > 20_000 {
				t.Errorf("%d records read", n)
			}
			t.Logf("%d + %d pages, %d + %d records", len(src.pages), len(dst.pages), src.records, dst.records)
			at, err := m.Count(a, []int64{c.mm2, a.T})
			if err != nil {
				t.Fatal(err)
			}
			if at[0].ReRead < c.mm2Reads || at[0].Known && at[0].ReRead != c.mm2Reads || at[1] != (Count{Offset: a.T, Known: true}) {
				t.Errorf("counts %+v, want %d re-read", at, c.mm2Reads)
			}
		})
	}
}
