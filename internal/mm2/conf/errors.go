package conf

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// Error is a fault of a configuration: what fails, why, and what to do next.
type Error struct {
	File            string
	Line            int // 0 where no line is to blame
	What, Why, Next string
}

func (e *Error) Error() string {
	s := e.What + ": " + e.Why + "; " + e.Next
	if e.File == "" {
		return s
	}
	return at(e.File, e.Line) + ": " + s
}

func at(file string, line int) string {
	if line == 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// wrongKind tells when a text is no properties file at all.
func wrongKind(name string, b []byte) error {
	fail := func(what, next string) error {
		return &Error{File: name, What: what, Why: "connect-mirror-maker reads a Java properties file, lines such as clusters = a, b", Next: next}
	}
	switch kind := confdoc.Sniff(b); kind {
	case confdoc.KindEmpty:
		return fail("the file holds no settings", "give the mm2.properties that MirrorMaker 2 was started with")
	case confdoc.KindBinary:
		return fail("the file is not a text", "unpack it first, or give the mm2.properties itself")
	case confdoc.KindJSON:
		return fail("the file is JSON, not properties", "give it as a connector configuration, or give the mm2.properties")
	case confdoc.KindYAML:
		return fail("the file is YAML, not properties", "give it as a Strimzi resource, or give the mm2.properties")
	}
	return nil
}

// clusters reads the clusters key.
func (r *resolver) clusters() ([]string, error) {
	e, ok := r.p.Lookup("clusters")
	var list []string
	if ok {
		if len(Placeholders(e.Value)) > 0 {
			return nil, badValue(Effective{Key: e.Key, Value: e.Value, Written: e.Key, File: r.file, Line: e.Line}, "a list of aliases", Driver)
		}
		list = mm2.SplitList(e.Value)
	}
	var out []string
	for _, a := range list {
		if a != "" && !slices.Contains(out, a) {
			out = append(out, a)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	if len(r.entries) == 0 {
		return nil, &Error{File: r.file, What: "the file holds no settings", Why: "there is not a single key in it", Next: "give the mm2.properties that MirrorMaker 2 was started with"}
	}
	err := &Error{File: r.file, Line: e.Line, What: "no clusters", Why: "the key clusters is missing, and MirrorMaker 2 does not start without it", Next: "add the line: clusters = " + strings.Join(r.guessAliases(), ", ")}
	if ok {
		err.Why = "the key clusters is empty, and so there is no flow"
	} else if like, found := r.like("clusters"); found {
		err.Line = like.Line
		err.Why += fmt.Sprintf(" (the file has %q instead)", like.Key)
	}
	return nil, err
}

// like finds a key that differs from name in case or by one trailing letter.
func (r *resolver) like(name string) (confdoc.Entry, bool) {
	for _, e := range r.entries {
		if strings.EqualFold(e.Key, name) || e.Key == strings.TrimSuffix(name, "s") {
			return e, true
		}
	}
	return confdoc.Entry{}, false
}

// guessAliases gives the aliases that other keys use, for the line to add.
func (r *resolver) guessAliases() []string {
	var out []string
	for _, e := range r.entries {
		if a, ok := strings.CutSuffix(e.Key, ".bootstrap.servers"); ok && !strings.Contains(a, "->") {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return []string{"A", "B"}
	}
	return out
}

// problems are what keeps the set-up from doing anything.
func (r *resolver) problems(s *Setup) []*Error {
	var out []*Error
	line := 0
	if e, ok := r.p.Lookup("clusters"); ok {
		line = e.Line
	}
	for _, c := range s.Clusters {
		if c.Bootstrap.Value != "" && trim(c.Bootstrap.Value) != "" {
			continue
		}
		e := &Error{File: r.file, Line: line, What: "cluster " + c.Alias + " has no addresses",
			Why:  "there is no " + c.Alias + ".bootstrap.servers, so that MirrorMaker 2 cannot reach it",
			Next: "add the line: " + c.Alias + ".bootstrap.servers = host:9092"}
		if c.Bootstrap.Line > 0 {
			e.Line, e.Why = c.Bootstrap.Line, c.Bootstrap.Written+" is empty"
		}
		out = append(out, e)
	}
	if len(s.Enabled()) > 0 {
		return out
	}
	if len(s.Clusters) == 1 {
		return append(out, &Error{File: r.file, Line: line, What: "no flow", Why: "clusters names only " + s.Clusters[0].Alias + "; a flow needs two", Next: "add the other cluster to clusters"})
	}
	e := &Error{File: r.file, Line: line, What: "no flow is enabled",
		Why:  "each flow needs its own switch, which is off by default; possible here: " + flowNames(s.Flows),
		Next: "add the line: " + r.likeliest(s) + ".enabled = true"}
	for _, f := range s.Flows {
		on, v, err := f.Bool(Source, "enabled")
		var bad *Error
		if errors.As(err, &bad) {
			return append(out, bad)
		}
		if !v.IsDefault() && !on {
			e.Line = v.Line
			e.Why += fmt.Sprintf("; %s says %s = %s", v.Where(), v.Written, v.Value)
			break
		}
	}
	return append(out, e)
}

func flowNames(flows []*Flow) string {
	var names []string
	for _, f := range flows {
		names = append(names, f.Name())
	}
	return strings.Join(names, ", ")
}

// likeliest is the flow that the file says most about.
func (r *resolver) likeliest(s *Setup) string {
	best, most := s.Flows[0].Name(), 0
	for _, f := range s.Flows {
		n := 0
		for _, e := range r.entries {
			if strings.HasPrefix(e.Key, f.Name()+".") {
				n++
			}
		}
		if n > most {
			best, most = f.Name(), n
		}
	}
	return best
}

// notes collects keys that have no effect because of how they are written.
func (r *resolver) notes(aliases []string) []Note {
	var out []Note
	add := func(kind NoteKind, e confdoc.Entry, format string, args ...any) {
		out = append(out, Note{Kind: kind, File: r.file, Line: e.Line, Column: e.Column, Key: e.Key, Text: fmt.Sprintf(format, args...)})
	}
	for _, e := range r.p.Duplicates() {
		last, _ := r.p.Lookup(e.Key)
		add(DuplicateKey, e, "%s is set again at line %d; only the last one counts", e.Key, last.Line)
	}
	if e, ok := r.p.Lookup("clusters"); ok && len(mm2.SplitList(e.Value)) > len(aliases) {
		add(DuplicateCluster, e, "clusters names an alias twice, or an empty one; used are %s", strings.Join(aliases, ", "))
	}
	for _, e := range r.entries {
		if strings.HasPrefix(strings.TrimLeft(e.Value, " \t"), "->") {
			add(BlankInFlow, e, "a blank ends the key: Java reads the key %q with the value %q; write the flow without blanks around ->", e.Key, e.Value)
			continue
		}
		source, rest, isFlow := strings.Cut(e.Key, "->")
		if !isFlow {
			if a, ok := strings.CutSuffix(e.Key, ".bootstrap.servers"); ok && !slices.Contains(aliases, a) && !slices.Contains([]string{"source.cluster", "target.cluster", "producer", "consumer", "admin"}, a) {
				add(UnknownAlias, e, "%q is not in clusters (%s)%s", a, strings.Join(aliases, ", "), caseHint(a, aliases))
			}
			continue
		}
		if !slices.Contains(aliases, source) {
			add(UnknownAlias, e, "%s has no effect: %q is not in clusters (%s)%s", e.Key, source, strings.Join(aliases, ", "), caseHint(source, aliases))
			continue
		}
		known := slices.ContainsFunc(aliases, func(a string) bool { return a != source && strings.HasPrefix(rest, a+".") })
		if !known {
			target, _, _ := strings.Cut(rest, ".")
			add(UnknownAlias, e, "%s has no effect: %q is not a target for it; clusters are %s%s", e.Key, target, strings.Join(aliases, ", "), caseHint(target, aliases))
		}
	}
	return out
}

func caseHint(a string, aliases []string) string {
	for _, b := range aliases {
		if strings.EqualFold(a, b) && a != b {
			return "; aliases are case-sensitive: " + b
		}
	}
	return ""
}
