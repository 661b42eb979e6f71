package read

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/mm2doctor/mm2doctor/translate"
	"github.com/mm2doctor/mm2doctor/translate/match"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/mm2doctor/mm2doctor/translate/ranges"
)

func locate(t testing.TB, w *world, ps []plan.Position, o Options) ([]plan.Answer, Stats) {
	t.Helper()
	as, st, err := Locate(t.Context(), w.clusters(), ps, o)
	if err != nil {
		t.Fatal(err)
	}
	if len(as) != len(ps) {
		t.Fatalf("%d answers to %d positions", len(as), len(ps))
	}
	return as, st
}

// check holds answers against the truth: records exact where wanted, never a skip, ranges around it.
func check(t *testing.T, w *world, ps []plan.Position, as []plan.Answer, exact bool) {
	t.Helper()
	for i, a := range as {
		want := w.want(ps[i])
		at := fmt.Sprintf("partition %d offset %d", ps[i].From.Partition, ps[i].Offset)
		if a.Range != nil && (a.Range.Low > want || a.Range.High < want) {
			t.Errorf("%s: range [%d, %d] does not hold %d (%+v)", at, a.Range.Low, a.Range.High, want, *a.Range)
		}
		switch {
		case a.Records == nil && exact:
			t.Errorf("%s: no records: %s", at, a.Why)
		case a.Records == nil && a.Why == "":
			t.Errorf("%s: nothing, and no reason", at)
		case a.Records == nil:
		case a.Records.T > want:
			t.Errorf("%s: %d skips %d (%v, %s)", at, a.Records.T, a.Records.T-want, a.Records.Verdict, a.Records.Why)
		case exact && (a.Records.T != want || a.Records.Verdict != match.Exact):
			t.Errorf("%s: %d is not %d: %v, %s", at, a.Records.T, want, a.Records.Verdict, a.Records.Why)
		}
	}
}

func TestExact(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		s    shape
	}{
		{"near syncs", shape{partitions: 3, records: 1500, every: 100}},
		{"one payload", shape{partitions: 2, records: 800, every: 100, payload: same}},
		{"copies missing", shape{partitions: 2, records: 1000, every: 50, thin: 0.2}},
		{"few syncs", shape{partitions: 2, records: 1500, every: 1000}},
		{"no syncs", shape{partitions: 2, records: 600, noSyncs: true}},
		{"syncs of two set-ups", shape{partitions: 2, records: 800, every: 50, twin: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := mirror(t, 7, c.s)
			ps := w.positions(8, 120)
			as, st := locate(t, w, ps, Options{Records: true})
			exact := !strings.Contains(c.name, "set-ups") && c.name != "no syncs"
			check(t, w, ps, as, exact)
			for i, a := range as {
				if c.s.noSyncs || c.s.twin {
					if a.Range != nil {
						t.Errorf("a range without syncs that can be trusted: %+v", *a.Range)
					}
				} else if a.Range == nil && ps[i].Offset > 0 {
					t.Errorf("no range for %d: %s", ps[i].Offset, a.Why)
				}
			}
			if c.s.twin && len(st.Syncs[0].Shared) != 2 {
				t.Errorf("shared: %v", st.Syncs[0].Shared)
			}
		})
	}
}

func TestEnds(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 1, records: 300, every: 100})
	ps := []plan.Position{w.position("g", 0, 300), w.position("g", 0, 0), w.position("g", 0, 5000)}
	ps[0].Also = []int64{290, 303, 0}
	as, _ := locate(t, w, ps, Options{Records: true})
	if s := *as[0].Source; s != (match.Bounds{Start: 0, Stable: 300, End: 300}) {
		t.Errorf("source %+v", s)
	}
	if d := *as[0].Target; d != (match.Bounds{Start: 0, Stable: 303, End: 303}) {
		t.Errorf("target %+v", d)
	}
	if as[0].Records.T != 303 || as[2].Records.T != 303 || as[1].Records.T != 3 {
		t.Errorf("%d %d %d", as[0].Records.T, as[2].Records.T, as[1].Records.T)
	}
	want := []plan.Count{{Offset: 290, ReRead: 13, Known: true}, {Offset: 303, Known: true}, {Offset: 0, ReRead: 303, Known: true}}
	for i, c := range as[0].Also {
		if c != want[i] {
			t.Errorf("also %+v, want %+v", c, want[i])
		}
	}
}

