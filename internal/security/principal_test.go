package security

import "testing"

func TestLogin(t *testing.T) {
	scram := map[string]string{"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "SCRAM-SHA-512", "sasl.jaas.config": `org.apache.kafka.common.security.scram.ScramLoginModule required username="ops" password="x";`}
	for _, c := range []struct {
		name  string
		props map[string]string
		want  string
	}{
		{"scram", scram, "User:ops"},
		{"no login", map[string]string{}, ""},
		{"a login that is not used", map[string]string{"security.protocol": "PLAINTEXT", "sasl.jaas.config": scram["sasl.jaas.config"]}, ""},
	} {
		s, err := FromProperties(c.props)
		if err != nil || s.Login() != c.want {
			t.Errorf("%s: %q %v, want %q", c.name, s.Login(), err, c.want)
		}
	}
}
