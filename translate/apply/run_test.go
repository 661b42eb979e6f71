package apply

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// TestRefusals: each stage is one change of a good scene; the group named is refused with the code, and the others are written.
func TestRefusals(t *testing.T) {
	put := func(w *world, group string, k kafka.TopicPartition, c *plan.Committed) {
		w.groups[group].offsets[k] = *c
	}
	for _, tt := range []struct {
		name    string
		change  func(w *world, p *plan.Plan)
		group   string
		code    finding.Code
		because string
	}{
		{"members", func(w *world, p *plan.Plan) {
			w.groups["full"].holders = []string{"billing-1 at /10.0.0.7", "billing-2 at /10.0.0.8"}
		}, "full", 701, "billing-1 at /10.0.0.7; billing-2 at /10.0.0.8"},
		{"offset moved", func(w *world, p *plan.Plan) { put(w, "full", tp("a.t", 0), at(9, -1, "")) }, "full", 702, "had 5 (epoch 2, metadata \"old\") when the plan was made and has 9"},
		{"epoch moved", func(w *world, p *plan.Plan) { put(w, "full", tp("a.t", 0), at(5, 3, "old")) }, "full", 702, "epoch 3"},
		{"metadata moved", func(w *world, p *plan.Plan) { put(w, "full", tp("a.t", 0), at(5, 2, "new")) }, "full", 702, "new"},
		{"offset gone", func(w *world, p *plan.Plan) { delete(w.groups["full"].offsets, tp("a.t", 1)) }, "full", 702, "has nothing now"},
		{"offset new", func(w *world, p *plan.Plan) { put(w, "half", tp("a.t", 1), at(1, -1, "")) }, "half", 702, "had nothing"},
		{"right one moved", func(w *world, p *plan.Plan) {
			p.Groups[5].Rows[0].Action, p.Groups[5].Action = plan.Right, plan.Right
			p.Groups[5].Rows[0].Before = at(100, -1, "m")
			put(w, "same", tp("a.t", 0), at(101, -1, "m"))
		}, "same", 702, "has 101"},
		{"seems consumed", func(w *world, p *plan.Plan) {
			w.meddle = func(n int) {
				if n == 2 {
					put(w, "full", tp("a.t", 0), at(6, 2, "old"))
				}
			}
		}, "full", 708, "while nobody is a member"},
		{"consumed right before the write", func(w *world, p *plan.Plan) {
			w.meddle = func(n int) {
				if n == 3 {
					put(w, "full", tp("a.t", 0), at(6, 2, "old"))
				}
			}
		}, "full", 708, "while nobody is a member"},
		{"members right before the write", func(w *world, p *plan.Plan) {
			w.meddle = func(n int) {
				if n == 3 {
					w.groups["full"].holders = []string{"late at /10.0.0.9"}
				}
			}
		}, "full", 701, "late at /10.0.0.9"},
		{"group turned into share", func(w *world, p *plan.Plan) { w.groups["full"].kind = kafka.TypeShare }, "full", 707, "never convert"},
		{"share turned into classic", func(w *world, p *plan.Plan) { w.groups["pool"].kind = kafka.TypeClassic }, "pool", 707, "never convert"},
		{"group turned into streams", func(w *world, p *plan.Plan) { w.groups["full"].kind = kafka.TypeStreams }, "full", 707, "type streams on this cluster"},
		{"group turned into consumer", func(w *world, p *plan.Plan) { w.groups["full"].kind = kafka.TypeConsumer }, "full", 702, "type classic when the plan was made and is of type consumer"},
		{"topic recreated", func(w *world, p *plan.Plan) {
			w.topics["a.u"] = TopicNow{ID: "id-new", Partitions: map[int32]PartitionNow{0: log0(1000)}}
			p.Groups[1].Rows[0].TargetTopic, p.Groups[1].Rows[0].Before = "a.u", nil
		}, "full", 406, "created anew"},
		{"topic gone", func(w *world, p *plan.Plan) {
			p.Groups[1].Rows[0].TargetTopic, p.Groups[1].Rows[0].Before = "a.gone", nil
		}, "full", 406, "not on this cluster any more"},
		{"log cut", func(w *world, p *plan.Plan) { p.Groups[1].Rows[0].End = 1001 }, "full", 702, "it was cut"},
		{"share topic grew", func(w *world, p *plan.Plan) {
			w.topics["a.s"] = TopicNow{Partitions: map[int32]PartitionNow{0: log0(1000), 1: log0(1000), 2: log0(1000)}}
			for i := range p.Groups[4].Rows {
				p.Groups[4].Rows[i].TargetTopic = "a.s"
			}
		}, "pool2", 702, "does not name a.s-2"},
		{"share group done something since", func(w *world, p *plan.Plan) {
			w.groups["pool"].open = map[kafka.TopicPartition]int64{tp("a.t", 0): 990}
			lag := int64(997)
			p.Groups[3].Rows[0].BeforeLag = &lag
		}, "pool", 702, "has done records of a.t-0 since the plan was made: 997 were open of a log to 1000, and 990 are of one to 1000"},
		{"refused by the plan", func(w *world, p *plan.Plan) {
			g := &p.Groups[1]
			g.Action, g.Refusal, g.Because = plan.Refused, 704, "would go back"
		}, "full", 704, "would go back"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, p := scene()
			tt.change(w, p)
			p.Seal()
			j := &paper{fuse: w.fuse}
			out, err := Run(t.Context(), p, w, nil, j, quick())
			if err != nil {
				t.Fatal(err)
			}
			if out.Result != Partial || !out.Partial || !out.Wrote {
				t.Errorf("result %s, wrote %v", out.Result, out.Wrote)
			}
			for _, g := range out.Groups {
				if g.Group != tt.group {
					if g.Action != Written && g.Action != Already {
						t.Errorf("%s: %s %s %s", g.Group, g.Action, g.Code, g.Because)
					}
					continue
				}
				if g.Action != Refused || g.Code != tt.code || !strings.Contains(g.Because, tt.because) {
					t.Errorf("%s %s %q", g.Action, g.Code, g.Because)
				}
				if tt.code == 701 && len(g.Holders) == 0 {
					t.Error("no holders")
				}
			}
			if n := slices.IndexFunc(w.writes, func(s string) bool { return strings.HasSuffix(s, " "+tt.group) }); n >= 0 {
				t.Errorf("%s", w.writes[n])
			}
			if !slices.Contains(out.Undo, "mm2doctor translate rollback j.json") {
				t.Errorf("undo %v", out.Undo)
			}
			// The same with --all-or-nothing: no writing request, no journal.
			w, p = scene()
			tt.change(w, p)
			p.Options.AllOrNothing = true
			p.Seal()
			j = &paper{fuse: w.fuse}
			out, err = Run(t.Context(), p, w, nil, j, quick())
			if err != nil || out.Result != Nothing || out.Wrote || len(w.writes) > 0 {
				t.Errorf("all or nothing: %v %+v %v", err, out.Summary, w.writes)
			}
			if !strings.Contains(tt.name, "right before the write") && j.b.Len() > 0 {
				t.Errorf("all or nothing: journal %s", j.b.String())
			}
		})
	}
}

