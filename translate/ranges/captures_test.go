package ranges

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/translate"
)

// copied is one mirrored record: its offset on the source and on the target.
type copied struct{ up, down int64 }

// log is a target partition by its records, in order. All that were mirrored are data, and none is aborted on the target.
type log []copied

// headers is what batch headers tell of a log.
type headers struct {
	log
	transactions bool // exactly once: all of it
}

func (h headers) Count(from, to int64) (int64, error) {
	at := func(d int64) int {
		i, _ := slices.BinarySearchFunc(h.log, d, func(c copied, d int64) int { return cmp.Compare(c.down, d) })
		return i
	}
	return int64(at(to) - at(from)), nil
}

func (h headers) Plain(from, to int64) (bool, error) {
	n, err := h.Count(from, to)
	return n > 0 && !h.transactions, err
}

// judge gives what a consumer that starts at t instead of u reads again, and what it never reads, of the records below end.
func (l log) judge(u, t, end int64) (again, skipped int) {
	for _, c := range l {
		switch {
		case c.down >= end:
		case c.up < u && c.down >= t:
			again++
		case c.up >= u && c.down < t:
			skipped++
		}
	}
	return again, skipped
}

type score struct {
	exact, skipping, worst int
	again                  []int
}

func (s *score) add(again, skipped int) {
	if again == 0 && skipped == 0 {
		s.exact++
	}
	if skipped > 0 {
		s.skipping++
	}
	s.worst = max(s.worst, again)
	s.again = append(s.again, again)
}

func (s *score) median() int {
	if len(s.again) == 0 {
		return 0
	}
	slices.Sort(s.again)
	return s.again[len(s.again)/2]
}

func syncsOf(t *testing.T, records []kafka.Record) map[kafka.TopicPartition][]translate.Sync {
	t.Helper()
	out := map[kafka.TopicPartition][]translate.Sync{}
	for _, r := range records {
		s, _, err := formatters.DecodeOffsetSync(r.Key, r.Value)
		if err != nil {
			t.Fatal(err)
		}
		tp := s.TopicPartition()
		out[tp] = append(out[tp], translate.Sync{Upstream: s.Upstream, Downstream: s.Downstream, Offset: r.Offset, Time: r.Timestamp})
	}
	return out
}

// TestCapturesRange: what the offset syncs alone give for each committed position of real runs, in each phase, against the place
// of the records. MirrorMaker 2 itself is exact for about a third (accuracy.jsonl).
func TestCapturesRange(t *testing.T) {
	var fsys fs.FS = os.DirFS("../../fixtures/captures")
	if dir := os.Getenv("MM2DOCTOR_CAPTURES"); dir != "" {
		fsys = os.DirFS(dir)
	}
	names, err := captures.List(fsys)
	if err != nil || len(names) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			c, err := captures.LoadFrom(fsys, name)
			if err != nil {
				t.Fatal(err)
			}
			version, err := mm2.ParseVersion(c.Scenario.MM2)
			if err != nil {
				t.Fatal(err)
			}
			r := replay{Capture: c, records: map[kafka.TopicPartition]log{}, now: syncsOf(t, c.OffsetSyncs), before: syncsOf(t, c.SyncsBeforeCompaction)}
			r.run(t)
			share := func(s *score) float64 { return 100 * float64(s.exact) / float64(r.known) }
			t.Logf("%d positions, %d with a sync", r.total, r.known)
			for _, row := range []struct {
				name string
				*score
			}{{"mm2", &r.mm2}, {"low", &r.low}, {"interpolated", &r.even}, {"counted", &r.counted}} {
				t.Logf("%-12s exact %3d (%4.1f %%), re-read median %2d, worst %4d, skipping %d", row.name, row.exact, share(row.score), row.median(), row.worst, row.skipping)
			}
			if r.total < 600 || r.known < 500 {
				t.Errorf("%d positions, %d with a sync: the folder is not whole", r.total, r.known)
			}
			if r.low.skipping+r.counted.skipping > 0 {
				t.Error("records would be skipped")
			}
			if r.counted.exact < r.low.exact || r.counted.worst > r.low.worst {
				t.Error("counting made it worse")
			}
			if !version.Before(3, 7, 0) && share(&r.counted) < 87 {
				t.Errorf("counted: %.1f %% exact, want 87", share(&r.counted))
			}
		})
	}
}

