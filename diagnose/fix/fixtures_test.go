package fix

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/lint"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

func look(texts []Text) []finding.Finding {
	files := make([]lint.File, len(texts))
	for i, t := range texts {
		files[i] = lint.File(t)
	}
	return Safe(texts, lint.Run(files, lint.Options{}))
}

// inForce gives every setting in force as "flow reader key" = value.
func inForce(b []byte, name string) map[string]string {
	out := map[string]string{}
	for _, f := range lint.Effective([]lint.File{{Name: name, Bytes: b}}, lint.Options{}) {
		for _, r := range f.Readers {
			for _, s := range r.Settings {
				out[f.Flow+" "+r.Reader+" "+s.Key] = s.Value
			}
		}
	}
	return out
}

// keysOf are the settings that a repair is about: under their old name, their new name, and without what stands before it.
func keysOf(f *finding.Finding) []string {
	all := []string{f.Subject.Key}
	if len(f.Fixes) > 0 && len(f.Fixes[0].Steps) > 0 {
		all = append(all, f.Fixes[0].Steps[0].Rename)
	}
	return all
}

// repaired makes all repairs of a file and holds the result against what it was.
func repaired(t *testing.T, name string, b []byte) int {
	t.Helper()
	r, err := All([]Text{{name, b}}, look)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	after := r.Texts[0].Bytes
	for _, f := range r.Made {
		for _, x := range r.Left {
			if x.Slug == f.Slug && x.Subject.Key == f.Subject.Key && x.Subject.Line == f.Subject.Line {
				t.Errorf("%s: still there: %s %s", name, x.Slug, x.Because)
			}
		}
	}
	if again, err := All(r.Texts, look); err != nil || len(again.Made) > 0 {
		t.Errorf("%s: a second time: %v %v", name, again.Made, err)
	}
	if len(r.Made) == 0 {
		if string(after) != string(b) {
			t.Errorf("%s: changed without a repair", name)
		}
		return 0
	}
	if confdoc.Sniff(after) != confdoc.Sniff(b) {
		t.Errorf("%s: is another kind of file now", name)
	}
	was, is := inForce(b, name), inForce(after, name)
	for k := range is {
		if _, ok := was[k]; !ok {
			was[k] = "(not there)"
		}
	}
	for k, v := range was {
		if is[k] == v {
			continue
		}
		setting := k[strings.LastIndexByte(k, ' ')+1:]
		setting = strings.TrimPrefix(strings.TrimPrefix(setting, "source.cluster."), "target.cluster.") // what stands behind an alias
		meant := slices.ContainsFunc(r.Made, func(f finding.Finding) bool {
			return slices.ContainsFunc(keysOf(&f), func(key string) bool {
				return key != "" && (strings.HasSuffix(key, setting) || strings.HasSuffix(key, "Pattern"))
			})
		})
		if !meant {
			t.Errorf("%s: %s was %q and is %q", name, k, v, is[k])
		}
	}
	// Comments stay, and so do line ends.
	for _, line := range strings.Split(string(b), "\n") {
		if c := strings.TrimSpace(line); strings.HasPrefix(c, "#") && !strings.Contains(string(after), c) {
			t.Errorf("%s: the comment %q is gone", name, c)
		}
	}
	if !strings.Contains(string(b), "\n") || strings.Count(string(b), "\r\n") == strings.Count(string(b), "\n") {
		if strings.Count(string(after), "\r\n") != strings.Count(string(after), "\n") {
			t.Errorf("%s: line ends are mixed now", name)
		}
	}
	return len(r.Made)
}

