package lint

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Recognised says that a text has to do with MirrorMaker 2: it holds one of its configurations, or speaks of it and does not
// parse. In a folder everything else is passed over.
func Recognised(b []byte) bool {
	switch kindOf(b) {
	case confdoc.KindProperties:
		return isProperties(b)
	case confdoc.KindBinary: // saved as UTF-16, or with a stray NUL: Java reads something else, and says nothing
		text := bytes.ReplaceAll(b, []byte{0}, nil)
		return len(b) < 1<<20 && bytes.Contains(text, []byte("->")) && !bytes.HasPrefix(text, []byte{0x1f, 0x8b}) && isProperties(bytes.TrimLeft(text, "\xFF\xFE"))
	case confdoc.KindJSON, confdoc.KindYAML:
		if ownReport.Match(b) {
			return false
		}
		return bytes.Contains(b, []byte("KafkaMirrorMaker2")) || mirrorClass(b) || bytes.Contains(b, []byte("sourceConnector:")) || embedded(b)
	}
	return false
}

// ownReport finds a report of this program, which quotes configurations: JSON has no comments in which a code could stand.
var ownReport = regexp.MustCompile(`^\s*[\[{](?s:.*)"MM2D-\d{3}"`)

func mirrorClass(b []byte) bool {
	for _, c := range []string{"MirrorSource", "MirrorCheckpoint", "MirrorHeartbeat"} {
		if bytes.Contains(b, []byte(c)) {
			return true
		}
	}
	return false
}

// isProperties: some of its keys are MirrorMaker 2's, and most of its lines are settings. A program may hold either.
func isProperties(b []byte) bool {
	if !bytes.Contains(b, []byte("clusters")) && !bytes.Contains(b, []byte("->")) && !bytes.Contains(b, []byte(".")) {
		return false
	}
	b, _, _ = mask(b, false)
	p, _ := confdoc.ParseProperties("", b)
	class, connector := p.Lookup("connector.class")
	if connector && template(class.Value) == "" {
		return mirrorClass([]byte(class.Value))
	}
	if _, ok := p.Lookup("clusters"); !ok && !slices.ContainsFunc(p.Entries, func(e confdoc.Entry) bool {
		return flowKey.MatchString(e.Key) || strings.HasPrefix(strings.TrimSpace(e.Value), "->") && flowKey.MatchString(e.Key+strings.Join(strings.Fields(e.Value), "")) || ownKey.MatchString(e.Key) && isMM2(e.Key)
	}) {
		return false
	}
	settings := 0
	for _, e := range p.Entries {
		if strings.HasPrefix(strings.TrimSpace(e.Value), "->") {
			settings++
		} else if i := strings.Index(e.Raw, e.Key); i >= 0 && settingKey.MatchString(e.Key) && strings.IndexAny(strings.TrimLeft(e.Raw[i+len(e.Key):], " \t"), "=:") == 0 || isStatement(e) || template(e.Key) != "" {
			settings++
		}
	}
	return 2*settings >= len(p.Entries)
}

var (
	flowKey    = regexp.MustCompile(`^[\w.{}$%¤Â-]+(?:->|→|=>)[\w.{}$%¤Â-]+`) // ¤ is a mark, of which Java reads each byte
	settingKey = regexp.MustCompile(`^["']?[\w¤Â][\w.¤Â-]*(?:->[\w.¤Â-]+)?["']?$`)
	// ownKey are settings that nobody else has.
	ownKey = regexp.MustCompile(`^(?:sync|refresh|emit)\.|^(?:offset-syncs|checkpoints|heartbeats)\.|^replication\.policy|^(?:topics|groups)\.|^offset\.lag\.max$`)
)

func embedded(b []byte) bool {
	return bytes.Contains(b, []byte("->")) && bytes.Contains(b, []byte("clusters")) && (bytes.Contains(b, []byte(".enabled")) || bytes.Contains(b, []byte(".bootstrap.servers")))
}

var (
	resourceHead = regexp.MustCompile(`(?m)^apiVersion:[ \t]+\S`)
	resourceKind = regexp.MustCompile(`(?m)^kind:[ \t]+\S`)
)

