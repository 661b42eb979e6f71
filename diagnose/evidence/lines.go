package evidence

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"regexp"
	"strings"
	"time"
)

// Bounds: what is longer is cut, what is more is counted only.
const (
	longestLine  = 64 << 10
	longestTrace = 16 << 10
)

// event is one message of a log with the stack trace below it.
type event struct {
	at      int64 // ms; 0 without a readable time
	level   string
	message string // the line without time, level and the logger at its end
	logger  string // class that wrote it, "" where the layout does not say
	trace   string
}

// text is the event as a matcher of log lines wants it.
func (e *event) text() string {
	s := e.level + " " + e.message
	if e.trace != "" {
		s += "\n" + e.trace
	}
	return s
}

// header is the beginning of a line in the layouts of log4j and log4j2, wherever kubectl, docker compose or a log collector have put
// words before it: a time, a level, perhaps with a thread or a logger in between.
var header = regexp.MustCompile(`\[?(\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?)\]?[ \t]+(?:\[[^\]]{0,120}\][ \t]+)?(TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b[ \t]*`)

// beforeHeader is how far into a line its header may begin: names of pods and containers are long.
const beforeHeader = 300

// loggerEnd is "(class:line)" or "(class)", and perhaps "[thread]", at the end of a line.
var loggerEnd = regexp.MustCompile(`[ \t]\(([A-Za-z_][\w.$]*)(?::\d+)?\)(?:[ \t]\[[^\]]*\])?[ \t]*$`)

var stamps = []string{"2006-01-02 15:04:05Z07:00", "2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05", "2006-01-02T15:04:05"}

// timeOf reads a time; one without a zone is taken as UTC, since the log does not say.
func timeOf(s string) int64 {
	s = strings.Replace(s, ",", ".", 1)
	for _, layout := range stamps {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UnixMilli()
		}
	}
	return 0
}

// parse reads one line as the begin of an event; ok is false for a continuation.
func parse(line string) (e event, ok bool) {
	if inner, at, is := unwrap(line); is {
		line = inner.message
		if inner.level != "" {
			return inner, true
		}
		if e, ok = parse(line); ok && e.at == 0 {
			e.at = at
		}
		return e, ok
	}
	m := header.FindStringSubmatchIndex(line[:min(len(line), beforeHeader)])
	if m == nil {
		return event{}, false
	}
	if strings.HasPrefix(strings.TrimLeft(line[:m[0]], " \t"), "#") {
		return event{}, false
	}
	e = event{at: timeOf(line[m[2]:m[3]]), level: line[m[4]:m[5]], message: line[m[1]:]}
	if at := loggerEnd.FindStringSubmatchIndex(e.message); at != nil {
		e.logger = e.message[at[2]:at[3]]
		e.message = e.message[:at[0]]
	}
	return e, true
}

// unwrap reads a line of JSON: a layout of log4j, or docker's own with the line inside. is is false for anything else; level is ""
// where the line stands inside.
func unwrap(line string) (e event, at int64, is bool) {
	at0 := strings.IndexByte(line, '{')
	if at0 < 0 || at0 > beforeHeader || !strings.HasSuffix(strings.TrimRight(line, " \r\t"), "}") {
		return e, 0, false
	}
	var m map[string]any
	if json.Unmarshal([]byte(line[at0:]), &m) != nil {
		return e, 0, false
	}
	e.at = jsonTime(m)
	if inner, ok := m["log"].(string); ok && m["level"] == nil {
		e.message = strings.TrimRight(inner, "\n")
		return e, e.at, true
	}
	e.level, _ = first(m, "level", "severity", "log.level")
	e.message, _ = first(m, "message", "msg")
	if e.level == "" || e.message == "" {
		return event{}, 0, false
	}
	e.level = strings.ToUpper(e.level)
	if e.level == "WARNING" {
		e.level = "WARN"
	}
	e.logger, _ = first(m, "logger", "loggerName", "logger_name", "log.logger", "class")
	if context, ok := m["contextMap"].(map[string]any); ok {
		m["mdc"] = context
	}
	if mdc, ok := m["mdc"].(map[string]any); ok {
		if c, ok := mdc["connector.context"].(string); ok {
			e.message = strings.TrimSpace(c) + " " + e.message
		}
	}
	e.trace = cut(traceOf(m), longestTrace)
	return e, e.at, true
}

