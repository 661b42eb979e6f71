package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"unicode/utf16"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// clusterChecks are about the clusters that the chain runs on: their clocks, and the coordinators of groups.
var clusterChecks = []check{
	{Code: 606, Grain: finding.OnFlow, Uses: finding.SyncsTopic | finding.CheckpointSet | finding.Heartbeats | finding.Tasks, Run: checkClocks},
	{Code: 607, Grain: finding.OnGroup, Uses: finding.SourceGroup | finding.TargetGroup | finding.SourceOffset | finding.TargetOffset | finding.InternalTopics, Run: checkCoordinator},
}

// clockSlack is how far a clock may be ahead before it is worth a word, ms: within it lie NTP and the reading itself.
const clockSlack = 5_000

// checkClocks: a record cannot be younger than the look at it. A clock that is behind cannot be told from records that are old.
func checkClocks(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.SyncsTopic | finding.CheckpointSet | finding.Heartbeats | finding.Tasks)
	type reading struct {
		what string
		at   int64
	}
	ahead := []reading{}
	add := func(what string, at int64) {
		if at-v.now > clockSlack {
			ahead = append(ahead, reading{what, at})
		}
	}
	add("newest offset sync", f.Syncs.Or(snapshot.Syncs{}).Last)
	add("newest checkpoint", f.Checkpointed.Or(snapshot.Checkpoints{}).Last)
	add("newest heartbeat", f.Heartbeat.Or(0))
	for _, t := range f.Tasks.Or(nil) {
		add("state of "+t.Connector, t.Time)
	}
	if len(ahead) == 0 {
		return nil
	}
	slices.SortStableFunc(ahead, func(a, b reading) int { return cmp.Compare(b.at, a.at) })
	first := ahead[0]
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "looked at", Value: stamp(v.now)}, {Name: first.what, Value: stamp(first.at)}, {Name: "seconds ahead", Value: (first.at - v.now) / 1000}},
		Because:     fmt.Sprintf("the %s of %s carries a time %s after this look: the clock of MirrorMaker 2 is ahead of the one that the doctor runs by, or this one is behind", first.what, f.Name(), age(first.at-v.now)),
		Consequence: "Ages in this report are too small by that much, and whatever rests on an age may be taken for younger than it is. Translation itself does not use times; retention and offset expiry do.",
		Fixes:       []finding.Fix{{Mode: "kafka", Text: "Set the clocks by NTP: of the host that runs MirrorMaker 2, of the brokers, and of this one."}},
	}
	if f.Checkpointed.Known() {
		fd.Confirm = append(fd.Confirm, finding.Command{Cluster: f.Target, Shows: "CreateTime beside the clock of this host (date -u +%s%3N)",
			Command: "kafka-console-consumer.sh --bootstrap-server " + consumerBootstrapOf(f.dst) + " --topic " + finding.Quote(f.Checkpoints) + " --from-beginning --timeout-ms 10000 --property print.timestamp=true --property print.value=false"})
	} else {
		fd.Confirm = append(fd.Confirm, syncsCommand(f))
	}
	return fd
}

// coordinatorGap is the code of a gap that a group's coordinator made: not available, still loading, or on the move for as long
// as the doctor waited.
const coordinatorGap = "coordinator"

// checkCoordinator: state and offsets of a group come from one broker, the leader of one partition of __consumer_offsets.
// While that is not there, neither the doctor nor MirrorMaker 2 can tell of the group.
func checkCoordinator(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.SourceGroup | finding.TargetGroup | finding.SourceOffset | finding.TargetOffset)
	for _, c := range []*clusterView{f.src, f.dst} {
		g := c.groups[s.group]
		if g == nil {
			continue
		}
		for _, gap := range []*snapshot.Gap{g.State.Why(), g.Offsets.Why()} {
			if gap != nil && gap.Code == coordinatorGap {
				return v.coordinatorFinding(c, s.group, gap)
			}
		}
	}
	return nil
}

func (v *View) coordinatorFinding(c *clusterView, group string, gap *snapshot.Gap) *finding.Finding {
	leaderless := topicsCommand(c, "--describe --topic __consumer_offsets --unavailable-partitions")
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "on", Value: c.Alias}, {Name: "asked", Value: gap.API}},
		Because:     fmt.Sprintf("the coordinator of group %s on %s does not answer for it: %s", group, c.Alias, gap.Why),
		Consequence: "Neither state nor offsets of the group can be told; MirrorMaker 2 cannot read or commit them either (`Error querying offsets for consumer group`), and its consumers stand still on that cluster.",
		Confirm: []finding.Command{
			{Cluster: c.Alias, Command: groupsCommand(c, "--describe --group "+finding.Quote(group)+" --state"), Shows: "the coordinator, or the error"},
			{Cluster: c.Alias, Command: leaderless, Shows: "partitions of __consumer_offsets without a leader"}},
		Fixes: []finding.Fix{{Mode: "kafka", Text: "Bring the broker back that holds the group's partition of __consumer_offsets. Where it is up and loading, wait until it is done. When the group's offsets can be read again and no checkpoint follows, restart the checkpoint connector.",
			Steps: []finding.Step{{Text: "see which partitions have no leader, and on which brokers their replicas are", Command: leaderless}}, WaitSeconds: 60}},
	}
	part, leader := v.coordinatorPartition(c, group)
	if part < 0 {
		return fd
	}
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "its partition", Value: fmt.Sprintf("__consumer_offsets-%d", part)})
	fd.Because += fmt.Sprintf("; the group lives in __consumer_offsets-%d", part)
	switch {
	case leader == -1:
		fd.Because += ", which has no leader"
	case leader >= 0:
		fd.Because += fmt.Sprintf(", whose leader is broker %d", leader)
	}
	return fd
}

// coordinatorPartition is the partition of __consumer_offsets that holds a group: the absolute hash of its id, as Java's String
// has it (0 for the smallest number, which has none), modulo their number.
func (v *View) coordinatorPartition(c *clusterView, group string) (part, leader int32) {
	v.touch(finding.InternalTopics)
	t := c.topics["__consumer_offsets"]
	if t == nil || len(t.Partitions) == 0 {
		return -1, -2
	}
	part = max(javaHash(group), -javaHash(group), 0) % int32(len(t.Partitions))
	for _, p := range t.Partitions {
		if p.ID == part {
			return part, p.Leader
		}
	}
	return part, -2
}

func javaHash(s string) int32 {
	var h int32
	for _, u := range utf16.Encode([]rune(s)) {
		h = 31*h + int32(u)
	}
	return h
}
