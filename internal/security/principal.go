package security

import "strings"

// Login is the principal of the settings, as User tells it.
func (s Settings) Login() string { return s.login }

// User is the principal that a broker with Kafka's own principal builder sees in a client of these properties, "User:name".
// It is empty where the properties do not tell: without SASL, with a mechanism other than PLAIN and SCRAM, with a delegation
// token (whose owner is the principal), with mutual TLS (whose subject the broker may map), or where a config provider holds the value. No secret is part of it.
func User(entries []Entry) string {
	p := props{m: map[string]Entry{}, used: map[string]string{}}
	for _, e := range entries {
		p.m[strings.TrimSpace(e.Key)] = e
	}
	switch strings.ToUpper(p.get("security.protocol")) {
	case "SASL_PLAINTEXT", "SASL_SSL":
	default:
		return ""
	}
	switch mech := p.get("sasl.mechanism"); {
	case mech != "PLAIN" && !strings.HasPrefix(mech, "SCRAM-SHA-"), reference.MatchString(p.m["sasl.jaas.config"].Value):
		return ""
	}
	ms, err := parseJAAS(p.get("sasl.jaas.config"))
	if err != nil || len(ms) != 1 || ms[0].options["tokenauth"] == "true" || ms[0].options["username"] == "" {
		return ""
	}
	return "User:" + ms[0].options["username"]
}
