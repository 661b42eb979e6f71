package diagnose

import (
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

const offsetsTopic = "__consumer_offsets"

// internals are the internal topics of the chain: name and cluster.
func (f *flowView) internals() []struct {
	c    *clusterView
	name string
} {
	at := f.src
	if f.SyncsOn == f.Target {
		at = f.dst
	}
	return []struct {
		c    *clusterView
		name string
	}{{at, f.SyncsTopic}, {f.dst, f.Checkpoints}, {f.src, offsetsTopic}, {f.dst, offsetsTopic}}
}

// coordinatedBy are the followed groups whose offsets lie in one of the partitions, but for those of which the coordinator's
// silence is told already (607).
func (f *flowView) coordinatedBy(c *clusterView, parts []int32) []string {
	seen := map[string]bool{}
	var out []string
	if !c.listed.Known() {
		return nil // whether the coordinator answers is not known
	}
	for _, gp := range f.rows {
		if seen[gp.group] {
			continue
		}
		seen[gp.group] = true
		if g := c.groups[gp.group]; g != nil && (coordinatorSilent(g.State.Why()) || coordinatorSilent(g.Offsets.Why())) {
			continue
		}
		if part, _ := f.v.coordinatorPartition(c, gp.group); slices.Contains(parts, part) {
			out = append(out, gp.group)
		}
	}
	slices.Sort(out)
	return out
}

func coordinatorSilent(g *snapshot.Gap) bool { return g != nil && g.Code == coordinatorGap }

// leaderless are the partitions that have no leader.
func leaderless(t *snapshot.Topic) []int32 {
	var out []int32
	for _, p := range t.Partitions {
		if p.Leader < 0 {
			out = append(out, p.ID)
		}
	}
	return out
}

// checkLeaderlessInternal looks at the internal topics of the chain. Of __consumer_offsets only the partitions count in which a
// followed group's offsets lie.
func checkLeaderlessInternal(_ *View, s subject) *finding.Finding {
	f := s.flow
	var fd *finding.Finding
	for _, i := range f.internals() {
		t, st := f.internalTopic(i.c, i.name).Get()
		if st != snapshot.Known {
			continue
		}
		parts := leaderless(t)
		what := "it can be neither read nor written"
		if i.name == offsetsTopic && len(parts) > 0 {
			groups := f.coordinatedBy(i.c, parts)
			if len(groups) == 0 {
				continue
			}
			what = "the offsets of " + list(groups, 5) + " can be neither read nor committed there"
		} else if i.name != offsetsTopic && !slices.Contains(parts, 0) {
			continue // MirrorMaker 2 uses partition 0 alone
		}
		if len(parts) == 0 {
			continue
		}
		because := fmt.Sprintf("%s of %s on %s has no leader: %s", partitionWords(parts), i.name, i.c.Alias, what)
		if fd != nil {
			fd.Because += "; " + because
			fd.Observed = append(fd.Observed, snapshot.Named{Name: i.name + " on " + i.c.Alias, Value: partitionWords(parts)})
			continue
		}
		fd = leaderFinding(i.c, i.name, because, parts)
		fd.Consequence = "The chain of " + f.Name() + " is broken there: positions are not translated or not committed until a broker leads the partition again."
	}
	return fd
}

func checkLeaderless(_ *View, s subject) *finding.Finding {
	f := s.flow
	for _, side := range []struct {
		c    *clusterView
		name string
		t    snapshot.Fact[*snapshot.Topic]
	}{{f.src, s.topic, s.gp.sourceTopic()}, {f.dst, s.gp.remote, s.gp.targetTopic()}} {
		t, st := side.t.Get()
		if st != snapshot.Known || !slices.Contains(leaderless(t), s.gp.part) {
			continue
		}
		fd := leaderFinding(side.c, side.name, fmt.Sprintf("%s-%d on %s has no leader: it can be neither read nor written", side.name, s.gp.part, side.c.Alias), []int32{s.gp.part})
		fd.Consequence = "The partition is not mirrored, and its offsets cannot be compared, until a broker leads it again."
		return fd
	}
	return nil
}

func partitionWords(parts []int32) string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = fmt.Sprint(p)
	}
	if len(parts) == 1 {
		return "partition " + names[0]
	}
	return "partitions " + list(names, 10)
}

func leaderFinding(c *clusterView, topic, because string, parts []int32) *finding.Finding {
	return &finding.Finding{
		Observed: finding.Observed{{Name: topic + " on " + c.Alias, Value: partitionWords(parts)}, {Name: "leader", Value: "none"}},
		Because:  because,
		Confirm:  []finding.Command{{Cluster: c.Alias, Command: topicsCommand(c, "--describe --unavailable-partitions"), Shows: "Leader: none, and the brokers that hold replicas"}},
		Fixes: []finding.Fix{{Mode: "kafka", WaitSeconds: 60,
			Text:  "Start the brokers that hold replicas of the partition (Replicas in the command above), the one that was last in sync first; MirrorMaker 2 goes on by itself. Only where none of those comes back: elect a replica that was not in sync, which loses the records that it lacks.",
			Steps: []finding.Step{{Text: "last resort: elect a replica that was not in sync", Command: fmt.Sprintf("kafka-leader-election.sh --bootstrap-server %s --election-type unclean --topic %s --partition %d", adminBootstrapOf(c), finding.Quote(topic), parts[0]), Destructive: true, Undo: "none: records are lost"}}}},
	}
}
