package security

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"os"
	"strings"
)

const pemAdvice = "convert it to PEM and set %s.type=PEM and %s.location, or use a listener without TLS"

func tlsConfig(p props) (*tls.Config, error) {
	if v := p.get("ssl.engine.factory.class"); v != "" {
		return nil, p.err("ssl.engine.factory.class", "not yet supported: TLS by a Java class", "use PEM files in ssl.truststore.location and ssl.keystore.location")
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	if err := versions(p, cfg); err != nil {
		return nil, err
	}
	if err := trust(p, cfg); err != nil {
		return nil, err
	}
	if err := identity(p, cfg); err != nil {
		return nil, err
	}
	const alg = "ssl.endpoint.identification.algorithm"
	v := p.get(alg)
	switch {
	case !p.has(alg), strings.EqualFold(v, "https"):
	case v == "":
		chainOnly(cfg)
	default:
		return nil, p.err(alg, "the value is neither https nor empty", "set it to https, or leave it empty to accept any name in the certificate")
	}
	return cfg, nil
}

// chainOnly checks the certificate's chain and not its name, as Kafka does with an empty endpoint identification algorithm.
func chainOnly(cfg *tls.Config) {
	roots := cfg.RootCAs
	cfg.InsecureSkipVerify = true // replaced by VerifyConnection
	cfg.VerifyConnection = func(cs tls.ConnectionState) error {
		if len(cs.PeerCertificates) == 0 {
			return errors.New("tls: the broker shows no certificate")
		}
		between := x509.NewCertPool()
		for _, c := range cs.PeerCertificates[1:] {
			between.AddCert(c)
		}
		_, err := cs.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: roots, Intermediates: between})
		if err != nil {
			return &tls.CertificateVerificationError{UnverifiedCertificates: cs.PeerCertificates, Err: err}
		}
		return nil
	}
}

var tlsVersions = map[string]uint16{"TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13}

func versions(p props, cfg *tls.Config) error {
	const key = "ssl.enabled.protocols"
	v := p.get(key)
	if v == "" {
		return nil
	}
	lo, hi := uint16(0xffff), uint16(0)
	for name := range strings.SplitSeq(v, ",") {
		n, ok := tlsVersions[strings.TrimSpace(name)]
		if !ok {
			return p.err(key, "it names a protocol that is not known here: "+strings.TrimSpace(name), "use TLSv1.2 and TLSv1.3")
		}
		lo, hi = min(lo, n), max(hi, n)
	}
	cfg.MinVersion, cfg.MaxVersion = lo, hi
	return nil
}

// storeType refuses Java's binary stores. ok is false when the store is not configured at all.
func storeType(p props, store string) (ok bool, err error) {
	typ, loc := store+".type", store+".location"
	inline := []string{store + ".certificates"}
	if store == "ssl.keystore" {
		inline = []string{store + ".key", store + ".certificate.chain"}
	}
	set := p.get(loc) != ""
	key := loc
	for _, k := range inline {
		if p.get(k) != "" {
			if !set {
				key = k
			}
			set = true
		}
	}
	if !set {
		return false, nil
	}
	next := strings.ReplaceAll(pemAdvice, "%s", store)
	switch v := strings.ToUpper(p.get(typ)); v {
	case "PEM":
		return true, nil
	case "", "JKS", "PKCS12":
		if looksPEM(p.get(loc)) || key != loc {
			return false, p.err(key, "it holds PEM, but "+typ+" is not PEM, so Kafka would read it as JKS", "set "+typ+"=PEM")
		}
		if v == "" {
			v = "JKS (Kafka's default for " + typ + ")"
		}
		return false, p.err(key, "not yet supported: a key store of type "+v, next)
	default:
		return false, p.err(typ, "not yet supported: a key store of this type", next)
	}
}

func looksPEM(file string) bool {
	if file == "" {
		return false
	}
	b, err := os.ReadFile(file)
	return err == nil && len(blocks(b)) > 0
}

func trust(p props, cfg *tls.Config) error {
	const loc, inline = "ssl.truststore.location", "ssl.truststore.certificates"
	ok, err := storeType(p, "ssl.truststore")
	if err != nil || !ok {
		return err // not configured: the system's roots
	}
	key, text, err := pemOf(p, loc, inline)
	if err != nil {
		return err
	}
	pool := x509.NewCertPool()
	n := 0
	for _, b := range blocks(text) {
		if b.Type != "CERTIFICATE" {
			continue
		}
		c, err := x509.ParseCertificate(b.Bytes)
		if err != nil {
			return p.err(key, "a certificate in it cannot be read: "+err.Error(), "write it anew as PEM (openssl x509)")
		}
		pool.AddCert(c)
		n++
	}
	if n == 0 {
		return p.err(key, "it holds no PEM certificate", "give the CA certificate as -----BEGIN CERTIFICATE-----")
	}
	cfg.RootCAs = pool
	return nil
}

// pemOf gives the PEM text of a store: from the file, or from the value itself.
func pemOf(p props, loc string, inline ...string) (key string, text []byte, err error) {
	file := p.get(loc)
	for _, k := range inline {
		if v := p.get(k); v != "" {
			if file != "" {
				return k, nil, p.err(k, "it stands beside "+loc+", and Kafka takes only one of them", "remove one")
			}
			if key == "" {
				key = k
			}
			text = append(append(text, v...), '\n')
		}
	}
	if file == "" {
		return key, text, nil
	}
	text, err = os.ReadFile(file)
	if err != nil {
		return loc, nil, p.err(loc, "the file cannot be read: "+err.Error(), "check path and permissions on this host")
	}
	return loc, text, nil
}

// ClientTLS reads the ssl.* properties alone, for a client that speaks another protocol than Kafka's over TLS. The error is
// an *Error.
func ClientTLS(entries []Entry) (*tls.Config, error) {
	p := props{m: map[string]Entry{}, used: map[string]string{}}
	for _, e := range entries {
		if k := strings.TrimSpace(e.Key); strings.HasPrefix(k, "ssl.") {
			p.m[k] = e
		}
	}
	if err := p.placeholders(true, false); err != nil {
		return nil, err
	}
	return tlsConfig(p)
}
