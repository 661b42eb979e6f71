package security

import (
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/scram"
)

func scramMechanism(name string) func(login) (sasl.Mechanism, error) {
	algorithm := scram.SHA512
	if name == "SCRAM-SHA-256" {
		algorithm = scram.SHA256
	}
	return func(l login) (sasl.Mechanism, error) {
		if l.options["tokenauth"] == "true" {
			return nil, l.err("not yet supported: a delegation token (tokenauth)", "use a user name and its password")
		}
		user, password, err := l.credentials()
		if err != nil {
			return nil, err
		}
		m, err := scram.Mechanism(algorithm, user, password)
		if err != nil {
			return nil, l.err("user name or password holds characters that SCRAM does not allow", "use credentials without control characters")
		}
		return m, nil
	}
}
