package finding

import (
	"strings"
	"testing"
)

func TestMasked(t *testing.T) {
	for _, tc := range []struct{ line, want string }{
		{"a.ssl.keystore.password = x y", "a.ssl.keystore.password = [removed]"},
		{`  "sasl.jaas.config": "Module username=u password=p;",`, `  "sasl.jaas.config": "[removed]`},
		{`   username="u" password="p";`, `   username="u" password="[removed]`},
		{"schema.url = https://u:p@host/", "schema.url = https://[removed]@host/"},
		{"ssl.keystore.password = ${file:/x:y}", "ssl.keystore.password = ${file:/x:y}"},
		{"ssl.keystore.password =", "ssl.keystore.password ="},
		{"topics = secret-orders, x", "topics = secret-orders, x"},
		{"a->b.sync.group.offsets.enabled = true", "a->b.sync.group.offsets.enabled = true"},
	} {
		if got := Masked(tc.line); got != tc.want || Secret(tc.line) != (tc.line != tc.want) {
			t.Errorf("%q: %q, want %q", tc.line, got, tc.want)
		}
	}
}

// TestMaskedLines: a line of a configuration is shown without its secret, and whole where it has none.
func TestMaskedLines(t *testing.T) {
	for _, line := range []string{
		"a.ssl.keystore.pasword = S3", "a.ssl.key.pass = S3", "a->b.ssl.keystore.password extra = S3", "ssl.keystore.password\u00a0= S3", "a.sasl.jass.config = org.X required S3;", "A.SSL.KEYSTORE.PASSWORD = S3",
		"a.ssl.keystore.password = ${KEY:-S3}", "a.confluent.license=S3", `"name2": "password=\"S3\""`, strings.Repeat("Ab1+", 12) + "S3", "url=http://u:S3@sr",
	} {
		if got := Masked(line); strings.Contains(got, "S3") || !Secret(line) {
			t.Errorf("%q: %q", line, got)
		}
	}
	for _, line := range []string{"a.ssl.keystore.password = ${file:/x:y}", "a.ssl.keystore.password = ${KEY}", "topics = passwords", "a->b.topics = orders.*, payments.*", "key.converter = org.apache.kafka.connect.converters.ByteArrayConverter", ""} {
		if got := Masked(line); got != line {
			t.Errorf("%q: %q", line, got)
		}
	}
}
