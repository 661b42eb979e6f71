package collect

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// mostCommits bounds what is read of __consumer_offsets, in bytes of keys and values.
const mostCommits = 64 << 20

// commitTimes tells when the offsets of the followed groups were committed on the target, and which were removed:
// no request of Kafka tells it, only __consumer_offsets does.
func (cl *cluster) commitTimes(ctx context.Context, groups map[string]*snapshot.Group) {
	if len(groups) == 0 {
		return
	}
	type key struct {
		group string
		tp    kafka.TopicPartition
	}
	newest, seen := map[key]wire.LoggedCommit{}, map[string]bool{}
	entered := map[string]wire.Entered{}
	bad := cl.Client.ReadCommits(ctx, slices.Sorted(maps.Keys(groups)), mostCommits, wire.CommitLog{Commit: func(c wire.LoggedCommit) {
		seen[c.Group] = true
		newest[key{c.Group, kafka.TopicPartition{Topic: c.Topic, Partition: c.Partition}}] = c
	}, Entered: func(e wire.Entered) { entered[e.Group] = e }})
	removed := map[string][]snapshot.Removed{}
	for k, c := range newest {
		if c.Removed {
			removed[k.group] = append(removed[k.group], snapshot.Removed{Topic: c.Topic, Partition: c.Partition, Time: c.Time})
		}
	}
	gaps := map[string]*snapshot.Gap{} // one gap for all groups that the same fault hides
	var gone []snapshot.Group
	for id, g := range groups {
		if err := bad[id]; err != nil {
			gap := gaps[err.Error()]
			if gap == nil {
				gap = gapOf(cl.Alias, "Fetch", "__consumer_offsets", err)
				var large *wire.TooLarge
				if errors.As(err, &large) {
					gap.Code = "too-large"
				}
				gaps[err.Error()] = gap
			}
			if g != nil {
				g.Removed = snapshot.NotKnown[[]snapshot.Removed](gap)
			}
			continue
		}
		if g == nil {
			if len(removed[id]) > 0 {
				gone = append(gone, snapshot.Group{ID: id, State: snapshot.None[kafka.GroupState](), Members: snapshot.None[[]snapshot.Member](), Offsets: snapshot.Is([]snapshot.Committed{}), Removed: snapshot.Is(sortRemoved(removed[id]))})
			}
			continue
		}
		if e, ok := entered[id]; ok && e.Empty == (g.State.Or("") == kafka.StateEmpty) {
			g.Since = e.Time
		}
		os := slices.Clone(g.Offsets.Or(nil))
		if len(os) > 0 && !seen[id] {
			g.Removed = snapshot.NotKnown[[]snapshot.Removed](&snapshot.Gap{Code: "failed", Cluster: cl.Alias, API: "Fetch __consumer_offsets", Why: "the partition where the group's commits should be holds none of them"})
			continue
		}
		for i := range os {
			tp := kafka.TopicPartition{Topic: os[i].Topic, Partition: os[i].Partition}
			// A later commit than the one that was answered has another offset; its time is not this one's.
			if c, ok := newest[key{id, tp}]; ok && !c.Removed && c.Offset == os[i].Offset {
				os[i].Time, os[i].Expires = c.Time, c.Expires
			}
			// What was removed only after it was answered belongs to the next look.
			removed[id] = slices.DeleteFunc(removed[id], func(r snapshot.Removed) bool { return r.Topic == tp.Topic && r.Partition == tp.Partition })
		}
		g.Removed = snapshot.Is(sortRemoved(removed[id]))
		if len(os) > 0 {
			g.Offsets = snapshot.Is(os)
		}
	}
	cl.add(gone)
}

func sortRemoved(rs []snapshot.Removed) []snapshot.Removed {
	slices.SortFunc(rs, func(a, b snapshot.Removed) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return append([]snapshot.Removed{}, rs...)
}

// add puts groups that are no longer there among the groups of the cluster as a target.
func (cl *cluster) add(gone []snapshot.Group) {
	if len(gone) == 0 {
		return
	}
	all := append(cl.targetGroups(), gone...)
	slices.SortFunc(all, func(a, b snapshot.Group) int { return cmp.Compare(a.ID, b.ID) })
	if cl.source {
		cl.out.First = snapshot.Is(all)
		return
	}
	cl.out.Groups = snapshot.Is(all)
}

// followed are the cluster's groups, as a target, that have a checkpoint or a position on a copy: nil stands for a group that
// has a checkpoint and that a complete list does not show.
func (c *collector) followed(cl *cluster, flows []snapshot.Flow) map[string]*snapshot.Group {
	out := map[string]*snapshot.Group{}
	gs := cl.targetGroups()
	if gs == nil {
		return out
	}
	checkpointed, listed := map[string]bool{}, map[string]bool{}
	for i := range flows {
		if flows[i].Target == cl.Alias {
			for _, k := range flows[i].Checkpointed.Or(snapshot.Checkpoints{}).Newest {
				checkpointed[k.Group] = true
			}
		}
	}
	for i := range gs {
		listed[gs[i].ID] = true
		os, st := gs[i].Offsets.Get()
		if st == snapshot.Known && (checkpointed[gs[i].ID] || slices.ContainsFunc(os, func(o snapshot.Committed) bool { return cl.copies[o.Topic] })) {
			out[gs[i].ID] = &gs[i]
		}
	}
	for id := range checkpointed {
		if !listed[id] && cl.out.GroupsComplete.Or(false) && (c.Want == nil || c.Want(id)) {
			out[id] = nil
		}
	}
	return out
}