// TestRefusedWhole: the whole plan is refused before anything but the cluster's id is asked.
func TestRefusedWhole(t *testing.T) {
	for _, tt := range []struct {
		name    string
		change  func(w *world, p *plan.Plan)
		seal    bool
		code    finding.Code
		because string
	}{
		{"changed by hand", func(w *world, p *plan.Plan) { *p.Groups[0].Rows[0].To++ }, false, 702, "digest"},
		{"old", func(w *world, p *plan.Plan) { p.Made = clock.Add(-61 * time.Minute).Format(time.RFC3339) }, true, 702, "61 min ago"},
		{"from the future", func(w *world, p *plan.Plan) { p.Made = clock.Add(61 * time.Minute).Format(time.RFC3339) }, true, 702, "future"},
		{"no time", func(w *world, p *plan.Plan) { p.Made = "yesterday" }, true, 702, "yesterday"},
		{"another cluster", func(w *world, p *plan.Plan) { w.id = "third" }, false, 703, "third"},
		{"the source", func(w *world, p *plan.Plan) { w.id = "source-id" }, false, 703, "source-id"},
		{"no id", func(w *world, p *plan.Plan) { p.To.ID = "" }, true, 703, "does not hold the cluster id"},
		{"a group twice", func(w *world, p *plan.Plan) { p.Groups[0].TargetGroup = "full" }, true, 702, "twice"},
	} {
		w, p := scene()
		tt.change(w, p)
		if tt.seal {
			p.Seal()
		}
		j := &paper{fuse: w.fuse}
		out, err := Run(t.Context(), p, w, nil, j, quick())
		if err != nil || out.Result != Nothing || out.Refusal == nil || out.Refusal.Code != tt.code || !strings.Contains(out.Refusal.Because, tt.because) || out.Refusal.Next == "" {
			t.Errorf("%s: %v %+v", tt.name, err, out.Refusal)
		}
		if len(w.writes) > 0 || j.b.Len() > 0 || w.readings > 0 {
			t.Errorf("%s: %v", tt.name, w.fuse.log)
		}
	}
}

