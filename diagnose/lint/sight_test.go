package lint

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TestFirstSight are mistakes of which the first text or repair was once untrue, or that were passed over.
func TestFirstSight(t *testing.T) {
	const pair = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\na->b.sync.group.offsets.enabled = true\n"
	connector := func(kind, more string) string {
		return `{"name": "` + kind + `", "config": {"connector.class": "org.apache.kafka.connect.mirror.Mirror` + kind + `Connector", "target.cluster.alias": "west", "source.cluster.bootstrap.servers": "e:9092", "target.cluster.bootstrap.servers": "w:9092", "topics": "o", "groups": "g",
"key.converter": "org.apache.kafka.connect.converters.ByteArrayConverter", "value.converter": "org.apache.kafka.connect.converters.ByteArrayConverter", "sync.group.offsets.enabled": "true", ` + more + `}}`
	}
	const east = `"source.cluster.alias": "east"`
	for _, c := range []struct {
		name, slug, says, fix, not string
		version                    mm2.Version
		files                      []string
	}{
		{"a separator on the checkpoint connector alone", "separator-mismatch", "the checkpoint connector", "Take replication.policy.separator off the MirrorCheckpointConnector.", "Set replication.policy.separator = _", mm2.Version{}, []string{connector("Source", east), connector("Checkpoint", east+`, "replication.policy.separator": "_"`)}},
		{"one cluster twice", "unknown-alias-in-flow", "west is source and target at once", "Give the source the alias", "two-way", mm2.Version{}, []string{connector("Source", `"source.cluster.alias": "west"`)}},
		{"a class misspelt", "malformed-value", "There is no class org.apache.kafka.connect.mirror.MirrorSourceConector; MirrorSourceConnector is meant.", "Write org.apache.kafka.connect.mirror.MirrorSourceConnector.", "", mm2.Version{}, []string{strings.Replace(connector("Source", east), "Connector", "Conector", 1)}},
		{"a class in the plural", "malformed-value", "MirrorCheckpointConnector is meant", "", "", mm2.Version{}, []string{connector("Source", east), strings.Replace(connector("Checkpoint", east), "Connector", "sConnector", 1)}},
		{"a blank after the backslash", "malformed-line", "A blank follows the backslash", "Remove the blank", "payments", mm2.Version{}, []string{pair + "a->b.topics = orders, \\ \n  payments\n"}},
		{"a setting that goes", "removed-key", "", "when you run a release", "has no effect", mm2.V(3, 9, 1), []string{pair + "add.source.alias.to.metrics = true\n"}},
		{"bytes of the source connector", "non-bytearray-converter", "the copies are no longer what the source holds", "", "checkpoints", mm2.Version{}, []string{strings.Replace(connector("Source", east), "connect.converters.ByteArrayConverter", "connect.storage.StringConverter", 1)}},
		{"one address twice", "malformed-value", "a and b have the same address, c:9092, a:9092.", "Write the address of the other cluster, or of b.", "", mm2.Version{}, []string{"clusters = a, b\na.bootstrap.servers = a:9092,c:9092\nb.bootstrap.servers = c:9092, a:9092\na->b.enabled = true\nb->a.enabled = true\na->b.sync.group.offsets.enabled = true\n"}},
		{"one address of both ends", "malformed-value", "east and west have the same address, w:9092.", "", "", mm2.Version{}, []string{strings.Replace(connector("Source", east), "e:9092", "w:9092", 1)}},
		{"no interval", "malformed-value", "Java refuses to run the job", "", "", mm2.Version{}, []string{pair + "refresh.groups.interval.seconds = 0\n"}},
		{"a negative interval", "malformed-value", "switches the job off", "", "", mm2.Version{}, []string{pair + "sync.group.offsets.interval.seconds = -1\n"}},
		{"checkpoints without a pause", "malformed-value", "without a pause", "", "", mm2.Version{}, []string{pair + "emit.checkpoints.interval.seconds = 0\n"}},
	} {
		var files []File
		for i, text := range c.files {
			files = append(files, File{string(rune('a' + i)), []byte(text)})
		}
		said, n := "", 0
		for _, f := range Run(files, Options{Version: c.version}) {
			if f.Slug != c.slug {
				continue
			}
			n++
			said += f.Because + " " + f.Consequence
			for _, x := range f.Fixes {
				said += " " + x.Text
			}
		}
		if n != 1 || !strings.Contains(said, c.says) || !strings.Contains(said, c.fix) || c.not != "" && strings.Contains(said, c.not) {
			t.Errorf("%s: %d of %s: %s", c.name, n, c.slug, said)
		}
	}
	for _, text := range []string{`{"tool": {"name": "mm2doctor"}, "findings": [{"code": "MM2D-507", "because": "MirrorSourceConnector"}]}`, `[{"check_name": "MM2D-507", "description": "MirrorSource"}]`} {
		if Recognised([]byte(text)) {
			t.Errorf("a report is a configuration: %s", text)
		}
	}
}

