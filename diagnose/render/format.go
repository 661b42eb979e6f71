package render

import (
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// seconds gives a length of time as people say it.
func seconds(n int64) string {
	switch {
	case n < 120:
		return fmt.Sprintf("%d s", n)
	case n < 2*3600:
		return fmt.Sprintf("%d min", n/60)
	case n < 48*3600:
		return fmt.Sprintf("%d h", n/3600)
	}
	return fmt.Sprintf("%d days", n/86400)
}

// observed puts names and values on one line: "committed source 500 · target 405".
func observed(s term.Screen, o finding.Observed) string {
	parts := make([]string, len(o))
	for i, n := range o {
		parts[i] = named(s, n)
		if term.Columns(parts[i]) <= 40 { // a long list may be broken, a number and its name may not
			parts[i] = nbsp(parts[i])
		}
	}
	return strings.Join(parts, " "+s.Dot()+" ")
}

// named writes one value. Names that end in Ms are milliseconds: a point in time when they are as large as one, else a
// length of time.
func named(s term.Screen, n snapshot.Named) string {
	name := n.Name
	v := reflect.ValueOf(n.Value)
	if base, ok := strings.CutSuffix(name, "Ms"); ok && v.IsValid() && v.CanInt() {
		const year2001 = 978307200000
		if ms := v.Int(); ms >= year2001 {
			return words(s, base) + " " + time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05Z")
		} else if ms >= 0 {
			return words(s, base) + " " + seconds(ms/1000)
		}
	}
	if strings.Contains(name, ".") {
		return s.Clean(name) + " = " + value(s, n.Value)
	}
	return words(s, name) + " " + value(s, n.Value)
}

// words turns the JSON name sourceOffset into "source offset"; a configuration key stays as it is.
func words(s term.Screen, name string) string {
	if strings.ContainsAny(name, ".-_ ") {
		return s.Clean(name)
	}
	var b strings.Builder
	lower := false
	for _, r := range name {
		if unicode.IsUpper(r) && lower {
			b.WriteByte(' ')
			r = unicode.ToLower(r)
		}
		lower = unicode.IsLower(r) || unicode.IsDigit(r)
		b.WriteRune(r)
	}
	return s.Clean(b.String())
}

func value(s term.Screen, x any) string {
	v := reflect.ValueOf(x)
	if !v.IsValid() {
		return "none"
	}
	if t, ok := x.(fmt.Stringer); ok {
		return s.Clean(t.String())
	}
	switch {
	case v.CanInt():
		return s.Number(v.Int())
	case v.CanUint() && v.Uint() < 1<<63:
		return s.Number(int64(v.Uint()))
	case v.Kind() == reflect.Pointer && v.IsNil():
		return "none"
	case v.Kind() == reflect.Pointer:
		return value(s, v.Elem().Interface())
	case v.Kind() == reflect.Slice || v.Kind() == reflect.Array:
		if v.Len() == 0 {
			return "none"
		}
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = value(s, v.Index(i).Interface())
		}
		return some(s, parts, 5)
	case v.Kind() == reflect.String && v.Len() == 0:
		return `""`
	}
	return s.Clean(fmt.Sprint(x))
}

// fact writes an offset for the table: "none" for known absence, "?" for what is not known.
func fact(s term.Screen, f snapshot.Fact[int64]) string {
	n, state := f.Get()
	switch state {
	case snapshot.Known:
		return s.Number(n)
	case snapshot.Absent:
		return "none"
	}
	return "?"
}

// some joins the first n of a list and counts the rest.
func some(s term.Screen, list []string, n int) string {
	if len(list) <= n+1 {
		return strings.Join(list, ", ")
	}
	return strings.Join(list[:n], ", ") + " and " + s.Number(int64(len(list)-n)) + " more"
}
