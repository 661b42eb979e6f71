package fix

import "testing"

// TestRepairs: what becomes of a whole file.
func TestRepairs(t *testing.T) {
	const head = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\nsync.group.offsets.enabled = true\n"
	blocks := "a.security.protocol = SASL_SSL\na.sasl.mechanism = PLAIN\na.sasl.jaas.config = ${file:/x:a}\n# the other one\na.security.protocol = SASL_SSL\na.sasl.mechanism = PLAIN\na.sasl.jaas.config = ${file:/x:b}\n"
	for _, c := range []struct{ name, text, want string }{
		{"an old name keeps its flow", "# c\r\na->b.topics.blacklist = x\r\n", "# c\r\na->b.topics.exclude = x\r\n"},
		{"an old name of all flows", "topics.blacklist : x\n", "topics.exclude : x\n"},
		{"a misspelt name of all flows", "offset.syncs.topic.location = target\n", "offset-syncs.topic.location = target\n"},
		{"quotes around every element", "topics = \"orders\", \"payments\"\n", "topics = orders, payments\n"},
		{"quotes that hide a pattern Java refuses", "topics = \"*.orders\"\n", "topics = \"*.orders\"\n"},
		{"equal lines of a block behind the wrong alias", blocks, blocks},
		{"equal lines elsewhere", "tasks.max = 2\n# c\ntasks.max = 2\n", "# c\ntasks.max = 2\n"},
	} {
		r, err := All([]Text{{"f", []byte(head + c.text)}}, look)
		if err != nil || string(r.Texts[0].Bytes) != head+c.want {
			t.Errorf("%s: %q, %v", c.name, string(r.Texts[0].Bytes)[len(head):], err)
		}
	}
}
