package render

import (
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/docs"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// The parts of SARIF 2.1.0 that are written. Where the standard has a default, an empty value stands for it.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Automation  sarifID           `json:"automationDetails"`
		Invocations []sarifInvocation `json:"invocations"`
		Artifacts   []sarifArtifact   `json:"artifacts,omitempty"`
		ColumnKind  string            `json:"columnKind"`
		Results     []sarifResult     `json:"results"`
		Properties  map[string]any    `json:"properties,omitempty"`
	}
	sarifID struct {
		ID string `json:"id"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID               string         `json:"id"`
		Name             string         `json:"name"`
		ShortDescription sarifText      `json:"shortDescription"`
		FullDescription  sarifText      `json:"fullDescription"`
		HelpURI          string         `json:"helpUri"`
		Help             *sarifText     `json:"help,omitempty"`
		Default          sarifDefault   `json:"defaultConfiguration"`
		Properties       map[string]any `json:"properties,omitempty"`
	}
	sarifDefault struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text     string `json:"text"`
		Markdown string `json:"markdown,omitempty"`
	}
	sarifInvocation struct {
		Successful    bool                `json:"executionSuccessful"`
		ExitCode      *int                `json:"exitCode,omitempty"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifArtifact struct {
		Location sarifURI `json:"location"`
		Roles    []string `json:"roles"`
	}
	sarifURI struct {
		URI   string `json:"uri"`
		Base  string `json:"uriBaseId,omitempty"`
		Index *int   `json:"index,omitempty"`
	}
	sarifResult struct {
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations,omitempty"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints"`
		Fixes        []sarifFix        `json:"fixes,omitempty"`
		Properties   map[string]any    `json:"properties,omitempty"`
	}
	sarifLocation struct {
		ID       *int           `json:"id,omitempty"`
		Physical *sarifPhysical `json:"physicalLocation,omitempty"`
		Logical  []sarifLogical `json:"logicalLocations,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifURI     `json:"artifactLocation"`
		Region   *sarifRegion `json:"region,omitempty"`
		Context  *sarifRegion `json:"contextRegion,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind,omitempty"`
	}
	sarifRegion struct {
		StartLine   int        `json:"startLine,omitempty"`
		StartColumn int        `json:"startColumn,omitempty"`
		EndLine     int        `json:"endLine,omitempty"`
		EndColumn   int        `json:"endColumn,omitempty"`
		Snippet     *sarifText `json:"snippet,omitempty"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifURI           `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted *sarifText  `json:"insertedContent,omitempty"`
	}
)

// longLine is the number of bytes up to which a line is shown whole beside a finding.
const longLine = 1000

// home is where the project lives.
const home = "https://github.com/mm2doctor/mm2doctor"

