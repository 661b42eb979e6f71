package collect

import (
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// FlowSettings are what decides the names of a flow's topics.
type FlowSettings struct {
	Source, Target           string
	PolicyClass              string
	Separator                string
	SeparatorSet             bool
	InternalSeparatorEnabled bool
	Location                 string // source or target, as the checkpoint connector sees it
	Version                  mm2.Version
}

// NewFlow names the topics of a flow.
func NewFlow(s FlowSettings) snapshot.Flow {
	p := mm2.NewPolicy(mm2.PolicyConfig{Class: s.PolicyClass, Separator: s.Separator, SeparatorSet: s.SeparatorSet, InternalSeparatorEnabled: s.InternalSeparatorEnabled, SourceAlias: s.Source}, s.Version)
	loc := mm2.OnSource
	if s.Location == string(mm2.OnTarget) {
		loc = mm2.OnTarget
	}
	n := mm2.NamesOf(p, s.Source, s.Target, loc, s.Version)
	return snapshot.Flow{Source: s.Source, Target: s.Target, SyncsTopic: n.OffsetSyncs, SyncsOn: n.OffsetSyncsOn, Checkpoints: n.Checkpoints, Heartbeats: n.Heartbeats,
		Policy: snapshot.Policy{Class: p.Class, Separator: p.Separator, InternalSeparator: p.Internal}}
}
