package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Whether MirrorMaker 2 works on a flow at the time of the look: nothing that it wrote earlier says so. A process that is killed leaves
// RUNNING in its status topic; what tells is that it goes on writing.

// pulse is what is known of it.
type pulse int

const (
	unheard pulse = iota // nothing tells
	beating
	faint  // silent for longer than it ever is while it works, and for less than a restart takes
	silent // longer than that
)

// lateness is how long heartbeats may be missing, beyond ten intervals, before it is an open question whether MirrorMaker 2 runs;
// silence is how long before it is taken for dead: restarts take a minute and more.
const (
	lateness = 10_000
	silence  = 3 * 60_000
)

// orphaned is how long tasks may be without a worker before they are taken for given up: Connect gives those of a worker that is gone to
// another after scheduled.rebalance.max.delay.ms, 5 minutes by default (KIP-415).
const orphaned = 6 * 60_000

// heart is the pulse, once felt.
type heart struct {
	pulse pulse
	why   string
	down  *snapshot.Gap
}

// pulse says whether MirrorMaker 2 works, and in words what shows that it does not.
func (f *flowView) pulse() (p pulse, why string) {
	f.v.touch(finding.Heartbeats | finding.EarlierLook | finding.Tasks | finding.Settings | finding.SyncsTopic | finding.CheckpointSet | finding.SourcePositions)
	if f.heart == nil {
		f.heart = &heart{}
		f.heart.pulse, f.heart.why = f.feel()
	}
	return f.heart.pulse, f.heart.why
}

func (f *flowView) feel() (p pulse, why string) {
	if p, why = f.handedBack(); p != unheard {
		return p, why
	}
	if still, interval, ok := f.missedBeats(); ok {
		why = fmt.Sprintf("MirrorMaker 2 has written no heartbeat for %s, although it writes one every %s", age(still), age(interval))
		switch {
		case still >= silence+10*interval:
			return silent, why
		case still >= lateness+10*interval, f.beatStood(interval):
			return faint, why
		}
		return beating, ""
	}
	// Connect's REST interface tells the states of this moment, without a time.
	for _, t := range f.Tasks.Or(nil) {
		if f.onConnect() && t.Time == 0 && t.Connector == connSource && t.Task >= 0 && t.State == "RUNNING" {
			return beating, ""
		}
	}
	// Whatever it wrote a moment ago is as good as a heartbeat; whatever it has not written proves nothing.
	if s, ok := f.lastSign(); ok && f.v.began-s.at < lateness+10_000 {
		return beating, ""
	}
	return unheard, ""
}

// missedBeats is for how long, ms, no heartbeat was written at least, and how often one is; ok is false where heartbeats tell nothing.
// With two looks only what was missed between them counts where heartbeats went on: then MirrorMaker 2's clock may be another.
func (f *flowView) missedBeats() (still, interval int64, ok bool) {
	f.v.touch(finding.Heartbeats | finding.EarlierLook | finding.Tasks | finding.Settings)
	interval = 1000 * f.seconds(connHeartbeat, keyBeatInterval, 1)
	beat, st := f.Heartbeat.Get()
	if on, _, told := f.flag(connHeartbeat, keyBeatEnabled); st != snapshot.Known || f.onConnect() || told && !on {
		return 0, interval, false
	}
	still = f.v.began - max(beat, f.newestStart()) // its first heartbeat comes a moment after its start
	if f.earlier == nil {
		return still, interval, true
	}
	before, st := f.earlier.Heartbeat.Get()
	switch {
	case st != snapshot.Known:
	case before != f.Heartbeat.Or(0):
		still -= f.earlier.v.now - before
	case f.sinceBefore() > fewBeats*interval:
		still = max(still, f.sinceBefore())
	}
	return still, interval, true
}

// newestStart is when a connector or task last went to RUNNING, ms; 0 where that is not told.
func (f *flowView) newestStart() (at int64) {
	for _, t := range f.Tasks.Or(nil) {
		if t.State == "RUNNING" {
			at = max(at, t.Time)
		}
	}
	return at
}

// patience is how long a second look may be put off by itself, ms.
const patience = 15_000

// beatsAsk wants a second look where heartbeats are late by the doctor's own clock: whether they go on tells more than their age.
func (v *View) beatsAsk() []Ask {
	for _, f := range v.flows {
		p, _ := f.pulse()
		_, interval, ok := f.missedBeats()
		if after := fewBeats*interval + 1000; p >= faint && ok && f.earlier == nil && after <= patience {
			return []Ask{{Groups: []string{"*"}, AfterMs: after}}
		}
	}
	return nil
}

// beatStood says that two looks, which do not depend on any clock of others, saw the same heartbeat for longer than a jitter.
func (f *flowView) beatStood(interval int64) bool {
	if f.earlier == nil || f.sinceBefore() < max(lateness, fewBeats*interval) {
		return false
	}
	before, st := f.earlier.Heartbeat.Get()
	began := before >= f.newestStart() || f.earlier.v.began-f.newestStart() >= lateness // else its first one is still to come
	return st == snapshot.Known && before == f.Heartbeat.Or(0) && began
}

// fewBeats is after how many intervals without a heartbeat two looks prove that it was no mere jitter.
const fewBeats = 4