// SARIF writes the log of one run in SARIF 2.1.0. Paths are relative to the working directory, %SRCROOT%. Findings that were silenced are
// left out: GitHub does not read that a result is suppressed, and would open an alert.
func SARIF(w io.Writer, r *Result, _ Options) error {
	var run sarifRun
	d := &run.Tool.Driver
	d.Name, d.Version, d.InformationURI, d.Rules = r.Tool.Name, r.Tool.Version, home, []sarifRule{}
	run.Automation.ID = "mm2doctor/" + r.Command + "/"
	run.ColumnKind, run.Results = "utf16CodeUnits", []sarifResult{}
	run.Invocations = []sarifInvocation{r.invocation()}
	if r.Silenced > 0 {
		run.Properties = map[string]any{"silenced": r.Silenced}
	}
	for _, f := range r.Files {
		s := r.spot(finding.Subject{File: f.Name})
		run.Artifacts = append(run.Artifacts, sarifArtifact{s.uri(), []string{"analysisTarget"}})
	}
	for i := range r.Findings {
		id := codeOf(&r.Findings[i])
		id, _, _ = strings.Cut(id, "/")
		if !slices.ContainsFunc(d.Rules, func(x sarifRule) bool { return x.ID == id }) {
			d.Rules = append(d.Rules, rule(id, &r.Findings[i]))
		}
	}
	slices.SortFunc(d.Rules, func(a, b sarifRule) int { return strings.Compare(a.ID, b.ID) })
	seen := map[string]int{}
	for i := range r.Findings {
		run.Results = append(run.Results, r.sarifResult(&r.Findings[i], d.Rules, seen))
	}
	return writeJSON(w, sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func (r *Result) invocation() sarifInvocation {
	in := sarifInvocation{Successful: true}
	if r.Exit >= 0 {
		in.ExitCode = &r.Exit
	}
	for _, n := range r.NotChecked {
		text := n.Check + " not checked: " + flat(n.Why)
		if n.DecidedBy != "" {
			text += "; decided by: " + flat(n.DecidedBy)
		}
		in.Notifications = append(in.Notifications, sarifNotification{"note", sarifText{Text: text}})
	}
	return in
}

func rule(id string, f *finding.Finding) sarifRule {
	x := sarifRule{ID: id, Name: f.Slug, ShortDescription: sarifText{Text: f.Slug}, HelpURI: home + "/blob/main/docs/codes/" + id + ".md", Default: sarifDefault{level(f.Severity)}}
	if e := finding.Lookup(f.Code); e != nil {
		x.Name, x.ShortDescription.Text, x.Default.Level = e.Slug, e.Title, level(e.Severity)
	}
	x.FullDescription = x.ShortDescription
	if page, ok := docs.Page(id); ok {
		x.Help = &sarifText{Text: page, Markdown: page}
	}
	problem := map[string]string{"error": "error", "warning": "warning", "note": "recommendation"}[x.Default.Level]
	x.Properties = map[string]any{"tags": []string{"kafka", "mirrormaker2"}, "problem.severity": problem}
	return x
}

func level(s finding.Severity) string {
	if s <= finding.Info {
		return "note"
	}
	return s.String()
}

func (r *Result) sarifResult(f *finding.Finding, rules []sarifRule, seen map[string]int) sarifResult {
	id := codeOf(f)
	top, _, _ := strings.Cut(id, "/")
	out := sarifResult{RuleID: id, Level: level(f.Severity), Message: sarifText{Text: message(f, "\n")}, Properties: map[string]any{"slug": f.Slug}}
	out.RuleIndex = slices.IndexFunc(rules, func(x sarifRule) bool { return x.ID == top })
	if f.Flow != "" {
		out.Properties["flow"] = f.Flow
	}
	if f.Subject.Key != "" {
		out.Properties["key"] = f.Subject.Key
	}
	for i, s := range r.places(f) {
		loc := s.location(f)
		switch {
		case i == 0:
			out.Fingerprints = map[string]string{"mm2doctor/v1": fingerprint(seen, f, s)}
			if loc.Physical != nil || loc.Logical != nil {
				out.Locations = []sarifLocation{loc}
			}
		default:
			n := i
			loc.ID = &n
			out.Related = append(out.Related, loc)
		}
	}
	for _, x := range f.Fixes {
		if changes := r.changes(x.Edits); len(changes) > 0 {
			out.Fixes = append(out.Fixes, sarifFix{sarifText{Text: flat(x.Text)}, changes})
		}
	}
	return out
}

func (s spot) location(f *finding.Finding) sarifLocation {
	var loc sarifLocation
	if who := strings.Join(names(f.Flow, s.Connector, s.Cluster, s.Group, s.Topic), "/"); who != "" {
		if s.Partition != nil && *s.Partition >= 0 {
			who += fmt.Sprintf("/%d", *s.Partition)
		}
		loc.Logical = []sarifLogical{{Name: who, Kind: "resource"}}
	}
	if s.path == "" {
		return loc
	}
	loc.Physical = &sarifPhysical{Artifact: s.uri()}
	if s.Line > 0 {
		g := &sarifRegion{StartLine: s.Line}
		loc.Physical.Region = g
		line, start, end, ok := s.span()
		shown := s.shown()
		whole := sarifRegion{StartLine: s.Line, Snippet: &sarifText{Text: utf8Of(shown)}}
		if len(line) > longLine { // a minified file is one line, and would stand here once for each finding
			whole.Snippet = nil
		}
		switch {
		case ok:
			g.StartColumn, g.EndColumn = units(line[:start])+1, units(line[:end])+1
			if end-start <= longLine && strings.HasPrefix(shown, line[:end]) {
				g.Snippet = &sarifText{Text: utf8Of(line[start:end])}
			}
			if whole.Snippet != nil {
				loc.Physical.Context = &whole
			}
		case line != "":
			*g = whole
		}
	}
	return loc
}

func names(in ...string) []string {
	return slices.DeleteFunc(in, func(s string) bool { return s == "" })
}

// uri of a path: relative ones against the working directory.
func (s spot) uri() sarifURI {
	if path.IsAbs(s.path) || len(s.path) > 2 && s.path[1:3] == ":/" { // also C:/x
		return sarifURI{URI: (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(s.path, "/")}).String()}
	}
	// A colon in the first part would end a scheme.
	text := strings.TrimPrefix((&url.URL{Path: s.path}).String(), "./")
	return sarifURI{URI: strings.ReplaceAll(text, ":", "%3A"), Base: "%SRCROOT%"}
}

// changes turns edits into replacements of regions, one entry for each file.
func (r *Result) changes(edits []confdoc.Edit) []sarifChange {
	var out []sarifChange
	for _, e := range edits {
		s := r.spot(finding.Subject{File: e.File})
		if s.file == nil || e.Start < 0 || e.End < e.Start || e.End > len(s.file.Text) {
			return nil // without the text there is no line and column
		}
		x := sarifReplacement{}
		x.Deleted.StartLine, x.Deleted.StartColumn = s.file.position(e.Start)
		x.Deleted.EndLine, x.Deleted.EndColumn = s.file.position(e.End)
		if e.Text != "" {
			x.Inserted = &sarifText{Text: e.Text}
		}
		at := slices.IndexFunc(out, func(c sarifChange) bool { return c.Artifact.URI == s.uri().URI })
		if at < 0 {
			out = append(out, sarifChange{Artifact: s.uri()})
			at = len(out) - 1
		}
		out[at].Replacements = append(out[at].Replacements, x)
	}
	return out
}

// position of a byte offset, in UTF-16 units.
func (f *File) position(off int) (line, column int) {
	text := string(f.Text[:off])
	if bom := "\xEF\xBB\xBF"; strings.HasPrefix(text, bom) {
		text = text[len(bom):]
	}
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	last := strings.LastIndexByte(text, '\n')
	return strings.Count(text, "\n") + 1, units(text[last+1:]) + 1
}
