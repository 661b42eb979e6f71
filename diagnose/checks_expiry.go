package diagnose

import (
	"fmt"
	"unicode/utf16"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

const (
	keyOffsetsRetention = "offsets.retention.minutes"
	keyMetadataMax      = "offset.metadata.max.bytes"
	defaultMetadataMax  = 4096
)

// expiryChecks are about committed offsets that the broker drops, refuses or answers out of range.
var expiryChecks = []check{
	{Code: 307, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup | finding.Settings, Uses: eligibility | finding.BrokerSettings | finding.EarlierLook | finding.Generation | finding.Tasks | finding.TargetLog, Applies: mayExpire, Gap: expiryUnknown, Run: checkExpired},
	{Code: 309, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup | finding.TargetLog, Uses: eligibility | finding.SourceOffset | finding.SourceLog | finding.SyncsOf | finding.Generation | finding.Tasks, Applies: idleWithOffset, Gap: startUnread, Run: checkBelowStart},
	{Code: 314, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup | finding.Settings, Uses: eligibility | finding.Generation, Applies: negative, Run: checkNegative},
	{Code: 315, Grain: finding.OnGroupPartition, Needs: rowFacts | finding.TargetGroup | finding.Settings, Uses: eligibility | finding.BrokerSettings | finding.TargetOffset | finding.Generation, Applies: waitsWithMetadata, Gap: metadataLimitUnread, Run: checkMetadata},
}

// syncsGroups says that group-offset sync is known to be on.
func (f *flowView) syncsGroups() bool {
	on, _, ok := f.flag(connCheckpoint, keySyncEnabled)
	return ok && on
}

// renewed says that MirrorMaker 2 commits the offset again once it is gone.
func (gp groupPartition) renewed() bool { return gp.checkpoint().Known() && gp.flow.syncsGroups() }

// mayExpire narrows to idle groups whose offset went although a checkpoint stands, or whose offset nobody writes again. One
// that MirrorMaker 2 writes again within an interval is no matter.
func mayExpire(v *View, s subject) bool {
	gp := s.gp
	if !eligibleRow(v, s) || !idle(gp.targetGroup()) || gp.targetPartition().Absent() {
		return false
	}
	t := gp.targetOffset()
	switch t.State() {
	case snapshot.Absent:
		_, _, went := gp.removed()
		return went && gp.checkpoint().Known()
	case snapshot.Known:
		return t.Or(-1) >= 0 && gp.checkpoint().State() != snapshot.Unknown && s.flow.settings.gap == nil && !gp.renewed()
	}
	return false
}

// removed is when the offset on the target went: by its tombstone, or between two looks (at most the span between them ago).
func (gp groupPartition) removed() (at int64, exact, went bool) {
	gp.flow.v.touch(finding.TargetOffset)
	if g := gp.flow.dst.groups[gp.group]; g != nil {
		for _, r := range g.Removed.Or(nil) {
			if r.Topic == gp.remote && r.Partition == gp.part {
				return r.Time, true, true
			}
		}
	}
	if e, ok := gp.earlier(); ok && e.targetOffset().Known() && gp.targetOffset().Absent() {
		return gp.flow.v.now, false, true
	}
	return 0, false, false
}

// retention is offsets.retention.minutes of the target, ms.
func (gp groupPartition) retention() snapshot.Fact[int64] {
	r := gp.flow.v.brokerNumber(gp.flow.dst, keyOffsetsRetention)
	if n, st := r.Get(); st == snapshot.Known {
		return snapshot.Is(n * 60_000)
	}
	return r
}

// expires is when the broker drops the offset, by the rule of the group's type: an end that the commit asked for itself; else
// the time since which a classic group that once had members is empty (KIP-211: a commit by an administrator does not prolong
// it); else the commit.
func (gp groupPartition) expires(retention int64) (int64, *snapshot.Gap) {
	f := gp.flow
	o, _ := gp.storedOnTarget().Get()
	g, st := gp.targetGroup().Get()
	unread := func(what string) *snapshot.Gap {
		return &snapshot.Gap{Code: "not-known", Cluster: f.Target, API: "Fetch __consumer_offsets", Why: what + " stands in __consumer_offsets alone, and was not read there"}
	}
	if o.Expires > 0 {
		return o.Expires, nil
	}
	if kind, _ := typeOf(&g); st == snapshot.Known && kind == kafka.TypeClassic && g.ProtocolType != "" {
		if g.Since == 0 {
			return 0, unread("since when the group is empty")
		}
		return g.Since + retention, nil
	}
	if o.Time == 0 {
		return 0, unread("the time of the commit")
	}
	return o.Time + retention, nil
}

func expiryUnknown(_ *View, s subject) *snapshot.Gap {
	gp := s.gp
	r := gp.retention()
	ms, st := r.Get()
	if st != snapshot.Known {
		return orNotAsked(r.Why())
	}
	if gp.targetOffset().Absent() {
		return nil
	}
	_, gap := gp.expires(ms)
	return gap
}

func checkExpired(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	r, _ := gp.retention().Get()
	minutes := snapshot.Named{Name: keyOffsetsRetention + " on " + f.Target, Value: r / 60_000}
	fd := &finding.Finding{Confirm: []finding.Command{groupCommand(f.dst, gp.group),
		{Cluster: f.Target, Command: "kafka-configs.sh --bootstrap-server " + bootstrapOf(f.dst) + " --entity-type brokers --describe --all", Shows: keyOffsetsRetention}}}
	if gp.targetOffset().Absent() {
		return gp.expired(fd, r, minutes)
	}
	at, gap := gp.expires(r)
	if gap != nil {
		return nil
	}
	left := at - f.v.now
	if left > r/10 || left < -600_000 { // the broker looks every ten minutes by default; one that is due longer is no prediction
		return nil
	}
	t, _ := gp.targetOffset().Get()
	why := "it has no checkpoint"
	if !f.syncsGroups() {
		why = "group-offset sync is off"
	}
	fd.Observed = finding.Observed{{Name: "T", Value: t}, {Name: "goes in", Value: age(left)}, minutes}
	fd.Because = fmt.Sprintf("the broker drops T = %d in %s (offsets.retention.minutes = %d), and nothing writes it again: %s", t, age(left), r/60_000, why)
	fd.Consequence = "After that consumers of the group that start on " + f.Target + " begin by auto.offset.reset."
	fd.Fixes = []finding.Fix{keepFix(f, []groupPartition{gp})}
	return fd
}

// expired: the offset went, and the checkpoint behind it is older than the retention. Up to 3.4.0 checkpoints are written anew
// at each interval and tell nothing of the age of T; later ones only when they change (KAFKA-12468), and an equal offset is not
// committed again.
func (gp groupPartition) expired(fd *finding.Finding, retention int64, minutes snapshot.Named) *finding.Finding {
	f := gp.flow
	c, st := gp.checkpoint().Get()
	at, exact, went := gp.removed()
	if st != snapshot.Known || !went || at-c.Time < retention || f.gens.set.Has(mm2.G1) || f.gens.set.Has(mm2.G2) {
		return nil
	}
	gone := f.v.now - at
	fd.Observed = finding.Observed{{Name: "T", Value: nil}, {Name: "C", Value: fmt.Sprintf("%d -> %d, written %s ago", c.Up, c.Down, age(f.v.now-c.Time))}, minutes}
	fd.Because = fmt.Sprintf("the offset of the copy has expired on %s: its checkpoint is %s old, MirrorMaker 2 does not commit an equal one again, and offsets.retention.minutes is %d", f.Target, age(f.v.now-c.Time), retention/60_000)
	fd.Consequence = "Until it is written again consumers of the group that start on " + f.Target + " begin by auto.offset.reset."
	if exact {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "removed", Value: age(gone) + " ago"})
	}
	start, known := f.checkpointTaskStart()
	if !exact || gone <= f.commitBudget() || known && f.v.now-start < f.commitBudget()+f.emitBudget() {
		fd.Severity = finding.Info
		fd.Because += "; the next pass writes it again"
		return fd
	}
	fd.Because += fmt.Sprintf("; for %s no pass has written it again", age(gone))
	fd.Fixes = []finding.Fix{expiryFix(f, []groupPartition{gp}, f.fixMode())}
	return fd
}

