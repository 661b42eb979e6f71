// Package security turns Kafka client properties (security.protocol, ssl.*, sasl.*) into TLS and SASL settings.
//
// What may enter: properties and the PEM files they name; one file per SASL mechanism. No connection is made. What is not
// supported is refused with the reason and with what works instead; secrets never appear in an error.
package security

import (
	"crypto/tls"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/segmentio/kafka-go/sasl"
)

// Entry is one property and where it stands (file:line; empty for none).
type Entry struct{ Key, Value, Origin string }

// Settings are what a connection needs. TLS is nil for PLAINTEXT and SASL_PLAINTEXT, SASL for PLAINTEXT and SSL.
type Settings struct {
	Protocol      string // PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL
	TLS           *tls.Config
	SASL          sasl.Mechanism
	MechanismName string            // empty without SASL
	Origin        map[string]string // of each property that was used
	Notes         []string          // properties that were left aside, and why
	login         string
}

// Error is a property that cannot be used.
type Error struct{ Key, Origin, Why, Next string }

func (e *Error) Error() string {
	s := ""
	if e.Origin != "" {
		s = e.Origin + ": "
	}
	return s + e.Key + ": " + e.Why + "; " + e.Next
}

// FromProperties is FromEntries without origins.
func FromProperties(props map[string]string) (Settings, error) {
	var es []Entry
	for k, v := range props {
		es = append(es, Entry{Key: k, Value: v})
	}
	slices.SortFunc(es, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	return FromEntries(es)
}

// FromEntries reads the properties of one client; of a key given twice the last stands, as in Java. Keys without meaning for
// security are passed over. The error is an *Error.
func FromEntries(entries []Entry) (Settings, error) {
	p := props{m: map[string]Entry{}, used: map[string]string{}}
	for _, e := range entries {
		k := strings.TrimSpace(e.Key)
		if k == "security.protocol" || strings.HasPrefix(k, "ssl.") || strings.HasPrefix(k, "sasl.") {
			p.m[k] = e
		}
	}
	s := Settings{Protocol: "PLAINTEXT", Origin: p.used}
	if v := p.get("security.protocol"); v != "" {
		s.Protocol = strings.ToUpper(v)
	}
	var useTLS, useSASL bool
	switch s.Protocol {
	case "PLAINTEXT":
	case "SSL":
		useTLS = true
	case "SASL_PLAINTEXT":
		useSASL = true
	case "SASL_SSL":
		useTLS, useSASL = true, true
	default:
		if err := p.placeholder("security.protocol"); err != nil {
			return Settings{}, err
		}
		return Settings{}, p.err("security.protocol", fmt.Sprintf("%q is not a security protocol of Kafka", s.Protocol), "use PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL")
	}
	s.Notes = p.leftAside(s.Protocol, useTLS, useSASL)
	if err := p.placeholders(useTLS, useSASL); err != nil {
		return Settings{}, err
	}
	var err error
	if useTLS {
		if s.TLS, err = tlsConfig(p); err != nil {
			return Settings{}, err
		}
	}
	if useSASL {
		if s.MechanismName, s.SASL, err = mechanism(p); err != nil {
			return Settings{}, err
		}
		s.login = User(entries)
	}
	return s, nil
}

// props gives values and remembers which were used.
type props struct {
	m    map[string]Entry
	used map[string]string
}

func (p props) get(key string) string {
	e, ok := p.m[key]
	if !ok {
		return ""
	}
	p.used[key] = e.Origin
	return strings.TrimSpace(e.Value)
}

func (p props) has(key string) bool {
	_, ok := p.m[key]
	return ok
}

func (p props) err(key, why, next string) error {
	return &Error{Key: key, Origin: p.m[key].Origin, Why: why, Next: next}
}

// reference is the form of a config provider's placeholder: ${provider:path:key} or ${provider:key} (KIP-297).
var reference = regexp.MustCompile(`\$\{[^}:]*:[^}]*\}`)

func (p props) placeholder(key string) error {
	m := reference.FindString(p.m[key].Value)
	if m == "" {
		return nil
	}
	return p.err(key, fmt.Sprintf("the value holds the placeholder %s of a config provider, which only the Kafka Connect worker can resolve", m),
		"put the resolved value into a client properties file of its own and pass it with --source-config or --target-config")
}

func (p props) placeholders(useTLS, useSASL bool) error {
	for _, k := range p.keys() {
		if strings.HasPrefix(k, "ssl.") && useTLS || strings.HasPrefix(k, "sasl.") && useSASL {
			if err := p.placeholder(k); err != nil {
				return err
			}
		}
	}
	return nil
}

func (p props) keys() []string {
	var ks []string
	for k := range p.m {
		ks = append(ks, k)
	}
	slices.Sort(ks)
	return ks
}

func (p props) leftAside(protocol string, useTLS, useSASL bool) []string {
	var notes []string
	for _, k := range p.keys() {
		switch {
		case strings.HasPrefix(k, "ssl.") && !useTLS, strings.HasPrefix(k, "sasl.") && !useSASL:
			notes = append(notes, fmt.Sprintf("%s has no effect: security.protocol is %s", k, protocol))
		case k == "ssl.cipher.suites", k == "ssl.provider", k == "ssl.secure.random.implementation", k == "ssl.keymanager.algorithm", k == "ssl.trustmanager.algorithm":
			notes = append(notes, k+" is Java's own and is not used here")
		}
	}
	return notes
}
