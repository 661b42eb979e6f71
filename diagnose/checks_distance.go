package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// distanceChecks are about how far a correct position lies back, and how old it may be.
var distanceChecks = []check{
	{Code: 402, Grain: finding.OnGroupPartition, Needs: finding.SourceOffset | finding.TargetOffset | finding.SyncsOf | finding.TargetLog, Uses: distanceUses | finding.SourceLog, Applies: eligibleRow, Run: checkReread},
	{Code: 404, Grain: finding.OnGroupPartition, Needs: finding.SourceOffset | finding.TargetOffset | finding.SyncsOf | finding.TargetLog | finding.TargetGroup | finding.CheckpointsOf, Uses: distanceUses | finding.EarlierLook, Applies: eligibleRow, Run: checkSkips},
	{Code: 605, Grain: finding.OnGroupPartition, Needs: finding.SourceOffset | finding.SyncsOf | finding.TargetLog, Uses: distanceUses | finding.SourceLog | finding.TopicConfigs | finding.TargetOffset, Applies: eligibleRow, Run: checkRetention},
}

const distanceUses = finding.CheckpointsOf | finding.TargetGroup | finding.Settings | finding.Generation | finding.Tasks | finding.AssignedTo | finding.TargetTopic | finding.SourceTopic | finding.SyncsTopic

const (
	keyLagMax      = "offset.lag.max"
	keyExactlyOnce = "exactly.once.source.support"

	defaultLagMax = 100
	// lagMaxOff is an offset.lag.max so high that after a partition's first record hardly any sync is ever written: no budget any
	// more. farBack is what is then still taken for near.
	lagMaxOff = 1_000_000
	farBack   = 10_000
)

