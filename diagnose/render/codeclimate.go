package render

import (
	"encoding/json"
	"io"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// issue is what GitLab reads of Code Climate's format.
type issue struct {
	Type        string   `json:"type"`
	CheckName   string   `json:"check_name"`
	Description string   `json:"description"`
	Categories  []string `json:"categories"`
	Severity    string   `json:"severity"`
	Fingerprint string   `json:"fingerprint"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// CodeClimate writes GitLab's code quality report: an array with one issue for each place. The format knows files only: what is
// about none is put at line 1 of the first file that was checked, or of a file named mm2doctor.
func CodeClimate(w io.Writer, r *Result, _ Options) error {
	out := []issue{}
	seen := map[string]int{}
	for i := range r.Findings {
		f := &r.Findings[i]
		for _, s := range r.places(f) {
			x := issue{Type: "issue", CheckName: f.ID + "/" + f.Slug, Description: headline(f) + ": " + message(f, " "), Categories: []string{"Bug Risk"}, Fingerprint: fingerprint(seen, f, s)}
			switch f.Severity {
			case finding.Error:
				x.Severity = "critical"
			case finding.Warning:
				x.Severity = "major"
			default:
				x.Severity = "info"
			}
			x.Location.Path, x.Location.Lines.Begin = s.path, max(s.Line, 1)
			if s.path == "" {
				x.Location.Path = "mm2doctor"
				if len(r.Files) > 0 {
					x.Location.Path = r.spot(finding.Subject{File: r.Files[0].Name}).path
				}
				if who := s.who(f); who != "" {
					x.Description = who + ": " + x.Description
				}
			}
			out = append(out, x)
		}
	}
	return writeJSON(w, out)
}

func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
