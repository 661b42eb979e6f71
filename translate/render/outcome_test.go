package render

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mm2doctor/mm2doctor/internal/term"
	"github.com/mm2doctor/mm2doctor/translate/apply"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

func c(off int64) *plan.Committed { return &plan.Committed{Offset: off, Epoch: -1} }

func outcome() *apply.Outcome {
	return &apply.Outcome{
		Command: "apply", Flow: "a->b", Cluster: plan.Cluster{Alias: "b", ID: "Xy"}, Result: apply.Partial, Wrote: true, Partial: true,
		Summary: apply.Summary{Groups: apply.Counts{Written: 1, Refused: 1, Partly: 1}, Partitions: apply.Counts{Written: 3, Refused: 1, Failed: 1}},
		Groups: []apply.GroupOutcome{
			{Group: "audit", TargetGroup: "audit", Action: apply.Partly, Code: 315, Because: "orders-1: OFFSET_METADATA_TOO_LARGE", Next: "raise offset.metadata.max.bytes", Partitions: []apply.PartitionOutcome{
				{Topic: "a.orders", Partition: 0, Action: apply.Written, Before: nil, To: c(40), Found: c(40), Remark: "log start"},
				{Topic: "a.orders", Partition: 1, Action: apply.Failed, Before: c(7), To: c(41), Found: c(7), Code: 315},
			}},
			{Group: "billing", TargetGroup: "billing", Action: apply.Refused, Code: 701, Because: "the group is Stable", Next: "stop it", Partitions: []apply.PartitionOutcome{
				{Topic: "a.orders", Partition: 0, Action: apply.Refused, Before: c(1), To: c(40)},
			}},
			{Group: "ship", TargetGroup: "ship", Action: apply.Written, Remarks: []string{"a Streams application"}, Partitions: []apply.PartitionOutcome{
				{Topic: "a.orders", Partition: 0, Action: apply.Written, To: c(40), Found: c(40)},
				{Topic: "a.orders", Partition: 1, Action: apply.Written, To: c(41), Found: c(41)},
			}},
		},
		Journal: "j.json", Finish: []string{"mm2doctor translate apply --resume j.json"}, Undo: []string{"mm2doctor translate rollback j.json"},
	}
}

const partialText = `! MM2D-712: 1 of 3 groups are as planned on b (Xy), 2 are not; partitions: 3 written, 1 refused, 1
  failed

Not as planned:
  ✖ audit  partly  MM2D-315 commit-metadata-too-large
      because  orders-1: OFFSET_METADATA_TOO_LARGE
      next     raise offset.metadata.max.bytes
  ✖ billing  refused  MM2D-701 refused-active-group
      because  the group is Stable
      next     stop it

Partitions:
  group  topic     part  before  to  found  what
  audit  a.orders     1       7  41      7  failed MM2D-315
  audit  a.orders     0    none  40     40  written (log start)

To know:
  ship: a Streams application

journal: j.json
go on:   mm2doctor translate apply --resume j.json
undo:    mm2doctor translate rollback j.json
`

func TestOutcome(t *testing.T) {
	var b bytes.Buffer
	if err := OutcomeText(&b, outcome(), Options{Screen: term.Screen{Width: 100, Unicode: true}}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(partialText, b.String()); d != "" {
		t.Error(d)
	}
	b.Reset()
	refused := &apply.Outcome{Command: "apply", Cluster: plan.Cluster{Alias: "b"}, Result: apply.Nothing, Refusal: &apply.Refusal{Code: 703, Because: "another cluster", Next: "check the address"}}
	if err := OutcomeText(&b, refused, Options{Screen: term.Screen{Width: 100, Unicode: true}}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff("✖ nothing was written on b; partitions: none to write\n\nMM2D-703 wrong-cluster\n  because  another cluster\n  next     check the address\n", b.String()); d != "" {
		t.Error(d)
	}
	b.Reset()
	if err := OutcomeJSON(&b, outcome()); err != nil {
		t.Fatal(err)
	}
	var back apply.Outcome
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(outcome(), &back); d != "" {
		t.Error(d)
	}
}

func TestOutcomeSum(t *testing.T) {
	for _, tt := range []struct {
		o    apply.Outcome
		want string
	}{
		{apply.Outcome{Result: apply.Done, Wrote: true, Groups: make([]apply.GroupOutcome, 2), Summary: apply.Summary{Partitions: apply.Counts{Written: 5, Already: 1}}}, "2 groups are as planned on b; partitions: 5 written, 1 right already"},
		{apply.Outcome{Result: apply.Done, Summary: apply.Summary{Partitions: apply.Counts{Already: 1}}}, "nothing to write on b; partitions: 1 right already"},
		{apply.Outcome{Command: "rollback", Result: apply.Done, Wrote: true, Groups: make([]apply.GroupOutcome, 2), Summary: apply.Summary{Partitions: apply.Counts{Written: 1, Removed: 3}}}, "2 groups are as they were on b; partitions: 1 written, 3 removed"},
		{apply.Outcome{Result: apply.Nothing, Summary: apply.Summary{Partitions: apply.Counts{Refused: 3}}}, "nothing was written on b; partitions: 3 refused"},
	} {
		tt.o.Cluster.Alias = "b"
		if got := OutcomeSum(&tt.o); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

func TestVerification(t *testing.T) {
	v := &apply.Verification{
		Cluster: plan.Cluster{Alias: "b"}, Summary: apply.Verdicts{Holds: 1, TakenOver: 1, Other: 1, NotRead: 1, NotSet: 2},
		Groups: []apply.GroupVerified{{TargetGroup: "g", Partitions: []apply.PartitionVerified{
			{Topic: "t", Partition: 0, Verdict: apply.Holds, Planned: c(1), Found: c(1)},
			{Topic: "t", Partition: 1, Verdict: apply.TakenOver, Planned: c(2), Found: c(5), Because: "members"},
			{Topic: "t", Partition: 2, Verdict: apply.Other, Planned: c(3), Found: c(1), Code: 706, Because: "somebody else"},
			{Topic: "t", Partition: 3, Verdict: apply.NotRead, Planned: c(3), Code: 3, Because: "an ACL forbids it"},
		}}},
	}
	var b bytes.Buffer
	if err := VerificationText(&b, v, Options{Screen: term.Screen{Width: 100, Unicode: true}}); err != nil {
		t.Fatal(err)
	}
	want := `✖ 1 hold, 1 taken over by consumers, 1 different, 1 could not be read, 2 were not to be set on b

  group  topic  part  planned  found  what              why
  g      t         2        3      1  differs MM2D-706  somebody else
  g      t         3        3      ?  unknown MM2D-003  an ACL forbids it
  g      t         1        2      5  taken-over        members
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}