// epoch are the syncs that are kept of the newest stretch of mirroring: after a step back the older ones speak of other
// records. Not ordered; ok is false where the step back is not placed.
func epoch(ps *snapshot.PartitionSyncs) (out []snapshot.Sync, ok bool) {
	from := int64(-1)
	if ps.Rewinds > 0 {
		if ps.LastRewind == nil {
			return nil, false
		}
		from = ps.LastRewind.After.Offset
	}
	add := func(s snapshot.Sync) {
		if s.Offset >= from && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	add(ps.Newest)
	add(ps.Oldest)
	for _, r := range ps.TwoPointer {
		add(r.Sync)
	}
	for _, r := range ps.Greedy {
		add(r.Sync)
	}
	return out, true
}

// bounds are what the syncs allow for the position of up in the copy: at least low, at most high (noLimit without a sync at or
// above it). ok is false where no sync lies at or below it.
func (gp groupPartition) bounds(ps *snapshot.PartitionSyncs, up int64) (low, high int64, ok bool) {
	syncs, placed := epoch(ps)
	if !placed {
		return 0, noLimit, false
	}
	low, high = -1, noLimit
	for _, s := range syncs {
		switch {
		case s.Up == up:
			low, high = max(low, s.Down), min(high, s.Down)
		case s.Up < up:
			low = max(low, s.Down+1)
		default:
			high = min(high, s.Down)
		}
	}
	if low < 0 {
		return 0, high, false
	}
	// Between a position and the next sync above lie at most as many copies as source offsets, and up to the ends as well: unless
	// others write to the copy, or each transaction leaves a marker there.
	if gp.onlyCopies() {
		for _, s := range syncs {
			if s.Up > up {
				low = max(low, s.Down-(s.Up-up))
			}
		}
		if src, st := gp.sourcePartition().Get(); st == snapshot.Known && ps.Rewinds == 0 {
			if srcEnd, known := src.End.Get(); known == snapshot.Known {
				if end, ok := gp.targetEnd(); ok {
					low = max(low, end-max(srcEnd-up, 0))
				}
			}
		}
	}
	if end, ok := gp.targetEnd(); ok {
		low = min(low, end)
	}
	return min(low, high), high, true
}

// onlyCopies says that nothing but copied records is known to stand in the copy: neither records of other producers (identity
// policy) nor the markers of MirrorMaker 2's own transactions (exactly once, 3.5.0 and later).
func (gp groupPartition) onlyCopies() bool {
	f := gp.flow
	if f.policy().Kind != mm2.PolicyDefault {
		return false
	}
	e, st := f.setting(worker, keyExactlyOnce).Get()
	return st != snapshot.Known || !strings.EqualFold(strings.TrimSpace(e.Value), "enabled")
}

// lagMax is offset.lag.max as the source connector has it.
func (f *flowView) lagMax() (n int64, e snapshot.ConfigEntry) {
	e, st := f.setting(connSource, keyLagMax).Get()
	if st != snapshot.Known {
		return defaultLagMax, e
	}
	n, err := strconv.ParseInt(strings.TrimSpace(e.Value), 10, 64)
	if err != nil || n < 0 {
		return defaultLagMax, e
	}
	return n, e
}

// checkReread: T is right, yet further back than it may be, by the lower bound of the true position. What waits for a
// checkpoint or for the next pass is not counted: that is a matter of time.
func checkReread(v *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	u, ust := gp.sourceOffset().Get()
	t, tst := gp.targetOffset().Get()
	ps, sst := gp.syncsOf().Get()
	src, _ := gp.sourcePartition().Get()
	dst, dk := gp.targetPartition().Get()
	if ust != snapshot.Known || tst != snapshot.Known || sst != snapshot.Known || dk != snapshot.Known || u < 0 || t < 0 {
		return nil
	}
	if g, st := gp.targetGroup().Get(); st == snapshot.Known && g.State.Or("").Active() {
		return nil // its own consumers move it
	}
	low, _, ok := gp.bounds(ps, u)
	if !ok {
		return nil
	}
	at := max(t, dst.Start.Or(0)) // a position before the log start begins there at the earliest
	soon := at
	if c, st := gp.checkpoint().Get(); st == snapshot.Known {
		soon = max(soon, c.Down)
	}
	if tr, st, _ := gp.translate(u); st == snapshot.Known && tr.known && !tr.none {
		soon = max(soon, tr.value)
	}
	srcEnd, est := src.End.Get()
	back, lag := low-at, max(srcEnd-u, 0)
	lagMax, e := f.lagMax()
	limit, rule, sev := v.snap.Scope.MaxReread, "--max-reread", finding.Warning
	switch {
	case limit > 0:
	case lagMax >= lagMaxOff:
		limit, rule = farBack, fmt.Sprintf("%d, since %s = %d is no budget", farBack, keyLagMax, lagMax)
	case est != snapshot.Known:
		return nil // without the group's lag there is no budget
	default:
		limit, rule, sev = lag+lagMax+1, "the group's lag + "+keyLagMax+" + 1", finding.Info
	}
	if back <= limit || low-soon <= limit {
		return nil
	}
	fd := &finding.Finding{
		Severity:    sev,
		Observed:    finding.Observed{{Name: "re-read at least", Value: back}, {Name: "allowed", Value: limit}, {Name: "U", Value: u}, {Name: "T", Value: t}, {Name: "position at least", Value: low}},
		Because:     fmt.Sprintf("T = %d is safe, and the position %d on %s lies at %d or later in %s-%d: at least %d offsets are read again, more than %d (%s)", t, u, f.Source, low, gp.remote, gp.part, back, limit, rule),
		Consequence: "A consumer that fails over reads these records a second time; none is skipped.",
		Confirm:     []finding.Command{groupCommand(f.src, gp.group), groupCommand(f.dst, gp.group), syncsCommand(f)},
		Fixes:       []finding.Fix{gp.nearerFix(lagMax, e)},
	}
	if est == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "lag on " + f.Source, Value: lag})
	}
	if nearest, ok := nearestBelow(ps, u); ok {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "sync below", Value: fmt.Sprintf("%d -> %d", nearest.Up, nearest.Down)})
	}
	why, bugs := gp.whyFar(u, ps, lagMax)
	fd.Because += "; " + why
	fd.Bugs = bugs
	return fd
}

func nearestBelow(ps *snapshot.PartitionSyncs, up int64) (best snapshot.Sync, ok bool) {
	syncs, _ := epoch(ps)
	for _, s := range syncs {
		if s.Up <= up && (!ok || s.Up > best.Up) {
			best, ok = s, true
		}
	}
	return best, ok
}

