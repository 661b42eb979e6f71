package lint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestSets: the same connectors for several environments are each judged, and compared within their own folder.
func TestSets(t *testing.T) {
	one := func(name, class, more string) File {
		return File{name, []byte(`{"connector.class":"` + class + `","source.cluster.alias":"a","target.cluster.alias":"b","source.cluster.bootstrap.servers":"a:1","target.cluster.bootstrap.servers":"` + strings.SplitN(name, "/", 2)[0] + `:1","key.converter":"ByteArrayConverter","value.converter":"ByteArrayConverter"` + more + `}`)}
	}
	const source, checkpoint, on, target = "MirrorSourceConnector", "MirrorCheckpointConnector", `,"sync.group.offsets.enabled":true`, `,"offset-syncs.topic.location":"target"`
	for _, c := range []struct {
		name  string
		files []File
		want  string
	}{
		{"each environment is right by itself", []File{one("dev/s.json", source, target), one("dev/c.json", checkpoint, on+target), one("prod/s.json", source, ""), one("prod/c.json", checkpoint, on)}, ""},
		{"the second one does not commit", []File{one("dev/s.json", source, ""), one("dev/c.json", checkpoint, on), one("prod/s.json", source, ""), one("prod/c.json", checkpoint, "")}, "prod/c.json error group-offset-sync-disabled"},
		{"the second one differs", []File{one("dev/s.json", source, ""), one("dev/c.json", checkpoint, on), one("prod/s.json", source, ""), one("prod/c.json", checkpoint, on+target)}, "prod/c.json error location-mismatch"},
		{"in one folder, by their order", []File{one("x/c1.json", checkpoint, on), one("x/c2.json", checkpoint, on+target), one("x/s1.json", source, ""), one("x/s2.json", source, target)}, ""},
		{"two source connectors share a checkpoint connector", []File{one("x/c.json", checkpoint, on), one("x/s1.json", source, ""), one("x/s2.json", source, "")}, ""},
		{"and the second one differs from it", []File{one("x/c.json", checkpoint, on), one("x/s1.json", source, ""), one("x/s2.json", source, target)}, "x/s2.json error location-mismatch"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, f := range Run(c.files, Options{}) {
				got = append(got, fmt.Sprintf("%s %s %s", f.Subject.File, f.Severity, f.Slug))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestWorkersOfNamespaces: a service of another namespace is another cluster.
func TestWorkersOfNamespaces(t *testing.T) {
	in := func(namespace, name, host string) string {
		return strings.NewReplacer("  name: mm2\n", "  name: "+name+"\n  namespace: "+namespace+"\n", "dr:9092", host).Replace(beta2)
	}
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"two resources of a namespace", in("x", "one", "dr:9092") + "---\n" + in("x", "two", "dr:9092"), 4},
		{"of two namespaces", in("x", "one", "dr:9092") + "---\n" + in("y", "two", "dr:9092"), 0},
		{"of two namespaces, with the whole name of the service", in("x", "one", "dr.z.svc:9092") + "---\n" + in("y", "two", "dr.z.svc:9092"), 4},
	} {
		got := 0
		for _, f := range Run([]File{{"f", []byte(c.text)}}, Options{Version: mm2.Version{}}) {
			if f.Slug == "worker-group-collision" {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%s: %d collisions, want %d", c.name, got, c.want)
		}
	}
}