func first(m map[string]any, keys ...string) (string, bool) {
	for _, k := range keys {
		if s, ok := m[k].(string); ok && s != "" {
			return s, true
		}
	}
	return "", false
}

func jsonTime(m map[string]any) int64 {
	if s, ok := first(m, "timestamp", "@timestamp", "time", "ts"); ok {
		return timeOf(s)
	}
	for _, k := range []string{"timeMillis", "timestamp", "ts"} {
		if n, ok := m[k].(float64); ok && n > 1e9 && n < 1e14 {
			if n < 1e11 {
				n *= 1000 // seconds
			}
			return int64(n)
		}
	}
	if i, ok := m["instant"].(map[string]any); ok {
		s, _ := i["epochSecond"].(float64)
		n, _ := i["nanoOfSecond"].(float64)
		if s > 0 && s < 1e11 {
			return int64(s)*1000 + int64(n)/1e6
		}
	}
	return 0
}

// traceOf joins whatever a JSON layout calls the stack trace.
func traceOf(m map[string]any) string {
	if s, ok := first(m, "stack_trace", "stackTrace", "exception", "throwable", "thrown", "error.stack_trace"); ok {
		return s
	}
	var out []string
	var walk func(v any, depth int)
	walk = func(v any, depth int) {
		t, ok := v.(map[string]any)
		if !ok || depth > 8 {
			return
		}
		name, _ := first(t, "name", "exception_class", "class", "refId")
		text, _ := first(t, "message", "localizedMessage", "exception_message")
		out = append(out, name+": "+text)
		for _, k := range []string{"extendedStackTrace", "stacktrace", "frames"} {
			if s, ok := t[k].(string); ok {
				out = append(out, s)
			}
			frames, _ := t[k].([]any)
			for _, f := range frames {
				if fm, ok := f.(map[string]any); ok {
					class, _ := first(fm, "class")
					method, _ := first(fm, "method")
					out = append(out, "\tat "+class+"."+method)
				}
			}
		}
		walk(t["cause"], depth+1)
	}
	for _, k := range []string{"thrown", "exception", "throwable"} {
		walk(m[k], 0)
	}
	return strings.Join(out, "\n")
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n]
}

// readEvents calls see for each event of a text, in its order. It keeps one event in memory.
func readEvents(r io.Reader, see func(*event)) (lines int64, err error) {
	in := bufio.NewReaderSize(r, longestLine)
	var now *event
	flush := func() {
		if now != nil {
			see(now)
		}
		now = nil
	}
	for {
		raw, err := in.ReadSlice('\n')
		for errors.Is(err, bufio.ErrBufferFull) { // the rest of a line that is too long is skipped
			raw = bytes.Clone(raw[:min(len(raw), longestLine)])
			_, err = in.ReadSlice('\n')
		}
		if err != nil && !errors.Is(err, io.EOF) {
			flush()
			return lines, err
		}
		if len(raw) > 0 {
			lines++
			line := strings.TrimRight(strings.ToValidUTF8(string(raw), "\uFFFD"), "\r\n")
			if e, ok := parse(line); ok {
				flush()
				now = &e
			} else if now != nil && len(now.trace) < longestTrace {
				if inner, _, is := unwrap(line); is { // docker's JSON around a line of a stack trace
					line = inner.message
				}
				if now.trace != "" {
					now.trace += "\n"
				}
				now.trace += cut(line, longestTrace-len(now.trace))
			}
		}
		if err != nil {
			flush()
			return lines, nil
		}
	}
}