// whyFar names what makes the translation coarse here.
func (gp groupPartition) whyFar(u int64, ps *snapshot.PartitionSyncs, lagMax int64) (string, []string) {
	v := gp.flow.gens.version
	switch {
	case lagMax >= lagMaxOff:
		return fmt.Sprintf("with %s = %d a partition gets hardly any offset sync after its first record: every position is translated to that one, which is complete and useless", keyLagMax, lagMax), nil
	case u > ps.Newest.Up && !v.IsZero() && v.Before(3, 7, 0) && !v.Before(3, 4, 1):
		return fmt.Sprintf("the newest offset sync is %d records before it, and before 3.7.0 the last records of a quiet partition get none (KAFKA-15906)", u-ps.Newest.Up), []string{"KAFKA-15906"}
	case gp.flow.gens.set.Has(mm2.G3), gp.flow.gens.set.Has(mm2.G4):
		return "up to 3.7.0 each start of the checkpoint task forgets all syncs but the newest (KAFKA-15905); a burst of records also loses syncs, in every version", []string{"KAFKA-15905"}
	}
	return "MirrorMaker 2 keeps fewer syncs the further back they lie, and a burst of records loses some (ten may be in flight)", nil
}

// nearerFix brings T nearer: the number that stands in the way, a newer version, or a position computed from all records.
func (gp groupPartition) nearerFix(lagMax int64, e snapshot.ConfigEntry) finding.Fix {
	f := gp.flow
	fix := finding.Fix{Mode: f.fixMode(), WaitSeconds: int((f.flushBudget() + f.emitBudget() + f.commitBudget()) / 1000)}
	v := f.gens.version
	switch {
	case lagMax > defaultLagMax && !e.Default:
		text := fmt.Sprintf("Lower %s on the source connector to its default, %d. It acts on records that are mirrored from then on; a group gains when it has passed the first of them.", keyLagMax, defaultLagMax)
		return settingsFix(f, text, []string{connSource}, finding.Observed{{Name: keyLagMax, Value: strconv.Itoa(defaultLagMax)}}, int64(fix.WaitSeconds)*1000)
	case !v.IsZero() && v.Before(3, 7, 1):
		fix.Text = "Upgrade MirrorMaker 2 to 3.7.1 or newer: it writes a sync for the last record of a quiet partition (KAFKA-15906) and keeps its syncs over a restart (KAFKA-15905)."
		fix.Steps = []finding.Step{upgradeStep(f, mm2.V(3, 7, 1))}
	default:
		fix.Text = "Nothing has to be repaired: T comes nearer as the group catches up on " + f.Source + ". Before a planned failover let it read to the end and wait one round of intervals; for a position that cannot wait, mm2doctor translate compares the records of both clusters and finds the exact place."
		fix.Steps = []finding.Step{{Text: "see the group's lag on " + f.Source + " shrink", Command: groupsCommand(f.src, "--describe --group "+finding.Quote(gp.group))},
			{Text: "or see the exact place; nothing is written", Command: f.translateCommand("--group", gp.group)}}
	}
	return fix
}

// worstReread lists the groups of a merged finding with their own numbers, worst first.
func worstReread(rs []*raw) finding.Observed {
	const some = 5
	sorted := slices.Clone(rs)
	number := func(r *raw) int64 { n, _ := r.f.Observed[0].Value.(int64); return n }
	slices.SortStableFunc(sorted, func(a, b *raw) int { return cmp.Compare(number(b), number(a)) })
	o := slices.Clone(sorted[0].f.Observed)
	for _, r := range sorted[:min(some, len(sorted))] {
		o = append(o, snapshot.Named{Name: fmt.Sprintf("%s %s-%d", r.s.gp.group, r.s.gp.topic, r.s.gp.part), Value: number(r)})
	}
	return o
}

