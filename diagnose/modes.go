package diagnose

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// mode is how one way of running MirrorMaker 2 does what a repair asks for.
type mode struct {
	// restart starts connectors again with their tasks.
	restart func(f *flowView, connectors []string) []finding.Step
	// stop ends the work of connectors, so that nothing of theirs is written any more; start undoes it.
	stop, start func(f *flowView, connectors []string) []finding.Step
	// resume takes up a connector that somebody paused or stopped.
	resume func(f *flowView, connector string) finding.Step
	// set gives settings to connectors, or to the worker.
	set func(f *flowView, connectors []string, values finding.Observed) []finding.Step
	// restartsItself: a changed setting is in force without a further step.
	restartsItself bool
	// owned are commands whose effect an operator takes back, and what to do instead.
	owned []owned
	// words are those of dedicated mode, in which texts are written, and what they are called here.
	words *strings.Replacer
}

// owned: a command that holds any of these words is about something that an operator may own.
type owned struct {
	commands []string
	note     string
}

var modes = map[string]*mode{
	"dedicated": {restart: restartProcess, stop: stopProcess, start: startProcess, resume: resumeProcess, set: setInFile},
	"connect":   {restart: restartByREST, stop: stopByREST, start: startByREST, resume: resumeByREST, set: setByREST, restartsItself: true, words: connectorWords("the workers' log")},
	"strimzi":   {restart: restartByOperator, stop: stopByOperator, start: startByOperator, resume: resumeByOperator, set: setInResource, restartsItself: true, owned: ownedByStrimzi, words: connectorWords("the log of its pods")},
	"msk-connect": {restart: restartByMSK, stop: stopByMSK, start: startByMSK, resume: func(f *flowView, c string) finding.Step { return restartByMSK(f, []string{c})[0] },
		set: setByMSK, restartsItself: true, words: connectorWords("the connector's log")},
}

// fixMode is the way of running MirrorMaker 2 that a fix is written for. A flow that was found by bare addresses is taken for
// dedicated mode.
func (f *flowView) fixMode() string {
	if modes[f.Mode] != nil {
		return f.Mode
	}
	return "dedicated"
}

func (f *flowView) mode() *mode { return modes[f.fixMode()] }

// onConnect says that a Connect cluster runs the connectors, each by itself, and not one process with a properties file.
func (f *flowView) onConnect() bool {
	return f.Mode == "connect" || f.Mode == "strimzi" || f.Mode == "msk-connect"
}

// The instructions that a reader, or a script, recognises in dedicated mode.
const (
	restartText = "restart MirrorMaker 2"
	stopText    = "stop MirrorMaker 2"
	startText   = "start MirrorMaker 2"
)

func connectorWords(log string) *strings.Replacer {
	return strings.NewReplacer(
		"in MirrorMaker 2's log", "in "+log, "into MirrorMaker 2's log", "into "+log,
		"restart MirrorMaker 2", "restart the connector", "Restart MirrorMaker 2", "Restart the connector",
		"stop MirrorMaker 2", "stop the connector", "Stop MirrorMaker 2", "Stop the connector",
		"start MirrorMaker 2", "start the connector", "Start MirrorMaker 2", "Start the connector",
		", then restart it.", ", then restart the connector.",
		"upgrade MirrorMaker 2", "upgrade the Connect workers", "Upgrade MirrorMaker 2", "Upgrade the Connect workers")
}

// inMode puts the repairs of a finding, which are written for dedicated mode, into the words of the flow's mode, and does
// the steps without a command the way that mode does them.
func inMode(f *flowView, fd *finding.Finding) {
	if f == nil || f.mode().words == nil {
		return
	}
	m := f.mode()
	for i := range fd.Fixes {
		fix := &fd.Fixes[i]
		fix.Text = m.words.Replace(fix.Text)
		var steps []finding.Step
		for _, st := range fix.Steps {
			switch {
			case st.Command != "" || len(st.Properties) > 0:
			case st.Text == restartText:
				steps = append(steps, m.restart(f, []string{connCheckpoint})...)
				continue
			case st.Text == stopText:
				steps = append(steps, m.stop(f, bothConnectors)...)
				continue
			case st.Text == startText:
				steps = append(steps, m.start(f, bothConnectors)...)
				continue
			}
			st.Text = m.words.Replace(st.Text)
			steps = append(steps, st)
		}
		fix.Steps = steps
		for _, o := range m.owned {
			if slices.ContainsFunc(steps, o.touches) && !strings.Contains(fix.Text, o.note) {
				fix.Text += " " + o.note
			}
		}
	}
}