// kindOf is Sniff on what is left when template text is taken out.
func kindOf(b []byte) confdoc.Kind {
	k := confdoc.Sniff(b)
	if k == confdoc.KindJSON || k == confdoc.KindBinary {
		return k
	}
	if b := confdoc.WithoutMark(b); resourceHead.Match(b) && resourceKind.Match(b) {
		return confdoc.KindYAML // a ConfigMap holds lines of properties
	}
	if text, marks, _ := mask(b, false); len(marks) > 0 {
		if j := bytes.TrimSpace(text); len(j) > 0 && (j[0] == '{' || j[0] == '[') {
			return confdoc.KindJSON
		}
		return confdoc.Sniff(text)
	}
	return k
}

// file reads one text. Connectors of Connect are judged when all files were read.
func (l *linter) file(f File) []conf.Connector {
	switch k := kindOf(f.Bytes); k {
	case confdoc.KindJSON, confdoc.KindYAML:
		return l.tree(f, k)
	case confdoc.KindEmpty, confdoc.KindBinary:
		if _, marks, _ := mask(f.Bytes, false); len(marks) > 0 && k == confdoc.KindEmpty {
			line := 1 + bytes.Count(f.Bytes[:marks[0]], []byte("\n"))
			l.mark(place{file: f.Name, line: line, col: marks[0] - bytes.LastIndexByte(f.Bytes[:marks[0]], '\n')})
			return nil // nothing but template text
		}
		l.add(say{slug: "syntax-error", severity: finding.Error, at: place{file: f.Name, line: 1, col: 1}, because: "The file holds no settings: it is " + map[confdoc.Kind]string{confdoc.KindEmpty: "empty, or nothing but comments", confdoc.KindBinary: "no text"}[k] + "."})
		return nil
	}
	if Worker(f.Bytes) {
		p, _ := confdoc.ParseProperties(f.Name, f.Bytes)
		l.workerFiles = append(l.workerFiles, workerFile{f.Name, p})
		return nil
	}
	if c, ok := standalone(f); ok {
		l.standalone(c)
		return []conf.Connector{c}
	}
	l.properties(f.Name, f.Bytes)
	return nil
}

// standalone gives a connector that stands in a properties file, as connect-standalone takes it.
func standalone(f File) (conf.Connector, bool) {
	p, diags := confdoc.ParseProperties(f.Name, f.Bytes)
	if _, ok := p.Lookup("clusters"); ok && p.Value("connector.class") == "" || confdoc.Fatal(diags) != nil {
		return conf.Connector{}, false
	}
	n := &confdoc.Node{Kind: confdoc.Map, Line: 1, Column: 1}
	for _, e := range p.Entries {
		if a, _, ok := strings.Cut(e.Key, "->"); ok && p.Value(a+".bootstrap.servers") != "" {
			return conf.Connector{}, false // a flow of dedicated mode
		}
		n.Fields = append(n.Fields, confdoc.Field{Key: e.Key, Line: e.Line, Column: e.Column, Duplicate: e.Duplicate, Value: &confdoc.Node{Kind: confdoc.String, Value: e.Value, Line: e.ValueLine, Column: e.ValueColumn}})
	}
	found := conf.Connectors([]confdoc.Doc{{File: f.Name, Root: n}})
	if len(found) != 1 {
		return conf.Connector{}, false
	}
	return found[0], true
}

func (l *linter) standalone(c conf.Connector) {
	s := &setup{mode: connect, file: c.File, version: l.o.Version, java: true, partial: map[string]bool{}}
	l.configKeys(s, c.File, c.Config, "", c.Reader, nil)
}

func (l *linter) tree(f File, k confdoc.Kind) []conf.Connector {
	text, marks, blocks := mask(f.Bytes, k == confdoc.KindJSON)
	for _, at := range marks {
		line := 1 + bytes.Count(f.Bytes[:at], []byte("\n"))
		l.mark(place{file: f.Name, line: line, col: at - bytes.LastIndexByte(f.Bytes[:at], '\n')})
	}
	var docs []confdoc.Doc
	var err error
	if k == confdoc.KindJSON {
		docs, err = confdoc.ParseJSON(f.Name, text)
	} else {
		docs, err = confdoc.ParseYAML(f.Name, text)
	}
	if err != nil {
		if len(marks) == 0 && !l.templated(f) {
			l.syntax(f, err)
		}
		return nil
	}
	if len(marks) > 0 {
		unmask(docs, f.Bytes)
	}
	connectors := l.documents(File{f.Name, text}, docs, blocks)
	if blocks {
		l.markPartial(f.Name)
	}
	return connectors
}