// TestDiscreet: whatever is wrong with a line, its secret is in no text.
func TestDiscreet(t *testing.T) {
	const pair = "clusters = a, b\na.bootstrap.servers = ka:9092\nb.bootstrap.servers = kb:9092\na->b.enabled = true\n"
	for _, line := range []string{
		`"a.ssl.keystore.password": "hunter22",`, `"a.sasl.jaas.config = org.X required password=hunter22;"`, `a -> b.ssl.keystore.password = hunter22`,
		"a.ssl.keystore.key = -----BEGIN PRIVATE KEY-----\nhunter22aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n-----END PRIVATE KEY-----",
		`a.ssl.keystore.pasword = hunter22`, `a.ssl.key.pass = hunter22`, `a.ssl.keystore.password = ${X}hunter22`, `a.ssl.keystore.password = {{ x | default("hunter22") }}`, `a.ssl.keystore.password = ${KEY:-hunter22}`,
		`a.sasl.jaas.config = org.X required username='u' passwd='hunter22';`, `a.schema.registry.url=http://u:hunter22@sr`, `a.bootstrap.servers=SASL_SSL://user:hunter22@ka:9092`, `config.providers.vault.param.token = hunter22`,
		`a.api_key = hunter22`, `a.credential = hunter22`, `a.confluent.license=hunter22`, `a.sasl.mechanism = PLAIN username="u" password="hunter22"`, `a.sasl.jass.config = org.X required password=hunter22;`,
	} {
		files := []File{{"f", []byte(pair + line + "\n")}}
		for _, f := range Run(files, Options{}) {
			said := f.Because + f.Consequence
			for _, x := range f.Fixes {
				said += x.Text
			}
			if strings.Contains(said, "hunter22") {
				t.Errorf("%s: %s: %s", line, f.Slug, said)
			}
		}
		for _, f := range Effective(files, Options{}) {
			for _, r := range f.Readers {
				for _, s := range r.Settings {
					if strings.Contains(s.Value, "hunter22") {
						t.Errorf("%s: %s = %s", line, s.Key, s.Value)
					}
				}
			}
		}
	}
	for value, want := range map[string]bool{"${file:/x:y}": false, "CHANGE_ME": false, "": false, "s": true, "${env:X}s": true} {
		if hidden("a.ssl.key.password", value) != want {
			t.Errorf("%q: %v", value, !want)
		}
	}
}

// TestSavedOtherwise: a configuration that was saved as UTF-16 is not passed over in a folder.
func TestSavedOtherwise(t *testing.T) {
	var wide []byte
	for _, c := range []byte("clusters = a, b\na->b.enabled = true\n") {
		wide = append(wide, c, 0)
	}
	for name, b := range map[string][]byte{"UTF-16": append([]byte("\xFF\xFE"), wide...), "a stray NUL": []byte("clusters = a, b\n\x00a->b.enabled = true\n")} {
		if fs := Run([]File{{"f", b}}, Options{}); !Recognised(b) || len(fs) != 1 || fs[0].Slug != "syntax-error" {
			t.Errorf("%s: %v, %+v", name, Recognised(b), fs)
		}
	}
	if Recognised([]byte("\x1f\x8b\x00a->b.enabled = true\n")) {
		t.Error("a compressed file is a configuration")
	}
}