// TestMovedByMirrorMaker: a pre-image that MirrorMaker 2 moved is accepted, noted, and what a rollback restores.
func TestMovedByMirrorMaker(t *testing.T) {
	for _, tt := range []struct {
		name string
		now  *plan.Committed
		mm2  int64
		o    func(string, plan.Row, plan.Committed) string
		ok   bool
	}{
		{"its own translation", at(30, -1, "old"), 30, nil, true},
		{"equal to the plan's own", at(55, -1, ""), 55, nil, true},
		{"above what is planned", at(57, -1, "old"), 57, nil, false},
		{"with an epoch", at(30, 2, "old"), 30, nil, false},
		{"another value", at(31, -1, "old"), 30, nil, false},
		{"explained by the caller", at(31, -1, "old"), 30, func(g string, r plan.Row, c plan.Committed) string {
			return fmt.Sprintf("%s %s-%d checkpoint %d", g, r.TargetTopic, r.Partition, c.Offset)
		}, true},
	} {
		for _, reading := range []int{1, 2, 3} {
			w, p := scene()
			p.Groups[1].Rows[0].MM2 = &tt.mm2
			p.Seal()
			w.meddle = func(n int) {
				if n == reading {
					w.groups["full"].offsets[tp("a.t", 0)] = *tt.now
				}
			}
			o := quick()
			o.Moved = tt.o
			j := &paper{fuse: w.fuse}
			out, err := Run(t.Context(), p, w, nil, j, o)
			if err != nil {
				t.Fatal(err)
			}
			g := out.Groups[1]
			if got := g.Action == Written; got != tt.ok {
				t.Errorf("%s, reading %d: %s %s %s", tt.name, reading, g.Action, g.Code, g.Because)
			}
			if !tt.ok {
				continue
			}
			if c := g.Partitions[0]; *c.Before != *tt.now || c.Remark == "" {
				t.Errorf("%s, reading %d: before %v, %q", tt.name, reading, c.Before, c.Remark)
			}
			_, l, err := j.reopen(t, w.fuse)
			if err != nil {
				t.Fatal(err)
			}
			w.meddle = nil
			if _, err := Rollback(t.Context(), l, w, &paper{fuse: w.fuse}, quick()); err != nil {
				t.Fatal(err)
			}
			if got := w.groups["full"].offsets[tp("a.t", 0)]; got != *tt.now {
				t.Errorf("%s, reading %d: rolled back to %+v", tt.name, reading, got)
			}
		}
	}
}

// TestLogStartMoved: T stays at or above the log start, and the plan in the journal says so.
func TestLogStartMoved(t *testing.T) {
	w, p := scene()
	w.topics["a.t"].Partitions[0] = PartitionNow{LogStart: 60, Stable: 1000, End: 1000, Epoch: 3}
	j := &paper{fuse: w.fuse}
	out, err := Run(t.Context(), p, w, nil, j, quick())
	if err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	if got := w.groups["full"].offsets[tp("a.t", 0)].Offset; got != 60 {
		t.Errorf("full is at %d", got)
	}
	if r := out.Groups[1].Partitions[0]; !strings.Contains(r.Remark, "log start to 60") || r.To.Offset != 60 {
		t.Errorf("%+v", r)
	}
	_, l, err := j.reopen(t, w.fuse)
	if err != nil || *l.Header.Plan.Groups[1].Rows[0].To != 60 || !l.Of(p) || l.Header.Plan.Digest == p.Digest {
		t.Errorf("%v", err)
	}
	if _, other := scene(); func() bool { other.Flow = "c->d"; other.Seal(); return l.Of(other) }() {
		t.Error("the journal is of another plan")
	}
	// The plan that was handed in stays as it is.
	if *p.Groups[1].Rows[0].To != 55 || p.Check() != nil {
		t.Error("the plan was changed")
	}
}

type elsewhere struct {
	offsets map[string]GroupNow
	ids     map[string]string
}

func (s elsewhere) Offsets(context.Context, []string) map[string]GroupNow { return s.offsets }
func (s elsewhere) TopicIDs(context.Context, []string) map[string]string  { return s.ids }