// documents judges the resources of documents and gives their connectors.
func (l *linter) documents(f File, docs []confdoc.Doc, blocks bool) []conf.Connector {
	var connectors []conf.Connector
	for _, n := range confdoc.Objects(docs) {
		connectors = append(connectors, l.object(f, n, blocks)...)
	}
	return connectors
}

// object judges a resource, or gives the connectors that an object is or holds.
func (l *linter) object(f File, n *confdoc.Node, blocks bool) []conf.Connector {
	if conf.IsMirrorMaker2(n) {
		l.strimzi(f.Name, n, blocks)
		return nil
	}
	found := conf.Connectors([]confdoc.Doc{{File: f.Name, Root: n}})
	for _, c := range found {
		l.connector(c, blocks)
	}
	l.classes(f.Name, n)
	if len(found) == 0 {
		return l.nested(f, n, blocks)
	}
	return found
}

var connectorClasses = []string{conf.Source.String(), conf.Checkpoint.String(), conf.Heartbeat.String()}

// classes finds connectors whose class is one of MirrorMaker 2's, misspelt: they are nobody's.
func (l *linter) classes(file string, n *confdoc.Node) {
	n.Walk(func(_ []string, x confdoc.Field) {
		if x.Key != "connector.class" && x.Key != "class" || !x.Value.Is(confdoc.String) {
			return
		}
		class := strings.TrimSpace(x.Value.Value)
		simple, own := strings.CutPrefix(class, "org.apache.kafka.connect.mirror.")
		if strings.Contains(simple, ".") || !own && x.Key == "class" {
			return
		}
		if meant := nearest(simple, connectorClasses); meant != "" && meant != simple {
			l.add(say{slug: "malformed-value", severity: finding.Error, at: place{file, x.Line, x.Column, x.Key}, because: fmt.Sprintf("There is no class %s; %s is meant.", printable(class), meant), leads: "Connect refuses the connector, and nothing else of it could be judged.",
				fixes: []finding.Fix{{Mode: connect, Text: "Write org.apache.kafka.connect.mirror." + meant + "."}}})
		}
	})
}

// templated looks for Terraform's ${name}, which JSON and YAML can read within strings, but not everywhere.
func (l *linter) templated(f File) bool {
	found := false
	for i, line := range bytes.Split(f.Bytes, []byte("\n")) {
		if m := valueMark.FindIndex(line); m != nil {
			l.mark(place{file: f.Name, line: i + 1, col: m[0] + 1})
			found = true
		}
	}
	return found
}

// anchorName: a password that begins with * is one to YAML.
var anchorName = regexp.MustCompile(`unknown anchor '[^']*'`)

func (l *linter) syntax(f File, err error) {
	at, why, next := place{file: f.Name, line: 1, col: 1}, err.Error(), "Correct this place."
	var bad *confdoc.Syntax
	if errors.As(err, &bad) {
		why, next = bad.What+": "+anchorName.ReplaceAllString(bad.Why, "unknown anchor"), sentence(bad.Next)
		if bad.Line > 0 {
			at.line, at.col = bad.Line, bad.Column
		}
		if line, col := looseQuote(f.Bytes, at.line); line > 0 {
			at.line, at.col = line, col
			why, next = bad.What+": a quote is left over on this line, and what it opens ends further down", "Remove the quote."
		}
	}
	l.add(say{slug: "syntax-error", severity: finding.Error, at: at, because: sentence(why), leads: "Nothing of the file is applied.", fixes: []finding.Fix{{Mode: connect, Text: next}}})
}

var overQuoted = regexp.MustCompile(`:\s+(?:"[^"\\]*"|'[^']*')[^\s,}\]#]`)

// looseQuote finds the line of a quote that is one too many. YAML's reader notices only where the next quote stands.
func looseQuote(b []byte, before int) (line, col int) {
	if confdoc.Sniff(b) != confdoc.KindYAML {
		return 0, 0
	}
	for i, text := range bytes.Split(b, []byte("\n")) {
		if i >= before {
			break
		}
		if m := overQuoted.FindIndex(text); m != nil {
			return i + 1, m[1]
		}
	}
	return 0, 0
}

func (l *linter) markPartial(file string) {
	for _, s := range l.setups {
		if s.file == file {
			s.partial[file] = true
		}
	}
}

