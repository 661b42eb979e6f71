package diagnose

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// TestEveryFindingIsConfirmable: whoever does not trust the doctor gets a command with the real names filled in; an error or
// a warning also comes with a repair.
func TestEveryFindingIsConfirmable(t *testing.T) {
	for _, x := range fixturesOf(t, "bundle") {
		name := x.name
		r, _ := Run(x.snap, Options{})
		for _, f := range r.Findings {
			if len(f.Confirm) == 0 && f.Code != 5 && f.Code != 217 {
				t.Errorf("%s: %s %s has no command that confirms it", name, f.CodeText, f.Slug)
			}
			for _, c := range f.Confirm {
				if strings.Contains(c.Command, "BOOTSTRAP") || strings.Contains(c.Command, "%!") || c.Cluster == "" {
					t.Errorf("%s: %s: %+v", name, f.CodeText, c)
				}
			}
			if f.Severity > finding.Info && len(f.Fixes) == 0 && f.Code != 217 {
				t.Errorf("%s: %s %s has no repair", name, f.CodeText, f.Slug)
			}
		}
	}
}

// of gives a look at the same flow as another way of running MirrorMaker 2 would show it.
func (m runMode) of(s *snapshot.Snapshot) *snapshot.Snapshot {
	out := *s
	out.Flows = slices.Clone(s.Flows)
	for i := range out.Flows {
		f := &out.Flows[i]
		m.change(f)
	}
	return &out
}

// runMode is a way of running MirrorMaker 2 that repairs are written for.
type runMode struct {
	name   string
	change func(f *snapshot.Flow)
}

var runModes = []runMode{
	{"dedicated", func(f *snapshot.Flow) {
		f.Mode, f.ConnectURL, f.WorkerVersion, f.WorkerCluster, f.File = "dedicated", "", "", "", "mm2.properties"
		f.SourceConnector, f.CheckpointConnector = "", ""
	}},
	{"connect", func(f *snapshot.Flow) {
		f.Mode, f.ConnectURL, f.WorkerVersion, f.File = "connect", "http://connect:8083", "3.9.1", ""
		f.SourceConnector, f.CheckpointConnector = "mirror-source", "mirror-checkpoint"
	}},
	{"connect", func(f *snapshot.Flow) {
		f.Mode, f.ConnectURL, f.WorkerVersion, f.File = "connect", "http://connect:8083", "2.8.2", ""
		f.SourceConnector, f.CheckpointConnector = "mirror-source", "mirror-checkpoint"
	}},
	{"msk-connect", func(f *snapshot.Flow) {
		f.Mode, f.ConnectURL, f.WorkerVersion, f.File = "msk-connect", "", "", ""
		f.SourceConnector, f.CheckpointConnector = "mirror-source", "mirror-checkpoint"
	}},
	{"strimzi", func(f *snapshot.Flow) { inResource(f, "kafka.strimzi.io/v1beta2") }},
	{"strimzi", func(f *snapshot.Flow) { inResource(f, "kafka.strimzi.io/v1") }},
}

func inResource(f *snapshot.Flow, apiVersion string) {
	f.Mode, f.File = "strimzi", "mm2.yaml"
	f.SourceConnector, f.CheckpointConnector = f.Name()+".MirrorSourceConnector", f.Name()+".MirrorCheckpointConnector"
	if cs, st := f.Configured.Get(); st == snapshot.Known {
		cs.Worker = nil // those of dedicated mode
		f.Configured = snapshot.Is(cs)
	}
	f.Resource = &snapshot.Resource{APIVersion: apiVersion, Namespace: "dr", Name: "to-" + f.Target, WorkerOn: f.Target, WorkerPath: "spec.target",
		Sections: []string{"sourceConnector", "sourceConnector.config", "checkpointConnector"}}
}

// byHand are steps that no command and no setting does: what stops or starts a process of the operator's own, or asks for a
// decision of his. All but a start say what they stop.
var byHand = regexp.MustCompile(`^(?:re)?start MirrorMaker 2$|^stop MirrorMaker 2(?: on all nodes)?$|^upgrade (?:MirrorMaker 2|the Connect workers) to |^stop the consumers of the group |^stop whoever else writes |^create \S+ again with the settings in `)

