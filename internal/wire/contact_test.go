package wire

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	saslplain "github.com/segmentio/kafka-go/sasl/plain"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// certFor makes a certificate for 127.0.0.1 that signs itself.
func certFor(t *testing.T, name string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, _ := x509.ParseCertificate(der)
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

func TestContactErrors(t *testing.T) {
	cert, pool := certFor(t, "broker")
	_, otherPool := certFor(t, "other")
	noSASL := func(k *kfake.Cluster) string { // kfake takes a SASL handshake anywhere; real brokers say ILLEGAL_SASL_STATE
		k.ControlKey(17, func(r kmsg.Request) (kmsg.Response, error, bool) {
			k.KeepControl()
			resp := r.ResponseKind().(*kmsg.SASLHandshakeResponse)
			resp.ErrorCode = 34
			return resp, nil, true
		})
		return k.ListenAddrs()[0]
	}
	plainBroker := noSASL(fake(t))
	tlsBroker := noSASL(fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}})))
	mtlsBroker := fake(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: pool})).ListenAddrs()[0]
	saslBroker := fake(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "s3cret")).ListenAddrs()[0]
	web := httptest.NewServer(http.NotFoundHandler())
	defer web.Close()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	go func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			go io.Copy(io.Discard, c)
		}
	}()
	login := saslplain.Mechanism{Username: "admin", Password: "s3cret"}
	for _, tt := range []struct {
		name     string
		addr     string
		mod      func(*Config)
		code     int // 0: works
		next     string
		listener string
	}{
		{"works", plainBroker, nil, 0, "", ""},
		{"works with TLS", tlsBroker, func(c *Config) { c.TLS = &tls.Config{RootCAs: pool} }, 0, "", ""},
		{"works with SASL", saslBroker, func(c *Config) { c.SASL = login }, 0, "", ""},
		{"refused", "127.0.0.1:1", nil, Unreachable, "check the bootstrap address", ""},
		{"name unknown", "no-such-host.invalid:9092", nil, Unreachable, "--resolve no-such-host.invalid:9092=HOST:PORT", ""},
		{"HTTP", strings.TrimPrefix(web.URL, "http://"), nil, Unreachable, "this port speaks HTTP", "HTTP, not Kafka"},
		{"silent", silent.Addr().String(), nil, Unreachable, "accepts and says nothing", "accepts and does not answer"},
		{"plaintext to TLS", tlsBroker, nil, AuthFailed, "set security.protocol=SSL", "certificate of CN=broker"},
		{"TLS to plaintext", plainBroker, func(c *Config) { c.TLS = &tls.Config{RootCAs: pool} }, AuthFailed, "set security.protocol=PLAINTEXT (the configuration says SSL)", "Kafka without SASL; no TLS"},
		{"unknown CA", tlsBroker, func(c *Config) { c.TLS = &tls.Config{RootCAs: otherPool} }, AuthFailed, "ssl.truststore.type=PEM", "certificate of CN=broker"},
		{"wrong name", tlsBroker, func(c *Config) { c.TLS = &tls.Config{RootCAs: pool, ServerName: "kafka.example.com"} }, AuthFailed, "ssl.endpoint.identification.algorithm", ""},
		{"client certificate missing", mtlsBroker, func(c *Config) { c.TLS = &tls.Config{RootCAs: pool} }, AuthFailed, "ssl.keystore.location", "a client certificate is asked for"},
		{"SASL missing", saslBroker, nil, AuthFailed, "set security.protocol=SASL_PLAINTEXT", "Kafka with SASL, mechanisms"},
		{"SASL not wanted", plainBroker, func(c *Config) { c.SASL = login }, AuthFailed, "set security.protocol=PLAINTEXT (the configuration says SASL_PLAINTEXT)", "Kafka without SASL"},
		{"wrong password", saslBroker, func(c *Config) { c.SASL = saslplain.Mechanism{Username: "admin", Password: "hidden-word"} }, AuthFailed, "check user name and password", "Kafka with SASL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := open(t, []string{tt.addr}, func(cfg *Config) {
				cfg.Timeout = 2 * time.Second
				if tt.name == "silent" { // waits it out
					cfg.Timeout = 600 * time.Millisecond
				}
				if tt.mod != nil {
					tt.mod(cfg)
				}
			})
			err := c.Contact(ctx(t))
			var ce *ContactError
			switch {
			case tt.code == 0:
				if err != nil {
					t.Error(err)
				}
			case !errors.As(err, &ce):
				t.Errorf("%v", err)
			case ce.Code != tt.code || !strings.Contains(ce.Next, tt.next) || !strings.Contains(ce.Listener, tt.listener):
				t.Errorf("code %d, next %q, listener %q", ce.Code, ce.Next, ce.Listener)
			case !strings.Contains(ce.Error(), "cluster a") || !strings.Contains(ce.Error(), tt.addr) || strings.Contains(ce.Error(), "hidden-word"):
				t.Errorf("text %q", ce.Error())
			}
		})
	}
}