func sourceOf(p *plan.Plan) elsewhere {
	s := elsewhere{map[string]GroupNow{}, map[string]string{"t": "src-t"}}
	for i := range p.Groups {
		g := &p.Groups[i]
		now := GroupNow{Offsets: map[kafka.TopicPartition]OffsetNow{}}
		for k := range g.Rows {
			g.Rows[k].TopicID = "src-t"
			now.Offsets[tp("t", g.Rows[k].Partition)] = OffsetNow{Committed: *g.Rows[k].From}
		}
		s.offsets[g.Group] = now
	}
	p.Seal()
	return s
}

// TestSourceMoved: a source position that moved refuses its group, or has it planned anew.
func TestSourceMoved(t *testing.T) {
	w, p := scene()
	s := sourceOf(p)
	out, err := Run(t.Context(), p, w, s, &paper{fuse: w.fuse}, quick())
	if err != nil || out.Result != Done || w.state() != planned {
		t.Fatalf("nothing moved: %v %+v", err, out)
	}
	w, p = scene()
	s = sourceOf(p)
	s.offsets["full"].Offsets[tp("t", 0)] = OffsetNow{Committed: *at(61, 1, "kept")}
	s.offsets["half"] = GroupNow{Err: kafka.GroupAuthorizationFailed}
	out, err = Run(t.Context(), p, w, s, &paper{fuse: w.fuse}, quick())
	if err != nil || out.Result != Partial {
		t.Fatalf("%v %+v", err, out)
	}
	if g := out.Groups[1]; g.Code != 702 || !strings.Contains(g.Because, "was 60 when the plan was made and is 61 now") || !strings.Contains(g.Next, "--refresh") {
		t.Errorf("%+v", g)
	}
	if g := out.Groups[2]; g.Code != 3 || g.Action != Refused {
		t.Errorf("%+v", g)
	}
	// Given up: not compared.
	w, p = scene()
	p.From.Lost = true
	sourceOf(p)
	if out, err = Run(t.Context(), p, w, s, &paper{fuse: w.fuse}, quick()); err != nil || out.Result != Done {
		t.Errorf("lost: %v %+v", err, out)
	}
	// Nobody there: nothing is written, unless it is given up now, which is told.
	w, p = scene()
	was := w.state()
	for id := range s.offsets {
		s.offsets[id] = GroupNow{Err: errors.New("connection refused")}
	}
	var u *Unreached
	awake := quick()
	awake.Sleep = func(context.Context, time.Duration) error { t.Error("waits for nothing"); return nil }
	if out, err = Run(t.Context(), p, w, s, &paper{fuse: w.fuse}, awake); !errors.As(err, &u) || u.Cluster != p.From.Alias || out != nil || w.state() != was {
		t.Errorf("unreached: %v %+v", err, out)
	}
	given := quick()
	given.SourceLost = true
	if out, err = Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, given); err != nil || out.Result != Done || w.state() != planned || len(out.Remarks) != 1 || !strings.Contains(out.Remarks[0], "Not proved") {
		t.Errorf("given up: %v %+v", err, out)
	}
	// Planned anew.
	w, p = scene()
	s = sourceOf(p)
	s.offsets["full"].Offsets[tp("t", 0)] = OffsetNow{Committed: *at(61, 1, "kept")}
	o := quick()
	o.Refresh = func(_ context.Context, ids []string) ([]plan.Group, error) {
		if !slices.Equal(ids, []string{"full"}) {
			t.Errorf("asked for %v", ids)
		}
		g := p.Groups[1]
		g.Rows = slices.Clone(g.Rows)
		to := int64(56)
		g.Rows[0].From, g.Rows[0].To = at(61, 1, "kept"), &to
		return []plan.Group{g}, nil
	}
	j := &paper{fuse: w.fuse}
	if out, err = Run(t.Context(), p, w, s, j, o); err != nil || out.Result != Done || w.groups["full"].offsets[tp("a.t", 0)].Offset != 56 {
		t.Errorf("refresh: %v %+v %s", err, out, w.state())
	}
	if _, l, err := j.reopen(t, w.fuse); err != nil || *l.Header.Plan.Groups[1].Rows[0].To != 56 {
		t.Errorf("the journal has the old plan: %v", err)
	}
}

