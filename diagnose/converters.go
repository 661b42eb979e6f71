package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// Converters stand between a connector's records, which are bytes, and the topic: only ByteArrayConverter keeps them as they are.
const (
	keyConverter       = "key.converter"
	valueConverter     = "value.converter"
	headerConverter    = "header.converter"
	byteArrayConverter = "org.apache.kafka.connect.converters.ByteArrayConverter"
)

// reencoding are converters known to write something else than the bytes: JSON around base64, Java's name of an array, or a
// schema registry's frame. They are told by the class's last name; others are not judged.
var reencoding = []string{"JsonConverter", "StringConverter", "AvroConverter", "ProtobufConverter", "JsonSchemaConverter", "SimpleHeaderConverter"}

func shortClass(class string) string {
	class = strings.TrimSpace(class)
	return class[strings.LastIndexByte(class, '.')+1:]
}

// converterFault says which setting makes a connector's records unreadable. missing: the connector has none of its own and takes
// the worker's.
type converterFault struct {
	connector string
	key       string
	entry     snapshot.ConfigEntry
	missing   bool
}

func (c converterFault) slug() string {
	if c.missing {
		return "converter-missing"
	}
	return "non-bytearray-converter"
}

func (c converterFault) words(f *flowView) string {
	if c.missing {
		return fmt.Sprintf("%s has no %s of its own, and the worker's is %s (%s)", f.connectorName(c.connector), c.key, shortClass(c.entry.Value), where(c.entry))
	}
	return fmt.Sprintf("%s of %s is %s (%s)", c.key, f.connectorName(c.connector), shortClass(c.entry.Value), where(c.entry))
}

// converterFaults looks at what the connectors run with, else at the operator's file; the checkpoint connector's come first.
func (f *flowView) converterFaults() []converterFault {
	var out []converterFault
	f.v.touch(finding.Settings)
	for _, connector := range []string{connCheckpoint, connSource} {
		own := entriesOf(f.settings.running, connector)
		if f.settings.running == nil {
			own = entriesOf(f.settings.configured, connector)
		}
		if len(own) == 0 {
			continue // there is no such connector
		}
		for _, key := range []string{keyConverter, valueConverter} {
			c := converterFault{connector: connector, key: key}
			e := find(own, key)
			if e == nil {
				e, c.missing = find(entriesOf(f.settings.configured, worker), key), true
			}
			if e == nil || !slices.Contains(reencoding, shortClass(e.Value)) {
				continue
			}
			c.entry = *e
			out = append(out, c)
			break // one setting names the connector
		}
	}
	return out
}

// asBytes are the converters that MirrorMaker 2 needs where it does not set them by itself.
var asBytes = finding.Observed{{Name: keyConverter, Value: byteArrayConverter}, {Name: valueConverter, Value: byteArrayConverter}, {Name: headerConverter, Value: byteArrayConverter}}

// foreignFix is for a checkpoints topic with records that are none, where no setting of a converter was seen.
func (f *flowView) foreignFix() finding.Fix {
	stop := finding.Step{Text: "stop whoever else writes into " + f.Checkpoints + ": only the checkpoint connector may", Stops: []string{"the foreign writer"}}
	fix := finding.Fix{Mode: f.fixMode(), Text: "Stop whoever writes into the topic.", Steps: []finding.Step{stop}}
	if f.fixMode() == "connect" || f.fixMode() == "msk-connect" {
		fix.Text += " If it is the checkpoint connector itself, its converters are wrong: set them."
		fix.Steps = append(fix.Steps, f.mode().set(f, []string{connCheckpoint}, asBytes)...)
	}
	return fix
}

// converterFix sets the converters on the connectors that lack them.
func converterFix(f *flowView, cs []converterFault) finding.Fix {
	fix := finding.Fix{Mode: f.fixMode(), Text: "Set the three converters; what was written before stays unreadable. Checkpoints are made anew when " + f.Checkpoints + " is deleted while the checkpoint connector is stopped.",
		WaitSeconds: int((f.discoveryStart() + f.emitBudget() + f.commitBudget()) / 1000)}
	props := asBytes
	if f.fixMode() == "dedicated" {
		fix.Text = "Take the converters out of the file: MirrorMaker 2 sets ByteArrayConverter by itself. Then restart it."
		fix.Steps = append(f.mode().set(f, bothConnectors, props), restartStep(f))
		fix.Steps[0].Text = "remove key.converter, value.converter and header.converter, or set them to this for the flow"
		return fix
	}
	for _, c := range cs {
		fix.Steps = append(fix.Steps, f.mode().set(f, []string{c.connector}, props)...)
	}
	return fix
}