// connect makes a set-up of the connectors that were given, and further ones of those that are there more than once.
func (l *linter) connect(cs []conf.Connector) {
	for _, set := range sets(cs) {
		l.connectors(set)
	}
}

func (l *linter) connectors(cs []conf.Connector) {
	mode := connect
	if cs[0].Managed {
		mode = managed
	}
	s := &setup{Setup: conf.ResolveConnectors(cs, l.o.Version), mode: mode, version: l.o.Version, file: cs[0].File, partial: map[string]bool{}}
	type spot struct {
		file string
		line int
	}
	// The class of a KafkaConnector stands beside its configuration.
	classes, classless := map[spot][]conf.Connector{}, map[string][]conf.Connector{}
	for _, c := range cs {
		if c.Config.Get("connector.class") == nil {
			classless[conf.FlowOf(c)] = append(classless[conf.FlowOf(c)], c)
		} else {
			classes[spot{c.File, c.Line}] = append(classes[spot{c.File, c.Line}], c)
		}
	}
	for _, f := range s.Flows {
		fl := &flow{Flow: f, in: s, at: map[conf.Reader]place{}}
		stands := func(c conf.Connector) {
			fl.at[c.Reader] = place{c.File, c.Line, c.Column, "connector.class"}
			if len(l.marks[c.File]) > 0 && l.blocksIn(c.File) {
				s.partial[c.File] = true
			}
		}
		for _, c := range classless[f.Name()] {
			if fl.at[c.Reader].file == "" {
				stands(c)
			}
		}
		for _, r := range threeConnectors {
			e, ok := f.Get(r, "connector.class")
			for _, c := range classes[spot{e.File, e.Line}] {
				if ok && c.Reader == r {
					stands(c)
				}
			}
		}
		s.flows = append(s.flows, fl)
	}
	l.setups = append(l.setups, s)
	l.aliases(s)
	l.workers(s)
}

// blocksIn: a mark that stands for no single value.
func (l *linter) blocksIn(file string) bool {
	for _, m := range l.marks[file] {
		if m.key == "" {
			return true
		}
	}
	return false
}

// strimzi reads one resource.
func (l *linter) strimzi(file string, n *confdoc.Node, blocks bool) {
	s := &setup{Setup: conf.ResolveResource(file, n, l.o.Version), mode: strimzi, file: file, resource: n, partial: map[string]bool{file: blocks}}
	s.version = s.Setup.Version
	for _, key := range []string{"image", "version"} {
		if f := n.Get("spec").Field(key); f != nil && (s.versionAt.file == "" || n.Get("spec", "image") == nil) {
			s.versionAt = place{file, f.Line, f.Column, key}
		}
	}
	mirrors := n.Get("spec", "mirrors").List()
	for _, f := range s.Flows {
		fl := &flow{Flow: f, in: s, at: map[conf.Reader]place{}}
		m := mirrors[f.Mirror.Index]
		fl.at[0] = place{file, m.Line, m.Column, "mirrors"}
		for _, r := range threeConnectors {
			if c := m.Field(sectionOf(r)); c != nil {
				fl.at[r] = place{file, c.Line, c.Column, sectionOf(r)}
			}
		}
		s.flows = append(s.flows, fl)
	}
	l.setups = append(l.setups, s)
	l.schema(s)
	l.resourceKeys(s)
}

// properties reads an mm2.properties.
func (l *linter) properties(file string, b []byte) {
	p, diags := confdoc.ParseProperties(file, b)
	l.parsed(file, p, diags)
}

