package render

import (
	"fmt"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Hand-built reports: they show layout, not judgement.

func ptr[T any](v T) *T { return &v }

func envelope(flows ...string) *diagnose.Report {
	r := &diagnose.Report{
		SchemaVersion: 1,
		Tool:          diagnose.Tool{Name: "mm2doctor", Version: "0.1.0"},
		Command:       "diagnose",
		Collected:     diagnose.Collected{From: "2026-03-02T14:02:11Z", To: "2026-03-02T14:02:19Z"},
		Summary:       diagnose.Summary{Verdict: diagnose.Healthy, Link: finding.LinkNone},
	}
	for _, f := range flows {
		r.Flows = append(r.Flows, diagnose.FlowInfo{
			Name:   f,
			Source: diagnose.ClusterInfo{Alias: f[:1], ClusterID: snapshot.Is("MkU3OEVBNTcwNTJENDM2Qk"), Bootstrap: []string{"kafka-" + f[:1] + "1:9092", "kafka-" + f[:1] + "2:9092"}, Version: "3.9"},
			Target: diagnose.ClusterInfo{Alias: f[3:], ClusterID: snapshot.Is("q1Sh-9_ISia_zwGINzRvyQ"), Bootstrap: []string{"kafka-" + f[3:] + "1:9092"}, Version: "3.9"},
			MM2:    diagnose.MM2Info{Range: [2]*string{ptr("3.7.1"), nil}, Generations: []string{"G5"}, Basis: "every stored checkpoint is what 3.7.1 and newer compute"},
			Mode:   "dedicated", File: "mm2.properties",
		})
	}
	return r
}

func links(flow string) []diagnose.LinkStatus {
	return []diagnose.LinkStatus{
		{Flow: flow, Link: 0, Name: "replication", Status: "ok", Text: "12 partitions of 3 topics have their copy; 3 s behind at most", Facts: finding.Observed{{Name: "partitions", Value: 12}}},
		{Flow: flow, Link: 1, Name: "offset-syncs", Status: "ok", Text: "12 partitions have syncs, the newest 3 s old", Facts: finding.Observed{{Name: "partitions", Value: 12}, {Name: "newestMs", Value: int64(3000)}}},
		{Flow: flow, Link: 2, Name: "checkpoints", Status: "ok", Text: "4 groups, 36 partitions, the newest 9 s old"},
		{Flow: flow, Link: 3, Name: "group offsets", Status: "ok", Text: "4 groups committed as translated"},
		{Flow: flow, Link: 4, Name: "accuracy", Status: "ok", Text: "no offset is beyond its copy; at most 95 records are read again"},
	}
}

func row1(group, topic string, part int32, u, c, t int64, status string) diagnose.Row {
	return diagnose.Row{
		Flow: "a->b", Group: group, Topic: topic, TargetTopic: "a." + topic, TargetGroup: group, Partition: part, Disposition: diagnose.Faulty,
		Committed:  diagnose.CommittedPair{Source: snapshot.Is(u), Target: snapshot.Is(t)},
		Sync:       snapshot.Is(diagnose.SyncRef{Upstream: c - 1, Downstream: c - 1, Offset: 4}),
		Checkpoint: snapshot.Is(diagnose.Pair{Upstream: u, Downstream: c}), MM2Expected: snapshot.Is(c), ReRead: snapshot.Is(max(u-t, 0)), SkippedRecs: snapshot.Is[int64](0),
		Exact: snapshot.NotKnown[int64](&snapshot.Gap{Code: "not-asked", Why: "records were not compared"}), Basis: "mm2", Status: status,
		Gone: snapshot.Is[int64](0), NotMirrored: snapshot.None[int64](), TargetState: "Stable",
	}
}

func broken() *diagnose.Report {
	r := envelope("a->b")
	r.Links = links("a->b")
	r.Links[3].Status, r.Links[3].Text, r.Links[3].Codes = "broken", "billing has members on b, 2 partitions are not written", []string{"MM2D-302"}
	r.Links[4].Status, r.Links[4].Text = "unknown", "billing: cannot be judged while link 3 is broken"
	part := []finding.Subject{{Group: "billing", Topic: "orders", Partition: ptr(int32(0))}, {Group: "billing", Topic: "orders", Partition: ptr(int32(1))}}
	r.Findings = []finding.Finding{{
		Code: 302, ID: "MM2D-302", CodeText: "MM2D-302", Slug: "group-active-on-target", Severity: finding.Error, Link: finding.LinkCommit, Flow: "a->b",
		Subject: part[0], Subjects: part, SubjectCount: 2,
		Observed:    finding.Observed{{Name: "sourceOffset", Value: int64(1000500)}, {Name: "checkpoint", Value: int64(1000405)}, {Name: "targetOffset", Value: int64(996900)}, {Name: "members", Value: 2}},
		Because:     "billing has 2 members on b (client app-1 at 10.0.4.17), and MirrorMaker 2 writes offsets only for groups without members.",
		Consequence: "The offset on b stays where those members commit; after a failover billing reads from there, not from its position on a.",
		Explains:    []finding.Effect{{Code: "MM2D-304", Slug: "target-behind-checkpoint", Severity: finding.Error, Subjects: part, Count: 2}},
		Confirm: []finding.Command{
			{Cluster: "b", Command: "kafka-consumer-groups.sh --bootstrap-server kafka-b1:9092 --describe --group billing --members", Shows: "rows with a CONSUMER-ID"},
			{Cluster: "b", Command: "kafka-consumer-groups.sh --bootstrap-server kafka-b1:9092 --describe --group billing", Shows: "CURRENT-OFFSET below 1000405"},
		},
		Fixes: []finding.Fix{{Mode: "kafka", Text: "Stop the consumers of billing on b; MirrorMaker 2 then writes its offsets by itself.", WaitSeconds: 60,
			Steps: []finding.Step{{Text: "Stop the application that uses group billing on b.", Stops: []string{"billing on b"}},
				{Text: "See that the group is empty:", Command: "kafka-consumer-groups.sh --bootstrap-server kafka-b1:9092 --describe --group billing --state"}}}},
		Docs: "docs/codes/MM2D-302.md",
	}}
	r.NotChecked = []finding.NotChecked{
		{Check: "MM2D-404", Flow: "a->b", Why: "records were not compared", DecidedBy: "--records", Count: 2},
		{Check: "MM2D-602", Flow: "a->b", Why: "DescribeAcls on b: CLUSTER_AUTHORIZATION_FAILED, the principal may not list ACLs", DecidedBy: "kafka-acls.sh --list by an administrator"},
	}
	ok := row1("audit", "orders", 0, 500, 405, 405, "ok")
	ok.Disposition = diagnose.Expected
	r.Partitions = []diagnose.Row{row1("billing", "orders", 0, 1000500, 1000405, 996900, "MM2D-302"), row1("billing", "orders", 1, 900, 888, 12, "MM2D-302"), ok}
	r.Skipped = []diagnose.SkippedGroups{{Flow: "a->b", Reason: "excluded by default", Count: 2, Some: []string{"console-consumer-1", "connect-mm2"}}}
	r.Summary = diagnose.Summary{Verdict: diagnose.Broken, Link: finding.LinkCommit, Errors: 1, NotChecked: 2, Groups: 4, Rows: 36}
	r.Trees = []diagnose.Tree{tree()}
	return r
}

func tree() diagnose.Tree {
	leaf := func(answer, text string, taken bool, codes ...string) *diagnose.Node {
		return &diagnose.Node{Answer: answer, Text: text, Taken: taken, Codes: codes}
	}
	commit := &diagnose.Node{Answer: "yes", Text: "Does the target hold the checkpoint as committed offset?", Taken: true, Children: []*diagnose.Node{
		leaf("no, sync is off", "group-offset-sync-disabled", false, "MM2D-301"),
		leaf("no, members there", "group-active-on-target", true, "MM2D-302"),
		leaf("no, it is above", "target-ahead-of-checkpoint", false, "MM2D-303"),
		leaf("yes", "the chain works", false)}}
	checkpoint := &diagnose.Node{Answer: "yes", Text: "Is there a checkpoint for the group?", Taken: true, Children: []*diagnose.Node{
		leaf("no", "filtered, not discovered, or before the oldest sync", false, "MM2D-203", "MM2D-205", "MM2D-206"), commit}}
	syncs := &diagnose.Node{Answer: "yes", Text: "Does the partition have offset syncs where the checkpoint connector reads them?", Taken: true, Children: []*diagnose.Node{
		leaf("no topic", "offset-syncs-missing", false, "MM2D-101"),
		leaf("other cluster", "location-mismatch", false, "MM2D-102"), checkpoint}}
	return diagnose.Tree{Flow: "a->b", Group: "billing", Root: &diagnose.Node{Text: "Does the source topic have a copy on the target?", Taken: true, Children: []*diagnose.Node{
		leaf("no", "topic-not-mirrored", false, "MM2D-109"), syncs}}}
}

func healthy() *diagnose.Report {
	r := envelope("a->b")
	r.Links = links("a->b")
	row := row1("billing", "orders", 0, 500, 405, 405, "ok")
	row.Disposition = diagnose.Expected
	r.Partitions = []diagnose.Row{row}
	r.Summary.Groups, r.Summary.Rows = 4, 36
	return r
}

func unknown() *diagnose.Report {
	r := envelope("a->b")
	gap := &snapshot.Gap{Code: "denied", Cluster: "b", API: "OffsetFetch", Why: "GROUP_AUTHORIZATION_FAILED: the doctor's user may not describe group billing"}
	r.Flows[0].Target.ClusterID = snapshot.NotKnown[string](gap)
	r.Flows[0].MM2 = diagnose.MM2Info{}
	r.Flows[0].Mode, r.Flows[0].File = "discovered", ""
	r.Links = links("a->b")
	r.Links[3].Status, r.Links[3].Text = "unknown", "offsets of billing on b may not be read"
	r.Links[4].Status, r.Links[4].Text = "moving", "cannot be judged from one look"
	r.Findings = []finding.Finding{{Code: 215, ID: "MM2D-215", CodeText: "MM2D-215", Slug: "group-never-committed", Severity: finding.Info, Link: 2, Flow: "a->b",
		Subject: finding.Subject{Group: "idle-reader"}, SubjectCount: 1, Because: "idle-reader exists on a and has never committed an offset, so there is nothing to translate."}}
	row := row1("billing", "orders", 0, 500, 405, 0, "unknown")
	row.Disposition = diagnose.Unsure
	row.Committed.Target, row.ReRead = snapshot.NotKnown[int64](gap), snapshot.NotKnown[int64](gap)
	row.Checkpoint = snapshot.None[diagnose.Pair]()
	row.Unknown = map[string]string{"exact": "read budget"}
	r.Partitions = []diagnose.Row{row}
	for i := range 3 {
		r.NotChecked = append(r.NotChecked, finding.NotChecked{Check: fmt.Sprintf("MM2D-30%d", 2+i), Flow: "a->b", Subject: &finding.Subject{Group: "billing", Topic: "orders", Partition: ptr(int32(0))}, Count: 4,
			Why: gap.String(), DecidedBy: "kafka-acls.sh --bootstrap-server kafka-b1:9092 --add --allow-principal User:doctor --operation Describe --group billing"})
	}
	r.Summary = diagnose.Summary{Verdict: diagnose.Unknown, Link: finding.LinkNone, Infos: 1, NotChecked: 3, Groups: 1, Rows: 1}
	return r
}

// many is a report of two flows, hundreds of subjects, several findings and ways to repair.
func many() *diagnose.Report {
	r := envelope("a->b", "b->a")
	r.Links = append(links("a->b"), links("b->a")...)
	r.Links[2].Status, r.Links[2].Codes = "broken", []string{"MM2D-206", "MM2D-214"}
	r.Links[2].Text = "240 of 300 group partitions have no checkpoint"
	r.Links[8].Status, r.Links[8].Codes, r.Links[8].Text = "degraded", []string{"MM2D-203"}, "1 group is left out by groups.exclude"
	f := finding.Finding{Code: 206, ID: "MM2D-206", CodeText: "MM2D-206", Slug: "offset-before-oldest-sync", Severity: finding.Error, Link: 2, Flow: "a->b", SubjectCount: 240,
		Observed: finding.Observed{{Name: "committed", Value: int64(12)}, {Name: "oldestSync", Value: int64(40000)}, {Name: "taskStartMs", Value: int64(1772460000000)}, {Name: "syncAgeMs", Value: int64(5400000)}},
		Because:  "The committed offsets lie before the oldest offset sync that the checkpoint task has read since it started.",
		Bugs:     []string{"KAFKA-12468", "KAFKA-15905"},
		Fixes: []finding.Fix{{Mode: "connect", Text: "Let the groups commit once on new records.", WaitSeconds: 3600},
			{Mode: "dedicated", Text: "Keep more syncs and restart MirrorMaker 2.", WaitSeconds: 120, Steps: []finding.Step{
				{Text: "Keep the evidence first:", Command: "mm2doctor capture before.tar.gz mm2.properties"},
				{Text: "Set", Properties: finding.Observed{{Name: "a->b.offset.lag.max", Value: 0}, {Name: "offset-syncs.topic.replication.factor", Value: 3}}, File: "mm2.properties"},
				{Text: "Restart.", Stops: []string{"MirrorMaker 2 (a->b, b->a)"}, Destructive: true, Undo: "take the two lines out again and restart"}}}}}
	for i := range 100 {
		group, part := fmt.Sprintf("group-%02d", i/4), int32(i%4)
		f.Subjects = append(f.Subjects, finding.Subject{Group: group, Topic: "orders", Partition: &part})
	}
	f.Subject = f.Subjects[0]
	r.Findings = append(r.Findings, f)
	for i := range 7 {
		r.Findings = append(r.Findings, finding.Finding{Code: 203, ID: "MM2D-203", CodeText: "MM2D-203", Slug: "group-filtered-out", Severity: finding.Warning, Link: 2, Flow: "b->a",
			Subject: finding.Subject{Group: fmt.Sprintf("team-%d", i), File: "mm2.properties", Line: 14 + i, Column: 1, Key: "b->a.groups.exclude"}, SubjectCount: 1,
			Because: fmt.Sprintf("The pattern team-%d.* of groups.exclude matches the group.", i)})
	}
	for i := range 12 {
		r.Findings = append(r.Findings, finding.Finding{Code: 215, ID: "MM2D-215", CodeText: "MM2D-215", Slug: "group-never-committed", Severity: finding.Info, Link: 2, Flow: "a->b",
			Subject: finding.Subject{Group: fmt.Sprintf("idle-%d", i)}, SubjectCount: 1, Because: "There is nothing to translate."})
	}
	for i := range 120 {
		r.Partitions = append(r.Partitions, row1(fmt.Sprintf("group-%02d", i/4), "orders", int32(i%4), 12, 40000, int64(i), "MM2D-206"))
	}
	for i := range 12 {
		r.NotChecked = append(r.NotChecked, finding.NotChecked{Check: "MM2D-402", Why: fmt.Sprintf("reason %d", i)})
	}
	r.Skipped = []diagnose.SkippedGroups{{Flow: "a->b", Reason: "groups of MirrorMaker 2 itself", Count: 9, Some: []string{"connect-1", "connect-2"}}}
	r.Summary = diagnose.Summary{Verdict: diagnose.Broken, Link: finding.LinkCheckpoints, Errors: 1, Warnings: 7, NotChecked: 12, Groups: 75, Rows: 300}
	return r
}

// hostile has names that are long, wide, or would change the terminal.
func hostile() *diagnose.Report {
	r := broken()
	long := "com.example.payments.settlement.reconciliation.events.v12.retry.dead-letter"
	names := []string{"訂單處理", "billing\x1b[2J\x07", "evil\u202egpj", long, "grün — größe", "bad\xffutf8"}
	r.Partitions = nil
	f := &r.Findings[0]
	f.Subjects = nil
	for i, n := range names {
		r.Partitions = append(r.Partitions, row1(n, long, int32(i), 1234567890123, 1234567890000, 99, "MM2D-302"))
		f.Subjects = append(f.Subjects, finding.Subject{Group: n, Topic: long, Partition: ptr(int32(i))})
	}
	f.Subject, f.SubjectCount = f.Subjects[0], len(f.Subjects)
	f.Because = "Line one\nline two \x1b[31mred " + names[0] + " → ≤ 5 … “quoted”"
	f.Confirm[0].Command = "kafka-consumer-groups.sh --bootstrap-server kafka-b1:9092 --describe --group '訂單處理' \\\n  --members"
	return r
}