func TestWithoutRecords(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 1, records: 300, every: 100})
	p := w.position("g", 0, 150)
	p.Also = []int64{140}
	as, st := locate(t, w, []plan.Position{p}, Options{})
	a := as[0]
	if a.Records != nil || a.Range == nil || a.Range.Low != 104 || a.Range.High != 203 || a.Range.Open || a.Range.Syncs != 3 || a.Why == "" {
		t.Errorf("%+v %+v", a, a.Range)
	}
	if a.Also[0] != (plan.Count{Offset: 140, ReRead: 63, Skipped: 36}) {
		t.Errorf("%+v", a.Also)
	}
	if len(st.Clusters) != 0 {
		t.Errorf("read %+v", st.Clusters)
	}
}

func TestSourceLost(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 1, records: 300, every: 100})
	// The syncs lie on the target, as with offset-syncs.topic.location=target.
	w.b.topic(t, syncsTopic, 1)
	w.b.produce(t, syncRecord(t, 0, 0, 3), syncRecord(t, 0, 100, 103), syncRecord(t, 0, 200, 203))
	p := w.position("g", 0, 150)
	p.Syncs.Cluster = "b"
	as, _, err := Locate(t.Context(), []Cluster{{Alias: "a"}, {"b", w.b.read}}, []plan.Position{p}, Options{Records: true})
	if err != nil {
		t.Fatal(err)
	}
	a := as[0]
	if a.Source != nil || a.Records != nil || a.Range == nil || a.Target == nil || !strings.Contains(a.Why, "cluster a was given up") {
		t.Errorf("%+v", a)
	}
	if r := a.Range; r.Low != 153 || r.High != 153 || !r.Counted {
		t.Errorf("the target's records between the syncs tell the place: %+v", r)
	}
	// The same from a captured snapshot, where the syncs were lost with the source; its bound ends with the log as it is now.
	older := Options{Records: true, Older: func(plan.Position) (ranges.Locator, int, int64) {
		return ranges.Of([]translate.Sync{{Upstream: 0, Downstream: 3}, {Upstream: 100, Downstream: 103, Offset: 1}, {Upstream: 200, Downstream: 203, Offset: 2}}, ranges.Lost{}), 3, 77
	}}
	p.Syncs.Cluster = "a"
	q := p
	q.Offset = 250
	if as, _, err = Locate(t.Context(), []Cluster{{Alias: "a"}, {"b", w.b.read}}, []plan.Position{p, q}, older); err != nil {
		t.Fatal(err)
	}
	if r := as[0].Range; r == nil || r.Low != 153 || r.High != 153 || !r.Counted || r.Look != 77 || r.Syncs != 3 {
		t.Errorf("by a captured snapshot: %+v", r)
	}
	if r := as[1].Range; r == nil || !r.Open || r.Low != 204 || r.High > 303 || r.Look != 77 {
		t.Errorf("after its newest sync: %+v", r)
	}
	if as, _, err = Locate(t.Context(), []Cluster{{"a", w.a.read}, {"b", w.b.read}}, []plan.Position{{Group: "g", From: p.From, To: p.To, Offset: 150}}, older); err != nil || as[0].Range != nil {
		t.Errorf("a source that answers is not given up: %+v %v", as[0].Range, err)
	}
	p.Syncs.Cluster = "b"
	if _, _, err = Locate(t.Context(), []Cluster{{"a", w.a.read}, {Alias: "b"}}, []plan.Position{p}, Options{}); err == nil {
		t.Error("a target that is not there must fail")
	}
}

func TestTargetUnreachable(t *testing.T) {
	t.Parallel()
	w := mirror(t, 3, shape{partitions: 1, records: 20, every: 10})
	w.b.Close()
	_, _, err := Locate(t.Context(), w.clusters(), []plan.Position{w.position("g", 0, 5)}, Options{Records: true})
	if err == nil || !strings.Contains(err.Error(), "cluster b") {
		t.Errorf("%v", err)
	}
}

