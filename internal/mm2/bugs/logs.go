package bugs

import (
	"regexp"
	"regexp/syntax"
	"strings"
)

// Hit is a log line that an entry knows.
type Hit struct {
	ID      string
	Pattern LogPattern
	// Cause says whether the exception (and frame) that the pattern asks for stands in the text: Yes also where none is asked
	// for, Unknown where the text holds no stack trace.
	Cause Answer
}

// Shows says that the line is evidence of the fault, not of normal or fixed behaviour, and not a mere hint.
func (h Hit) Shows() bool { return h.Pattern.Proof && !h.Pattern.Benign && h.Cause == Yes }

// MatchLog finds the entries that know a log line. text is one event: the line, and below it the stack trace where there
// is one. Lines of log4j (with or without a trailing logger name) and bare messages are understood; where the text tells its
// level, patterns of other levels do not match. Hits come in the order of All.
func MatchLog(text string) []Hit {
	first, trace, hasTrace := strings.Cut(text, "\n")
	level, message := parseLine(strings.TrimRight(first, "\r"))
	hasTrace = hasTrace && strings.TrimSpace(trace) != ""
	var out []Hit
	for i := range catalogue {
		b := &catalogue[i]
		for _, p := range b.Logs {
			if level != "" && p.Level != "REST" && p.Level != level {
				continue
			}
			if !strings.Contains(message, p.literal) || !p.Match.MatchString(message) {
				continue
			}
			cause := If(strings.Contains(text, p.Cause) && strings.Contains(text, p.Frame))
			if cause == No && !hasTrace {
				cause = Unknown
			}
			// A pattern that nearly each line fits says nothing without its exception, nor does one that needs a frame.
			if cause == No || cause == Unknown && (p.Frame != "" || len(p.literal) < minLiteral) {
				continue
			}
			out = append(out, Hit{ID: b.ID, Pattern: p, Cause: cause})
		}
	}
	return out
}

// words is the pattern as a reader takes it: without escapes, and with dots for what may stand there.
func (p LogPattern) words() string {
	return strings.NewReplacer(`\d+`, "N", `\..*`, "…", ".*", "…", `\`, "").Replace(p.Match.String())
}

// Proved gives the hit of a line that was found to show an entry's fault; ok is false where the entry knows no such line. For
// whoever kept the finding and not the line.
func Proved(id string) (h Hit, ok bool) {
	b, ok := Lookup(id)
	if !ok {
		return Hit{}, false
	}
	for _, p := range b.Logs {
		if p.Proof && !p.Benign {
			return Hit{ID: b.ID, Pattern: p, Cause: Yes}, true
		}
	}
	return Hit{}, false
}

const minLiteral = 12

var (
	levelWord = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b`)
	loggerEnd = regexp.MustCompile(`^ \([A-Za-z_][\w.$]*(:\d+)?\)( \[[^\]]*\])?$`)
)

// parseLine takes the level and the message out of a line; the level is "" where the head of the line has none.
func parseLine(line string) (level, message string) {
	if at := strings.LastIndex(line, " ("); at >= 0 && loggerEnd.MatchString(line[at:]) {
		line = line[:at]
	}
	if at := levelWord.FindStringIndex(line[:min(len(line), 80)]); at != nil {
		return line[at[0]:at[1]], line[at[1]:]
	}
	return "", line
}

// longestLiteral is a text that every match contains: a cheap test before the expression runs.
func longestLiteral(re *regexp.Regexp) string {
	tree, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return ""
	}
	longest := ""
	var walk func(*syntax.Regexp)
	walk = func(r *syntax.Regexp) {
		switch r.Op {
		case syntax.OpLiteral:
			if r.Flags&syntax.FoldCase == 0 && len(string(r.Rune)) > len(longest) {
				longest = string(r.Rune)
			}
		case syntax.OpConcat, syntax.OpCapture:
			for _, s := range r.Sub {
				walk(s)
			}
		}
	}
	walk(tree)
	return longest
}