// TestFixtures: every fixture of the linter, as it is, with a byte order mark away, and with the line ends of Windows.
func TestFixtures(t *testing.T) {
	names, err := filepath.Glob("../../fixtures/lint/*/*.*")
	if err != nil || len(names) < 100 {
		t.Fatal(len(names), err)
	}
	made := map[string]int{}
	for _, name := range names {
		if filepath.Ext(name) == ".txt" || filepath.Ext(name) == ".go" {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n := repaired(t, name, b)
		made[filepath.Base(filepath.Dir(name))] += n
		crlf := strings.ReplaceAll(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n", "\r\n")
		if m := repaired(t, name+" crlf", []byte(crlf)); m < n {
			t.Errorf("%s: %d repairs with CRLF, %d without", name, m, n)
		}
	}
	for _, slug := range []string{"comment-after-value", "trailing-whitespace", "removed-key", "wrong-prefix", "quoted-value"} {
		if made[slug] == 0 {
			t.Errorf("no repair of %s", slug)
		}
	}
}

// TestTrees: repairs in resources and in connector JSON change the bytes of the repair alone.
func TestTrees(t *testing.T) {
	const resource = "apiVersion: kafka.strimzi.io/v1beta2\nkind: KafkaMirrorMaker2\nmetadata:\n  name: m\nspec:\n  version: 3.9.1\n  replicas: 1\n  connectCluster: b\n  clusters:\n    - {alias: a, bootstrapServers: 'a:9092'}\n    - {alias: b, bootstrapServers: 'b:9092'}\n  mirrors:\n    - sourceCluster: a\n      targetCluster: b\n      %s\n      sourceConnector: {}\n      checkpointConnector:\n        config:\n          # what is synced\n          %s\n          groups: \".*\"\n"
	res := func(a, b string) string { return fmt.Sprintf(resource, a, b) }
	connector := func(line string) string {
		return "[\n  {\"name\": \"cp\", \"config\": {\n    \"connector.class\": \"org.apache.kafka.connect.mirror.MirrorCheckpointConnector\",\n    \"source.cluster.alias\": \"a\", \"target.cluster.alias\": \"b\",\n    \"source.cluster.bootstrap.servers\": \"a:9092\", \"target.cluster.bootstrap.servers\": \"b:9092\",\n    " + line + ",\n    \"groups\": \".*\" } }\n]\n"
	}
	for _, tc := range []struct{ name, text, want string }{
		{"a misspelt key", res("topicsPattern: x", "sync.group.offset.enabled: true # on"), res("topicsPattern: x", "sync.group.offsets.enabled: true # on")},
		{"quoted", res("topicsPattern: x", "'sync_group_offsets_enabled': true"), res("topicsPattern: x", "'sync.group.offsets.enabled': true")},
		{"a field", res("topicPattern: x", "sync.group.offsets.enabled: true"), res("topicsPattern: x", "sync.group.offsets.enabled: true")},
		{"an old field", res("groupsBlacklistPattern: x", "sync.group.offsets.enabled: true"), res("groupsExcludePattern: x", "sync.group.offsets.enabled: true")},
		{"the new one is there too", res("groupsBlacklistPattern: x\n      groupsExcludePattern: y", "sync.group.offsets.enabled: true"), ""},
		{"a quoted value", res("topicsPattern: x", "sync.group.offsets.enabled: '\"true\"'"), res("topicsPattern: x", "sync.group.offsets.enabled: 'true'")},
		{"JSON, a misspelt key", connector(`"sync.group.offset.enabled": "true"`), connector(`"sync.group.offsets.enabled": "true"`)},
		{"JSON, both", connector(`"sync.group.offset.enabled": "true", "sync.group.offsets.enabled": "false"`), ""},
		{"JSON, a quoted value", connector(`"sync.group.offsets.enabled": "'true'"`), connector(`"sync.group.offsets.enabled": "true"`)},
		{"JSON, capitals", connector(`"offset-syncs.topic.location": "TARGET"`), connector(`"offset-syncs.topic.location": "target"`)},
		{"two names are as near", connector(`"refresh.interval.seconds": "60"`), ""},
	} {
		want := tc.want
		if want == "" {
			want = tc.text
		}
		r, err := All([]Text{{"f", []byte(tc.text)}}, look)
		if err != nil || string(r.Texts[0].Bytes) != want {
			t.Errorf("%s: %v\n%s", tc.name, err, r.Texts[0].Bytes)
			for _, f := range r.Left {
				t.Logf("%d:%d %s %s %+v", f.Subject.Line, f.Subject.Column, f.Slug, f.Because, f.Fixes)
			}
		}
		repaired(t, "f", []byte(tc.text))
	}
}

// TestAwake: no new name is given, and no quotes are taken away, where that would bring a value into force that Java refuses.
func TestAwake(t *testing.T) {
	const head = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\n"
	for text, want := range map[string]string{
		"topics.blacklist = *.internal\ngroups.blacklist = x, console-consumer-.*, connect-.*, __.*\n": "topics.blacklist = *.internal\ngroups.exclude = x, console-consumer-.*, connect-.*, __.*\n",
		"topics.blacklist=\"*.internal\"\n": "topics.blacklist=\"*.internal\"\n",
	} {
		r, err := All([]Text{{"f", []byte(head + text)}}, look)
		if got := strings.TrimPrefix(string(r.Texts[0].Bytes), head); err != nil || got != want {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
}

func FuzzSafe(f *testing.F) {
	names, _ := filepath.Glob("../../fixtures/lint/*/bad.*")
	for _, name := range names {
		if filepath.Ext(name) == ".txt" {
			continue
		}
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if _, err := All([]Text{{"f", b}}, look); err != nil {
			t.Error(err)
		}
	})
}
