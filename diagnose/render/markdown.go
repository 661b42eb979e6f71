package render

import (
	"fmt"
	"io"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
)

// mostMarkdown keeps a report below what GitHub and GitLab take as one comment (65,536 and 1,000,000 characters).
const mostMarkdown = 60_000

// Markdown writes a report for a comment or a step summary: a head line, a table, and each finding in a fold. It begins with
// <!-- mm2doctor COMMAND -->, by which a script finds its own comment again.
func Markdown(w io.Writer, r *Result, _ Options) error {
	var b strings.Builder
	fmt.Fprintf(&b, "<!-- mm2doctor %s -->\n### mm2doctor %s: %s\n", r.Command, r.Command, r.verdict())
	if len(r.Findings) > 0 {
		b.WriteString("\n| | code | where | what |\n|---|---|---|---|\n")
	}
	left := 0
	for i := range r.Findings {
		f := &r.Findings[i]
		row := fmt.Sprintf("| %s | [%s](%s) %s | %s | %s |\n", f.Severity, markdown(codeOf(f)), r.page(f), markdown(f.Slug), code(r.places(f)[0].where(f)), markdown(brief(flat(f.Because), longText)))
		if b.Len()+len(row) > mostMarkdown/2 {
			left = len(r.Findings) - i
			break
		}
		b.WriteString(row)
	}
	if left > 0 {
		fmt.Fprintf(&b, "\n%d more, not shown here.\n", left)
	}
	without := 0
	for i := range r.Findings[:len(r.Findings)-left] {
		f := &r.Findings[i]
		if f.Severity <= finding.Info {
			continue
		}
		part := r.fold(f)
		if b.Len()+len(part) > mostMarkdown {
			without++
			continue
		}
		b.WriteString(part)
	}
	if without > 0 {
		fmt.Fprintf(&b, "\n%s without details here.\n", finding.Count(without, "finding"))
	}
	if n := len(r.NotChecked); n > 0 {
		fmt.Fprintf(&b, "\n<details><summary>%s not checked</summary>\n\n", finding.Count(n, "thing"))
		for i, x := range r.NotChecked {
			line := fmt.Sprintf("- %s: %s\n", markdown(x.Check), markdown(flat(x.Why)))
			if b.Len()+len(line) > mostMarkdown+4000 {
				fmt.Fprintf(&b, "- %d more\n", n-i)
				break
			}
			b.WriteString(line)
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// verdict counts, also what is not shown.
func (r *Result) verdict() string {
	n := map[finding.Severity]int{}
	for i := range r.Findings {
		n[r.Findings[i].Severity]++
	}
	text := finding.Count(n[finding.Error], "error") + ", " + finding.Count(n[finding.Warning], "warning") + ", " + finding.Count(n[finding.Info], "remark")
	if len(r.Findings) == 0 {
		text = "nothing found"
	}
	if len(r.Files) > 0 {
		text += " in " + finding.Count(len(r.Files), "file")
	}
	if r.Silenced > 0 {
		text += fmt.Sprintf(", %d silenced", r.Silenced)
	}
	if r.Below > 0 {
		text += fmt.Sprintf(", %d less severe not shown", r.Below)
	}
	if len(r.NotChecked) > 0 {
		text += fmt.Sprintf(", %d not checked", len(r.NotChecked))
	}
	return text
}

func (r *Result) page(f *finding.Finding) string {
	return home + "/blob/main/docs/codes/" + f.Code.String() + ".md"
}

// fold is one finding with its line, what follows from it and how to repair it.
func (r *Result) fold(f *finding.Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n<details><summary>%s</summary>\n\n", html(headline(f)+" "+r.places(f)[0].where(f)))
	for i, s := range r.places(f) {
		if l := strings.TrimSpace(s.around()); l != "" {
			fmt.Fprintf(&b, "%s\n", fence("", fmt.Sprintf("%d | %s", s.Line, l)))
		} else if i > 0 {
			fmt.Fprintf(&b, "also %s\n", code(s.where(f)))
		}
		if i >= 4 {
			break
		}
	}
	fmt.Fprintf(&b, "%s\n", markdown(brief(flat(f.Because), longText)))
	if f.Consequence != "" {
		fmt.Fprintf(&b, "\nLeads to: %s\n", markdown(flat(f.Consequence)))
	}
	for i := range f.Fixes {
		x := &f.Fixes[i]
		mode := ""
		if x.Mode != "" && len(f.Fixes) > 1 {
			mode = " (" + x.Mode + ")"
		}
		fmt.Fprintf(&b, "\n**Fix%s**: %s\n", mode, markdown(brief(flat(x.Text), longText)))
		for _, st := range x.Steps {
			if st.Command != "" {
				fmt.Fprintf(&b, "\n%s\n", fence("sh", st.Command))
			}
			var lines []string
			for _, kv := range st.Properties {
				lines = append(lines, brief(fmt.Sprintf("%s = %v", kv.Name, kv.Value), longText))
			}
			if len(lines) > 0 {
				fmt.Fprintf(&b, "\n%s\n", fence("properties", strings.Join(lines, "\n")))
			}
		}
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

// special are characters that mean something in Markdown, in a table or to GitHub (a name behind @ would be told).
var special = strings.NewReplacer(`\`, `\\`, "|", `\|`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "@\u200b", "~", `\~`, "#", `\#`)

func markdown(s string) string { return special.Replace(visible(s)) }

var htmlText = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", "@", "@\u200b")

func html(s string) string { return htmlText.Replace(visible(s)) }

// visible takes out characters that steer a terminal or hide text.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x200b && r <= 0x200f || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return -1
		}
		return r
	}, s)
}

// code is a code span in a table: a bar ends the cell even there.
func code(s string) string {
	s = strings.ReplaceAll(flat(visible(s)), "|", `\|`)
	ticks := strings.Repeat("`", longest(s)+1)
	if len(ticks) > 1 {
		return ticks + " " + s + " " + ticks
	}
	return ticks + s + ticks
}

func fence(lang, s string) string {
	marks := strings.Repeat("`", max(3, longest(s)+1))
	return marks + lang + "\n" + visible(s) + "\n" + marks
}

// longest is the length of the longest run of backquotes.
func longest(s string) int {
	most, n := 0, 0
	for _, c := range s {
		if n++; c != '`' {
			n = 0
		}
		most = max(most, n)
	}
	return most
}
