package render

import (
	"strings"
	"testing"
)

// TestMaskedLines: a line of a configuration is shown without its secret, and whole where it has none.
func TestMaskedLines(t *testing.T) {
	for _, line := range []string{
		"a.ssl.keystore.pasword = S3", "a.ssl.key.pass = S3", "a->b.ssl.keystore.password extra = S3", "ssl.keystore.password\u00a0= S3", "a.sasl.jass.config = org.X required S3;", "A.SSL.KEYSTORE.PASSWORD = S3",
		"a.ssl.keystore.password = ${KEY:-S3}", "a.confluent.license=S3", `"name2": "password=\"S3\""`, strings.Repeat("Ab1+", 12) + "S3", "url=http://u:S3@sr",
	} {
		if got := masked(line); strings.Contains(got, "S3") || !Secret(line) {
			t.Errorf("%q: %q", line, got)
		}
	}
	for _, line := range []string{"a.ssl.keystore.password = ${file:/x:y}", "a.ssl.keystore.password = ${KEY}", "topics = passwords", "a->b.topics = orders.*, payments.*", "key.converter = org.apache.kafka.connect.converters.ByteArrayConverter", ""} {
		if got := masked(line); got != line {
			t.Errorf("%q: %q", line, got)
		}
	}
}