func (o owned) touches(st finding.Step) bool {
	return slices.ContainsFunc(o.commands, func(c string) bool { return strings.Contains(st.Command, c) })
}

// whileStopped does something while connectors are stopped.
func (f *flowView) whileStopped(connectors []string, steps ...finding.Step) []finding.Step {
	return append(append(f.mode().stop(f, connectors), steps...), f.mode().start(f, connectors)...)
}

var bothConnectors = []string{connSource, connCheckpoint}

// readers are the connectors that read a setting, of those that the flow has; worker where it is the worker's.
func (f *flowView) readers(key string) []string {
	k, ok := conf.LookupKey(key)
	if ok && k.ReadBy&(conf.Source|conf.Checkpoint|conf.Heartbeat) == 0 {
		return []string{worker}
	}
	var out []string
	for _, c := range []struct {
		r    conf.Reader
		name string
	}{{conf.Source, connSource}, {conf.Checkpoint, connCheckpoint}, {conf.Heartbeat, connHeartbeat}} {
		if ok && k.ReadBy&c.r != 0 && (c.r != conf.Heartbeat || len(entriesOf(f.settings.configured, connHeartbeat)) > 0 && f.Mode == "strimzi") {
			out = append(out, c.name)
		}
	}
	if len(out) == 0 && strings.HasPrefix(key, "source.consumer.") {
		return []string{connSource}
	}
	if len(out) == 0 {
		return []string{connCheckpoint}
	}
	return out
}

// setSteps gives a setting to all connectors that read it.
func (f *flowView) setSteps(key, value string) []finding.Step {
	return f.mode().set(f, f.readers(key), finding.Observed{{Name: key, Value: value}})
}

// before says how to take settings back; it is silent where one of them is not known.
func (f *flowView) before(connector string, values finding.Observed) string {
	var out []string
	for _, v := range values {
		e, st := f.setting(connector, v.Name).Get()
		what := "it"
		if len(values) > 1 {
			what = v.Name
		}
		switch {
		case st == snapshot.Unknown:
			return ""
		case !e.Default && e.Value != "":
			out = append(out, fmt.Sprintf("set %s back to %q", what, e.Value))
		case len(values) > 1:
			out = append(out, "take "+what+" out again")
		default:
			out = append(out, "take the setting out again")
		}
	}
	return strings.Join(out, ", ")
}

// asMap is settings as the object of a JSON document.
func asMap(values finding.Observed) map[string]string {
	out := map[string]string{}
	for _, v := range values {
		out[v.Name] = fmt.Sprint(v.Value)
	}
	return out
}

func (f *flowView) names(connectors []string) []string {
	out := make([]string, 0, len(connectors))
	for _, c := range connectors {
		if c == worker {
			out = append(out, "all connectors of the worker")
			continue
		}
		out = append(out, f.connectorName(c))
	}
	return out
}

// Dedicated mode: one process, one file.

func restartProcess(*flowView, []string) []finding.Step {
	return []finding.Step{{Text: restartText, Stops: []string{"mirroring of all flows of that process, for the time of a restart"}}}
}

func stopProcess(*flowView, []string) []finding.Step {
	return []finding.Step{{Text: stopText, Stops: []string{"mirroring of all flows of that process"}, Undo: "start it again"}}
}

func startProcess(*flowView, []string) []finding.Step {
	return []finding.Step{{Text: startText}}
}