// expiryFix brings back what is gone, or keeps what is about to go (mode kafka).
func expiryFix(f *flowView, gps []groupPartition, mode string) finding.Fix {
	if mode == "kafka" {
		return keepFix(f, gps)
	}
	return restartFix(f, "Look for `Unable to sync offsets for consumer group` in MirrorMaker 2's log and repair what it names. Then restart MirrorMaker 2: from 3.7.1 on it commits what its checkpoints topic says.", f.discoveryStart()+f.emitBudget()+f.commitBudget())
}

// keepFix commits an offset again before it goes.
func keepFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("Switch group-offset sync on where it is off, or raise offsets.retention.minutes on the brokers of %s (it needs a restart of each). For groups that never had members there, or of the KIP-848 type, committing the same offset again begins a new term.", f.Target)}
	longer := false
	for _, gp := range gps {
		if g, st := gp.targetGroup().Get(); st == snapshot.Known && g.ProtocolType != "" {
			if kind, _ := typeOf(&g); kind == kafka.TypeClassic {
				longer = true
				continue // its term counts from when it became empty
			}
		}
		t, _ := gp.targetOffset().Get()
		fix.Steps = append(fix.Steps, finding.Step{Text: "commit the offset again on " + f.Target, Undo: "none needed: the offset is the same",
			Command: groupsCommand(f.dst, fmt.Sprintf("--reset-offsets --group %s --topic %s --to-offset %d --execute", finding.Quote(gp.group), finding.Quote(fmt.Sprintf("%s:%d", gp.remote, gp.part)), t))})
	}
	if ms, st := gps[0].retention().Get(); longer && st == snapshot.Known {
		fix.Steps = append(fix.Steps, brokerStep(f.dst, keyOffsetsRetention, 2*ms/60_000))
	}
	return fix
}

