package diagnose

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// internalTopic finds one of MirrorMaker 2's own topics on a cluster.
func (f *flowView) internalTopic(c *clusterView, name string) snapshot.Fact[*snapshot.Topic] {
	f.v.touch(finding.InternalTopics)
	return f.v.topicOn(c, name)
}

// topicSetting is a setting of a user's topic.
func (f *flowView) topicSetting(c *clusterView, topic, key string) snapshot.Fact[snapshot.ConfigEntry] {
	f.v.touch(finding.TopicConfigs)
	return settingOf(f.v.topicOn(c, topic), key)
}

// settingOf finds one of a topic's settings.
func settingOf(topic snapshot.Fact[*snapshot.Topic], key string) snapshot.Fact[snapshot.ConfigEntry] {
	t, st := topic.Get()
	switch st {
	case snapshot.Absent:
		return snapshot.None[snapshot.ConfigEntry]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.ConfigEntry](topic.Why())
	}
	return entryIn(t.Config, key)
}

func entryIn(es snapshot.Fact[[]snapshot.ConfigEntry], key string) snapshot.Fact[snapshot.ConfigEntry] {
	list, st := es.Get()
	if st != snapshot.Known {
		return snapshot.NotKnown[snapshot.ConfigEntry](es.Why())
	}
	if e := find(list, key); e != nil {
		return snapshot.Is(*e)
	}
	return snapshot.None[snapshot.ConfigEntry]()
}

// brokerNumber is a whole number among the brokers' settings.
func (v *View) brokerNumber(c *clusterView, key string) snapshot.Fact[int64] {
	v.touch(finding.BrokerSettings)
	e := entryIn(c.Settings, key)
	x, st := e.Get()
	switch st {
	case snapshot.Absent:
		return snapshot.None[int64]()
	case snapshot.Unknown:
		return snapshot.NotKnown[int64](e.Why())
	}
	n, err := strconv.ParseInt(strings.TrimSpace(x.Value), 10, 64)
	if err != nil {
		return snapshot.NotKnown[int64](&snapshot.Gap{Code: "unreadable", Cluster: c.Alias, API: "DescribeConfigs broker", Why: key + " is no number: " + x.Value})
	}
	return snapshot.Is(n)
}

// position is the last record of the partition that the source connector has mirrored and stored.
func (f *flowView) position(topic string, part int32) snapshot.Fact[snapshot.Position] {
	f.v.touch(finding.SourcePositions)
	ps, st := f.Positions.Get()
	switch st {
	case snapshot.Absent:
		return snapshot.None[snapshot.Position]()
	case snapshot.Unknown:
		return snapshot.NotKnown[snapshot.Position](f.Positions.Why())
	}
	i, ok := slices.BinarySearchFunc(ps, kafka.TopicPartition{Topic: topic, Partition: part}, func(p snapshot.Position, tp kafka.TopicPartition) int {
		return kafka.TopicPartition{Topic: p.Topic, Partition: p.Partition}.Compare(tp)
	})
	if ok {
		return snapshot.Is(ps[i])
	}
	return snapshot.None[snapshot.Position]()
}

// signs are the lines of a kind in MirrorMaker 2's log.
func (f *flowView) signs(kind string) []snapshot.LogSign {
	f.v.touch(finding.LogSigns)
	var out []snapshot.LogSign
	for _, s := range f.Log.Or(snapshot.Log{}).Signs {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	return out
}

// others are the other flows of the snapshot.
func (f *flowView) others() []*flowView {
	f.v.touch(finding.OtherFlows)
	var out []*flowView
	for _, o := range f.v.flows {
		if o != f {
			out = append(out, o)
		}
	}
	return out
}

// opposite is the flow in the other direction; nil without one.
func (f *flowView) opposite() *flowView {
	for _, o := range f.others() {
		if o.Source == f.Target && o.Target == f.Source {
			return o
		}
	}
	return nil
}

// syncsCluster is where the offset-syncs topic stands.
func (f *flowView) syncsCluster() *clusterView {
	if f.SyncsOn == f.Target {
		return f.dst
	}
	return f.src
}
