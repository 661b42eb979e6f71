package security

// Login is the principal that a broker without a principal builder of its own makes of the login: "User:" and the name. Empty
// where the settings do not tell: mutual TLS, whose subject the broker may map (ssl.principal.mapping.rules), or no login.
func (s Settings) Login() string {
	if s.user == "" {
		return ""
	}
	return "User:" + s.user
}

// userOf is the name in the login module; PLAIN and SCRAM pass it on as it stands.
func userOf(p props) string {
	modules, err := parseJAAS(p.m[jaasKey].Value)
	if err != nil || len(modules) != 1 {
		return ""
	}
	return modules[0].options["username"]
}