func idleWithOffset(v *View, s subject) bool {
	return eligibleRow(v, s) && s.gp.targetOffset().Or(-1) >= 0 && idle(s.gp.targetGroup()) && !s.gp.targetPartition().Absent()
}

func startUnread(_ *View, s subject) *snapshot.Gap {
	p, st := s.gp.targetPartition().Get()
	if t := s.gp.targetOffset(); st == snapshot.Known && p.Start.Unknown() && t.Or(0) > 0 {
		return orNotAsked(p.Start.Why())
	}
	return nil
}

// checkBelowStart: the log start was read after T and only grows, so the next pass may yet lift T over it; where a checkpoint
// waits that does, nothing is said. A group that has read everything, or whose position is gone on the source as well, loses
// nothing by it.
func checkBelowStart(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	t, _ := gp.targetOffset().Get()
	p, _ := gp.targetPartition().Get()
	start, end := p.Start.Or(0), p.End.Or(0)
	if t >= start {
		return nil
	}
	c, cst := gp.checkpoint().Get()
	on, _, ok := f.flag(connCheckpoint, keySyncEnabled)
	if cst == snapshot.Known && c.Down >= start && (on || !ok) && !gp.waitsTooLong(c) {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "T", Value: t}, {Name: "log start of the copy", Value: start}, {Name: "end of the copy", Value: end}},
		Because:     fmt.Sprintf("T = %d lies %d before the log start of %s-%d (%d): the records between are gone from the copy", t, start-t, gp.remote, gp.part, start),
		Consequence: fmt.Sprintf("A consumer that starts there finds its offset out of range, and auto.offset.reset decides: earliest begins at %d, latest at %d, none fails.", start, end),
		Confirm: []finding.Command{groupCommand(f.dst, gp.group), {Cluster: f.Target, Shows: "the log start of each partition",
			Command: "kafka-get-offsets.sh --bootstrap-server " + bootstrapOf(f.dst) + " --topic " + finding.Quote(gp.remote) + " --time earliest"}},
		Fixes: []finding.Fix{startFix(f, []groupPartition{gp})},
	}
	u, ust := gp.sourceOffset().Get()
	src, sst := gp.sourcePartition().Get()
	if ust != snapshot.Known || u < 0 || sst != snapshot.Known || !src.Start.Known() || !src.End.Known() {
		fd.Severity = finding.Warning
		fd.Because += "; what the group has yet to read is not known"
		return fd
	}
	from, to := src.Start.Or(0), src.End.Or(0)
	fd.Observed = append(fd.Observed, snapshot.Named{Name: "U", Value: u}, snapshot.Named{Name: "log of " + f.Source, Value: fmt.Sprintf("%d to %d", from, to)})
	repeats := ""
	if tr, st, _ := gp.translate(u); st == snapshot.Known {
		if most := min(tr.most, end); most > start {
			repeats = fmt.Sprintf(" and repeats up to %d offsets", most-start)
		} else {
			repeats = fmt.Sprintf(" and repeats nothing; %d offsets or more that the group has not read are gone from the copy", start-most)
		}
	}
	switch {
	case u < from:
		fd.Severity = finding.Info
		fd.Because += fmt.Sprintf("; the group is out of range on %s as well (%d, log start %d)", f.Source, u, from)
	case u >= to || start >= end:
		fd.Severity = finding.Info
		fd.Because += fmt.Sprintf("; the group has read everything on %s, so that latest skips nothing that is there now", f.Source)
	default:
		fd.Consequence = fmt.Sprintf("A consumer that starts there finds its offset out of range, and auto.offset.reset decides: earliest begins at %d%s; latest begins at %d and skips what the group has not read, %d offsets on %s; none fails.", start, repeats, end, to-u, f.Source)
	}
	return fd
}

