package translate

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// The captures are those of the tree, or those in the folder that MM2DOCTOR_CAPTURES names (one folder for each run).
func captureFiles() fs.FS {
	if dir := os.Getenv("MM2DOCTOR_CAPTURES"); dir != "" {
		return os.DirFS(dir)
	}
	return os.DirFS("../fixtures/captures")
}

// What the topics alone leave open, at most. G3 and G4 forget at each task start, at a moment that only the log tells; a
// compacted topic no longer holds what the task had read.
func limit(gen mm2.Generation, compacted bool) int {
	switch {
	case compacted:
		return 777
	case gen == mm2.G3 || gen == mm2.G4:
		return 162
	}
	return 0
}

// run is one capture, decoded.
type run struct {
	*captures.Capture
	version     mm2.Version
	gen         mm2.Generation
	compacted   bool
	syncs       map[kafka.TopicPartition][]Sync // by source partition, in the order of the topic
	checkpoints []checkpoint
	complaints  int
}

// complain fails the test; only the first few are printed.
func (r *run) complain(t *testing.T, format string, args ...any) {
	t.Helper()
	if r.complaints++; r.complaints <= 5 {
		t.Errorf(format, args...)
	} else {
		t.Fail()
	}
}

type checkpoint struct {
	mm2.Checkpoint
	source kafka.TopicPartition
	time   int64
}

func decode(t *testing.T, fsys fs.FS, name string) run {
	t.Helper()
	c, err := captures.LoadFrom(fsys, name)
	if err != nil {
		t.Fatal(err)
	}
	r := run{Capture: c, compacted: c.SyncsBeforeCompaction != nil, syncs: map[kafka.TopicPartition][]Sync{}}
	if r.version, err = mm2.ParseVersion(c.Scenario.MM2); err != nil {
		t.Fatal(err)
	}
	r.gen = r.version.Generation()
	for _, rec := range c.OffsetSyncs {
		s, _, err := formatters.DecodeOffsetSync(rec.Key, rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		tp := s.TopicPartition()
		r.syncs[tp] = append(r.syncs[tp], Sync{s.Upstream, s.Downstream, rec.Offset, rec.Timestamp})
	}
	for _, rec := range c.Checkpoints {
		s, _, err := formatters.DecodeCheckpoint(rec.Key, rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		source, ok := sourceOf(c, s.TopicPartition())
		if !ok {
			t.Fatalf("checkpoint of %s, which is no mirrored topic", s.Topic)
		}
		r.checkpoints = append(r.checkpoints, checkpoint{s, source, rec.Timestamp})
	}
	if len(r.syncs) < 7 || len(r.checkpoints) < 500 || len(c.Phases) < 7 {
		t.Fatalf("%d partitions with syncs, %d checkpoints, %d phases: the folder is not whole", len(r.syncs), len(r.checkpoints), len(c.Phases))
	}
	last := c.Phases[len(c.Phases)-1]
	home := last.Source
	if c.Scenario.SyncsOn == "b" {
		home = last.Target
	}
	whole(t, c.OffsetSyncs, home.Topics[c.Scenario.SyncsTopic][0], !r.compacted)
	exactlyOnce := strings.Contains(string(c.Properties), "exactly.once") // leaves a control record after each transaction
	whole(t, c.Checkpoints, last.Target.Topics[c.Scenario.Prefix+"checkpoints.internal"][0], !exactlyOnce)
	return r
}

// whole fails for a topic that was cut at its end, or that lacks records within though nothing took them away.
func whole(t *testing.T, records []kafka.Record, log captures.LogRange, dense bool) {
	t.Helper()
	end := records[len(records)-1].Offset + 1
	if !dense {
		end++ // a control record
	}
	if log.End == 0 || end < log.End || dense && (records[0].Offset != 0 || end != int64(len(records))) {
		t.Fatalf("%d records from %d to %d, the log ended at %d: the folder is not whole", len(records), records[0].Offset, end-1, log.End)
	}
}

func sourceOf(c *captures.Capture, tp kafka.TopicPartition) (kafka.TopicPartition, bool) {
	p := c.Scenario.Prefix
	if len(tp.Topic) <= len(p) || tp.Topic[:len(p)] != p {
		return tp, false
	}
	return kafka.TopicPartition{Topic: tp.Topic[len(p):], Partition: tp.Partition}, true
}

// at gives the store of a partition as it was with the syncs written up to a time, history kept.
func (r *run) at(tp kafka.TopicPartition, time int64) *Store {
	s := New(r.gen, Options{})
	s.resets = false
	for _, x := range r.syncs[tp] {
		if x.Time <= time {
			s.Apply(x)
		}
	}
	s.LoadingFinished()
	return s
}

// moments gives all answers that the store could have given between two times.
func (r *run) moments(tp kafka.TopicPartition, from, to, up int64) []Result {
	s := r.at(tp, from)
	out := []Result{s.Translate(up)}
	for _, x := range r.syncs[tp] {
		if x.Time > from && x.Time <= to {
			s.Apply(x)
			out = append(out, s.Translate(up))
		}
	}
	return out
}

// A task reads syncs within its interval (2 s here) and writes a checkpoint with the time at which it asked for the
// group's offsets.
const (
	readEarlier = 2500
	readLater   = 100
)

func TestCaptures(t *testing.T) {
	fsys := captureFiles()
	names, err := captures.List(fsys)
	if err != nil || len(names) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := decode(t, fsys, name)
			undetermined, n := 0, 0
			for _, c := range r.checkpoints {
				n++
				if r.explains(t, c) {
					continue
				}
				undetermined++
			}
			t.Logf("%s: %d of %d checkpoints are not determined by the topics", r.gen, undetermined, n)
			if undetermined > limit(r.gen, r.compacted) {
				t.Errorf("%d checkpoints are not explained, at most %d may be", undetermined, limit(r.gen, r.compacted))
			}
			if r.compacted {
				r.beforeCompaction(t)
			}
			open, total := r.targets(t)
			t.Logf("%s: %d of %d target offsets are not determined by the topics", r.gen, open, total)
			if total < 900 {
				t.Errorf("only %d target offsets were compared", total)
			}
			if open > limit(r.gen, r.compacted) {
				t.Errorf("%d target offsets are not explained, at most %d may be", open, limit(r.gen, r.compacted))
			}
		})
	}
}

