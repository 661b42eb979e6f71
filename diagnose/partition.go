package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/translate"
)

// rowsOf are the groups that have a committed offset in a source partition.
func (f *flowView) rowsOf(topic string, part int32) []groupPartition {
	if f.byPartition == nil {
		f.byPartition = map[kafka.TopicPartition][]groupPartition{}
		for _, gp := range f.rows {
			tp := kafka.TopicPartition{Topic: gp.topic, Partition: gp.part}
			f.byPartition[tp] = append(f.byPartition[tp], gp)
		}
	}
	return f.byPartition[kafka.TopicPartition{Topic: topic, Partition: part}]
}

// rowsOfGroup are the partitions in which a group has a committed offset.
func (f *flowView) rowsOfGroup(group string) []groupPartition {
	if f.byGroup == nil {
		f.byGroup = map[string][]groupPartition{}
		for _, gp := range f.rows {
			if gp.part >= 0 {
				f.byGroup[gp.group] = append(f.byGroup[gp.group], gp)
			}
		}
	}
	return f.byGroup[group]
}

// standingBefore are the eligible groups whose position in the partition lies before a source offset, and the least such position.
func (gp groupPartition) standingBefore(up int64) (groups []string, least int64) {
	for _, r := range gp.flow.rowsOf(gp.topic, gp.part) {
		u, st := r.sourceOffset().Get()
		if st != snapshot.Known || u < 0 || u >= up {
			continue
		}
		if d := gp.flow.groupFilter(r.group); d.known && !d.passes {
			continue
		}
		if len(groups) == 0 || u < least {
			least = u
		}
		groups = append(groups, r.group)
	}
	slices.Sort(groups)
	return groups, least
}