// resumeProcess writes what the REST interface, which dedicated mode has not, would have written: the connector's target state
// in the worker's config topic, which all nodes follow. state.v2 came with 3.5 (KIP-875), and the topic outlives a restart.
func resumeProcess(f *flowView, connector string) finding.Step {
	record := "target-state-" + connector + `|{"state":"STARTED","state.v2":"STARTED"}`
	return finding.Step{Text: "resume the connector by a record in the worker's config topic, since dedicated mode has no REST interface; a restart alone does not", Undo: "write the same record with PAUSED for STARTED",
		Command: "echo " + finding.Quote(record) + " | kafka-console-producer.sh --bootstrap-server " + producerBootstrapOf(f.dst) + " --topic " + finding.Quote(f.workerTopic("config")) + " --property parse.key=true --property 'key.separator=|'"}
}

// setInFile writes with the flow's prefix, which outranks every other place; the worker reads its own settings by the target's.
func setInFile(f *flowView, connectors []string, values finding.Observed) []finding.Step {
	step := finding.Step{Text: "set it for the flow", File: cmp.Or(f.File, "mm2.properties")}
	prefix := f.Name()
	if len(connectors) == 1 && connectors[0] == worker {
		step.Text, prefix = "set it for the worker of all flows into "+f.Target, f.Target
	}
	for _, v := range values {
		step.Properties = append(step.Properties, snapshot.Named{Name: prefix + "." + v.Name, Value: v.Value})
		if e, st := f.setting(connectors[0], v.Name).Get(); st == snapshot.Known && !e.Default && e.Value != "" {
			step.Undo = f.before(connectors[0], values)
		}
	}
	return []finding.Step{step}
}

// Connect mode: the workers' REST interface.

// restURL is a connector's address in Connect's REST interface, quoted for a shell.
func (f *flowView) restURL(class, path string) string {
	return finding.Quote(cmp.Or(f.ConnectURL, "http://CONNECT:8083") + "/connectors/" + f.connectorName(class) + path)
}

// workerAtLeast says that the worker is known to be of that version or newer. In Strimzi, the version of MirrorMaker 2 is the
// worker's.
func (f *flowView) workerAtLeast(major, minor int) (yes, known bool) {
	v, err := mm2.ParseVersion(f.WorkerVersion)
	if f.WorkerVersion == "" || err != nil {
		v = f.gens.version
	}
	return !v.IsZero() && v.AtLeast(major, minor, 0), !v.IsZero()
}

func restartByREST(f *flowView, connectors []string) []finding.Step {
	out := make([]finding.Step, 0, len(connectors))
	for _, c := range connectors {
		out = append(out, finding.Step{Text: "restart the connector and its tasks", Stops: f.names([]string{c}), Command: f.restartCommand(c)})
	}
	return out
}

// restartCommand restarts a connector with its tasks: in one call from Connect 3.0 on (KIP-745), before that one by one.
func (f *flowView) restartCommand(connector string) string {
	if yes, known := f.workerAtLeast(3, 0); yes || !known {
		return "curl -sS -X POST " + f.restURL(connector, "/restart?includeTasks=true")
	}
	cmd := "curl -sS -X POST " + f.restURL(connector, "/restart")
	for _, t := range f.Tasks.Or(nil) {
		if t.Connector == connector && t.Task >= 0 {
			cmd += fmt.Sprintf(" && curl -sS -X POST %s", f.restURL(connector, fmt.Sprintf("/tasks/%d/restart", t.Task)))
		}
	}
	return cmd
}

// stopByREST: PUT /stop from Connect 3.5 on (KIP-875). A pause is not enough: the checkpoint task's own thread goes on writing
// group offsets. An older worker has to lose the connector, whose configuration is saved.
func stopByREST(f *flowView, connectors []string) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		st := finding.Step{Text: "stop the connector, and wait until its status says STOPPED", Stops: f.names([]string{c}), Undo: "resume it", Command: "curl -sS -X PUT " + f.restURL(c, "/stop")}
		yes, known := f.workerAtLeast(3, 5)
		switch {
		case !known:
			st.Text = "stop the connector, and wait until its status says STOPPED (Connect 3.5 or newer; an older one answers 404 or 405: save its configuration with GET /config and delete it; a pause is not enough)"
		case !yes:
			st.Text = "save the connector's configuration and delete it: Connect before 3.5 cannot stop one, and a paused task goes on writing group offsets"
			st.Command = "curl -sS " + f.restURL(c, "/config") + " > " + saved(c) + " && curl -sS -X DELETE " + f.restURL(c, "")
			st.Undo = "create it again from " + saved(c)
		}
		out = append(out, st)
	}
	return out
}