// TestPartialCommit: some partitions of one commit fail; the others are written, and the outcome says which.
func TestPartialCommit(t *testing.T) {
	for _, tt := range []struct {
		name  string
		err   error
		took  bool
		state State
		code  finding.Code
	}{
		{"metadata too large", kafka.OffsetMetadataTooLarge, false, Failed, 315},
		{"not allowed", kafka.TopicAuthorizationFailed, false, Failed, 306},
		{"no answer, not written", fmt.Errorf("connection reset"), false, Unknown, 712},
		{"no answer, written", fmt.Errorf("connection reset"), true, Written, 0},
		{"ok, and not written", nil, false, Written, 0},
	} {
		w, p := scene()
		w.broken = func(op, group string, k kafka.TopicPartition) (error, bool) {
			if group == "full" && k.Partition == 0 {
				return tt.err, tt.took
			}
			return nil, true
		}
		j := &paper{fuse: w.fuse}
		out, err := Run(t.Context(), p, w, nil, j, quick())
		if err != nil {
			t.Fatal(err)
		}
		g := out.Groups[1]
		if g.Partitions[0].Action != tt.state || g.Partitions[0].Code != tt.code || g.Partitions[1].Action != Written {
			t.Errorf("%s: %+v", tt.name, g)
		}
		if tt.state == Written {
			continue
		}
		if out.Result != Partial || !slices.Contains(out.Finish, "mm2doctor translate apply --resume j.json") {
			t.Errorf("%s: %s, finish %v", tt.name, out.Result, out.Finish)
		}
		// When the cause is gone, going on with the journal writes the rest.
		w.broken = nil
		j2, l, err := j.reopen(t, w.fuse)
		if err != nil {
			t.Fatal(err)
		}
		if out, err = Resume(t.Context(), l, w, nil, j2, quick()); err != nil || out.Result != Done || w.state() != planned {
			t.Errorf("%s: resumed: %v %+v\n%s", tt.name, err, out, w.state())
		}
	}
}

// TestReadBackDiffers: what is read back is compared whole; MirrorMaker 2 writing over it is named.
func TestReadBackDiffers(t *testing.T) {
	for _, tt := range []struct {
		found *plan.Committed
		code  finding.Code
	}{
		{at(54, -1, "kept"), 706}, {at(55, 0, "kept"), 706}, {at(55, -1, ""), 706}, {at(50, -1, "kept"), 710},
	} {
		w, p := scene()
		mm2 := int64(50)
		p.Groups[1].Rows[0].MM2 = &mm2
		p.Seal()
		w.meddle = func(n int) {
			if n == 4 { // read back of the first chunk
				w.groups["full"].offsets[tp("a.t", 0)] = *tt.found
			}
		}
		out, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick())
		if err != nil {
			t.Fatal(err)
		}
		if g := out.Groups[1]; g.Action != Differs || g.Code != tt.code || out.Result != Partial || *g.Partitions[0].Found != *tt.found {
			t.Errorf("%+v: %+v", tt.found, g)
		}
	}
}

// TestJournalFull: when the journal can no longer be written, nothing more goes to Kafka, and all can be resumed or taken back.
func TestJournalFull(t *testing.T) {
	for full := 1; full <= 11; full++ {
		w, p := scene()
		before := w.state()
		j := &paper{fuse: w.fuse, full: full}
		out, err := Run(t.Context(), p, w, nil, j, quick())
		if err != nil {
			t.Fatal(err)
		}
		if full <= 2 && (out.Result != Nothing || len(w.writes) > 0 || out.Refusal == nil || out.Refusal.Code != 711) {
			t.Errorf("full at %d: %+v %v", full, out.Refusal, w.writes)
		}
		if full > 2 && out.Result != Partial {
			t.Errorf("full at %d: %s", full, out.Result)
		}
		j2, l, err := j.reopen(t, w.fuse)
		if full == 1 {
			continue
		}
		if err != nil {
			t.Fatalf("full at %d: %v", full, err)
		}
		if full%2 == 0 {
			if out, err := Resume(t.Context(), l, w, nil, j2, quick()); err != nil || out.Result != Done || w.state() != planned {
				t.Errorf("full at %d, resumed: %v %+v", full, err, out)
			}
			if _, l, err = j2.reopen(t, w.fuse); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Rollback(t.Context(), l, w, &paper{fuse: w.fuse}, quick()); err != nil || w.state() != before {
			t.Errorf("full at %d, back: %v\n%s", full, err, w.state())
		}
	}
}

// TestStampEpoch: the epoch that is committed is proved before and after.
func TestStampEpoch(t *testing.T) {
	run := func(ends map[EpochQuery]int64, meddle func(w *world, n int)) (*world, *Outcome) {
		w, p := scene()
		p.Options.StampEpoch = true
		p.Groups[1].Rows[0].Epoch = 2
		p.Seal()
		w.ends = ends
		w.meddle = func(n int) { meddle(w, n) }
		out, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick())
		if err != nil {
			t.Fatal(err)
		}
		return w, out
	}
	ends := func() map[EpochQuery]int64 {
		return map[EpochQuery]int64{{tp("a.t", 0), 2}: 55, {tp("a.t", 0), 3}: 1000, {tp("a.t", 1), 3}: 1000}
	}
	nobody := func(*world, int) {}
	w, out := run(ends(), nobody)
	if got := w.groups["full"].offsets; got[tp("a.t", 0)] != *at(55, 2, "kept") || got[tp("a.t", 1)] != *at(56, 3, "") || out.Result != Done {
		t.Errorf("%+v", got)
	}
	if g := w.groups["pool"].offsets[tp("a.t", 0)]; g.Epoch != -1 {
		t.Errorf("share group with epoch %d", g.Epoch)
	}
	e := ends()
	e[EpochQuery{tp("a.t", 0), 2}] = 54
	if w, out = run(e, nobody); w.groups["full"].offsets[tp("a.t", 0)] != *at(55, -1, "kept") || !strings.Contains(out.Groups[1].Partitions[0].Remark, "ends at 54") {
		t.Errorf("not proved: %+v %+v", w.groups["full"].offsets, out.Groups[1])
	}
	e = ends()
	_, out = run(e, func(w *world, n int) {
		if n == 4 {
			e[EpochQuery{tp("a.t", 0), 2}] = 50
		}
	})
	if g := out.Groups[1]; g.Code != 311 || g.Action != Differs {
		t.Errorf("cut after the write: %+v", g)
	}
}