// handedBack: a worker that ends in good order marks what it ran UNASSIGNED; whoever takes it marks it RUNNING. That takes seconds
// in a rebalance.
func (f *flowView) handedBack() (pulse, string) {
	f.v.touch(finding.Tasks)
	var since int64
	n := 0
	for _, t := range f.Tasks.Or(nil) {
		if t.Connector != connSource {
			continue
		}
		if t.State != "UNASSIGNED" {
			return unheard, ""
		}
		n, since = n+1, max(since, t.Time)
	}
	still := f.v.began - since
	switch last, _ := f.lastSign(); {
	case n == 0, since > 0 && still < lateness, since > 0 && last.at > since+lateness: // what was written afterwards had a writer
		return unheard, ""
	case since == 0:
		return faint, "no worker runs MirrorSourceConnector or a task of it (UNASSIGNED)"
	}
	why := fmt.Sprintf("MirrorMaker 2 gave MirrorSourceConnector and its tasks back %s ago, and no worker has taken them since (UNASSIGNED)", age(still))
	if still >= orphaned {
		return silent, why
	}
	return faint, why
}

// down is why nothing moves on the flow at present, nil where MirrorMaker 2 works or nothing tells that it does not. What waits for it
// is not on its way then.
func (f *flowView) down() *snapshot.Gap {
	p, why := f.pulse()
	if p < faint || f.heart.down != nil {
		return f.heart.down
	}
	if p == faint {
		why += ": it is being restarted, or it is down (MM2D-112); look again in a minute"
	} else {
		why += ": it does not run"
	}
	if n, parts := f.leftBehind(); n > 0 {
		why += fmt.Sprintf(". By its offset syncs %s of %s are not mirrored", finding.Count(int(n), "source offset"), finding.Count(parts, "partition"))
	}
	f.heart.down = &snapshot.Gap{Code: "one-look", Cluster: f.Target, Why: why}
	return f.heart.down
}

// leftBehind counts the source offsets beyond what the copies hold, as far as the offset syncs tell; only where MirrorMaker 2 is silent
// are they more than what is on its way.
func (f *flowView) leftBehind() (offsets int64, partitions int) {
	for _, s := range f.v.subjects(finding.OnPartition) {
		if s.flow != f || !mirroredPartition(f.v, s) {
			continue
		}
		end, ok := s.gp.readable()
		next, gap := s.gp.mirroredTo()
		if ok && gap == nil && end-next > s.gp.holes() {
			offsets, partitions = offsets+end-next, partitions+1
		}
	}
	return offsets, partitions
}

// unlessDown ends a sentence about what MirrorMaker 2 will do.
func (f *flowView) unlessDown() string {
	if p, why := f.pulse(); p >= faint {
		return ", when it runs: " + why
	}
	return ""
}

// whenItRuns adds to repairs that MirrorMaker 2 has to carry on by itself that it does not run.
func (f *flowView) whenItRuns(fixes []finding.Fix) {
	starts := func(s finding.Step) bool {
		return strings.Contains(strings.ToLower(s.Text), "start") || strings.Contains(s.Command, "start") || strings.Contains(s.Command, "resume")
	}
	if f == nil || f.down() == nil {
		return
	}
	for i := range fixes {
		if fixes[i].WaitSeconds > 0 && !slices.ContainsFunc(fixes[i].Steps, starts) {
			fixes[i].Text += " This shows once MirrorMaker 2 runs again."
		}
	}
}

// sign is something that MirrorMaker 2 wrote, and when, ms.
type sign struct {
	what string
	at   int64
}

// lastSign is the newest sign that MirrorMaker 2 worked on the flow.
func (f *flowView) lastSign() (newest sign, ok bool) {
	f.v.touch(finding.Heartbeats | finding.SyncsTopic | finding.CheckpointSet | finding.SourcePositions | finding.Tasks)
	signs := []sign{{"heartbeat", f.Heartbeat.Or(0)}, {"offset sync", f.Syncs.Or(snapshot.Syncs{}).Last}, {"checkpoint", f.Checkpointed.Or(snapshot.Checkpoints{}).Last}}
	for _, p := range f.Positions.Or(nil) {
		signs = append(signs, sign{"stored position", p.Time})
	}
	for _, t := range f.Tasks.Or(nil) {
		if t.State == "RUNNING" {
			signs = append(signs, sign{"start of a connector", t.Time})
		}
	}
	for _, s := range signs {
		if s.at > newest.at {
			newest = s
		}
	}
	return newest, newest.at > 0
}

// lastHeard says in words, for a parenthesis, how old the newest sign is.
func (f *flowView) lastHeard() string {
	s, ok := f.lastSign()
	if !ok {
		return ""
	}
	return fmt.Sprintf(" (the newest sign of it is %s old: %s)", age(f.v.now-s.at), s.what)
}

// pulseFacts are what the pulse, and what was left behind, are read from.
const pulseFacts = finding.Heartbeats | finding.EarlierLook | finding.Tasks | finding.Settings | finding.SyncsTopic | finding.CheckpointSet | finding.SourcePositions | finding.SyncsOf | finding.SourceLog | finding.TargetLog | finding.SourceTopic | finding.TargetTopic | finding.Generation
