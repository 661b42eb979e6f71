package security

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"regexp"
)

// pemBlock matches a block with any white space: in a property a PEM text often stands on one line.
var pemBlock = regexp.MustCompile(`-----BEGIN ([A-Z0-9 ]+)-----([^-]*(?:-[^-]+)*?)-----END [A-Z0-9 ]+-----`)

func blocks(text []byte) []*pem.Block {
	var out []*pem.Block
	for _, m := range pemBlock.FindAllSubmatch(text, -1) {
		body := m[2]
		b := &pem.Block{Type: string(m[1])}
		if bytes.Contains(body, []byte("ENCRYPTED")) {
			b.Type = "ENCRYPTED " + b.Type
			out = append(out, b)
			continue
		}
		raw, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(body), nil)))
		if err != nil {
			continue
		}
		b.Bytes = raw
		out = append(out, b)
	}
	return out
}

// identity reads the client's own certificate and key, for listeners that ask for one.
func identity(p props, cfg *tls.Config) error {
	const store, loc, keyPEM, chain = "ssl.keystore", "ssl.keystore.location", "ssl.keystore.key", "ssl.keystore.certificate.chain"
	ok, err := storeType(p, store)
	if err != nil || !ok {
		return err
	}
	key, text, err := pemOf(p, loc, keyPEM, chain)
	if err != nil {
		return err
	}
	var cert tls.Certificate
	for _, b := range blocks(text) {
		switch b.Type {
		case "CERTIFICATE":
			cert.Certificate = append(cert.Certificate, b.Bytes)
		case "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY":
			if cert.PrivateKey, err = privateKey(b); err != nil {
				return p.err(key, "its private key cannot be read", "write it as PKCS#8: openssl pkcs8 -topk8 -nocrypt -in KEY -out NEWKEY")
			}
		case "ENCRYPTED PRIVATE KEY", "ENCRYPTED RSA PRIVATE KEY", "ENCRYPTED EC PRIVATE KEY":
			return p.err(key, "not yet supported: an encrypted private key", "make a copy without a password, readable by you alone: openssl pkcs8 -topk8 -nocrypt -in KEY -out NEWKEY, and name that")
		}
	}
	if cert.PrivateKey == nil {
		return p.err(key, "there is no PEM private key", "give -----BEGIN PRIVATE KEY----- in the file, or in "+keyPEM)
	}
	if len(cert.Certificate) == 0 {
		return p.err(key, "there is no PEM certificate", "give the client's certificate chain in the file, or in "+chain)
	}
	leaf, err := x509.ParseCertificate(cert.Certificate[0])
	if err != nil {
		return p.err(key, "the client certificate cannot be read: "+err.Error(), "write it anew as PEM (openssl x509)")
	}
	if !belongs(leaf, cert.PrivateKey) {
		return p.err(key, "private key and first certificate do not belong together", "put the client's own certificate first, then the chain")
	}
	cert.Leaf = leaf
	cfg.Certificates = []tls.Certificate{cert}
	// Kafka sends its certificate whatever CAs the broker names.
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &cert, nil }
	return nil
}

func privateKey(b *pem.Block) (crypto.PrivateKey, error) {
	switch b.Type {
	case "PRIVATE KEY":
		return x509.ParsePKCS8PrivateKey(b.Bytes)
	case "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(b.Bytes)
	case "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(b.Bytes)
	}
	return nil, errors.New("no private key")
}

func belongs(leaf *x509.Certificate, key crypto.PrivateKey) bool {
	s, ok := key.(crypto.Signer)
	if !ok {
		return false
	}
	pub, ok := s.Public().(interface{ Equal(crypto.PublicKey) bool })
	return ok && pub.Equal(leaf.PublicKey)
}