// explains says that some moment of the store gives C.down.
func (r *run) explains(t *testing.T, c checkpoint) bool {
	t.Helper()
	answers := r.moments(c.source, c.time-readEarlier, c.time+readLater, c.Upstream)
	for _, a := range answers {
		if a.Known() && a.Offset == c.Downstream {
			return true
		}
	}
	last := answers[len(answers)-1]
	if r.compacted && last.Known() && last.Offset > c.Downstream {
		r.complain(t, "a compacted topic promises more than was written: %+v, %+v", c, answers)
	}
	if limit(r.gen, r.compacted) == 0 {
		r.complain(t, "checkpoint %+v: the store gives %+v", c, answers)
	}
	return false
}

// beforeCompaction: with the topic as it was before it was compacted, every checkpoint of the first run is explained.
func (r *run) beforeCompaction(t *testing.T) {
	t.Helper()
	whole := *r
	whole.syncs, whole.compacted = map[kafka.TopicPartition][]Sync{}, false
	for _, rec := range r.SyncsBeforeCompaction {
		s, _, err := formatters.DecodeOffsetSync(rec.Key, rec.Value)
		if err != nil {
			t.Fatal(err)
		}
		tp := s.TopicPartition()
		whole.syncs[tp] = append(whole.syncs[tp], Sync{s.Upstream, s.Downstream, rec.Offset, rec.Timestamp})
	}
	n := 0
	for _, c := range r.checkpoints {
		if c.time <= r.Phases[3].Time && whole.explains(t, c) {
			n++
		}
	}
	t.Logf("%d checkpoints are explained by the topic before compaction", n)
	if n < 500 {
		t.Errorf("only %d checkpoints were compared", n)
	}
}
