package diagnose

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// bugChecks are about known faults of MirrorMaker 2, and which release writes what is seen.
var bugChecks = append([]check{
	{Code: 603, Grain: finding.OnFlow, Uses: finding.Generation | finding.Tasks | finding.LogSigns, Gap: contradictionGap, Run: checkGenerations},
}, knownBugChecks()...)

// contradiction is a record that the claimed release cannot have written.
type contradiction struct {
	by    *proof
	whose string
}

// contradicted finds what the newest records say against the release that was told. A record from before the last start proves
// nothing: MirrorMaker 2 may have been upgraded since.
func (f *flowView) contradicted() (c contradiction, b mm2.Build, who string, ok bool) {
	b, who, told := f.toldVersion()
	if !told {
		return c, b, who, false
	}
	gens, emits, r := b.Range.Generations(), mm2.Emissions(0), f.gens.records
	for _, v := range append(b.Range.Releases(), b.Range.From) {
		emits |= mm2.EmissionsOf(v.Emission())
	}
	linear, onePast := mm2.SetOf(mm2.G1, mm2.G2), mm2.SetOf(mm2.G3, mm2.G4, mm2.G5)
	switch {
	case r.old != nil && r.old.count >= few && gens&linear == 0 && (r.young == nil || r.old.at > r.young.at):
		return contradiction{r.old, "3.4.0 or older"}, b, who, true
	case r.young != nil && r.young.count >= few && gens&onePast == 0 && (r.old == nil || r.young.at > r.old.at):
		return contradiction{r.young, "3.4.1 or newer"}, b, who, true
	case r.commits != nil && r.commits.count >= few && !emits.Has(mm2.E3):
		return contradiction{r.commits, "3.7.0 or newer"}, b, who, true
	case r.history != nil && r.history.count >= few && !gens.Has(mm2.G5):
		return contradiction{r.history, "3.7.1 or newer"}, b, who, true
	}
	return c, b, who, false
}

// startsKnown gives the last start of the tasks of both connectors, ms.
func (f *flowView) startsKnown() (int64, bool) {
	a, ok := f.checkpointTaskStart()
	b, also := f.sourceTaskStart()
	return max(a, b), ok && also
}

func contradictionGap(_ *View, s subject) *snapshot.Gap {
	f := s.flow
	if _, _, _, ok := f.contradicted(); !ok {
		return nil
	}
	if _, known := f.startsKnown(); !known {
		return cmp.Or(f.Tasks.Why(), &snapshot.Gap{Code: "not-asked", Why: "records contradict the version that was told, and whether they were written before the last start of MirrorMaker 2 is not known"})
	}
	return nil
}

func checkGenerations(v *View, s subject) *finding.Finding {
	f := s.flow
	v.touch(finding.Generation | finding.LogSigns)
	if c, b, who, ok := f.contradicted(); ok {
		if start, known := f.startsKnown(); known && c.by.at > start {
			return f.contradictionFinding(c, b, who, start)
		}
	}
	if live, other := f.toldDifferently(); other != "" {
		return &finding.Finding{Slug: "claimed-version-contradicted", Severity: finding.Warning,
			Observed:    finding.Observed{{Name: f.claimedBy(), Value: f.v.snap.MM2Version}, {Name: "told by MirrorMaker 2", Value: live}},
			Because:     fmt.Sprintf("%s says %s, and %s", f.claimedBy(), f.v.snap.MM2Version, other),
			Consequence: "This report judges by the rules of the version that was given, which differ from those of the one that runs.",
			Confirm:     []finding.Command{statusCommand(f)}, Fixes: []finding.Fix{withoutClaim(f)}}
	}
	up := f.gens.records.upgraded
	if up == nil {
		return nil
	}
	sy := f.Syncs.Or(snapshot.Syncs{})
	return &finding.Finding{
		Observed: finding.Observed{{Name: "checkpoints of 3.4.0 or older", Value: sy.CountedOn}, {Name: "newest of them", Value: fmt.Sprintf("%s, %d -> %d (offset %d)", stamp(up.Checkpoint.Time), up.Checkpoint.Up, up.Checkpoint.Down, up.Checkpoint.Offset)},
			{Name: "checkpoints of 3.4.1 or newer", Value: sy.OnePast}, {Name: "newest of those", Value: stamp(sy.OnePastLast)}},
		Because: fmt.Sprintf("MirrorMaker 2 was upgraded across 3.4.1: of the newest checkpoints of each group %d still count on from their offset sync, as 3.4.0 and older do, and %d stand one past it, as later releases write, the newest of them after those", sy.CountedOn, sy.OnePast),
		Confirm: []finding.Command{checkpointsCommand(f)},
	}
}

