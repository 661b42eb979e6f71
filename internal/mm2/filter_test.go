package mm2

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestFilterDecide(t *testing.T) {
	for _, tc := range []struct {
		name             string
		include, exclude string
		isDefault        bool
		subject          string
		want             Decision
	}{
		{"all", ".*", "", false, "g", Decision{Verdict: Included, Pattern: ".*"}},
		{"full match, not find", "orders", "", false, "orders-eu", Decision{Verdict: NotIncluded}},
		{"case matters", "orders", "", false, "Orders", Decision{Verdict: NotIncluded}},
		{"dot is any character", "a.b", "", false, "axb", Decision{Verdict: Included, Pattern: "a.b"}},
		{"blanks around commas", " a , b ", "", false, "b", Decision{Verdict: Included, Pattern: "b"}},
		{"exclude wins", ".*", "g.*", false, "g1", Decision{Verdict: Excluded, Pattern: "g.*"}},
		{"default exclude", ".*", DefaultGroupsExclude, true, "connect-sink", Decision{Verdict: Excluded, Pattern: "connect-.*", Default: true}},
		{"excluded even when not included", "x", DefaultGroupsExclude, true, "__g", Decision{Verdict: Excluded, Pattern: "__.*", Default: true}},
		{"empty include", "", "", false, "g", Decision{Verdict: NotIncluded}},
		{"blank include", "  ", "", false, "g", Decision{Verdict: NotIncluded}},
		{"empty lists and the empty name", "", "", false, "", Decision{Verdict: NotIncluded}},
		{"trailing comma", "a,", "", false, "b", Decision{Verdict: NotIncluded}},
		{"flags reach later alternatives", "(?i)a,b", "", false, "B", Decision{Verdict: Included, Pattern: "b"}},
		{"flags do not reach earlier ones", "a,(?i)b", "", false, "A", Decision{Verdict: NotIncluded}},
		{"a group over two elements", "(a,b)c", "", false, "bc", Decision{Verdict: Included, Pattern: "b)c"}},
		{"comment behind the value", ".* # all", "", false, "g", Decision{Verdict: NotIncluded}},
		{"the name itself before a pattern", "o.*,orders", "", false, "orders", Decision{Verdict: Included, Pattern: "orders"}},
		{"flags reach on", "(?i)a,b", "", false, "B", Decision{Verdict: Included, Pattern: "b"}},
		{"a quote over a comma", `\Qa,b\E`, "", false, "a|b", Decision{Verdict: Included, Pattern: `b\E`}},
		{"an escaped comma", `a\,b`, "", false, "a|b", Decision{Verdict: Included, Pattern: "b"}},
		{"a reference by number", `(x),(.)\2`, "", false, "yy", Decision{Verdict: Included, Pattern: `(.)\2`}},
		{"unknown include", "a,(?x) b", "", false, "b", Decision{Verdict: Unknown, Pattern: "(?x) b", Why: `the include pattern "(?x) b" means something for this name that only Java can tell`}},
		{"decided before the unknown", "a,(?x) b", "", false, "a", Decision{Verdict: Included, Pattern: "a"}},
		{"unknown exclude does not matter", "a", "(?x) b", false, "c", Decision{Verdict: NotIncluded}},
		{"unknown exclude matters", ".*", "(?x) b", false, "c", Decision{Verdict: Unknown, Pattern: "(?x) b", Why: `the exclude pattern "(?x) b" means something for this name that only Java can tell`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f, err := NewFilter(tc.include, tc.exclude, tc.isDefault)
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Decide(tc.subject); got != tc.want {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
		})
	}
}

func TestFilterError(t *testing.T) {
	_, err := NewFilter(".*", "orders-[0-9]{1,3}", false)
	var fe *FilterError
	if !errors.As(err, &fe) || !fe.Exclude || fe.Err.Reason != "Unclosed counted closure" || fe.Err.Index != 14 {
		t.Errorf("got %v", err)
	}
}

func TestDefaultTopicsExclude(t *testing.T) {
	for _, tc := range []struct {
		version Version
		topic   string
		want    Verdict
	}{
		{V(3, 9, 1), "payments.internal", Excluded},
		{V(3, 9, 1), "payments-internal", Excluded},
		{V(4, 0, 0), "payments.internal", Included},
		{V(4, 0, 0), "mm2-offset-syncs.b.internal", Excluded},
		{Version{}, "payments.internal", Included},
		{V(2, 4, 0), "orders.replica", Excluded},
	} {
		f, err := NewFilter(".*", DefaultTopicsExclude(tc.version), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.Decide(tc.topic).Verdict; got != tc.want {
			t.Errorf("%v %s: got %v, want %v", tc.version, tc.topic, got, tc.want)
		}
	}
}

func TestTopicRules(t *testing.T) {
	filter := func(include string) *Filter {
		f, err := NewFilter(include, "", false)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	def := NewPolicy(PolicyConfig{SourceAlias: "a"}, Version{})
	identity := NewPolicy(PolicyConfig{Class: IdentityPolicyClass, SourceAlias: "a"}, Version{})
	custom := NewPolicy(PolicyConfig{Class: "x.Policy", SourceAlias: "a"}, Version{})
	for _, tc := range []struct {
		name  string
		rules TopicRules
		topic string
		want  Verdict
	}{
		{"by filter", TopicRules{Filter: filter("orders"), Policy: def}, "orders", Included},
		{"not in filter", TopicRules{Filter: filter("orders"), Policy: def}, "payments", NotIncluded},
		{"heartbeats need no filter", TopicRules{Filter: filter("orders"), Policy: def}, "heartbeats", Heartbeats},
		{"mirrored heartbeats as well", TopicRules{Filter: filter("orders"), Policy: def}, "c.heartbeats", Heartbeats},
		{"heartbeats switched off", TopicRules{Filter: filter("orders"), Policy: def, NoHeartbeats: true}, "heartbeats", NotIncluded},
		{"heartbeats from the target", TopicRules{Filter: filter("orders"), Policy: def}, "b.heartbeats", Cycle},
		{"internal beats filter", TopicRules{Filter: filter(".*"), Policy: def}, "__consumer_offsets", Internal},
		{".internal before 4.0", TopicRules{Filter: filter(".*"), Policy: def, Version: V(3, 9, 1)}, "x.internal", Internal},
		{".internal from 4.0", TopicRules{Filter: filter(".*"), Policy: def, Version: V(4, 0, 0)}, "x.internal", Included},
		{"cycle", TopicRules{Filter: filter(".*"), Policy: def}, "c.b.orders", Cycle},
		{"no cycle with identity", TopicRules{Filter: filter(".*"), Policy: identity}, "b.orders", Included},
		{"unknown policy", TopicRules{Filter: filter(".*"), Policy: custom}, "orders", Unknown},
		{"unknown filter", TopicRules{Policy: def}, "orders", Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			tc.rules.Target = "b"
			if got := tc.rules.Decide(tc.topic); got.Verdict != tc.want {
				t.Errorf("got %+v, want %v", got, tc.want)
			}
		})
	}
}

// TestLongLists: lists of thousands of names occur; each name is told with its pattern.
func TestLongLists(t *testing.T) {
	const n = 20_000
	for _, form := range []string{"orders-%d.events", `orders-%d\.events`} {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprintf(form, i))
		}
		f, err := NewFilter(strings.Join(names, ","), "", false)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range []int{0, 7, n - 1} {
			if d := f.Decide(fmt.Sprintf("orders-%d.events", i)); d.Verdict != Included || d.Pattern != names[i] {
				t.Errorf("%d: %+v", i, d)
			}
		}
		if d := f.Decide("orders-1.eventss"); d.Verdict != NotIncluded {
			t.Errorf("%+v", d)
		}
	}
	f, err := NewFilter("(?i)a"+strings.Repeat(",b", n), "", false)
	if err != nil {
		t.Fatal(err)
	}
	if d := f.Decide("B"); d != (Decision{Verdict: Included}) { // which one is not told
		t.Errorf("%+v", d)
	}
}
