package bugs

import (
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// before gives the release before v in the list of releases, across lines; ok is false for the first one.
func before(v mm2.Version) (mm2.Version, bool) {
	var last mm2.Version
	for _, r := range mm2.Releases() {
		if r.Compare(v) >= 0 {
			break
		}
		last = r
	}
	return last, !last.IsZero()
}

// The ranges are those of the list in testdata, so a wrong range in the table fails here too.
func TestBoundaries(t *testing.T) {
	for _, k := range knownFacts(t) {
		b, _ := Lookup(k.ID)
		check := func(v mm2.Version, affected bool) {
			t.Helper()
			a := b.Assess(onVersion(b, mm2.Exactly(v)))
			if (a.Rank != DoesNotApply) != affected {
				t.Errorf("%s on %v: %v (%s), affected should be %v", k.ID, v, a.Rank, a.Because, affected)
			}
			if !affected && len(k.Affects) > 0 && !strings.HasPrefix(a.Because, "not affected: ") {
				t.Errorf("%s on %v: because %q", k.ID, v, a.Because)
			}
		}
		for _, pair := range k.Affects {
			from := version(pair[0])
			check(from, true)
			if last, ok := before(from); ok {
				check(last, false)
			} else {
				check(mm2.V(2, 3, 1), false)
			}
			if pair[1] == "" {
				check(mm2.V(4, 4, 0), true)
				continue
			}
			end := version(pair[1])
			check(end, false)
			last, _ := before(end)
			check(last, true)
			suffixed := last
			suffixed.Suffix = "vendor.1"
			check(suffixed, true)
		}
		if len(k.Affects) == 0 {
			for _, v := range mm2.Releases() {
				check(v, false)
			}
		}
	}
}

func TestVersionRanges(t *testing.T) {
	b, _ := Lookup("KAFKA-15607") // 2.7.0 - 3.5.1, 3.6.0
	for _, tc := range []struct {
		from, to string
		want     Answer
	}{
		{"", "", Unknown},
		{"2.7.0", "3.5.1", Yes},
		{"3.3.1", "3.5.1", Yes},
		{"3.3.1", "3.5.2", Unknown},
		{"3.5.1", "3.6.0", Unknown}, // 3.5.2 lies between
		{"3.6.1", "3.9.0", No},
		{"3.6.1", "", No},
		{"3.6.0", "", Unknown},
		{"", "2.6.3", No},
		{"", "2.7.0", Unknown},
	} {
		var r mm2.Range
		if tc.from != "" {
			r.From = version(tc.from)
		}
		if tc.to != "" {
			r.To = version(tc.to)
		}
		if got := b.inRange(r); got != tc.want {
			t.Errorf("%v: %v, want %v", r, got, tc.want)
		}
	}
	open, _ := Lookup("BEHAVIOUR-comma-group") // every release
	if got := open.inRange(mm2.Range{}); got != Yes {
		t.Errorf("every release is affected, yet any version gives %v", got)
	}
	young, _ := Lookup("KAFKA-19794") // 2.7.0 and later
	if got := young.inRange(mm2.Range{From: mm2.V(3, 0, 0)}); got != Yes {
		t.Errorf("3.0.0 and later: %v", got)
	}
}

// Which side's version decides.
func TestBrokersDecide(t *testing.T) {
	b, _ := Lookup("KAFKA-13636")
	for _, tc := range []struct {
		mm2, source, target mm2.Version
		want                Rank
		words               string
	}{
		{mm2.V(3, 9, 1), mm2.V(2, 8, 1), mm2.V(3, 9, 1), MayApply, "the source brokers (2.8.1) is"},
		{mm2.V(3, 9, 1), mm2.V(3, 9, 1), mm2.V(3, 1, 0), MayApply, "the target brokers (3.1.0) is"},
		{mm2.V(2, 8, 1), mm2.V(3, 9, 1), mm2.V(2, 8, 2), DoesNotApply, "not affected: the source brokers (3.9.1) or the target brokers (2.8.2)"},
	} {
		a := b.Assess(Facts{MM2: mm2.Exactly(tc.mm2), SourceBroker: mm2.Exactly(tc.source), TargetBroker: mm2.Exactly(tc.target)})
		if a.Rank != tc.want || !strings.Contains(a.Because, tc.words) {
			t.Errorf("%v, %v: %v, %q", tc.source, tc.target, a.Rank, a.Because)
		}
	}
}

// A version alone is never more than MayApply, and Because says what it rests on.
func TestVersionAlone(t *testing.T) {
	for _, v := range mm2.Releases() {
		r := mm2.Exactly(v)
		seen := 0
		for _, a := range Evaluate(Facts{MM2: r, SourceBroker: r, TargetBroker: r}) {
			if a.Rank > MayApply {
				t.Errorf("%s on %v: %v", a.Bug.ID, v, a.Rank)
			}
			if a.Rank == MayApply && !strings.HasSuffix(a.Because, "the version alone says so, nothing that was looked at shows it") {
				t.Errorf("%s on %v: %q", a.Bug.ID, v, a.Because)
			}
			if a.Rank == MayApply {
				seen++
			}
		}
		if seen == 0 {
			t.Errorf("nothing may apply on %v", v)
		}
	}
	for _, a := range Evaluate(Facts{}) {
		if a.Rank > MayApply {
			t.Errorf("%s: %v from no facts at all", a.Bug.ID, a.Rank)
		}
		if a.Rank == MayApply && a.Because == "" {
			t.Errorf("%s: no reason", a.Bug.ID)
		}
	}
}

func TestEvaluateOrder(t *testing.T) {
	f := Facts{MM2: mm2.Exactly(mm2.V(3, 1, 0))}
	onePartitionWithout(&f)
	f.Checkpoint = p(10, 10)
	f.ToleratesErrors = Yes // WillOnRestart: KAFKA-14079
	f.LowerCaseProtocol = Yes
	f.SourceTask = Is("FAILED") // DoesDamageNow, stale: KAFKA-14250
	got := Evaluate(f)
	if len(got) != len(All()) {
		t.Fatalf("%d assessments of %d entries", len(got), len(All()))
	}
	var head []string
	for _, a := range got[:5] {
		head = append(head, fmt.Sprintf("%s %v", a.Bug.ID, a.Rank))
	}
	want := "KAFKA-12635 does damage now, KAFKA-13452 does damage now, KAFKA-14250 does damage now, KAFKA-14079 will on restart, KAFKA-13985 exposed"
	if s := strings.Join(head, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
	for i := 1; i < len(got); i++ {
		if got[i].Rank > got[i-1].Rank {
			t.Errorf("%s before %s", got[i-1].Bug.ID, got[i].Bug.ID)
		}
	}
}

// Knock-out: a fact that becomes unknown never makes anything worse. Where a condition did not hold, MayApply is as far as it
// may go.
func TestUnknownNeverAccuses(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	worst := map[Rank]int{}
	for range 12 {
		var f Facts
		v := mm2.Releases()[rnd.Intn(len(mm2.Releases()))]
		f.MM2, f.SourceBroker, f.TargetBroker = mm2.Exactly(v), mm2.Exactly(v), mm2.Exactly(v)
		for range 40 {
			e := evidences[rnd.Intn(len(evidences))]
			for _, s := range []set{e.yes, e.show} {
				if s != nil {
					s(&f)
				}
			}
			if e.no != nil && rnd.Intn(4) == 0 {
				e.no(&f)
			}
		}
		ranks := map[string]Rank{}
		for _, a := range Evaluate(f) {
			ranks[a.Bug.ID] = a.Rank
			worst[a.Rank]++
		}
		for i := range reflect.TypeOf(f).NumField() {
			g := f
			reflect.ValueOf(&g).Elem().Field(i).SetZero()
			for _, a := range Evaluate(g) {
				if was := ranks[a.Bug.ID]; a.Rank > was && !(was == DoesNotApply && a.Rank == MayApply) {
					t.Fatalf("%v: %s was %v, without %s it is %v (%s)", v, a.Bug.ID, was, reflect.TypeOf(f).Field(i).Name, a.Rank, a.Because)
				}
			}
		}
	}
	for r := DoesNotApply; r <= DoesDamageNow; r++ {
		if worst[r] == 0 {
			t.Errorf("the random facts never gave %v", r)
		}
	}
}

func TestLogic(t *testing.T) {
	answers := []Answer{Unknown, No, Yes}
	for _, a := range answers {
		for _, b := range answers {
			and, or := Unknown, Unknown
			switch {
			case a == No || b == No:
				and = No
			case a == Yes && b == Yes:
				and = Yes
			}
			switch {
			case a == Yes || b == Yes:
				or = Yes
			case a == No && b == No:
				or = No
			}
			if all(a, b) != and || either(a, b) != or || either(a, b).Not() != all(a.Not(), b.Not()) {
				t.Errorf("%v, %v: all %v, either %v", a, b, all(a, b), either(a, b))
			}
		}
	}
	if less(Is(1), Is(2)) != Yes || less(Is(2), Is(2)) != No || less(None[int](), Is(2)) != No || less(Is(1), Value[int]{}) != Unknown {
		t.Error("less")
	}
	if v, ok := Is(3).Get(); v != 3 || !ok || None[int]().Absent() != Yes || (Value[int]{}).Present() != Unknown {
		t.Error("Value")
	}
}