func (f *flowView) contradictionFinding(c contradiction, b mm2.Build, who string, start int64) *finding.Finding {
	wrong := "a wrong " + f.claimedBy()
	if f.v.snap.MM2Version == "" {
		wrong = "what names the version is of another time or worker"
	} else {
		who += " tells " + b.Text
	}
	return &finding.Finding{Slug: "claimed-version-contradicted", Severity: finding.Warning,
		Observed: finding.Observed{{Name: "told", Value: b.Text}, {Name: "by", Value: who}, {Name: "records are of", Value: c.whose}, {Name: "newest such record", Value: stamp(c.by.at)}, {Name: "tasks started", Value: stamp(start)}},
		Because:  fmt.Sprintf("%s, but the newest records are of %s: %s, written at %s, after the tasks were started at %s", who, c.whose, c.by.words, stamp(c.by.at), stamp(start)),
		Consequence: "Another MirrorMaker 2 than the one that is meant writes this flow: an old process that still runs, a node that was not upgraded, or " + wrong + ". " +
			"This report judges by the version that was told.",
		Confirm: []finding.Command{checkpointsCommand(f), syncsCommand(f)},
		Fixes:   []finding.Fix{withoutClaim(f)},
	}
}

func withoutClaim(f *flowView) finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), Text: "Look at every node that may run this flow: the name of libs/connect-mirror-VERSION.jar, or the line `Kafka version:` in its log, tells its version. Stop what is not meant to run; else diagnose again with the version found, or without --mm2-version.",
		Steps: []finding.Step{{Text: "find the version on each node", Command: "ls libs/connect-mirror-*.jar"}}}
	switch f.fixMode() {
	case "connect":
		fix.Steps[0] = finding.Step{Text: "ask every worker", Command: "curl -sS " + finding.Quote(cmp.Or(f.ConnectURL, "http://CONNECT:8083")+"/")}
	case "strimzi":
		fix.Steps[0] = finding.Step{Text: "see which image each pod runs: its tag tells the version", Command: "kubectl get pods" + f.namespace() + " -l " + finding.Quote("strimzi.io/cluster="+f.resource().Name+",strimzi.io/kind=KafkaMirrorMaker2") + " -o jsonpath='{.items[*].spec.containers[*].image}'"}
	case "msk-connect":
		fix.Steps[0] = finding.Step{Text: "ask for the connector's version", Command: "aws kafkaconnect describe-connector " + mskArn(f, connCheckpoint) + " --query kafkaConnectVersion"}
	}
	return fix
}

// toldDifferently says that a live MirrorMaker 2 names another version than the operator, by whose rules things differ.
func (f *flowView) toldDifferently() (live, words string) {
	names := f.told()
	if f.v.snap.MM2Version == "" || len(names) < 2 {
		return "", ""
	}
	given, err := mm2.ParseBuild(names[0].text)
	if err != nil {
		return "", ""
	}
	for _, n := range names[1:] {
		b, err := mm2.ParseBuild(n.text)
		fromLog := f.Log.Known() && n.text == f.Log.Or(snapshot.Log{}).Version
		if err != nil || fromLog {
			continue // a log may be of another time; it is mentioned only
		}
		if len(given.Range.Releases()) > 0 && !slices.ContainsFunc(given.Range.Releases(), func(v mm2.Version) bool {
			return b.Range.Generations().Has(v.Generation()) && slices.ContainsFunc(b.Range.Releases(), func(w mm2.Version) bool { return w.Emission() == v.Emission() })
		}) {
			return n.text, n.who
		}
	}
	return "", ""
}