// TestRollbackLeaves: only what still holds the written value goes back.
func TestRollbackLeaves(t *testing.T) {
	w, p := scene()
	j := &paper{fuse: w.fuse}
	if _, err := Run(t.Context(), p, w, nil, j, quick()); err != nil {
		t.Fatal(err)
	}
	_, l, err := j.reopen(t, w.fuse)
	if err != nil {
		t.Fatal(err)
	}
	w.groups["full"].offsets[tp("a.t", 0)] = *at(58, 3, "")    // consumed
	w.groups["absent"].offsets[tp("a.t", 1)] = *at(99, -1, "") // somebody else
	w.groups["half"].holders = []string{"c at /h"}             // taken over
	delete(w.groups["pool"].offsets, tp("a.t", 0))             // gone
	out, err := Rollback(t.Context(), l, w, &paper{fuse: w.fuse}, quick())
	if err != nil || out.Result != Partial {
		t.Fatalf("%v %+v", err, out)
	}
	want := `absent classic: a.t-1=99/-1/""
full classic: a.t-0=58/3/"" a.t-1=6/-1/"" other-0=1/0/""
half consumer: a.t-0=65/-1/"" a.t-1=66/-1/""
pool share:
same classic: a.t-0=100/-1/"m"
`
	if w.state() != want {
		t.Errorf("%s", w.state())
	}
	by := map[string]GroupOutcome{}
	for _, g := range out.Groups {
		by[g.Group] = g
	}
	if g := by["half"]; g.Action != Refused || g.Code != 701 || !slices.Equal(g.Holders, []string{"c at /h"}) {
		t.Errorf("%+v", g)
	}
	if g := by["full"]; g.Partitions[0].Action != Left || g.Partitions[0].Code != 702 || g.Partitions[1].Action != Written {
		t.Errorf("%+v", g)
	}
	if s := out.Summary.Partitions; s.Left != 3 || s.Refused != 2 {
		t.Errorf("%+v", s)
	}
}

// TestResumeChangedMeanwhile: a third value after the death refuses the group.
func TestResumeChangedMeanwhile(t *testing.T) {
	w, p := scene()
	w.fuse.at, w.fuse.after = 9, true // the commit of "full"
	j := &paper{fuse: w.fuse}
	if !mortal(func() { _, _ = Run(t.Context(), p, w, nil, j, quick()) }) || w.fuse.log[8] != "commit full" {
		t.Fatalf("%v", w.fuse.log)
	}
	w.fuse.at = 0
	w.groups["full"].offsets[tp("a.t", 0)] = *at(57, 3, "")
	w.groups["absent"].offsets[tp("a.t", 0)] = *at(39, -1, "")
	j2, l, err := j.reopen(t, w.fuse)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Resume(t.Context(), l, w, nil, j2, quick())
	if err != nil || out.Result != Partial {
		t.Fatalf("%v %+v", err, out)
	}
	for _, i := range []int{0, 1} {
		if g := out.Groups[i]; g.Action != Refused || g.Code != 702 || !strings.Contains(g.Because, "neither") {
			t.Errorf("%+v", g)
		}
	}
	if g := out.Groups[2]; g.Action != Written {
		t.Errorf("%+v", g)
	}
}

