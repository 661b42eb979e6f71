package read

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/translate"
)

func TestLines(t *testing.T) {
	for _, c := range []struct {
		name string
		in   [][2]int64
		two  bool
	}{
		{"one line", [][2]int64{{0, 5}, {100, 105}, {200, 205}, {300, 310}}, false},
		{"markers", [][2]int64{{0, 0}, {100, 200}, {200, 400}, {300, 600}}, false},
		{"began again after a crash", [][2]int64{{0, 0}, {100, 100}, {200, 200}, {150, 300}, {250, 400}, {200, 420}, {300, 520}}, false},
		{"source made anew", [][2]int64{{0, 0}, {100, 100}, {0, 150}, {100, 250}, {0, 300}}, false},
		{"target made anew", [][2]int64{{0, 0}, {100, 100}, {150, 0}, {250, 100}}, false},
		{"target made anew twice", [][2]int64{{0, 0}, {100, 100}, {150, 0}, {250, 100}, {300, 0}, {400, 100}}, false},
		{"local records, and the target made anew", [][2]int64{{0, 0}, {100, 1000}, {150, 0}, {250, 1000}}, false},
		{"two set-ups", [][2]int64{{0, 0}, {0, 5000}, {100, 100}, {100, 5100}, {200, 200}, {200, 5200}}, true},
		{"two set-ups in blocks", [][2]int64{{0, 0}, {100, 100}, {200, 200}, {90, 5090}, {200, 5200}, {300, 300}, {400, 400}, {410, 5410}, {500, 500}}, true},
		{"two set-ups side by side", [][2]int64{{0, 0}, {0, 10}, {100, 100}, {100, 110}, {200, 200}, {200, 210}}, true},
		{"two set-ups at the same place", [][2]int64{{0, 0}, {0, 2}, {100, 100}, {100, 102}, {200, 200}, {200, 202}}, false}, // cannot be told
		{"markers on both sides", [][2]int64{{0, 0}, {100, 102}, {200, 200}, {300, 302}, {400, 400}, {500, 502}}, false},
		{"nothing", nil, false},
	} {
		var l lines
		for _, s := range c.in {
			l.add(translate.Sync{Upstream: s[0], Downstream: s[1]})
		}
		if l.two() != c.two {
			t.Errorf("%s: %v", c.name, l.two())
		}
	}
}
