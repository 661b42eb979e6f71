package security

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go/sasl/plain"
)

// pki is a CA, and a server and a client certificate of it, as PEM.
type pki struct{ ca, cert, key string }

func newPKI(t *testing.T, name string) pki {
	t.Helper()
	caKey, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "CA of " + name}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	key, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name}}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	k8, _ := x509.MarshalPKCS8PrivateKey(key)
	enc := func(typ string, b []byte) string { return string(pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: b})) }
	return pki{enc("CERTIFICATE", caDER), enc("CERTIFICATE", der), enc("PRIVATE KEY", k8)}
}

func file(t *testing.T, name, text string) string {
	t.Helper()
	f := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return f
}

const plainJAAS = `org.apache.kafka.common.security.plain.PlainLoginModule required username="app" password="s3cret-word";`

func TestProtocols(t *testing.T) {
	for _, tt := range []struct {
		protocol  string
		want      string
		tls, sasl bool
	}{
		{"", "PLAINTEXT", false, false}, {"PLAINTEXT", "PLAINTEXT", false, false}, {"ssl", "SSL", true, false},
		{"SASL_PLAINTEXT", "SASL_PLAINTEXT", false, true}, {" SASL_SSL ", "SASL_SSL", true, true},
	} {
		p := map[string]string{"bootstrap.servers": "x:1", "sasl.mechanism": "PLAIN", "sasl.jaas.config": plainJAAS}
		if tt.protocol != "" {
			p["security.protocol"] = tt.protocol
		}
		s, err := FromProperties(p)
		if err != nil || s.Protocol != tt.want || (s.TLS != nil) != tt.tls || (s.SASL != nil) != tt.sasl {
			t.Errorf("%q: %+v %v", tt.protocol, s, err)
		}
		if (s.MechanismName == "PLAIN") != tt.sasl {
			t.Errorf("%q: mechanism %q", tt.protocol, s.MechanismName)
		}
		if note := strings.Join(s.Notes, " "); strings.Contains(note, "sasl.jaas.config has no effect: security.protocol is") == tt.sasl {
			t.Errorf("%q: notes %q", tt.protocol, note)
		}
	}
}

func TestOriginsAndLastValueStands(t *testing.T) {
	s, err := FromEntries([]Entry{
		{"security.protocol", "SSL", "c.properties:1"}, {"security.protocol", "SASL_PLAINTEXT", "c.properties:9"},
		{"sasl.mechanism", "SCRAM-SHA-512", "c.properties:2"}, {"sasl.jaas.config", plainJAAS, "c.properties:3"}, {"group.id", "g", "c.properties:4"},
	})
	if err != nil || s.Protocol != "SASL_PLAINTEXT" || s.SASL.Name() != "SCRAM-SHA-512" {
		t.Fatalf("%+v %v", s, err)
	}
	if s.Origin["security.protocol"] != "c.properties:9" || s.Origin["sasl.jaas.config"] != "c.properties:3" || len(s.Origin) != 3 {
		t.Errorf("%v", s.Origin)
	}
}

func TestMechanisms(t *testing.T) {
	for _, name := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		s, err := FromProperties(map[string]string{"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": name, "sasl.jaas.config": plainJAAS})
		if err != nil || s.SASL.Name() != name || s.MechanismName != name {
			t.Errorf("%s: %+v %v", name, s, err)
		}
		if m, ok := s.SASL.(plain.Mechanism); name == "PLAIN" && (!ok || m.Username != "app" || m.Password != "s3cret-word") {
			t.Errorf("%+v", s.SASL)
		}
	}
}

