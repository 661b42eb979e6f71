package render

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/mm2doctor/mm2doctor/diagnose/lint"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// EffectiveJSON writes the settings in force as one object; defaults that nobody wrote only when asked for.
func EffectiveJSON(w io.Writer, flows []lint.FlowSettings, defaults bool) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(struct {
		SchemaVersion int                 `json:"schemaVersion"`
		Command       string              `json:"command"`
		Flows         []lint.FlowSettings `json:"flows"`
	}{1, "check --effective", chosen(flows, defaults)})
}

func chosen(flows []lint.FlowSettings, defaults bool) []lint.FlowSettings {
	if defaults {
		return flows
	}
	var out []lint.FlowSettings
	for _, f := range flows {
		readers := f.Readers
		f.Readers = nil
		for _, r := range readers {
			list := []lint.Setting{}
			for _, s := range r.Settings {
				if !s.Default || inChain[s.Key] {
					list = append(list, s)
				}
			}
			r.Settings = list
			f.Readers = append(f.Readers, r)
		}
		out = append(out, f)
	}
	return out
}

// inChain are settings whose defaults matter to offsets.
var inChain = map[string]bool{"sync.group.offsets.enabled": true, "sync.group.offsets.interval.seconds": true, "emit.checkpoints.enabled": true, "emit.checkpoints.interval.seconds": true, "groups": true, "groups.exclude": true,
	"topics": true, "topics.exclude": true, "offset-syncs.topic.location": true, "offset.lag.max": true, "replication.policy.class": true, "replication.policy.separator": true, "refresh.groups.interval.seconds": true,
	"refresh.topics.interval.seconds": true, "offset.flush.interval.ms": true, "checkpoints.topic.replication.factor": true, "offset-syncs.topic.replication.factor": true}

// Effective writes the settings in force: key = value, and behind it where it comes from and the rule that chose it.
func Effective(w io.Writer, flows []lint.FlowSettings, o Options) error {
	p := &printer{s: o.Screen, o: o}
	for _, f := range chosen(flows, o.Verbose) {
		p.blank()
		state := "enabled"
		if !f.Enabled {
			state = "not enabled"
		}
		p.line(p.s.Paint(term.Strong, p.clean(f.Flow)) + "  " + p.clean(fmt.Sprintf("%s, %s, rules of version %s, %s", state, f.Mode, f.Version, f.File)))
		for _, r := range f.Readers {
			p.line("")
			p.line("  " + p.clean(r.Reader))
			if !r.Known {
				p.line("    (its configuration is that of the Connect worker, which is in none of the files)")
			}
			for _, s := range r.Settings {
				value := p.clean(s.Value)
				if s.Secret {
					value = "(secret)"
				}
				origin := s.Rule
				if s.File != "" {
					origin = s.File + ":" + strconv.Itoa(s.Line)
					if s.Written != s.Key {
						origin += " " + s.Written
					}
					origin += ", " + s.Rule
				}
				p.line("    " + p.clean(s.Key) + " = " + value + "  " + p.s.Paint(term.Faint, "# "+p.clean(origin)))
			}
		}
	}
	_, err := w.Write(p.b.Bytes())
	return err
}
