package lint

import (
	"slices"

	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Settings are those in force for one connector, or for the worker, of a flow.
type Settings struct {
	Reader string `json:"reader"`
	// Known is false for a worker whose configuration stands in none of the files.
	Known    bool      `json:"known"`
	Settings []Setting `json:"settings"`
}

// Setting is a value in force. Secret values are left out.
type Setting struct {
	Key     string `json:"key"`
	Value   string `json:"value"`
	Written string `json:"written,omitempty"` // the key as it stands in the file
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Rule    string `json:"rule"`
	Default bool   `json:"default"`
	Secret  bool   `json:"secret,omitempty"`
}

// FlowSettings is one flow as MirrorMaker 2 resolves it.
type FlowSettings struct {
	Flow    string     `json:"flow"`
	File    string     `json:"file"`
	Mode    string     `json:"mode"`
	Version string     `json:"version"`
	Enabled bool       `json:"enabled"`
	Readers []Settings `json:"readers"`
}

// Effective gives the settings in force for every flow of the files.
func Effective(files []File, o Options) []FlowSettings {
	l := read(files, o)
	var out []FlowSettings
	for _, s := range l.setups {
		if s.Setup == nil {
			continue
		}
		version := "newest"
		if !s.version.IsZero() {
			version = s.version.String()
		}
		for _, f := range s.flows {
			fs := FlowSettings{Flow: f.Name(), File: s.file, Mode: s.mode, Version: version, Enabled: f.Enabled}
			for _, r := range []conf.Reader{conf.Source, conf.Checkpoint, conf.Heartbeat, conf.Worker} {
				if !f.Has(r) {
					continue
				}
				known := r != conf.Worker || s.worker != nil || s.mode != connect && s.mode != managed
				part := Settings{Reader: readerName(r), Known: known, Settings: []Setting{}}
				if known {
					part.Settings = f.inForce(r)
				}
				fs.Readers = append(fs.Readers, part)
			}
			out = append(out, fs)
		}
	}
	return out
}

func readerName(r conf.Reader) string {
	if r == conf.Worker {
		return "worker"
	}
	return r.String()
}

// inForce gives what is written or filled in, and the defaults of the release for the rest.
func (f *flow) inForce(r conf.Reader) []Setting {
	given := f.Settings(r)
	var out []Setting
	for _, e := range given {
		out = append(out, shownSetting(e))
	}
	for _, k := range conf.Keys() {
		if k.ReadBy&r == 0 || slices.ContainsFunc(given, func(e conf.Effective) bool { return e.Key == k.Name }) {
			continue
		}
		if e, ok := f.Get(r, k.Name); ok {
			out = append(out, shownSetting(e))
		}
	}
	slices.SortFunc(out, func(a, b Setting) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return out
}

func shownSetting(e conf.Effective) Setting {
	s := Setting{Key: e.Key, Value: e.Value, Written: e.Written, File: e.File, Line: e.Line, Rule: string(e.Rule), Default: e.Rule == conf.RuleDefault}
	if hidden(e.Key, e.Value) {
		s.Value, s.Secret = "", true
	}
	return s
}
