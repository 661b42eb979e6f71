package bundle

import (
	"bytes"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// look is a snapshot with facts of each state.
func look(taken int64) *snapshot.Snapshot {
	gap := &snapshot.Gap{Code: "denied", Cluster: "a", API: "OffsetFetch billing", Why: "GROUP_AUTHORIZATION_FAILED <&>"}
	f := snapshot.Flow{Source: "a", Target: "b", Mode: "dedicated", SyncsTopic: "mm2-offset-syncs.b.internal", SyncsOn: "a", Checkpoints: "a.checkpoints.internal",
		Policy: snapshot.Policy{Separator: ".", InternalSeparator: "."}, Syncs: snapshot.None[snapshot.Syncs](),
		Checkpointed: snapshot.Is(snapshot.Checkpoints{Topic: "a.checkpoints.internal", End: 1 << 62, Newest: []snapshot.Checkpoint{{Group: "größe \"1\"", Topic: "a.orders", Up: 9007199254740993, Down: -1}}}),
		Tasks:        snapshot.NotKnown[[]snapshot.TaskStatus](gap)}
	return &snapshot.Snapshot{SchemaVersion: snapshot.SchemaVersion, Tool: "mm2doctor test", Started: 1, Taken: taken, Scope: snapshot.Scope{Groups: []string{"bill*"}},
		Clusters: []snapshot.Cluster{{Alias: "a", Bootstrap: []string{"h:1"}, ID: snapshot.Is("id"), Topics: snapshot.Is([]snapshot.Topic{{Name: "orders", Partitions: []snapshot.Partition{{ID: 0, Leader: -1, End: snapshot.Is(int64(5)), First: snapshot.None[int64]()}}}}),
			GroupsComplete: snapshot.NotKnown[bool](gap), Groups: snapshot.Is([]snapshot.Group{{ID: "billing", State: snapshot.Is(kafka.StateEmpty), Offsets: snapshot.NotKnown[[]snapshot.Committed](gap)}})},
			{Alias: "b", Bootstrap: []string{"h:2"}, Contact: &snapshot.Contact{Code: 1, What: "w", Why: "y", Next: "n"}}},
		Flows: []snapshot.Flow{f}, Gaps: []snapshot.Gap{*gap}, Unresolved: []snapshot.Problem{{Code: 5, Slug: "s", Because: "b"}}}
}

func bytesOf(t testing.TB, s *snapshot.Snapshot) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRoundTrip: what is written is read back as it was: known, absent, not known and why, never asked.
func TestRoundTrip(t *testing.T) {
	s := look(5)
	s.Earlier = look(2)
	b := bytesOf(t, s)
	if !Is(b) {
		t.Error("its own bytes are no snapshot")
	}
	if !bytes.Equal(b, bytesOf(t, s)) {
		t.Error("two writings differ")
	}
	got, err := Read("s.json", bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, s) {
		t.Errorf("got  %+v\nwant %+v", got, s)
	}
	if again := bytesOf(t, got); !bytes.Equal(again, b) {
		t.Errorf("written again it is another file:\n%s\n%s", again, b)
	}
	f := got.Flows[0]
	if !f.Syncs.Absent() || !f.Tasks.Unknown() || f.Tasks.Why() == nil || f.Tasks.Why().Code != "denied" || !f.Running.IsZero() {
		t.Errorf("syncs %v, tasks %v, running %v", f.Syncs.State(), f.Tasks.Why(), f.Running.State())
	}
	if c, _ := f.Checkpointed.Get(); c.Newest[0].Up != 9007199254740993 || c.End != 1<<62 {
		t.Errorf("offsets above 2^53 lost: %+v", c)
	}
}

// TestReadRefuses: each file that is no whole snapshot of a known version, with the text that tells what to do.
func TestReadRefuses(t *testing.T) {
	whole := string(bytesOf(t, look(5)))
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", "capture it again"},
		{"cut", whole[:len(whole)/2], "cut off; capture it again"},
		{"followed by another", whole + whole, "more follows"},
		{"followed by text", whole + "x", "more follows"},
		{"future", `{"schemaVersion": 99, "tool": "mm2doctor 7"}`, "schemaVersion 99; this mm2doctor reads up to 1; use the version that wrote it (mm2doctor 7)"},
		{"zero", `{"tool": "x"}`, "schemaVersion 0"},
		{"wrong type", `{"schemaVersion": 1, "clusters": 3}`, "capture it again"},
		{"a list", `[1]`, "capture it again"},
		{"offset too large", strings.Replace(whole, "9007199254740993", "9223372036854775808", 1), "capture it again"},
		{"offset with a fraction", strings.Replace(whole, "9007199254740993", "1.5", 1), "capture it again"},
		{"earlier twice", `{"schemaVersion": 1, "earlier": {"schemaVersion": 1, "earlier": {"schemaVersion": 1}}}`, "another earlier look"},
		{"deep", `{"schemaVersion": 1, "x": ` + strings.Repeat("[", 20000), "capture it again"},
	} {
		s, err := Read("f.json", strings.NewReader(tt.text))
		if err == nil || s != nil || !strings.Contains(err.Error(), tt.want) || !strings.HasPrefix(err.Error(), "f.json: ") {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := Read("f.json", io.MultiReader(strings.NewReader(whole[:50]), broken{})); err == nil || !strings.Contains(err.Error(), "disk") {
		t.Errorf("a reader's own error: %v", err)
	}
	if _, err := Read("f.json", strings.NewReader("\ufeff"+whole)); err != nil {
		t.Errorf("with a byte order mark, which editors on Windows add: %v", err)
	}
	if _, err := Read("f.json", strings.NewReader(strings.Replace(whole, `"tool"`, `"later": {"x": 1}, "tool"`, 1)+"\n \n")); err != nil {
		t.Errorf("a field of a later version of the same schema: %v", err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("disk failed") }

// TestLimit: no more than the limit is read into memory, and the text says so.
func TestLimit(t *testing.T) {
	whole := bytesOf(t, look(5))
	if _, err := read("f.json", bytes.NewReader(whole), int64(len(whole))); err != nil {
		t.Errorf("exactly at the limit: %v", err)
	}
	_, err := read("f.json", bytes.NewReader(whole), int64(len(whole))-1)
	if err == nil || !strings.Contains(err.Error(), "larger than") {
		t.Errorf("above the limit: %v", err)
	}
}

func TestIs(t *testing.T) {
	whole := bytesOf(t, look(5))
	for text, want := range map[string]bool{
		string(whole): true, "\ufeff " + string(whole): true, string(whole[:500]): true,
		"": false, "{}": false, "clusters = a, b": false, `{"name": "x", "config": {}}`: false, `[1]`: false,
		`{"schemaVersion": 1, "flows": [], "summary": {}}`: false, // a report
	} {
		if Is([]byte(text)) != want {
			t.Errorf("Is(%.60q) = %v", text, !want)
		}
	}
}

// FuzzRead: no input panics, and what is accepted is written and read again unchanged.
func FuzzRead(f *testing.F) {
	f.Add(bytesOf(f, look(5)))
	f.Add([]byte(`{"schemaVersion":1,"taken":1,"clusters":[{"alias":"a","topics":null,"groups":{"$unknown":{"code":"x","why":"y"}}}],"flows":[{"syncs":{"$unknown":null}}]}`))
	f.Add([]byte(`{"schemaVersion":1,"earlier":{"clusters":[]}}`))
	f.Add([]byte(`{"schemaVersion":1,"clusters":[{"groups":[{"state":"Empty","offsets":[null]}]}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		Is(b)
		s, err := Read("f", bytes.NewReader(b))
		if err != nil {
			return
		}
		one := bytesOf(t, s)
		again, err := Read("f", bytes.NewReader(one))
		if err != nil {
			t.Fatalf("its own writing: %v\n%s", err, one)
		}
		if two := bytesOf(t, again); !bytes.Equal(one, two) {
			t.Fatalf("%s\n%s", one, two)
		}
	})
}