// checkSkips: an offset sync proves that T lies after the copy of a record that the group has not read. A T above its
// checkpoint, and a group that went back behind it, are 303; a T beyond the end is 401.
func checkSkips(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	u, ust := gp.sourceOffset().Get()
	t, tst := gp.targetOffset().Get()
	ps, sst := gp.syncsOf().Get()
	end, ok := gp.targetEnd()
	if ust != snapshot.Known || tst != snapshot.Known || sst != snapshot.Known || !ok || t > end || u < 0 {
		return nil
	}
	if g, st := gp.targetGroup().Get(); st == snapshot.Known && g.State.Or("").Active() {
		return nil // its own consumers move it
	}
	c, cst := gp.checkpoint().Get()
	if cst == snapshot.Known && (t > c.Down || u < c.Up) {
		return nil
	}
	proof, skips := skippedBy(ps, t, u)
	if !skips {
		return nil
	}
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "U", Value: u}, {Name: "T", Value: t}, {Name: "sync", Value: fmt.Sprintf("%d -> %d (offset %d)", proof.Up, proof.Down, proof.Offset)}, {Name: "skipped at least", Value: t - proof.Down}},
		Because:     fmt.Sprintf("T = %d lies after the copy of a record that the group has not read: the offset sync %d -> %d puts the position %d at %d or before", t, proof.Up, proof.Down, u, proof.Down),
		Consequence: fmt.Sprintf("A consumer that fails over skips at least %d offsets; they stand on %s and are never read.", t-proof.Down, f.Target),
		Confirm:     []finding.Command{syncsCommand(f), groupCommand(f.dst, gp.group), groupCommand(f.src, gp.group)},
		Fixes:       []finding.Fix{skipFix(f, []groupPartition{gp})},
	}
	if cst == snapshot.Known {
		// The checkpoint is of an earlier position, and yet it is higher: MirrorMaker 2 wrote a number that was too high, and
		// would write it again.
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "C", Value: fmt.Sprintf("%d -> %d", c.Up, c.Down)})
		fd.Because += fmt.Sprintf("; the checkpoint %d -> %d is too high as well, so MirrorMaker 2 wrote it", c.Up, c.Down)
		fixedIn := ""
		if f.gens.set.Has(mm2.G1) || f.gens.set.Has(mm2.G2) {
			fixedIn = "3.4.1"
			fd.Bugs = []string{"KAFKA-12468"}
		}
		fd.Fixes = []finding.Fix{rewriteFix(f, []groupPartition{gp}, fixedIn)}
		return fd
	}
	if e, ok := gp.earlier(); ok {
		if before, st := e.sourceOffset().Get(); st == snapshot.Known && before != u {
			fd.Observed = append(fd.Observed, snapshot.Named{Name: "U before", Value: before})
			fd.Because += fmt.Sprintf("; the group is consuming on %s, so its position there is the right one", f.Source)
			return fd
		}
	}
	fd.Severity = finding.Warning
	fd.Because += fmt.Sprintf("; no checkpoint explains T. Two readings: it was set by hand or by another tool (then it skips records), or the group was consumed on %s in a drill or failover (then it is right). Whether U moves decides: --observe", f.Target)
	return fd
}

// skippedBy finds the lowest copy of a record at or above up that lies before x.
func skippedBy(ps *snapshot.PartitionSyncs, x, up int64) (best snapshot.Sync, ok bool) {
	syncs, _ := epoch(ps)
	for _, s := range syncs {
		if s.Up >= up && s.Down < x && (!ok || s.Down < best.Down) {
			best, ok = s, true
		}
	}
	return best, ok
}

// skipFix sets positions that skip back to where the syncs prove that nothing is skipped.
func skipFix(f *flowView, gps []groupPartition) finding.Fix {
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("If the position on %s is the right one: set the group's offset on %s back to one that skips nothing, while the group is empty there. It reads some records again.", f.Source, f.Target)}
	for _, gp := range gps {
		to := "--to-earliest"
		if ps, st := gp.syncsOf().Get(); st == snapshot.Known {
			if below, ok := nearestBelow(ps, gp.sourceOffset().Or(-1)); ok {
				to = fmt.Sprintf("--to-offset %d", below.Down)
			}
		}
		reset := "--reset-offsets --group " + finding.Quote(gp.group) + " --topic " + finding.Quote(fmt.Sprintf("%s:%d", gp.remote, gp.part)) + " "
		fix.Steps = append(fix.Steps, finding.Step{Text: "set the offset back", Command: groupsCommand(f.dst, reset+to+" --execute"), Destructive: true,
			Undo: groupsCommand(f.dst, reset+fmt.Sprintf("--to-offset %d --execute", gp.targetOffset().Or(0)))})
	}
	return fix
}

// lost gives the highest place that the position can have in the copy, and the copy's log start above it.
func (gp groupPartition) lost() (high, start int64, lost bool) {
	u, ust := gp.sourceOffset().Get()
	ps, sst := gp.syncsOf().Get()
	dst, dk := gp.targetPartition().Get()
	if ust != snapshot.Known || sst != snapshot.Known || dk != snapshot.Known || u < 0 {
		return 0, 0, false
	}
	if src, st := gp.sourcePartition().Get(); st == snapshot.Known && u < src.Start.Or(0) {
		return 0, 0, false // gone on the source as well
	}
	start, st := dst.Start.Get()
	_, high, _ = gp.bounds(ps, u)
	return high, start, st == snapshot.Known && high < start
}