func saved(connector string) string { return connector + ".json" }

func startByREST(f *flowView, connectors []string) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		st := resumeByREST(f, c)
		if yes, known := f.workerAtLeast(3, 5); known && !yes {
			st = finding.Step{Text: "create the connector again", Command: "curl -sS -X PUT -H 'Content-Type: application/json' -d @" + saved(c) + " " + f.restURL(c, "/config")}
		}
		out = append(out, st)
	}
	return out
}

func resumeByREST(f *flowView, connector string) finding.Step {
	return finding.Step{Text: "resume the connector", Command: "curl -sS -X PUT " + f.restURL(connector, "/resume")}
}

// setByREST: PATCH /config from Connect 3.8 on (KIP-477); before that the whole configuration is read, changed and put back.
func setByREST(f *flowView, connectors []string, values finding.Observed) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		if c == worker {
			out = append(out, finding.Step{Text: "set it in the properties file of every Connect worker, then restart the workers one after the other", File: "properties file of each worker", Properties: values,
				Stops: []string{"each worker's tasks while it restarts"}, Undo: f.before(c, values)})
			continue
		}
		st := finding.Step{Text: "set it in the configuration of " + f.connectorName(c), Properties: values, Stops: []string{"the connector while it restarts by itself"}, Undo: f.before(c, values)}
		change := jsonText(asMap(values))
		if yes, _ := f.workerAtLeast(3, 8); yes {
			st.Command = "curl -sS -X PATCH -H 'Content-Type: application/json' -d " + finding.Quote(change) + " " + f.restURL(c, "/config")
		} else {
			st.Command = "curl -sS " + f.restURL(c, "/config") + " | jq " + finding.Quote(". + "+change) + " | curl -sS -X PUT -H 'Content-Type: application/json' -d @- " + f.restURL(c, "/config")
		}
		out = append(out, st)
	}
	return out
}

// MSK Connect: no REST interface of Kafka's, a connector is changed as a whole by AWS' own.

func mskArn(f *flowView, connector string) string {
	return `--connector-arn "$(aws kafkaconnect list-connectors --connector-name-prefix ` + finding.Quote(f.connectorName(connector)) + ` --query 'connectors[0].connectorArn' --output text)"`
}

func restartByMSK(f *flowView, connectors []string) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		out = append(out, finding.Step{Text: "restart the connector and its tasks", Stops: f.names([]string{c}), Command: "aws kafkaconnect restart-connector " + mskArn(f, c)})
	}
	return out
}

func stopByMSK(f *flowView, connectors []string) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		out = append(out, finding.Step{Text: "save the connector's description, then delete it: MSK Connect cannot stop one", Stops: f.names([]string{c}), Undo: "create it again from " + saved(c),
			Command: "aws kafkaconnect describe-connector " + mskArn(f, c) + " > " + saved(c) + " && aws kafkaconnect delete-connector " + mskArn(f, c)})
	}
	return out
}

func startByMSK(f *flowView, connectors []string) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		out = append(out, createByMSK(f, c, ""))
	}
	return out
}

func createByMSK(f *flowView, connector, with string) finding.Step {
	return finding.Step{Text: "create " + f.connectorName(connector) + " again with the settings in " + saved(connector) + with + " (aws kafkaconnect create-connector)"}
}

func setByMSK(f *flowView, connectors []string, values finding.Observed) []finding.Step {
	var out []finding.Step
	for _, c := range connectors {
		text := "set it in the configuration of " + f.connectorName(c) + " (aws kafkaconnect update-connector takes the whole configuration; where that is refused, delete the connector and create it again)"
		if c == worker {
			text = "set it in a new worker configuration, and create the connectors again with it: MSK Connect cannot change the one of a connector"
		}
		out = append(out, finding.Step{Text: text, Properties: values, Stops: f.names([]string{c}), Undo: f.before(c, values)})
	}
	return out
}
