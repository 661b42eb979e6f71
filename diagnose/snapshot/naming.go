package snapshot

import "github.com/mm2doctor/mm2doctor/internal/mm2"

// Naming rebuilds the rules by which the flow's topics are named; v is zero where the release is not known.
func (f Flow) Naming(v mm2.Version) mm2.Policy {
	p := f.Policy
	return mm2.NewPolicy(mm2.PolicyConfig{Class: p.Class, Separator: p.Separator, SeparatorSet: p.Separator != "" && p.Separator != mm2.DefaultSeparator, SourceAlias: f.Source}, v)
}

// Upstream is the source's name of a topic on the target; false for one that is no copy from the flow's source.
func (f Flow) Upstream(topic string, v mm2.Version) (string, bool) {
	p := f.Naming(v)
	source, remote, known := p.TopicSource(topic)
	if !known || !remote || source != f.Source && source != "" {
		return "", false
	}
	name, remote, known := p.UpstreamTopic(topic)
	return name, remote && known
}