var startsOnly = regexp.MustCompile(`^start MirrorMaker 2$|^create \S+ again `)

// ofDedicated are words and places that only dedicated mode has.
var ofDedicated = regexp.MustCompile(`(?i)\b(?:re)?start MirrorMaker 2|\bstop MirrorMaker 2|mm2\.properties|of that process|mm2-(?:configs|status|offsets)\.\w+\.internal`)

// placeholder is what a command must not leave to the reader.
var placeholder = regexp.MustCompile(`\b(?:NAME|FILE|CONNECT|BOOTSTRAP|PRINCIPAL)\b`)

// TestRepairsFitTheMode: every repair of every fixture, in each way of running MirrorMaker 2, names what that way has and has
// a command, or settings with a place, for each step.
func TestRepairsFitTheMode(t *testing.T) {
	for _, x := range fixturesOf(t, "bundle") {
		for _, m := range runModes {
			s := m.of(x.snap)
			r, _ := Run(s, Options{})
			for _, fd := range r.Findings {
				where := x.name + ", " + m.name + ": " + fd.CodeText + " " + fd.Slug
				if fd.Flow == "" {
					continue
				}
				for _, c := range fd.Confirm {
					if m.name != "dedicated" && ofDedicated.MatchString(c.Command) {
						t.Errorf("%s: confirmed by %s", where, c.Command)
					}
				}
				for _, fix := range fd.Fixes {
					if fix.Mode != m.name && fix.Mode != "kafka" {
						t.Errorf("%s: a repair for %q: %s", where, fix.Mode, fix.Text)
					}
					if m.name != "dedicated" && ofDedicated.MatchString(fix.Text) {
						t.Errorf("%s: %s", where, fix.Text)
					}
					stopped := false
					for _, st := range fix.Steps {
						checkStep(t, where, m.name, fd.Flow, st)
						stopped = stopped || len(st.Stops) > 0
						if inUse(s, st.Command) && !stopped {
							t.Errorf("%s: nothing is stopped before: %s", where, st.Command)
						}
					}
				}
			}
		}
	}
}

// inUse says that a command deletes a topic that a flow works with.
func inUse(s *snapshot.Snapshot, command string) bool {
	return slices.ContainsFunc(s.Flows, func(f snapshot.Flow) bool {
		return strings.HasSuffix(command, "--delete --topic "+finding.Quote(f.SyncsTopic)) || strings.HasSuffix(command, "--delete --topic "+finding.Quote(f.Checkpoints))
	})
}

func checkStep(t *testing.T, where, mode, flow string, st finding.Step) {
	t.Helper()
	all := fmt.Sprintf("%s | %s | %v | %s | %v", st.Text, st.Command, st.Properties, st.File, st.Stops)
	if strings.Contains(all, "%!") {
		t.Errorf("%s: %s", where, all)
	}
	switch {
	case mode == "dedicated":
		if strings.Contains(all, "kubectl") || strings.Contains(all, "curl ") {
			t.Errorf("%s: a step of another mode: %s", where, all)
		}
	case ofDedicated.MatchString(all) || strings.Contains(fmt.Sprint(st.Properties), flow+"."):
		t.Errorf("%s: a step of dedicated mode: %s", where, all)
	case mode == "strimzi" && strings.Contains(all, "/connectors/"):
		t.Errorf("%s: the operator would set it back: %s", where, all)
	}
	switch {
	case strings.Contains(st.Command, "/pause"):
		t.Errorf("%s: a paused task goes on committing: %s", where, all)
	case placeholder.MatchString(st.Command):
		t.Errorf("%s: a placeholder: %s", where, all)
	case st.Destructive && st.Undo == "":
		t.Errorf("%s: no word of how to take it back: %s", where, all)
	case st.Command != "", len(st.Properties) > 0 && (st.File != "" || strings.HasPrefix(st.Text, "set it in ")):
	case !byHand.MatchString(st.Text):
		t.Errorf("%s: nothing says how: %s", where, all)
	case len(st.Stops) == 0 && !startsOnly.MatchString(st.Text):
		t.Errorf("%s: by hand, and nothing says what it stops: %s", where, all)
	}
}