func TestTopicMissing(t *testing.T) {
	t.Parallel()
	w := mirror(t, 3, shape{partitions: 1, records: 20, every: 10})
	p, q := w.position("g", 0, 5), w.position("g", 0, 5)
	p.To.Topic, p.Also = "a.absent", []int64{7}
	q.From.Topic = "absent"
	as, _ := locate(t, w, []plan.Position{p, q, w.position("g", 0, 5)}, Options{Records: true})
	if as[0].Target != nil || as[0].Range != nil || as[0].Records != nil || !strings.Contains(as[0].Why, "a.absent-0 does not exist on cluster b") {
		t.Errorf("%+v", as[0])
	}
	if len(as[0].Also) != 1 || as[0].Also[0] != (plan.Count{Offset: 7, ReRead: -1, Skipped: -1}) {
		t.Errorf("%+v", as[0].Also)
	}
	if as[1].Source != nil || as[1].Range == nil || as[1].Records != nil || !strings.Contains(as[1].Why, "absent-0 does not exist on cluster a") {
		t.Errorf("%+v", as[1])
	}
	if as[2].Records == nil || as[2].Records.T != 8 {
		t.Errorf("the others are answered: %+v", as[2])
	}
}

// TestDenied refuses reading the records of one topic.
func TestDenied(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 1, records: 200, every: 50})
	w.a.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.a.KeepControl()
		if !orders(req) {
			return nil, nil, false
		}
		return refuse(req, 29), nil, true
	})
	ps := w.positions(1, 5)
	as, _ := locate(t, w, ps, Options{Records: true})
	for _, a := range as {
		if a.Records != nil || a.Range == nil || !strings.Contains(a.Why, "TOPIC_AUTHORIZATION_FAILED") {
			t.Errorf("%+v", a)
		}
	}
	check(t, w, ps, as, false)
}

func TestBudget(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 4, records: 3000, every: 100})
	ps := w.positions(1, 200)
	as, st := locate(t, w, ps, Options{Records: true, Budget: Budget{Bytes: 300 << 10}, PageBytes: 16 << 10})
	check(t, w, ps, as, false)
	whys := 0
	for _, a := range as {
		if a.Range == nil {
			t.Errorf("no range: %s", a.Why)
		}
		if a.Records == nil {
			if !strings.Contains(a.Why, "read budget of 300KB is used up") {
				t.Errorf("why: %s", a.Why)
			}
			whys++
		}
	}
	if whys == 0 || whys == len(as) || st.Spent == "" || st.Compared != len(as)-whys {
		t.Errorf("%d of %d not compared; %+v", whys, len(as), st)
	}
	as, st = locate(t, w, ps, Options{Records: true, Budget: Budget{Time: time.Nanosecond}})
	for _, a := range as {
		if a.Records != nil || a.Range == nil || !strings.Contains(a.Why, "read budget of 1ns is used up") {
			t.Errorf("%+v", a)
		}
	}
	if st.Spent == "" {
		t.Errorf("%+v", st)
	}
}

// TestBrokerDies lets one of the source's brokers go in the middle of reading records: its partitions say so, the others are
// answered, and it is not waited for once more for each position.
func TestBrokerDies(t *testing.T) {
	t.Parallel()
	w := mirror(t, 3, shape{partitions: 6, records: 2000, every: 100})
	for p := range int32(6) { // kfake places leaders at random
		if err := w.a.MoveTopicPartition("orders", p, p%2); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	w.a.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.a.KeepControl()
		if orders(req) && w.a.CurrentNode() == 1 {
			if n++; n > 2 {
				return nil, errors.New("gone"), true
			}
		}
		return nil, nil, false
	})
	ps := w.positions(1, 300)
	as, st := locate(t, w, ps, Options{Records: true, Parallel: 2, PageBytes: 16 << 10})
	check(t, w, ps, as, false)
	if st.Compared == 0 || st.Compared == len(ps) {
		t.Errorf("%d of %d compared", st.Compared, len(ps))
	}
	by := map[int32]map[string]bool{}
	for i, a := range as {
		if a.Range == nil {
			t.Errorf("no range: %+v", a)
		}
		if a.Records == nil {
			p := ps[i].From.Partition
			if by[p] == nil {
				by[p] = map[string]bool{}
			}
			by[p][a.Why] = true
			if !strings.Contains(a.Why, "cluster a: Fetch of orders-") || !strings.Contains(a.Why, "broker") {
				t.Errorf("%s", a.Why)
			}
		}
	}
	for p, whys := range by {
		if len(whys) != 1 || w.a.LeaderFor("orders", p) != 1 {
			t.Errorf("partition %d: %v", p, whys)
		}
	}
}

