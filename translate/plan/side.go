package plan

import (
	"cmp"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// side is one cluster of a translation with its facts at hand.
type side struct {
	*snapshot.Cluster
	lost   bool
	topics map[string]*snapshot.Topic
	groups map[string]*snapshot.Group
}

func newSide(s *snapshot.Snapshot, alias string, lost bool) *side {
	x := &side{Cluster: &snapshot.Cluster{Alias: alias}, lost: lost, topics: map[string]*snapshot.Topic{}, groups: map[string]*snapshot.Group{}}
	for i := range s.Clusters {
		if s.Clusters[i].Alias == alias {
			x.Cluster = &s.Clusters[i]
		}
	}
	ts, gs := x.Topics.Or(nil), x.Groups.Or(nil)
	for i := range ts {
		x.topics[ts[i].Name] = &ts[i]
	}
	for i := range gs {
		x.groups[gs[i].ID] = &gs[i]
	}
	return x
}

// missing says what it means that a list lacks an entry: absent only where nothing can be hidden.
func missing[T, L any](list snapshot.Fact[L], complete snapshot.Fact[bool]) snapshot.Fact[T] {
	if !list.Known() {
		return snapshot.NotKnown[T](cmp.Or(list.Why(), notAsked))
	}
	if complete.Or(false) {
		return snapshot.None[T]()
	}
	return snapshot.NotKnown[T](cmp.Or(complete.Why(), &snapshot.Gap{Code: "not-known", Why: "the list may lack what an ACL hides"}))
}

var notAsked = &snapshot.Gap{Code: "not-asked", Why: "nobody asked"}

func (s *side) topic(name string) snapshot.Fact[*snapshot.Topic] {
	if t := s.topics[name]; t != nil {
		if t.Gap != nil && len(t.Partitions) == 0 {
			return snapshot.NotKnown[*snapshot.Topic](t.Gap)
		}
		return snapshot.Is(t)
	}
	return missing[*snapshot.Topic](s.Topics, s.TopicsComplete)
}

func (s *side) partition(topic string, part int32) snapshot.Fact[snapshot.Partition] {
	f := s.topic(topic)
	t, st := f.Get()
	switch st {
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Partition](f.Why())
	case snapshot.Known:
		if i := int(part); i >= 0 && i < len(t.Partitions) && t.Partitions[i].ID == part {
			return snapshot.Is(t.Partitions[i])
		}
		for _, p := range t.Partitions {
			if p.ID == part {
				return snapshot.Is(p)
			}
		}
	}
	return snapshot.None[snapshot.Partition]()
}

func (s *side) topicID(name string) string {
	if t := s.topics[name]; t != nil {
		return t.ID
	}
	return ""
}

// group is absent where the group is known not to exist. A group that is Dead is one that does not.
func (s *side) group(id string) snapshot.Fact[*snapshot.Group] {
	g := s.groups[id]
	if g == nil {
		return missing[*snapshot.Group](s.Groups, s.GroupsComplete)
	}
	switch st, known := g.State.Get(); {
	case known == snapshot.Unknown:
		return snapshot.NotKnown[*snapshot.Group](cmp.Or(g.State.Why(), notAsked))
	case known == snapshot.Absent, st == kafka.StateDead:
		return snapshot.None[*snapshot.Group]()
	}
	return snapshot.Is(g)
}

// stored is what a group has committed in a partition. OffsetFetch leaves out topics that an ACL hides, without an error.
func (s *side) stored(id, topic string, part int32) snapshot.Fact[snapshot.Committed] {
	f := s.group(id)
	g, st := f.Get()
	switch {
	case st == snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Committed](f.Why())
	case st == snapshot.Absent:
		return snapshot.None[snapshot.Committed]()
	case g.Offsets.Unknown():
		return snapshot.NotKnown[snapshot.Committed](cmp.Or(g.Offsets.Why(), notAsked))
	}
	os := g.Offsets.Or(nil)
	at, ok := slices.BinarySearchFunc(os, kafka.TopicPartition{Topic: topic, Partition: part}, func(o snapshot.Committed, tp kafka.TopicPartition) int {
		return kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}.Compare(tp)
	})
	if ok {
		return snapshot.Is(os[at])
	}
	if t := s.topic(topic); t.Unknown() && t.Why() != nil && t.Why().Code == "denied" {
		return snapshot.NotKnown[snapshot.Committed](t.Why())
	}
	return snapshot.None[snapshot.Committed]()
}

// typeOf is a group's type; brokers before 3.8 do not tell and know no other than classic. ok is false where it was not read.
func typeOf(g *snapshot.Group) (t kafka.GroupType, ok bool) {
	if v, st := g.Type.Get(); st == snapshot.Known && v != "" {
		return v, true
	}
	return kafka.TypeClassic, g.Type.Why() == nil
}

func (s *side) info() Cluster {
	return Cluster{Alias: s.Alias, ID: s.ID.Or(""), Bootstrap: slices.Clone(s.Bootstrap), Lost: s.lost}
}