// TestResumeFinished: a run that had come to its end is said to be finished, whoever moved what it wrote since, and nothing is written.
func TestResumeFinished(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*world)
		moved  int
		says   string // of the first that moved
	}{
		{"nothing moved", func(*world) {}, 0, ""},
		{"consumers went on and left", func(w *world) { w.groups["full"].offsets[tp("a.t", 0)] = *at(60, 3, "") }, 1, "moved since, to 60 (epoch 3): it moved forward and has a leader epoch"},
		{"consumers read", func(w *world) {
			w.groups["full"].offsets[tp("a.t", 0)] = *at(60, 3, "")
			w.groups["full"].holders = []string{"c at /h"}
		}, 1, "its consumers have taken over; it holds 60"},
		{"consumers of a group that was right already", func(w *world) {
			w.groups["same"].offsets[tp("a.t", 0)] = *at(101, 3, "")
			w.groups["same"].holders = []string{"c at /h"}
		}, 1, "its consumers have taken over; it holds 101"},
		{"consumers that have not committed yet", func(w *world) {
			w.groups["same"].holders, w.groups["full"].holders = []string{"c at /h"}, []string{"c at /h"}
		}, 0, ""},
		{"a tool set it back", func(w *world) { w.groups["full"].offsets[tp("a.t", 1)] = *at(2, -1, "") }, 1, "moved since, to 2: planned was 56; no member"},
		{"taken back", func(w *world) { w.groups["full"].offsets[tp("a.t", 0)] = *at(5, 2, "old") }, 1, "moved since, to 5 (epoch 2, metadata \"old\"): it is what stood there before"},
		{"what was right already", func(w *world) { w.groups["same"].offsets[tp("a.t", 0)] = *at(120, 3, "") }, 1, "moved since, to 120"},
		{"two groups", func(w *world) {
			w.groups["half"].offsets[tp("a.t", 1)] = *at(67, 3, "")
			w.groups["absent"].offsets[tp("a.t", 0)] = *at(44, 3, "")
		}, 2, "moved since, to 44"},
	} {
		w, p := scene()
		j := &paper{fuse: w.fuse}
		if out, err := Run(t.Context(), p, w, nil, j, quick()); err != nil || out.Result != Done || out.Finished {
			t.Fatalf("%v %+v", err, out)
		}
		tt.change(w)
		j2, l, err := j.reopen(t, w.fuse)
		if err != nil {
			t.Fatal(err)
		}
		was, writes := w.state(), len(w.writes)
		o := quick()
		o.Sleep = func(context.Context, time.Duration) error {
			t.Errorf("%s: waits although nothing is to be written", tt.name)
			return nil
		}
		out, err := Resume(t.Context(), l, w, nil, j2, o)
		if err != nil || out.Result != Done || !out.Finished || w.state() != was || len(w.writes) != writes {
			t.Fatalf("%s: %v %+v", tt.name, err, out)
		}
		var moved []string
		for _, g := range out.Groups {
			for _, r := range g.Partitions {
				if r.Moved {
					moved = append(moved, r.Remark)
				}
			}
		}
		if len(moved) != tt.moved || tt.moved > 0 && !strings.HasPrefix(moved[0], tt.says) {
			t.Errorf("%s: %q", tt.name, moved)
		}
	}
}

// TestResumeTakenOver: consumers have begun before the run is resumed.
func TestResumeTakenOver(t *testing.T) {
	for _, tt := range []struct {
		now   *plan.Committed
		state State
		group State
	}{
		{at(55, -1, "kept"), Written, Written},
		{at(60, 3, ""), Unknown, Unknown},
		{at(5, 2, "old"), Refused, Partly},
	} {
		w, p := scene()
		w.fuse.at, w.fuse.after = 9, true // the commit of "full"
		j := &paper{fuse: w.fuse}
		mortal(func() { _, _ = Run(t.Context(), p, w, nil, j, quick()) })
		w.fuse.at = 0
		w.groups["full"].holders = []string{"c at /h"}
		w.groups["full"].offsets[tp("a.t", 0)] = *tt.now
		j2, l, err := j.reopen(t, w.fuse)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Resume(t.Context(), l, w, nil, j2, quick())
		if err != nil {
			t.Fatal(err)
		}
		if g := out.Groups[1]; g.Action != tt.group || g.Partitions[0].Action != tt.state || g.Partitions[1].Action != Written {
			t.Errorf("%+v: %+v", tt.now, g)
		}
		// Again: what the journal has verified is not asked of the consumers any more.
		j3, l, err := j2.reopen(t, w.fuse)
		if err != nil {
			t.Fatal(err)
		}
		w.groups["full"].offsets[tp("a.t", 1)] = *at(99, 3, "")
		if out, err = Resume(t.Context(), l, w, nil, j3, quick()); err != nil || out.Groups[1].Partitions[1].Action != Written {
			t.Errorf("%v %+v", err, out.Groups[1])
		}
	}
}

