package wire

import (
	"strconv"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// brokerRanges are API versions that real brokers gave in ApiVersions. kfake enforces no minimum, so it cannot judge this.
var brokerRanges = map[string]map[int16][2]int16{
	"2.8":        {1: {0, 12}, 2: {0, 6}, 3: {0, 11}, 8: {0, 8}, 9: {0, 7}, 10: {0, 3}, 15: {0, 5}, 16: {0, 4}, 18: {0, 3}, 23: {0, 4}, 32: {0, 4}, 60: {0, 0}, 29: {0, 2}},
	"3.3 or 3.4": {1: {0, 13}, 2: {0, 7}, 3: {0, 12}, 8: {0, 8}, 9: {0, 8}, 10: {0, 4}, 15: {0, 5}, 16: {0, 4}, 18: {0, 3}, 23: {0, 4}, 32: {0, 4}, 60: {0, 0}, 29: {0, 3}, 24: {0, 3}},
	"3.9":        {1: {0, 17}, 2: {0, 9}, 3: {0, 12}, 8: {0, 9}, 9: {0, 9}, 10: {0, 6}, 15: {0, 5}, 16: {0, 5}, 18: {0, 4}, 23: {0, 4}, 29: {0, 3}, 32: {0, 4}, 60: {0, 1}, 69: {0, 0}},
	"4.1":        {1: {4, 18}, 2: {1, 10}, 3: {0, 13}, 8: {2, 9}, 9: {1, 9}, 10: {0, 6}, 15: {0, 6}, 16: {0, 5}, 18: {0, 4}, 23: {2, 4}, 29: {1, 3}, 32: {1, 4}, 60: {0, 2}, 69: {0, 1}, 77: {1, 1}},
	"4.3":        {1: {4, 18}, 2: {1, 11}, 3: {0, 13}, 8: {2, 10}, 9: {1, 10}, 10: {0, 6}, 15: {0, 6}, 16: {0, 5}, 18: {0, 4}, 23: {2, 4}, 29: {1, 3}, 32: {1, 4}, 35: {1, 5}, 60: {0, 2}, 69: {0, 1}, 77: {1, 1}, 89: {0, 0}},
}

func TestVersionsLieWithinBrokerRanges(t *testing.T) {
	want := map[string]map[int16]int16{ // what is sent
		"2.8":        {1: 11, 2: 6, 3: 11, 8: 8, 9: 7, 10: 3, 15: 5, 16: 4, 18: 3, 23: 4, 29: 2, 32: 4, 60: 0},
		"3.3 or 3.4": {1: 11, 2: 7, 3: 12, 8: 8, 9: 8, 10: 4, 15: 5, 16: 4, 18: 3, 23: 4, 29: 3, 32: 4, 60: 0},
		"3.9":        {1: 11, 2: 9, 3: 12, 8: 9, 9: 9, 10: 6, 15: 5, 16: 5, 18: 3, 23: 4, 29: 3, 32: 4, 60: 1, 69: 0},
		"4.1":        {1: 11, 2: 9, 3: 12, 8: 9, 9: 9, 10: 6, 15: 6, 16: 5, 18: 3, 23: 4, 29: 3, 32: 4, 60: 1, 69: 1, 77: 1},
		"4.3":        {1: 11, 2: 9, 3: 12, 8: 9, 9: 9, 10: 6, 15: 6, 16: 5, 18: 3, 23: 4, 29: 3, 32: 4, 60: 1, 69: 1, 77: 1, 89: 0},
	}
	for release, ranges := range brokerRanges {
		for key := range spans {
			r, offered := ranges[key]
			s := spanOf(key)
			v, ok := pick(ranges, key, s.lo, min(s.hi, kmsg.RequestForKey(key).MaxVersion()))
			w, wanted := want[release][key]
			switch {
			case ok && (!offered || v < r[0] || v > r[1]):
				t.Errorf("%s: %s v%d is outside %v", release, kmsg.NameForKey(key), v, r)
			case offered && !ok:
				t.Errorf("%s: no version of %s fits %v", release, kmsg.NameForKey(key), r)
			case ok != wanted || v != w && ok:
				t.Errorf("%s: %s v%d (%v), want v%d (%v)", release, kmsg.NameForKey(key), v, ok, w, wanted)
			}
		}
	}
}

func TestSpansHaveAnEncoding(t *testing.T) {
	for key, s := range spans {
		r := kmsg.RequestForKey(key)
		if r == nil || s.lo > s.hi || s.hi > r.MaxVersion() {
			t.Errorf("key %d: %+v", key, s)
		}
	}
}

func TestReleaseOf(t *testing.T) {
	for release, ranges := range brokerRanges {
		if got := releaseOf(ranges); got != release {
			t.Errorf("real %s is named %q", release, got)
		}
	}
	// The releases between, by the tables of another client.
	for _, v := range []string{"2.4", "2.5", "2.6", "2.7", "2.8", "3.0", "3.1", "3.2", "3.4", "3.5", "3.6", "3.7", "3.8", "3.9", "4.0", "4.1", "4.2", "4.3", "4.4"} {
		ranges := map[int16][2]int16{}
		kversion.FromString("v" + v).EachMaxKeyVersion(func(k, max int16) { ranges[k] = [2]int16{0, max} })
		want := v
		if v == "3.4" {
			want = "3.3 or 3.4"
		}
		if got := releaseOf(ranges); got != want {
			t.Errorf("%s is named %q", v, got)
		}
	}
	if got := releaseOf(nil); got != "" {
		t.Errorf("no versions: %q", got)
	}
	for _, r := range releases { // names begin with a number, so that callers can compare them
		if _, err := strconv.ParseFloat(strings.Fields(r.name)[0], 64); err != nil {
			t.Error(err)
		}
	}
}
