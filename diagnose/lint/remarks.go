package lint

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Remarks gives findings as facts of a snapshot. accepted gives the reason for which a comment in the text accepts one, "" for none.
func Remarks(found []finding.Finding, accepted func(*finding.Finding) string) []snapshot.Remark {
	out := make([]snapshot.Remark, 0, len(found))
	for i := range found {
		f := &found[i]
		if ofLogin.MatchString(f.Subject.Key) {
			continue // a snapshot says nothing of client settings
		}
		r := snapshot.Remark{Code: int(f.Code), Slug: f.Slug, Severity: f.Severity.String(), Flow: f.Flow, File: f.Subject.File, Line: f.Subject.Line, Column: f.Subject.Column, Key: f.Subject.Key,
			Setting: settingOf(f), Connector: f.Subject.Connector, Because: f.Because, Consequence: f.Consequence, Bugs: f.Bugs, Accepted: accepted(f)}
		for _, x := range f.Fixes {
			p := snapshot.Repair{Mode: x.Mode, Text: x.Text}
			if len(x.Steps) == 1 {
				p.Where, p.File, p.Properties = x.Steps[0].Text, x.Steps[0].File, x.Steps[0].Properties
			}
			r.Fixes = append(r.Fixes, p)
		}
		out = append(out, r)
	}
	return out
}

var ofLogin = regexp.MustCompile(`(?i)\b(?:ssl|sasl|jaas|security|config\.providers)\b|password|secret|credential|token`)

// settingOf is the setting that a finding is about, as a connector knows it: the one that was meant, where the key is another.
func settingOf(f *finding.Finding) string {
	key := f.Subject.Key
	for _, o := range f.Observed {
		if text, ok := o.Value.(string); ok && o.Name == "meant" {
			key = text
		}
	}
	return bareSetting(key)
}

// bareSetting takes away where a setting stands: its flow, its place in a resource, the alias before it.
func bareSetting(key string) string {
	key, _, _ = strings.Cut(key, " ") // "topicsPattern of the mirror"
	if _, rest, ok := strings.Cut(key, "->"); ok {
		key = rest
		for {
			if _, known := conf.LookupKey(key); known || key == "enabled" {
				return key
			}
			if _, rest, ok = strings.Cut(key, "."); !ok {
				return ""
			}
			key = rest
		}
	}
	if i := strings.Index(key, ".config."); i >= 0 && strings.HasPrefix(key, "spec.") {
		key = key[i+len(".config."):]
	} else if strings.HasPrefix(key, "spec.") {
		key = key[strings.LastIndexByte(key, '.')+1:]
	}
	for name, field := range patterns {
		if field == key {
			key = name
		}
	}
	key = strings.TrimSuffix(key, ",")
	if _, known := conf.LookupKey(key); known {
		return key
	}
	return ""
}

var mirrorPath = regexp.MustCompile(`^spec\.mirrors\[(\d+)\]\.`)

// placed gives findings about single keys the flow that the key belongs to, where it can be told from where it stands.
func (l *linter) placed() {
	flows := map[string][]*flow{}
	for _, s := range l.setups {
		for _, f := range s.flows {
			if s.mode == dedicated || s.mode == strimzi {
				flows[s.file] = append(flows[s.file], f)
				continue
			}
			seen := map[string]bool{}
			for _, p := range f.at {
				if !seen[p.file] {
					seen[p.file] = true
					flows[p.file] = append(flows[p.file], f)
				}
			}
		}
	}
	for i := range l.out {
		if f := &l.out[i]; f.Flow == "" {
			f.Flow = flowAt(f.Subject, flows[f.Subject.File])
		}
	}
}

// flowAt chooses among the flows of the file.
func flowAt(at finding.Subject, flows []*flow) string {
	name, several := "", false
	mirror := mirrorPath.FindStringSubmatch(at.Key)
	for _, f := range flows {
		switch f.in.mode {
		case dedicated:
			if strings.HasPrefix(at.Key, f.Name()+".") {
				return f.Name()
			}
		case strimzi:
			if mirror != nil && f.at[0].line <= at.Line && mirror[1] == strconv.Itoa(f.Mirror.Index) {
				name = f.Name() // the last resource of the file that begins before
			}
		default:
			if name != f.Name() {
				several = several || name != ""
				name = f.Name()
			}
		}
	}
	if several {
		return ""
	}
	return name
}
