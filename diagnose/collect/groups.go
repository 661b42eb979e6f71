package collect

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// sourceNames lists the ids of the source clusters' groups, so that a target whose own list may be thinned out by ACLs can be
// asked for each by name.
func (c *collector) sourceNames(ctx context.Context) []string {
	var out []string
	for _, cl := range c.order {
		if !cl.source || cl.contactFailed {
			continue
		}
		l, err := cl.Client.ListGroups(ctx)
		if err != nil {
			continue // the later, full reading reports it
		}
		for _, g := range l.Groups {
			out = append(out, g.ID)
		}
	}
	return out
}

// groups reads state, members and offsets of a cluster's groups: the listed ones in scope, those asked for by name, and those
// in also where the list may be incomplete.
func (c *collector) groups(ctx context.Context, cl *cluster, also []string) snapshot.Fact[[]snapshot.Group] {
	if cl.contactFailed {
		return snapshot.NotKnown[[]snapshot.Group](cl.unreachable())
	}
	c.progress("groups of " + cl.Alias)
	l, err := cl.Client.ListGroups(ctx)
	if err != nil {
		return snapshot.NotKnown[[]snapshot.Group](gapOf(cl.Alias, "ListGroups", "", err))
	}
	for b, e := range l.Errs {
		g := gapOf(cl.Alias, fmt.Sprintf("ListGroups broker %d", b), "", e)
		cl.out.GroupsComplete = snapshot.NotKnown[bool](g)
		c.addGap(g)
	}
	listed := map[string]wire.ListedGroup{}
	for _, g := range l.Groups {
		if c.Want == nil || c.Want(g.ID) {
			listed[g.ID] = g
		}
	}
	ids := slices.Clone(c.Literal)
	if c.ByName || !cl.out.GroupsComplete.Or(false) {
		ids = append(ids, also...)
	}
	for _, id := range ids {
		if _, ok := listed[id]; !ok && (c.Want == nil || c.Want(id)) {
			listed[id] = wire.ListedGroup{ID: id}
		}
	}
	out := make([]snapshot.Group, 0, len(l.Groups))
	var refs []wire.GroupRef
	var names, shares []string
	for id, g := range listed {
		refs = append(refs, wire.GroupRef{ID: id, Type: g.Type})
		switch {
		case g.Type == kafka.TypeShare:
			shares = append(shares, id)
		case g.ProtocolType == "" || g.ProtocolType == "consumer" || g.Type == kafka.TypeStreams:
			names = append(names, id)
		}
	}
	described := cl.Client.DescribeGroups(ctx, refs)
	offsets := cl.Client.FetchOffsets(ctx, names)
	positions := c.shares(ctx, cl, shares)
	for id, g := range listed {
		x := group(cl.Alias, id, g, described[id], offsets)
		x.Shares = positions[id]
		out = append(out, x)
	}
	if c.Want != nil { // groups out of scope are listed by name only, for "did you mean"
		for _, g := range l.Groups {
			if _, ok := listed[g.ID]; !ok {
				out = append(out, snapshot.Group{ID: g.ID, ProtocolType: g.ProtocolType, State: listedState(g), Type: typeFact(g.Type)})
			}
		}
	}
	slices.SortFunc(out, func(a, b snapshot.Group) int { return cmp.Compare(a.ID, b.ID) })
	return snapshot.Is(out)
}

func listedState(g wire.ListedGroup) snapshot.Fact[kafka.GroupState] {
	if g.State == "" {
		return snapshot.Fact[kafka.GroupState]{}
	}
	return snapshot.Is(g.State)
}

func typeFact(t kafka.GroupType) snapshot.Fact[kafka.GroupType] {
	if t == "" {
		return snapshot.Fact[kafka.GroupType]{}
	}
	return snapshot.Is(t)
}

func group(alias, id string, g wire.ListedGroup, d wire.DescribeResult, offsets map[string]wire.OffsetsResult) snapshot.Group {
	out := snapshot.Group{ID: id, ProtocolType: cmp.Or(d.ProtocolType, g.ProtocolType), Type: typeFact(cmp.Or(d.Type, g.Type))}
	switch {
	case d.Err != nil:
		out.State = snapshot.NotKnown[kafka.GroupState](gapOf(alias, "DescribeGroups", id, d.Err))
		out.Members = snapshot.NotKnown[[]snapshot.Member](out.State.Why())
	case !d.Exists:
		out.State = snapshot.None[kafka.GroupState]()
		out.Members = snapshot.None[[]snapshot.Member]()
	default:
		out.State = snapshot.Is(d.State)
		ms := make([]snapshot.Member, 0, len(d.Members))
		for _, m := range d.Members {
			ms = append(ms, snapshot.Member{ID: m.ID, InstanceID: m.InstanceID, ClientID: m.ClientID, Host: m.Host})
		}
		slices.SortFunc(ms, func(a, b snapshot.Member) int { return cmp.Compare(a.ID, b.ID) })
		out.Members = snapshot.Is(ms)
	}
	o, asked := offsets[id]
	switch {
	case !asked:
	case o.Err != nil:
		out.Offsets = snapshot.NotKnown[[]snapshot.Committed](gapOf(alias, "OffsetFetch", id, o.Err))
	default:
		cs := make([]snapshot.Committed, 0, len(o.Offsets))
		for _, x := range o.Offsets {
			if x.Err != nil {
				out.Offsets = snapshot.NotKnown[[]snapshot.Committed](gapOf(alias, "OffsetFetch", id, x.Err))
				return out
			}
			cs = append(cs, snapshot.Committed{Topic: x.Topic, Partition: x.Partition, Offset: x.Offset, Epoch: x.Epoch, Metadata: x.Metadata})
		}
		out.Offsets = snapshot.Is(cs)
	}
	return out
}
