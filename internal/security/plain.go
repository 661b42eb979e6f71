package security

import (
	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
)

func plainMechanism(l login) (sasl.Mechanism, error) {
	user, password, err := l.credentials()
	if err != nil {
		return nil, err
	}
	return plain.Mechanism{Username: user, Password: password}, nil
}
