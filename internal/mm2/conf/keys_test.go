package conf

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestKeysAsReal compares with the ConfigDefs of released jars (testdata/Effective.java keys).
func TestKeysAsReal(t *testing.T) {
	b, err := os.ReadFile("testdata/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	var releases map[string]struct{ Client, Connector []string }
	if err := json.Unmarshal(b, &releases); err != nil {
		t.Fatal(err)
	}
	if len(releases) < 5 {
		t.Fatalf("only %d releases", len(releases))
	}
	var names []string
	for _, r := range releases {
		names = append(append(names, r.Client...), r.Connector...)
	}
	for _, k := range keys {
		names = append(names, k.Name)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for release, real := range releases {
		v, err := mm2.ParseVersion(release)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range names {
			if got, want := IsClientKey(n, v), slices.Contains(real.Client, n); got != want {
				t.Errorf("%s: client key %s: got %v, released jar: %v", release, n, got, want)
			}
			if got, want := IsConnectorKey(n, v), slices.Contains(real.Connector, n); got != want {
				t.Errorf("%s: connector key %s: got %v, released jar: %v", release, n, got, want)
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, tc := range []struct {
		key   string
		v     mm2.Version
		want  string
		known bool
	}{
		{"sync.group.offsets.enabled", mm2.V(3, 9, 1), "false", true},
		{"topics.exclude", mm2.V(3, 9, 1), `.*[\-\.]internal, .*\.replica, __.*`, true},
		{"topics.exclude", mm2.V(4, 0, 0), `mm2.*\.internal, .*\.replica, __.*`, true},
		{"topics.exclude", mm2.Version{}, `mm2.*\.internal, .*\.replica, __.*`, true},
		{"groups.blacklist", mm2.V(2, 6, 0), mm2.DefaultGroupsExclude, true},
		{"groups.blacklist", mm2.V(2, 7, 0), "", false},
		{"replication.policy.separator", mm2.Version{}, ".", true},
		{"source.cluster.alias", mm2.Version{}, "", false},
	} {
		k, ok := LookupKey(tc.key)
		if !ok {
			t.Fatalf("no key %s", tc.key)
		}
		if got, known := k.Default(tc.v); got != tc.want || known != tc.known {
			t.Errorf("%s in %v: got %q, %v", tc.key, tc.v, got, known)
		}
	}
	if k, _ := LookupKey("offset-syncs.topic.location"); k.In(mm2.V(2, 8, 2)) || !k.In(mm2.V(3, 0, 0)) || !k.In(mm2.Version{}) {
		t.Error("offset-syncs.topic.location exists since 3.0.0")
	}
}