// startFix sets positions to the log start, where every policy reads on. MirrorMaker 2 does not lower them again.
func startFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("Set the position on %s to the log start while the group is empty there: it may read again, and skips nothing that is there. So that it does not come again, keep records on %s at least as long as the group may lag (retention.ms of the copy).", f.Target, f.Target)}
	for _, gp := range gps {
		fix.Steps = append(fix.Steps, finding.Step{Text: "set the position to the start of the copy", Command: groupsCommand(f.dst, "--reset-offsets --group "+finding.Quote(gp.group)+" --topic "+finding.Quote(fmt.Sprintf("%s:%d", gp.remote, gp.part))+" --to-earliest --execute"),
			Undo: groupsCommand(f.dst, "--delete-offsets --group "+finding.Quote(gp.group)+" --topic "+finding.Quote(gp.remote))})
	}
	return fix
}

func negative(v *View, s subject) bool {
	return eligibleRow(v, s) && s.gp.targetOffset().Or(0) < 0 && idle(s.gp.targetGroup())
}

// stopsThePass: KAFKA-15607, fixed in 3.5.2, 3.6.1 and 3.7.0.
func (f *flowView) stopsThePass() answer {
	f.v.touch(finding.Generation)
	v := f.gens.version
	switch {
	case !v.IsZero():
		return answerOf(v.AtLeast(2, 7, 0) && v.Before(3, 5, 2) || v == mm2.V(3, 6, 0))
	case !f.gens.set.Has(mm2.G4) && !f.gens.set.Has(mm2.G5):
		return yes // group-offset sync is on, so it is 2.7.0 or newer
	case f.gens.set.Has(mm2.G1) || f.gens.set.Has(mm2.G2) || f.gens.set.Has(mm2.G3) || f.gens.set.Has(mm2.G4):
		return dunno
	}
	return no
}

// checkNegative: a stored negative offset is none to every client. MirrorMaker 2 from 3.5.2 on writes its checkpoint over it.
func checkNegative(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	t, _ := gp.targetOffset().Get()
	stops := no
	if f.syncsGroups() {
		stops = f.stopsThePass()
	}
	if stops == no && gp.renewed() {
		return nil // the next pass repairs it; if none comes, that is 304
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "T", Value: t}},
		Because:     fmt.Sprintf("an offset of %d is stored for the group on %s-%d: no Java client does that", t, gp.remote, gp.part),
		Consequence: "Consumers that start there find no offset and begin by auto.offset.reset.",
		Confirm:     []finding.Command{groupCommand(f.dst, gp.group)},
		Fixes:       []finding.Fix{negativeFix(f, []groupPartition{gp})},
	}
	if c, st := gp.checkpoint().Get(); st == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)})
	}
	switch stops {
	case yes:
		fd.Bugs = []string{"KAFKA-15607"}
		fd.Because += "; it ends every pass of group-offset sync with a NullPointerException (KAFKA-15607, fixed in 3.5.2, 3.6.1 and 3.7.0)"
		fd.Consequence += " Groups that come after it in the same checkpoint task are not committed at all."
	case dunno:
		fd.Because += "; MirrorMaker 2 up to 3.5.1, and 3.6.0, ends every pass of group-offset sync with a NullPointerException there (KAFKA-15607), and which version runs is not known"
	}
	return fd
}

func negativeFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("Delete the negative offset while the group is empty on %s.", f.Target), WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000)}
	for _, step := range deleteOffsets(f, gps) {
		if step.Destructive {
			step.Undo = "none needed: it was no position"
		}
		fix.Steps = append(fix.Steps, step)
	}
	if f.syncsGroups() && f.stopsThePass() != no {
		fix.Text += " Then restart MirrorMaker 2: the pass that failed keeps what it read of the group until then. 3.7.1 or newer is free of this and writes its checkpoint over a negative offset."
		fix.Steps = append(fix.Steps, restartStep(f))
		fix.WaitSeconds += int(f.discoveryStart() / 1000)
	}
	return fix
}

// waitsWithMetadata narrows to rows whose checkpoint waits and carries metadata of the source's commit. Where the limit is not
// known, the brokers' default is taken.
func waitsWithMetadata(v *View, s subject) bool {
	c, st := s.gp.checkpoint().Get()
	if st != snapshot.Known || metadataSize(c) == 0 || !behindAndIdle(v, s) {
		return false
	}
	return metadataSize(c) > defaultMetadataMax || s.gp.metadataLimit().Known()
}

// metadataSize is what the broker compares: UTF-16 units, although the setting speaks of bytes.
func metadataSize(c snapshot.Checkpoint) int { return len(utf16.Encode([]rune(c.Metadata))) }

func (gp groupPartition) metadataLimit() snapshot.Fact[int64] {
	return gp.flow.v.brokerNumber(gp.flow.dst, keyMetadataMax)
}

func metadataLimitUnread(_ *View, s subject) *snapshot.Gap {
	l := s.gp.metadataLimit()
	if l.Known() {
		return nil
	}
	return orNotAsked(l.Why())
}

// checkMetadata: MirrorMaker 2 commits the source's metadata with the translated offset, and the target takes less of it.
func checkMetadata(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	c, t, has, _ := gp.behind()
	limit, _ := gp.metadataLimit().Get()
	size := metadataSize(c)
	if int64(size) <= limit {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "length of the metadata", Value: size}, {Name: keyMetadataMax + " on " + f.Target, Value: limit}, {Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)}, targetNamed(t, has)},
		Because:     fmt.Sprintf("the group commits its offset on %s with %d characters of metadata, MirrorMaker 2 takes them over, and the brokers of %s accept %d: they refuse the commit (OFFSET_METADATA_TOO_LARGE), so the offset there stays at %s although %d is waiting", f.Source, size, f.Target, limit, offsetWord(t, has), c.Down),
		Consequence: "After a failover the group starts too early, or by auto.offset.reset. The group's other partitions are committed.",
		Confirm: []finding.Command{groupCommand(f.dst, gp.group), checkpointsCommand(f), {Cluster: f.Target, Shows: keyMetadataMax,
			Command: "kafka-configs.sh --bootstrap-server " + bootstrapOf(f.dst) + " --entity-type brokers --describe --all"}},
		Fixes: []finding.Fix{metadataFix(f, []groupPartition{gp})},
	}
	if f.gens.version.IsZero() || f.gens.version.Before(3, 4, 0) {
		fd.Bugs = []string{"KAFKA-14095"}
		fd.Because += "; up to 3.3.2 MirrorMaker 2 does not log it (KAFKA-14095)"
	}
	return fd
}

func metadataFix(f *flowView, gps []groupPartition) finding.Fix {
	most := 0
	for _, gp := range gps {
		if c, st := gp.checkpoint().Get(); st == snapshot.Known {
			most = max(most, metadataSize(c))
		}
	}
	limit := int64(defaultMetadataMax)
	if n, st := f.v.brokerNumber(f.src, keyMetadataMax).Get(); st == snapshot.Known {
		limit = max(limit, n)
	}
	for limit < int64(most) {
		limit *= 2
	}
	return finding.Fix{Mode: "kafka", WaitSeconds: int((f.emitBudget() + f.commitBudget()) / 1000),
		Text:  fmt.Sprintf("Give the brokers of %s the same limit as those of %s, or let the application commit less metadata: MirrorMaker 2 takes that over with the next position it translates, not for the one that waits now.", f.Target, f.Source),
		Steps: []finding.Step{brokerStep(f.dst, keyMetadataMax, limit)}}
}
