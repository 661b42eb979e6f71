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
		{"many equal lines", "topics = x\ntopics = x\n# c\ntopics = x\n", "# c\ntopics = x\n"},
		{"equal lines around another", "topics = x\ntopics = y\ntopics = x\n", "topics = y\ntopics = x\n"},
		{"two names that mean one", "offset.syncs.topic.location = target\noffset-sync.topic.location = source\n", "offset.syncs.topic.location = target\noffset-sync.topic.location = source\n"},
		{"a name that names the copies", "replication.policy.seperator = -\n", "replication.policy.seperator = -\n"},
		{"equal lines elsewhere", "tasks.max = 2\n# c\ntasks.max = 2\n", "# c\ntasks.max = 2\n"},
	} {
		r, err := All([]Text{{"f", []byte(head + c.text)}}, look)
		if err != nil || string(r.Texts[0].Bytes) != head+c.want {
			t.Errorf("%s: %q, %v", c.name, string(r.Texts[0].Bytes)[len(head):], err)
		}
	}
}