// TestRefusals: each error names key and origin, says why, and what to do; none shows a secret.
func TestRefusals(t *testing.T) {
	p := newPKI(t, "broker")
	other := newPKI(t, "other")
	ca := file(t, "ca.pem", p.ca)
	binary := file(t, "store.jks", "\xfe\xed\xfe\xed binary")
	sasl := func(kv ...string) []string {
		return append([]string{"security.protocol", "SASL_SSL", "sasl.mechanism", "PLAIN"}, kv...)
	}
	ssl := func(kv ...string) []string { return append([]string{"security.protocol", "SSL"}, kv...) }
	for _, tt := range []struct {
		name, key, why, next string
		kv                   []string
	}{
		{"protocol", "security.protocol", `"TLS" is not a security protocol`, "SASL_SSL", []string{"security.protocol", "TLS"}},
		{"JKS", "ssl.truststore.location", "not yet supported: a key store of type JKS", "convert it to PEM and set ssl.truststore.type=PEM", ssl("ssl.truststore.location", binary)},
		{"PKCS12", "ssl.keystore.location", "type PKCS12", "ssl.keystore.type=PEM", ssl("ssl.keystore.location", binary, "ssl.keystore.type", "PKCS12", "ssl.keystore.password", "s3cret-word")},
		{"BCFKS", "ssl.truststore.type", "not yet supported", "PEM", ssl("ssl.truststore.location", binary, "ssl.truststore.type", "BCFKS")},
		{"PEM said to be JKS", "ssl.truststore.location", "it holds PEM", "set ssl.truststore.type=PEM", ssl("ssl.truststore.location", ca)},
		{"inline without type", "ssl.truststore.certificates", "it holds PEM", "set ssl.truststore.type=PEM", ssl("ssl.truststore.certificates", p.ca)},
		{"file missing", "ssl.truststore.location", "cannot be read", "check path", ssl("ssl.truststore.type", "PEM", "ssl.truststore.location", ca+".not")},
		{"no certificate in it", "ssl.truststore.location", "no PEM certificate", "BEGIN CERTIFICATE", ssl("ssl.truststore.type", "PEM", "ssl.truststore.location", binary)},
		{"both", "ssl.truststore.certificates", "takes only one", "remove one", ssl("ssl.truststore.type", "PEM", "ssl.truststore.location", ca, "ssl.truststore.certificates", p.ca)},
		{"encrypted key", "ssl.keystore.key", "an encrypted private key", "openssl pkcs8 -topk8 -nocrypt", ssl("ssl.keystore.type", "PEM", "ssl.keystore.key", "-----BEGIN ENCRYPTED PRIVATE KEY-----\nczNjcmV0LXdvcmQ=\n-----END ENCRYPTED PRIVATE KEY-----", "ssl.keystore.certificate.chain", p.cert, "ssl.key.password", "s3cret-word")},
		{"encrypted key, old form", "ssl.keystore.key", "an encrypted private key", "openssl", ssl("ssl.keystore.type", "PEM", "ssl.keystore.key", "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nczNj\n-----END RSA PRIVATE KEY-----", "ssl.keystore.certificate.chain", p.cert)},
		{"key missing", "ssl.keystore.certificate.chain", "no PEM private key", "ssl.keystore.key", ssl("ssl.keystore.type", "PEM", "ssl.keystore.certificate.chain", p.cert)},
		{"chain missing", "ssl.keystore.key", "no PEM certificate", "ssl.keystore.certificate.chain", ssl("ssl.keystore.type", "PEM", "ssl.keystore.key", p.key)},
		{"not a pair", "ssl.keystore.key", "do not belong together", "first", ssl("ssl.keystore.type", "PEM", "ssl.keystore.key", p.key, "ssl.keystore.certificate.chain", other.cert)},
		{"identification", "ssl.endpoint.identification.algorithm", "neither https nor empty", "https", ssl("ssl.endpoint.identification.algorithm", "LDAPS")},
		{"enabled protocols", "ssl.enabled.protocols", "SSLv3", "TLSv1.2", ssl("ssl.enabled.protocols", "TLSv1.2,SSLv3")},
		{"engine", "ssl.engine.factory.class", "not yet supported", "PEM", ssl("ssl.engine.factory.class", "a.B")},
		{"no mechanism", "sasl.mechanism", "GSSAPI (Kafka's default", "set sasl.mechanism to PLAIN", []string{"security.protocol", "SASL_SSL", "sasl.jaas.config", plainJAAS}},
		{"OAUTHBEARER", "sasl.mechanism", "not yet supported: OAUTHBEARER", "another", nil},
		{"GSSAPI", "sasl.mechanism", "not yet supported: GSSAPI", "listener", nil},
		{"AWS_MSK_IAM", "sasl.mechanism", "not yet supported: AWS_MSK_IAM", "SASL/SCRAM", nil},
		{"NTLM", "sasl.mechanism", `"NTLM" is not a mechanism`, "use PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", nil},
		{"handler", "sasl.client.callback.handler.class", "not yet supported", "sasl.jaas.config", sasl("sasl.jaas.config", plainJAAS, "sasl.client.callback.handler.class", "a.B")},
		{"no jaas", "sasl.jaas.config", "it is not set", "PlainLoginModule", sasl()},
		{"semicolon", "sasl.jaas.config", "semicolon at the end is missing", "with the semicolon", sasl("sasl.jaas.config", strings.TrimSuffix(plainJAAS, ";"))},
		{"no password", "sasl.jaas.config", "has no password", "password=", sasl("sasl.jaas.config", `a.Plain required username="app";`)},
		{"two modules", "sasl.jaas.config", "2 login modules", "keep the one", sasl("sasl.jaas.config", plainJAAS+plainJAAS)},
		{"token", "sasl.jaas.config", "delegation token", "user name", []string{"security.protocol", "SASL_SSL", "sasl.mechanism", "SCRAM-SHA-256", "sasl.jaas.config", `a.Scram required username="u" password="s3cret-word" tokenauth="true";`}},
		{"placeholder", "sasl.jaas.config", "the placeholder ${file:/etc/kafka/secret.properties:jaas} of a config provider", "--source-config", sasl("sasl.jaas.config", "${file:/etc/kafka/secret.properties:jaas}")},
		{"placeholder within", "sasl.jaas.config", "${env:PASSWORD}", "--target-config", sasl("sasl.jaas.config", `a.Plain required username="app" password="${env:PASSWORD}";`)},
		{"placeholder in the protocol", "security.protocol", "${env:PROTO}", "--source-config", []string{"security.protocol", "${env:PROTO}"}},
	} {
		kv := tt.kv
		if kv == nil {
			kv = []string{"security.protocol", "SASL_SSL", "sasl.mechanism", tt.name, "sasl.jaas.config", plainJAAS}
		}
		var es []Entry
		for i := 0; i < len(kv); i += 2 {
			es = append(es, Entry{kv[i], kv[i+1], "client.properties:7"})
		}
		_, err := FromEntries(es)
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if e.Key != tt.key || !strings.Contains(e.Why, tt.why) || !strings.Contains(e.Next, tt.next) {
			t.Errorf("%s: key %q, why %q, next %q", tt.name, e.Key, e.Why, e.Next)
		}
		if strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "czNj") {
			t.Errorf("%s shows a secret: %v", tt.name, err)
		}
		if _, given := index(kv, e.Key); given && !strings.HasPrefix(err.Error(), "client.properties:7: "+e.Key+": ") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func index(kv []string, key string) (int, bool) {
	for i := 0; i < len(kv); i += 2 {
		if kv[i] == key {
			return i, true
		}
	}
	return 0, false
}

// TestHandshake proves each TLS setting against a real server.
func TestHandshake(t *testing.T) {
	p, stranger := newPKI(t, "broker.example"), newPKI(t, "stranger")
	server, err := tls.X509KeyPair([]byte(p.cert), []byte(p.key))
	if err != nil {
		t.Fatal(err)
	}
	clients := x509.NewCertPool()
	clients.AppendCertsFromPEM([]byte(p.ca))
	oneLine := strings.ReplaceAll(strings.TrimSpace(p.ca), "\n", " ")
	trust := []string{"ssl.truststore.type", "PEM", "ssl.truststore.location", file(t, "ca.pem", "# a comment\n"+p.ca)}
	for _, tt := range []struct {
		name, host, want string
		auth             tls.ClientAuthType
		kv               []string
	}{
		{"file", "broker.example", "", tls.NoClientCert, trust},
		{"inline on one line", "broker.example", "", tls.NoClientCert, []string{"ssl.truststore.type", "PEM", "ssl.truststore.certificates", oneLine}},
		{"no trust store: the system's", "broker.example", "certificate", tls.NoClientCert, nil},
		{"wrong name", "elsewhere.example", "not elsewhere.example", tls.NoClientCert, trust},
		{"wrong name allowed", "elsewhere.example", "", tls.NoClientCert, append([]string{"ssl.endpoint.identification.algorithm", ""}, trust...)},
		{"wrong CA, any name", "elsewhere.example", "unknown authority", tls.NoClientCert, []string{"ssl.endpoint.identification.algorithm", "", "ssl.truststore.type", "PEM", "ssl.truststore.certificates", stranger.ca}},
		{"client certificate", "broker.example", "", tls.RequireAndVerifyClientCert, append([]string{"ssl.keystore.type", "pem", "ssl.keystore.location", file(t, "me.pem", p.key+p.cert)}, trust...)},
		{"client certificate inline", "broker.example", "", tls.RequireAndVerifyClientCert, append([]string{"ssl.keystore.type", "PEM", "ssl.keystore.key", p.key, "ssl.keystore.certificate.chain", p.cert}, trust...)},
		{"client certificate missing", "broker.example", "certificate required", tls.RequireAndVerifyClientCert, trust},
	} {
		kv := map[string]string{"security.protocol": "SSL"}
		for i := 0; i < len(tt.kv); i += 2 {
			kv[tt.kv[i]] = tt.kv[i+1]
		}
		s, err := FromProperties(kv)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		a, b := net.Pipe()
		deadline := time.Now().Add(5 * time.Second)
		a.SetDeadline(deadline)
		b.SetDeadline(deadline)
		go func() {
			c := tls.Server(a, &tls.Config{Certificates: []tls.Certificate{server}, ClientAuth: tt.auth, ClientCAs: clients})
			c.Write([]byte("ok"))
			a.Close()
		}()
		cfg := s.TLS.Clone()
		cfg.ServerName = tt.host
		c := tls.Client(b, cfg)
		buf := make([]byte, 2)
		_, err = c.Read(buf)
		b.Close()
		if tt.want == "" && (err != nil || string(buf) != "ok") || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestEnabledProtocols(t *testing.T) {
	s, err := FromProperties(map[string]string{"security.protocol": "SSL", "ssl.enabled.protocols": "TLSv1.2"})
	if err != nil || s.TLS.MinVersion != tls.VersionTLS12 || s.TLS.MaxVersion != tls.VersionTLS12 {
		t.Errorf("%+v %v", s.TLS, err)
	}
}