// emissions are the rules by which the source task may write offset syncs, by the version or by what may be at work.
func (f *flowView) emissions() []mm2.Emission {
	f.v.touch(finding.Generation)
	if v := f.gens.version; !v.IsZero() {
		return []mm2.Emission{v.Emission()}
	}
	var out []mm2.Emission
	for _, v := range mm2.Releases() {
		if e := v.Emission(); f.gens.set.Has(v.Generation()) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// syncsByDistance says that this version writes a sync at the latest every offset.lag.max+1 records (3.4.1 and later).
func (f *flowView) syncsByDistance() (yes, known bool) {
	es := f.emissions()
	old := slices.Contains(es, mm2.E1) || slices.Contains(es, 0)
	return !old && len(es) > 0, !old || len(es) == 1
}

// exactlyOnce says that the worker may write in transactions, so that the copy holds markers among the records (3.5.0).
func (f *flowView) exactlyOnce() bool {
	e, st := f.setting(worker, keyExactlyOnce).Get()
	return st == snapshot.Unknown || st == snapshot.Known && strings.TrimSpace(strings.ToLower(e.Value)) == "enabled"
}

// sourceConsumer is a setting of the consumer that reads the source: the more exact place wins.
func (f *flowView) sourceConsumer(key string) snapshot.Fact[snapshot.ConfigEntry] {
	var last snapshot.Fact[snapshot.ConfigEntry]
	for _, prefix := range []string{"source.consumer.", "consumer.", "source.cluster."} {
		last = f.setting(connSource, prefix+key)
		if last.Known() {
			return last
		}
	}
	return last
}

// readsCommitted says that the source is read with isolation.level=read_committed: aborted records are not mirrored, and an
// open transaction holds the copy back.
func (f *flowView) readsCommitted() bool {
	e, st := f.sourceConsumer(keyIsolation).Get()
	return st == snapshot.Known && strings.TrimSpace(strings.ToLower(e.Value)) == "read_committed"
}

// readable is the source offset up to which the connector can read: the end, or the last stable offset.
func (gp groupPartition) readable() (int64, bool) {
	p, st := gp.sourcePartition().Get()
	if st != snapshot.Known || !p.End.Known() {
		return 0, false
	}
	end := p.End.Or(0)
	if gp.flow.readsCommitted() {
		end = min(end, p.Stable.Or(end))
	}
	return end, true
}

// someHoles is how many source offsets at the end of a log may hold no record to be mirrored (transaction markers, compaction)
// where the syncs have shown such holes, or too little to tell.
const someHoles = 100

// firstMarker is the hole that a log without any may get at its end: a first transaction's marker.
const firstMarker = 1

// holes is the number of offsets that a copy may lack without lacking a record. Equal shifts say that nothing was lacking only
// where the copy holds no markers: with exactly-once, one transaction of MirrorMaker 2 for one of the source keeps the shift.
func (gp groupPartition) holes() int64 {
	ps, st := gp.syncsOf().Get()
	if st == snapshot.Known && !gp.flow.readsCommitted() && !gp.flow.exactlyOnce() && ps.Rewinds == 0 && ps.Newest.Up-ps.Oldest.Up >= translate.DefaultLagMax && ps.Newest.Up-ps.Oldest.Up == ps.Newest.Down-ps.Oldest.Down {
		return firstMarker // record by record over a stretch
	}
	return someHoles
}

// mirroredTo is an upper bound of the source offset that is mirrored next, from the newest sync and what was written to the copy
// after it. From 3.4.1 on every hole of the source asks for a sync, so after the newest one both logs go on record by record;
// markers and other writers on the target only raise the bound. A hole that was mirrored after the syncs were read, or whose sync
// still waits to be sent (KAFKA-14610), lets the bound fall short by its length: what is said to be lacking must lie before a look
// whose syncs had a commit of source offsets' time to be written.
func (gp groupPartition) mirroredTo() (next int64, gap *snapshot.Gap) {
	f := gp.flow
	if yes, _ := f.syncsByDistance(); !yes {
		return 0, &snapshot.Gap{Code: "undetermined", Why: "up to 3.4.0 the offset syncs do not tell how far the source connector has come, and its stored positions are not known"}
	}
	s := gp.syncsOf()
	ps, st := s.Get()
	if st != snapshot.Known {
		return 0, cmp.Or(s.Why(), &snapshot.Gap{Code: "undetermined", Why: "the partition has no offset sync, and the source connector's stored positions are not known"})
	}
	p, st := gp.targetPartition().Get()
	if st != snapshot.Known || !p.End.Known() {
		return 0, cmp.Or(p.End.Why(), gp.targetPartition().Why())
	}
	if ps.Newest.Down >= p.End.Or(0) {
		return 0, &snapshot.Gap{Code: "undetermined", Why: "the newest offset sync lies beyond the end of the copy"}
	}
	return ps.Newest.Up + p.End.Or(0) - ps.Newest.Down, nil
}

// sinceBefore is the time from the end of the look before to the start of this one, ms: however long a look takes, every fact of
// this one is at least that much younger than any of the other. 0 without.
func (f *flowView) sinceBefore() int64 {
	f.v.touch(finding.EarlierLook)
	if f.earlier == nil {
		return 0
	}
	return max(0, f.v.began-f.earlier.v.now)
}

func shownSync(s snapshot.Sync) string {
	return fmt.Sprintf("%d -> %d (offset %d)", s.Up, s.Down, s.Offset)
}

// restartSource restarts the source connector, alone where the mode can.
func restartSource(f *flowView) finding.Step { return restartSteps(f, connSource)[0] }

// setSource gives a setting to the source connector, and to the others that have to agree in it, and puts it in force.
func setSource(f *flowView, key, value string) []finding.Step {
	to := f.readers(key)
	if !slices.Contains(to, connSource) || key == keyTasksMax {
		to = []string{connSource}
	}
	steps := f.mode().set(f, to, finding.Observed{{Name: key, Value: value}})
	if !f.mode().restartsItself {
		steps = append(steps, restartSource(f))
	}
	return steps
}