func (l *linter) parsed(file string, p *confdoc.Properties, diags []confdoc.Diagnostic) {
	marked := slices.ContainsFunc(p.Entries, func(e confdoc.Entry) bool { return strings.Contains(e.Raw, masked) })
	for _, d := range diags {
		at := place{file: file, line: d.Line, col: d.Column}
		if d.Fatal {
			l.add(say{slug: "syntax-error", severity: finding.Error, at: at, because: sentence(d.Text), leads: "Java refuses the whole file, and MirrorMaker 2 does not start.", fixes: []finding.Fix{{Mode: dedicated, Text: "Correct this place."}}})
		} else if !marked || !maskedAt(p, d.Line) {
			l.add(say{slug: "malformed-line", severity: finding.Warning, at: at, because: sentence(d.Text), fixes: []finding.Fix{{Mode: dedicated, Text: "Write the line in ASCII, and save the file without a byte order mark."}}})
		}
	}
	s := &setup{mode: dedicated, file: file, version: l.o.Version, props: p, partial: map[string]bool{}}
	for _, e := range p.Entries {
		if isStatement(e) {
			s.partial[file] = true
			l.mark(place{file: file, line: e.Line, col: e.Column})
		}
	}
	if e, ok := p.Lookup("clusters"); !ok || !opaque(e.Value) && !strings.ContainsAny(e.Value, `="'#`) && meantAliases(p, e.Value) == "" { // else a fault of its own, and the aliases are not known
		s.Setup, _ = conf.Resolve(p, l.o.Version)
	}
	l.setups = append(l.setups, s)
	if s.Setup != nil {
		for _, f := range s.Flows {
			s.flows = append(s.flows, &flow{Flow: f, in: s, at: map[conf.Reader]place{conf.Source: s.lineOf(f)}})
			at := s.flows[len(s.flows)-1].at
			at[conf.Checkpoint], at[conf.Heartbeat] = at[conf.Source], at[conf.Source]
		}
	}
	l.entries(s)
	none := !slices.ContainsFunc(s.flows, func(f *flow) bool { return f.Enabled })
	for _, f := range s.flows {
		e, _ := f.Get(conf.Source, "enabled")
		f.meant = (l.wrong[place{e.File, e.Line, e.Column, e.Written}] || strings.TrimSpace(e.Value) != e.Value) && strings.Contains(strings.ToLower(e.Value), "true") || none && l.forgotten(f)
	}
}

// maskedAt says that what is beyond ASCII on a line stands for template text.
func maskedAt(p *confdoc.Properties, line int) bool {
	for _, e := range p.Entries {
		if e.Line == line {
			rest := strings.ReplaceAll(e.Raw, masked, "")
			return strings.Contains(e.Raw, masked) && strings.IndexFunc(rest, func(r rune) bool { return r > '~' }) < 0
		}
	}
	return false
}

// meantAliases gives the list of clusters that was meant where something else than commas separates it; "" where nothing is wrong.
func meantAliases(p *confdoc.Properties, value string) string {
	for _, a := range mm2.SplitList(value) {
		if !strings.ContainsAny(a, " \t;[]()") || p.Value(a+".bootstrap.servers") != "" {
			continue
		}
		return strings.Join(strings.FieldsFunc(value, func(r rune) bool { return strings.ContainsRune(" \t,;[]()", r) }), ", ")
	}
	return ""
}

// isStatement: a line of a template, which Java would read as a key.
func isStatement(e confdoc.Entry) bool {
	for _, m := range []string{"{%", "{{", "{#", "<%", "%{"} {
		if strings.HasPrefix(e.Key, m) {
			return true
		}
	}
	return false
}

// lineOf is the line that makes a flow: the one that enables it, else the first that speaks of it, else the list of clusters.
func (s *setup) lineOf(f *conf.Flow) place {
	for _, key := range []string{f.Name() + ".enabled", "enabled"} {
		if e, ok := s.props.Lookup(key); ok {
			return place{s.file, e.Line, e.Column, e.Key}
		}
	}
	for _, e := range s.props.Under(f.Name() + ".") {
		return place{s.file, e.Line, e.Column, e.Key}
	}
	e, _ := s.props.Lookup("clusters")
	return place{s.file, e.Line, e.Column, e.Key}
}

// sentence gives a text a capital and a full stop. The name of a field stays as it is.
func sentence(s string) string {
	if s == "" {
		return s
	}
	if first, _, _ := strings.Cut(s, " "); strings.ToLower(first) == first && !strings.Contains(first, ".") {
		s = strings.ToUpper(s[:1]) + s[1:]
	}
	if !strings.HasSuffix(s, ".") {
		s += "."
	}
	return s
}

// Foreign says that a text is something else than a configuration of MirrorMaker 2: it can be read, and holds none. What
// cannot be read is a finding, where it was asked for by name.
func Foreign(b []byte) bool {
	if Recognised(b) {
		return silent(b)
	}
	switch kindOf(b) {
	case confdoc.KindEmpty, confdoc.KindBinary:
		return false
	case confdoc.KindProperties:
		return true
	}
	_, err := confdoc.ParseTree("", b)
	return err == nil
}
