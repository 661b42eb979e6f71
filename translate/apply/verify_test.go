package apply

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// TestVerify: one change after the plan was applied, and what is said of "full" a.t-0, planned 55.
func TestVerify(t *testing.T) {
	put := func(c *plan.Committed) func(w *world) {
		return func(w *world) { w.groups["full"].offsets[tp("a.t", 0)] = *c }
	}
	for _, tt := range []struct {
		name    string
		change  func(w *world)
		want    Verdict
		code    finding.Code
		because string
	}{
		{"nothing", func(w *world) {}, Holds, 0, ""},
		{"members, not yet committed", func(w *world) { w.groups["full"].holders = []string{"c at /h"} }, Holds, 0, "has members"},
		{"members, moved forward", func(w *world) {
			put(at(60, 3, ""))(w)
			w.groups["full"].holders = []string{"c at /h"}
		}, TakenOver, 0, "c at /h"},
		{"members, moved back", func(w *world) {
			put(at(50, 3, ""))(w)
			w.groups["full"].holders = []string{"c at /h"}
		}, TakenOver, 0, "went back"},
		{"consumed and left", put(at(60, 3, "")), TakenOver, 0, "moved forward"},
		{"consumed nothing and left", put(at(55, 3, "")), TakenOver, 0, "same offset"},
		{"MirrorMaker 2, forward", put(at(58, -1, "kept")), ByMM2, 710, "MirrorMaker 2"},
		{"MirrorMaker 2, explained", put(at(33, -1, "kept")), ByMM2, 710, "checkpoint 33"},
		{"a tool, forward", put(at(60, -1, "")), Other, 706, "somebody else"},
		{"a tool, back", put(at(7, -1, "")), Other, 706, "somebody else"},
		{"taken back", put(at(5, -1, "")), Other, 706, "stood there before the plan"},
		{"consumed without an epoch and left", func(w *world) {
			put(at(60, -1, ""))(w)
			w.groups["full"].had = "consumer"
		}, TakenOver, 0, "has had consumers here"},
		{"metadata", put(at(55, -1, "")), Other, 706, "somebody else"},
		{"offset gone", func(w *world) { delete(w.groups["full"].offsets, tp("a.t", 0)) }, Gone, 706, "no offset"},
		{"group gone", func(w *world) { delete(w.groups, "full") }, Gone, 706, "not on this cluster"},
		{"topic gone", func(w *world) {
			delete(w.groups["full"].offsets, tp("a.t", 0))
			delete(w.topics, "a.t")
		}, Gone, 406, "not on this cluster any more"},
		{"topic new", func(w *world) {
			delete(w.groups["full"].offsets, tp("a.t", 0))
			w.topics["a.t"] = TopicNow{ID: "other"}
		}, Gone, 406, "created anew"},
	} {
		w, p := scene()
		mm2 := int64(58)
		p.Groups[1].Rows[0].MM2 = &mm2
		p.Seal()
		if out, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick()); err != nil || out.Result != Done {
			t.Fatalf("%v %+v", err, out)
		}
		tt.change(w)
		w.writes = nil
		o := quick()
		o.Now = func() time.Time { return clock.Add(72 * time.Hour) }
		o.Moved = func(g string, r plan.Row, c plan.Committed) string {
			if c.Offset == 33 {
				return fmt.Sprintf("checkpoint %d", c.Offset)
			}
			return ""
		}
		v, err := Verify(t.Context(), p, w, o)
		if err != nil {
			t.Fatal(err)
		}
		r := v.Groups[1].Partitions[0]
		if r.Verdict != tt.want || r.Code != tt.code || !strings.Contains(r.Because, tt.because) {
			t.Errorf("%s: %+v", tt.name, r)
		}
		if total := v.Summary.Holds + v.Summary.TakenOver + v.Summary.ByMM2 + v.Summary.Other + v.Summary.Gone; total != 11 {
			t.Errorf("%s: %+v", tt.name, v.Summary)
		}
		if good := tt.want == Holds || tt.want == TakenOver; v.Summary.Good() != good {
			t.Errorf("%s: good %v", tt.name, v.Summary.Good())
		}
		if len(w.writes) > 0 {
			t.Errorf("%s: %v", tt.name, w.writes)
		}
	}
}

// TestVerifyEpoch: a stamped epoch holds as long as its end is at or above the offset.
func TestVerifyEpoch(t *testing.T) {
	w, p := scene()
	p.Options.StampEpoch = true
	p.Seal()
	w.ends = map[EpochQuery]int64{{tp("a.t", 0), 3}: 1000, {tp("a.t", 1), 3}: 1000}
	if out, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick()); err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	if v, err := Verify(t.Context(), p, w, quick()); err != nil || v.Summary.Holds != 11 {
		t.Errorf("%v %+v", err, v)
	}
	w.ends[EpochQuery{tp("a.t", 0), 3}] = 54
	v, err := Verify(t.Context(), p, w, quick())
	if err != nil || v.Groups[1].Partitions[0].Code != 311 || v.Groups[0].Partitions[0].Verdict != Holds {
		t.Errorf("%v %+v", err, v)
	}
}

// TestVerifyWhole: another cluster is refused; a plan changed by hand, too.
func TestVerifyWhole(t *testing.T) {
	w, p := scene()
	w.id = "third"
	if v, err := Verify(t.Context(), p, w, quick()); err != nil || v.Refusal == nil || v.Refusal.Code != 703 {
		t.Errorf("%v %+v", err, v)
	}
	w.id = "target-id"
	w.groups["full"].kind = kafka.TypeClassic
	*p.Groups[0].Rows[0].To++
	if v, err := Verify(t.Context(), p, w, quick()); err != nil || v.Refusal == nil || v.Refusal.Code != 702 {
		t.Errorf("%v %+v", err, v)
	}
}