func TestContactTakesTheFirstAddressThatAnswers(t *testing.T) {
	k := fake(t)
	c := open(t, append([]string{"127.0.0.1:1"}, k.ListenAddrs()...), nil)
	if err := c.Contact(ctx(t)); err != nil {
		t.Fatal(err)
	}
	if md, err := c.Metadata(ctx(t), nil); err != nil || md.ClusterID != "fake" || len(md.Brokers) != 3 {
		t.Errorf("%+v %v", md, err)
	}
}

func TestAdvertisedAddressesThatNobodyHears(t *testing.T) {
	k := fake(t)
	a := k.ListenAddrs()
	// Only the bootstrap name leads to a broker; what the brokers advertise is mapped to a dead port.
	resolve := map[string]string{"bootstrap.example:9092": a[0]}
	for _, x := range a {
		resolve[x] = "127.0.0.1:1"
	}
	c := open(t, []string{"bootstrap.example:9092"}, func(cfg *Config) { cfg.Resolve = resolve })
	err := c.Contact(ctx(t))
	var ce *ContactError
	if !errors.As(err, &ce) || ce.Code != Unreachable || !strings.Contains(ce.Why, "the bootstrap address works, but none of 3 advertised addresses answers, for instance broker 0 advertises "+a[0]) || !strings.Contains(ce.Next, "--resolve "+a[0]) {
		t.Errorf("%v", err)
	}
	// One dead broker of three is no failure of the contact.
	delete(resolve, a[1])
	delete(resolve, a[2])
	c = quick(open(t, []string{"bootstrap.example:9092"}, func(cfg *Config) { cfg.Resolve = resolve }))
	if err := c.Contact(ctx(t)); err != nil {
		t.Fatal(err)
	}
	l, err := c.ListGroups(ctx(t))
	if err != nil || len(l.Errs) != 1 || l.Errs[0] == nil || !strings.Contains(l.Errs[0].Error(), "--resolve") {
		t.Errorf("%+v %v", l, err)
	}
}

func TestOpenRefusesBadAddresses(t *testing.T) {
	for _, tt := range []struct{ addr, want string }{
		{"", "not HOST:PORT"}, {"kafka", "not HOST:PORT"}, {":9092", "not HOST:PORT"}, {"kafka:", "not HOST:PORT"}, {"::1:9092", "not HOST:PORT"},
		{"SASL_SSL://kafka:9092", "security.protocol"},
	} {
		if _, err := Open(Config{Bootstrap: []string{tt.addr}, Alias: "a"}); err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "cluster a") {
			t.Errorf("%q: %v", tt.addr, err)
		}
	}
	if _, err := Open(Config{}); err == nil {
		t.Error("no address was taken")
	}
}

func TestCancelledContextEndsAtOnce(t *testing.T) {
	k := fake(t)
	c := open(t, k.ListenAddrs(), nil)
	done, cancel := context.WithCancel(t.Context())
	cancel()
	begin := time.Now()
	if _, err := c.Metadata(done, nil); !errors.Is(err, context.Canceled) || time.Since(begin) > time.Second {
		t.Errorf("%v", err)
	}
}
