package security

import (
	"fmt"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
)

const jaasKey = "sasl.jaas.config"

// mechanisms are the supported ones; each has a file of its own.
var mechanisms = map[string]func(l login) (sasl.Mechanism, error){
	"PLAIN":         plainMechanism,
	"SCRAM-SHA-256": scramMechanism("SCRAM-SHA-256"),
	"SCRAM-SHA-512": scramMechanism("SCRAM-SHA-512"),
}

// unsupported names what works instead, for mechanisms that are known and not there yet.
var unsupported = map[string]string{
	"OAUTHBEARER": "give the doctor another listener: one with SCRAM or mutual TLS",
	"GSSAPI":      "Kerberos needs another listener for the doctor: one with SCRAM or mutual TLS",
	"AWS_MSK_IAM": "enable SASL/SCRAM (port 9096) or mutual TLS (port 9094) on the MSK cluster for the doctor",
}

// login is what a mechanism gets: the options of the one login module.
type login struct {
	p        props
	module   string
	options  map[string]string
	mechName string
}

func (l login) err(why, next string) error { return l.p.err(jaasKey, why, next) }

// credentials gives user name and password.
func (l login) credentials() (user, password string, err error) {
	for _, k := range []string{"username", "password"} {
		if _, ok := l.options[k]; !ok {
			return "", "", l.err("the login module has no "+k, fmt.Sprintf(`write %s required username="…" password="…";`, l.module))
		}
	}
	return l.options["username"], l.options["password"], nil
}

func mechanism(p props) (string, sasl.Mechanism, error) {
	name := strings.ToUpper(p.get("sasl.mechanism"))
	if name == "" {
		return "", nil, p.err("sasl.mechanism", "not yet supported: GSSAPI (Kafka's default when sasl.mechanism is not set)", "set sasl.mechanism to "+supported()+"; "+unsupported["GSSAPI"])
	}
	build, ok := mechanisms[name]
	if !ok {
		next, known := unsupported[name]
		if !known {
			return "", nil, p.err("sasl.mechanism", fmt.Sprintf("%q is not a mechanism that is known here", name), "use "+supported())
		}
		return "", nil, p.err("sasl.mechanism", "not yet supported: "+name, next)
	}
	for _, k := range []string{"sasl.client.callback.handler.class", "sasl.login.callback.handler.class", "sasl.login.class"} {
		if p.get(k) != "" {
			return "", nil, p.err(k, "not yet supported: credentials that a Java class fetches", "give user name and password in "+jaasKey)
		}
	}
	if p.get(jaasKey) == "" {
		return "", nil, p.err(jaasKey, "it is not set; a JAAS file named to the JVM is not read here", `set it, for instance to org.apache.kafka.common.security.plain.PlainLoginModule required username="…" password="…";`)
	}
	modules, err := parseJAAS(p.m[jaasKey].Value)
	if err != nil {
		return "", nil, p.err(jaasKey, err.Error(), `write CLASS required username="…" password="…"; with the semicolon`)
	}
	if len(modules) != 1 {
		return "", nil, p.err(jaasKey, fmt.Sprintf("it has %d login modules, and Kafka takes exactly one", len(modules)), "keep the one for "+name)
	}
	m, err := build(login{p: p, module: modules[0].class, options: modules[0].options, mechName: name})
	return name, m, err
}

func supported() string {
	var ns []string
	for n := range mechanisms {
		ns = append(ns, n)
	}
	slices.Sort(ns)
	return strings.Join(ns, ", ")
}