func TestReverse(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 2, records: 900, every: 100})
	var ps []plan.Position
	for _, p := range w.positions(4, 50) {
		p.From, p.To, p.Offset, p.Syncs.Swapped = p.To, p.From, w.want(p), true
		ps = append(ps, p)
	}
	as, _ := locate(t, w, ps, Options{Records: true})
	for i, a := range as {
		want := ps[i].Offset - 3 - int64(ps[i].From.Partition)
		if a.Records == nil || a.Records.T != want {
			t.Errorf("%d: %+v, want %d", ps[i].Offset, a, want)
		}
		if a.Range != nil && (a.Range.Low > want || a.Range.High < want) {
			t.Errorf("range %+v", a.Range)
		}
	}
}

// orders says whether a Fetch is about user records of the source.
func orders(req kmsg.Request) bool {
	for _, t := range req.(*kmsg.FetchRequest).Topics {
		if t.Topic != "orders" {
			return false
		}
	}
	return true
}

func refuse(req kmsg.Request, code int16) kmsg.Response {
	resp := req.ResponseKind().(*kmsg.FetchResponse)
	for _, t := range req.(*kmsg.FetchRequest).Topics {
		rt := kmsg.NewFetchResponseTopic()
		rt.Topic, rt.TopicID = t.Topic, t.TopicID
		for _, p := range t.Partitions {
			rp := kmsg.NewFetchResponseTopicPartition()
			rp.Partition, rp.ErrorCode = p.Partition, code
			rt.Partitions = append(rt.Partitions, rp)
		}
		resp.Topics = append(resp.Topics, rt)
	}
	return resp
}

// TestHeadRemoved has retention take the head of the log between the look at its ends and the reading.
func TestHeadRemoved(t *testing.T) {
	t.Parallel()
	for _, times := range []int{1, 100} {
		w := mirror(t, 3, shape{partitions: 1, records: 200, every: 50})
		n := 0
		w.a.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
			w.a.KeepControl()
			if !orders(req) || n >= times {
				return nil, nil, false
			}
			n++
			return refuse(req, 1), nil, true
		})
		ps := w.positions(1, 5)
		as, _ := locate(t, w, ps, Options{Records: true})
		check(t, w, ps, as, times == 1)
		for _, a := range as {
			if times > 1 && (a.Records != nil || !strings.Contains(a.Why, "head was removed again and again")) {
				t.Errorf("%+v", a)
			}
		}
	}
}

// TestHangs has a broker that takes requests for records and never answers: the time of the budget ends it.
func TestHangs(t *testing.T) {
	t.Parallel()
	w := mirror(t, 3, shape{partitions: 1, records: 200, every: 50})
	w.a.ControlKey(int16(kmsg.Fetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		w.a.KeepControl()
		return nil, nil, orders(req)
	})
	ps := w.positions(1, 5)
	as, st := locate(t, w, ps, Options{Records: true, Budget: Budget{Time: 200 * time.Millisecond}})
	for _, a := range as {
		if a.Records != nil || a.Range == nil || !strings.Contains(a.Why, "read budget of 200ms") {
			t.Errorf("%+v", a)
		}
	}
	if st.Spent == "" {
		t.Errorf("%+v", st)
	}
}

// TestSharedPages has many groups at few places: what one read is there for all.
func TestSharedPages(t *testing.T) {
	w := mirror(t, 3, shape{partitions: 2, records: 1000, every: 100})
	ps := w.positions(1, 10)
	_, one := locate(t, w, ps, Options{Records: true})
	var many []plan.Position
	for range 50 {
		many = append(many, ps...)
	}
	as, st := locate(t, w, many, Options{Records: true})
	check(t, w, many, as, true)
	for _, c := range []string{"a", "b"} {
		if st.Clusters[c] != one.Clusters[c] {
			t.Errorf("%s: %+v for 500, %+v for 10", c, st.Clusters[c], one.Clusters[c])
		}
	}
}