type replay struct {
	*captures.Capture
	records                 map[kafka.TopicPartition]log
	now, before             map[kafka.TopicPartition][]translate.Sync
	total, known            int
	mm2, low, even, counted score
}

// at gives the syncs that the topic held at a phase.
func (r *replay) at(tp kafka.TopicPartition, p captures.Phase) []translate.Sync {
	from := r.now
	if len(r.before) > 0 && p.Phase < "p4" { // compacted while MirrorMaker 2 was down in p4
		from = r.before
	}
	var out []translate.Sync
	for _, s := range from[tp] {
		if s.Time <= p.Time {
			out = append(out, s)
		}
	}
	return out
}

func (r *replay) run(t *testing.T) {
	t.Helper()
	mapping, err := r.Mapping()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mapping {
		tp := kafka.TopicPartition{Topic: m.Topic, Partition: m.Partition}
		for _, s := range m.Segments {
			for i := range s[2] {
				r.records[tp] = append(r.records[tp], copied{s[0] + i, s[1] + i})
			}
		}
		slices.SortFunc(r.records[tp], func(a, b copied) int { return cmp.Compare(a.down, b.down) })
	}
	rows, err := r.Accuracy()
	if err != nil {
		t.Fatal(err)
	}
	phases := map[string]captures.Phase{}
	for _, p := range r.Phases {
		phases[p.Phase] = p
	}
	for _, row := range rows {
		r.position(t, phases[row.Phase], row)
	}
}

func (r *replay) position(t *testing.T, p captures.Phase, row captures.Accuracy) {
	t.Helper()
	tp := kafka.TopicPartition{Topic: row.Topic, Partition: row.Partition}
	records := r.records[tp]
	ends := Ends{Source: p.Source.Topics[row.Topic][row.Partition].End, Target: p.Target.Topics[r.Scenario.Prefix+row.Topic][row.Partition].End}
	measured := row.Phase <= "p4" // later a group is active on the target, or went back
	if measured {
		r.total++
	}
	b := NewBrackets([]int64{row.U})
	for _, s := range r.at(tp, p) {
		b.Add(s)
	}
	u := min(row.U, ends.Source)
	bound, ok := b.Locate(u, ends)
	if !ok {
		return
	}
	counted, sure, err := bound.Counted(u, headers{records, bytes.Contains(r.Properties, []byte("exactly.once"))})
	if err != nil || !sure {
		t.Errorf("%s %s %s: %v %v", row.Phase, row.Group, tp, sure, err)
	}
	even, isEven := bound.Interpolated()
	if !isEven {
		even = bound.Low
	}
	for _, x := range []int64{bound.Low, even, counted.Low} {
		if _, skipped := records.judge(u, x, ends.Target); skipped > 0 {
			t.Errorf("%s %s %s, %d: %s, %d skips %d", row.Phase, row.Group, tp, u, words(bound, ok), x, skipped)
		}
	}
	if again, _ := records.judge(u, bound.High, ends.Target); again > 0 && bound.High < ends.Target {
		t.Errorf("%s %s %s, %d: %s, even High reads %d again", row.Phase, row.Group, tp, u, words(bound, ok), again)
	}
	if !measured {
		return
	}
	r.known++
	r.low.add(records.judge(u, bound.Low, ends.Target))
	r.even.add(records.judge(u, even, ends.Target))
	r.counted.add(records.judge(u, counted.Low, ends.Target))
	if row.T != nil {
		r.mm2.add(records.judge(u, *row.T, ends.Target))
	}
}
