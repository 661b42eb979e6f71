package diagnose

import (
	"fmt"
	"strings"
)

// age says a span of milliseconds as a person would: 12 s, 41 m, 5 h, 3 d.
func age(ms int64) string {
	s := ms / 1000
	switch {
	case s < 0:
		return "0 s"
	case s < 120:
		return fmt.Sprintf("%d s", s)
	case s < 120*60:
		return fmt.Sprintf("%d m", s/60)
	case s < 48*3600:
		return fmt.Sprintf("%d h", s/3600)
	}
	return fmt.Sprintf("%d d", s/86400)
}

// agoOr says how long ago a time is, ms; 0 is a time that nobody told.
func agoOr(now, at int64) string {
	if at == 0 {
		return "not told"
	}
	return age(now-at) + " ago"
}

// list joins up to n names and says how many more there are.
func list(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}