const (
	keyRetentionMs    = "retention.ms"
	keyRetentionBytes = "retention.bytes"
)

// checkRetention: the records that the group would read next are already gone from the copy, though the source has them; as a
// rule because the copy is kept for less long.
func checkRetention(_ *View, s subject) *finding.Finding {
	gp, f := s.gp, s.flow
	high, start, lost := gp.lost()
	if !lost {
		return nil
	}
	u := gp.sourceOffset().Or(0)
	fd := &finding.Finding{
		Observed:    finding.Observed{{Name: "U", Value: u}, {Name: "position at most", Value: high}, {Name: "log start of the copy", Value: start}},
		Because:     fmt.Sprintf("the position %d on %s lies at %d or before in %s-%d, whose log now starts at %d", u, f.Source, high, gp.remote, gp.part, start),
		Consequence: fmt.Sprintf("At least %d offsets that the group has not read are gone on %s: after a failover nobody reads them.", start-high, f.Target),
		Confirm: []finding.Command{
			{Cluster: f.Target, Command: "kafka-get-offsets.sh --bootstrap-server " + bootstrapOf(f.dst) + " --topic " + finding.Quote(gp.remote) + " --time -2", Shows: "the log start of each partition"},
			{Cluster: f.Target, Command: configsCommand(f.dst, gp.remote), Shows: "retention.ms and retention.bytes"},
			{Cluster: f.Source, Command: configsCommand(f.src, gp.topic), Shows: "the same of the source topic"}},
	}
	if t, st := gp.targetOffset().Get(); st == snapshot.Known {
		fd.Observed = append(fd.Observed, snapshot.Named{Name: "T", Value: t})
	}
	fix := finding.Fix{Mode: "kafka", Text: fmt.Sprintf("What is gone stays gone: before a failover let the group read past it on %s. Keep the copy as long as the source topic, and do not delete its records by hand.", f.Source)}
	key, there, here, known := gp.shorterRetention()
	switch {
	case key != "":
		fd.Because += fmt.Sprintf(": %s is %s there and %s on %s", key, here, there, f.Source)
		fd.Observed = append(fd.Observed, snapshot.Named{Name: key + " on " + f.Source, Value: there}, snapshot.Named{Name: key + " on " + f.Target, Value: here})
		alter := "kafka-configs.sh --bootstrap-server " + bootstrapOf(f.dst) + " --alter --entity-type topics --entity-name " + finding.Quote(gp.remote) + " --add-config "
		fix.Steps = []finding.Step{{Text: "give the copy the source's " + key, Command: alter + finding.Quote(key+"="+there), Undo: alter + finding.Quote(key+"="+here)}}
	case known:
		fd.Because += fmt.Sprintf("; its retention is no shorter than that on %s, so that records were deleted by hand, or their times differ", f.Source)
	default:
		fd.Because += "; the retention of the two topics is not known"
	}
	fd.Fixes = []finding.Fix{fix}
	return fd
}

// shorterRetention finds the setting that keeps the copy for less long; known says that all were read.
func (gp groupPartition) shorterRetention() (key, there, here string, known bool) {
	f := gp.flow
	known = true
	for _, k := range []string{keyRetentionMs, keyRetentionBytes} {
		a, b := f.topicSetting(f.src, gp.topic, k), f.topicSetting(f.dst, gp.remote, k)
		known = known && !a.Unknown() && !b.Unknown()
		there, here = a.Or(snapshot.ConfigEntry{}).Value, b.Or(snapshot.ConfigEntry{}).Value
		if shorter(here, there) {
			return k, there, here, true
		}
	}
	return "", "", "", known
}

// shorter compares two retentions, of which -1 is without end.
func shorter(a, b string) bool {
	x, err1 := strconv.ParseInt(strings.TrimSpace(a), 10, 64)
	y, err2 := strconv.ParseInt(strings.TrimSpace(b), 10, 64)
	return err1 == nil && err2 == nil && x >= 0 && (y < 0 || x < y)
}

func configsCommand(c *clusterView, topic string) string {
	return "kafka-configs.sh --bootstrap-server " + bootstrapOf(c) + " --describe --all --entity-type topics --entity-name " + finding.Quote(topic)
}
