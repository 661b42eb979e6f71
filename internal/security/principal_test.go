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

// TestUser: the name of PLAIN and SCRAM is told; what the properties cannot tell is empty, and a password never comes out.
func TestUser(t *testing.T) {
	plain := `org.apache.kafka.common.security.plain.PlainLoginModule required username="me" password="hunter2";`
	for _, tt := range []struct{ protocol, mechanism, jaas, want string }{
		{"SASL_SSL", "PLAIN", plain, "User:me"},
		{"sasl_plaintext", "SCRAM-SHA-512", `x.ScramLoginModule required password="hunter2" username='a b';`, "User:a b"},
		{"SASL_SSL", "SCRAM-SHA-256", `x.ScramLoginModule required username="id" password="hunter2" tokenauth="true";`, ""},
		{"SASL_SSL", "PLAIN", `x.PlainLoginModule required username="${file:/x:u}" password="hunter2";`, ""},
		{"SASL_SSL", "PLAIN", `x.PlainLoginModule required username="me"`, ""},
		{"SASL_SSL", "GSSAPI", plain, ""},
		{"SASL_SSL", "", plain, ""},
		{"SSL", "PLAIN", plain, ""},
		{"", "PLAIN", plain, ""},
	} {
		if got := User([]Entry{{Key: "security.protocol", Value: tt.protocol}, {Key: "sasl.mechanism", Value: tt.mechanism}, {Key: "sasl.jaas.config", Value: tt.jaas}}); got != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}
