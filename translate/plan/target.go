package plan

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// target judges the group on the cluster that is written: nothing is committed to one that has members, is of a type that never
// becomes the other, or is not known.
func (p *planner) target(w *wanted) {
	id := w.g.TargetGroup
	f := p.to.group(id)
	g, st := f.Get()
	switch st {
	case snapshot.Unknown:
		w.refusals = append(w.refusals, notKnown(ActiveGroup, fmt.Sprintf("whether group %s exists on %s, and has members there,", id, p.to.Alias), f.Why()))
		return
	case snapshot.Absent:
		w.g.TargetState = string(kafka.StateDead)
		p.targetType(w, "")
		return
	}
	w.target = g
	state := g.State.Or("")
	w.g.TargetState = string(state)
	if state != kafka.StateEmpty {
		w.refusals = append(w.refusals, Active(p.to.Alias, id, string(state), g.Members.Or(nil)))
	}
	kind, ok := typeOf(g)
	if !ok {
		w.refusals = append(w.refusals, notKnown(TypeConflict, fmt.Sprintf("the type of group %s on %s", id, p.to.Alias), g.Type.Why()))
		return
	}
	w.g.TargetType = string(kind)
	p.targetType(w, kind)
	if state == kafka.StateEmpty {
		if r := p.consumed(w, g); r != nil {
			w.refusals = append(w.refusals, r)
		}
	}
	p.expiry(w, g, kind)
}

// targetType refuses what can never be taken over by the application (KIP-932, KIP-848, KIP-1071), and what the broker would not do.
func (p *planner) targetType(w *wanted, dst kafka.GroupType) {
	src, to := kafka.GroupType(w.g.Type), p.to.Alias
	version, known := p.to.Version.Get()
	old, read := before42(version)
	told := known == snapshot.Known && read
	refuse := func(because, next string) {
		w.refusals = append(w.refusals, &Refusal{Code: TypeConflict, Because: because, Next: next})
	}
	switch {
	case dst != "" && diagnose.Incompatible(src, dst, version):
		refuse(fmt.Sprintf("group %s is a %s group on %s, group %s a %s group on %s, and the one never becomes the other", w.g.Group, src, p.from.Alias, w.g.TargetGroup, dst, to),
			fmt.Sprintf("give the application another id there (--group-map %s=NEW), or delete the group on %s while it is empty, then plan again", w.g.Group, to))
	case dst == kafka.TypeStreams && !p.sel.Options.IncludeStreams:
		refuse(fmt.Sprintf("group %s is a streams group on %s", w.g.TargetGroup, to), "streams groups are touched only with --include-streams")
	case told && old && (src == kafka.TypeShare || src == kafka.TypeStreams && dst == ""):
		refuse(fmt.Sprintf("%s runs Kafka %s, and %s", to, version, map[kafka.GroupType]string{kafka.TypeShare: "brokers before 4.2 answer that a share group's offsets were set and change nothing", kafka.TypeStreams: "before 4.2 a group that was seeded there keeps the streams application out"}[src]),
			"upgrade the brokers of "+to+" to 4.2 or newer, or let the application begin by its own rule there")
	case !told && (src == kafka.TypeShare || src == kafka.TypeStreams && dst == ""):
		w.refusals = append(w.refusals, notKnown(TypeConflict, fmt.Sprintf("which Kafka %s runs, and so whether it can set a %s group,", to, src), cmp.Or(p.to.Version.Why(), notAsked)))
	}
}

// before42 reads a broker's release as its API versions tell it, "4.1"; ok is false where it is no release.
func before42(version string) (old, ok bool) {
	var major, minor int
	if _, err := fmt.Sscanf(version, "%d.%d", &major, &minor); err != nil {
		return false, false
	}
	return major < 4 || major == 4 && minor < 2, true
}

// consumed says that a group without members moved between two looks, and not to what MirrorMaker 2 commits: somebody reads with
// assign(), or a tool moves it.
func (p *planner) consumed(w *wanted, g *snapshot.Group) *Refusal {
	var looks []*snapshot.Group
	for _, x := range []*side{p.first, p.earlier} {
		if x != nil && x.groups[g.ID] != nil && !x.groups[g.ID].State.Or("").Active() { // members of before explain it
			looks = append(looks, x.groups[g.ID])
		}
	}
	for _, e := range looks {
		was := map[kafka.TopicPartition]int64{}
		for _, o := range e.Offsets.Or(nil) {
			was[kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}] = o.Offset
		}
		for _, o := range g.Offsets.Or(nil) {
			tp := kafka.TopicPartition{Topic: o.Topic, Partition: o.Partition}
			b, ok := was[tp]
			if !ok || b == o.Offset || p.byMM2(g.ID, o) {
				continue
			}
			return &Refusal{Code: SeemsConsumed, Because: fmt.Sprintf("group %s has no members on %s, yet its offset in %s went from %d to %d between two looks, and not by MirrorMaker 2: consumers that use assign(), or a tool, read or move it", g.ID, p.to.Alias, tp, b, o.Offset),
				Next: "find and stop who commits to it (a stream processor, a connector that keeps its offsets in Kafka, a job without subscribe()), then plan again"}
		}
	}
	return nil
}

// byMM2 says that an offset is what MirrorMaker 2 committed: a checkpoint of either look.
func (p *planner) byMM2(group string, o snapshot.Committed) bool {
	is := func(c snapshot.Fact[snapshot.Checkpoint]) bool {
		v, st := c.Get()
		return st == snapshot.Known && v.Down == o.Offset
	}
	return is(p.checkpointOf(group, o.Topic, o.Partition)) || p.oldWriter != nil && is(checkpointIn(p.oldWriter, group, o.Topic, o.Partition))
}

// expiry: an administrator's commit does not prolong the life of a classic group that once had members (KIP-211).
func (p *planner) expiry(w *wanted, g *snapshot.Group, kind kafka.GroupType) {
	if kind != kafka.TypeClassic || g.ProtocolType == "" || g.State.Or("") != kafka.StateEmpty || p.sel.Options.KeepMs > 0 {
		return
	}
	since := ""
	if g.Since > 0 {
		since = fmt.Sprintf(" (for %s now)", Span(p.now-g.Since))
	}
	w.g.Remarks = append(w.g.Remarks, fmt.Sprintf("the group once had members on %s and is empty%s: its offsets expire counted from then, and a commit does not prolong that; --keep 30d gives them a life of their own", p.to.Alias, since))
}

// streamsMetadata is how Kafka Streams marks its commits: stream time, base64.
const streamsMetadata = "AgAAA"

// remarkStreams says once that offsets do not carry state.
func remarkStreams(w *wanted) {
	classic := false
	for _, r := range w.rows {
		classic = classic || r.row.From != nil && strings.HasPrefix(r.row.From.Metadata, streamsMetadata)
	}
	if classic || w.g.Type == string(kafka.TypeStreams) {
		w.g.Remarks = append(w.g.Remarks, "this is a Kafka Streams application: its positions are carried over, its state stores are not; their changelog topics on the other cluster are not the ones it reads")
	}
}