// TestResumeOld: a plan that is too old is read back and not written on.
func TestResumeOld(t *testing.T) {
	w, p := scene()
	w.fuse.at, w.fuse.after = 9, true
	j := &paper{fuse: w.fuse}
	mortal(func() { _, _ = Run(t.Context(), p, w, nil, j, quick()) })
	w.fuse.at = 0
	j2, l, err := j.reopen(t, w.fuse)
	if err != nil {
		t.Fatal(err)
	}
	before := w.state()
	o := quick()
	o.Now = func() time.Time { return clock.Add(2 * time.Hour) }
	out, err := Resume(t.Context(), l, w, nil, j2, o)
	if err != nil || out.Result != Partial || w.state() != before {
		t.Fatalf("%v %+v", err, out)
	}
	if s := out.Summary.Groups; s.Written != 2 || s.Refused != 3 || s.Already != 1 {
		t.Errorf("%+v", s)
	}
	if g := out.Groups[2]; g.Code != 702 || !strings.Contains(g.Because, "ago") {
		t.Errorf("%+v", g)
	}
}

// TestAgain: the same plan once more finds everything in place and writes nothing.
func TestAgain(t *testing.T) {
	w, p := scene()
	if _, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick()); err != nil {
		t.Fatal(err)
	}
	w.writes = nil
	j := &paper{fuse: w.fuse}
	out, err := Run(t.Context(), p, w, nil, j, quick())
	if err != nil || out.Result != Done || out.Wrote || out.Summary.Partitions.Already != 11 || len(w.writes) > 0 || j.b.Len() > 0 {
		t.Errorf("%v %+v %v", err, out, w.writes)
	}
}

// TestInterrupted: a context that ends stops before the next group; what was sent is read back and noted.
func TestInterrupted(t *testing.T) {
	w, p := scene()
	ctx, cancel := context.WithCancel(t.Context())
	w.broken = func(op, group string, k kafka.TopicPartition) (error, bool) {
		if group == "absent" {
			cancel()
		}
		return nil, true
	}
	j := &paper{fuse: w.fuse}
	out, err := Run(ctx, p, w, nil, j, quick())
	if err != nil || out.Result != Partial || out.Groups[0].Action != Written || out.Groups[1].Action != Refused {
		t.Fatalf("%v %+v", err, out)
	}
	w.broken = nil
	j2, l, err := j.reopen(t, w.fuse)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := Resume(t.Context(), l, w, nil, j2, quick()); err != nil || out.Result != Done || w.state() != planned {
		t.Errorf("%v %+v", err, out)
	}
}

// TestParallel: side by side gives the same as one after another.
func TestParallel(t *testing.T) {
	w, p := scene()
	o := quick()
	o.Chunk = 50
	if out, err := Run(t.Context(), p, locked(w), nil, &paper{fuse: &fuse{}}, o); err != nil || out.Result != Done {
		t.Fatal(err)
	}
	one := w.state()
	w, p = scene()
	o.Parallel = 4
	if out, err := Run(t.Context(), p, locked(w), nil, &paper{fuse: &fuse{}}, o); err != nil || out.Result != Done || w.state() != one || one != planned {
		t.Errorf("%v\n%s", err, w.state())
	}
}

// TestShareAnew: a share group that is to go back to the start that it still has is written all the same, since its
// acknowledgements lie beyond; and growth of the log is nobody's doing.
func TestShareAnew(t *testing.T) {
	w, p := scene()
	r := &p.Groups[3].Rows[0]
	to, lag := int64(3), int64(500)
	r.To, r.BeforeLag = &to, &lag
	w.topics["a.t"] = TopicNow{ID: "id-t", Partitions: map[int32]PartitionNow{0: log0(1100), 1: log0(1000)}}
	w.groups["pool"].open = map[kafka.TopicPartition]int64{tp("a.t", 0): 600}
	p.Seal()
	out, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick())
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range out.Groups {
		if g.Group == "pool" && (g.Action != Written || g.Partitions[0].Action != Written) {
			t.Errorf("%+v", g)
		}
	}
}
