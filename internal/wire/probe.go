package wire

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// listener is what stands behind an address, found out without credentials.
type listener struct {
	kafka, tls, sasl, http, silent, controller bool

	mechanisms []string
	asksCert   bool   // a client certificate is asked for
	cert       string // the broker's certificate in words
	err        error  // why nothing more is known
}

func (l listener) String() string {
	var s []string
	if l.tls {
		t := "TLS"
		if l.cert != "" {
			t += " (" + l.cert + ")"
		}
		if l.asksCert {
			t += ", a client certificate is asked for"
		}
		s = append(s, t)
	}
	switch {
	case l.http:
		s = append(s, "HTTP, not Kafka")
	case l.controller:
		s = append(s, "a KRaft controller, not a broker")
	case l.silent:
		s = append(s, "a port that accepts and does not answer")
	case l.kafka && l.sasl:
		s = append(s, "Kafka with SASL, mechanisms "+strings.Join(l.mechanisms, ", "))
	case l.kafka:
		s = append(s, "Kafka without SASL")
	case l.err != nil:
		s = append(s, "no Kafka answer ("+l.err.Error()+")")
	}
	if l.kafka && !l.tls && !l.controller {
		s = append(s, "no TLS")
	}
	return strings.Join(s, "; ")
}

const (
	probeTimeout = 3 * time.Second
	// The probe names a mechanism that no broker has: the refusal lists those that it has, and no login is counted.
	noMechanism = "MM2DOCTOR-PROBE"
)

// probe speaks ApiVersions and SaslHandshake in the clear, then inside TLS where the first bytes are TLS.
func (c *Client) probe(ctx context.Context, addr string) listener {
	wait := min(probeTimeout, c.timeout)
	plain := func() (net.Conn, error) {
		d, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		return c.dial(d, "tcp", addr)
	}
	l := c.look(addr, wait, plain)
	if !l.tls {
		return l
	}
	asked, cert := false, ""
	host, _, _ := net.SplitHostPort(addr)
	cfg := &tls.Config{
		InsecureSkipVerify: true, ServerName: host, // only looks, sends no secret
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			asked = true
			return &tls.Certificate{}, nil
		},
	}
	l = c.look(addr, wait, func() (net.Conn, error) {
		conn, err := plain()
		if err != nil {
			return nil, err
		}
		t := tls.Client(conn, cfg)
		t.SetDeadline(time.Now().Add(wait))
		if err := t.Handshake(); err != nil {
			conn.Close()
			return nil, err
		}
		if x := t.ConnectionState().PeerCertificates; len(x) > 0 {
			names := append([]string{}, x[0].DNSNames...)
			for _, ip := range x[0].IPAddresses {
				names = append(names, ip.String())
			}
			cert = fmt.Sprintf("certificate of %s, signed by %s, for %s, until %s", x[0].Subject, x[0].Issuer, strings.Join(names, " "), x[0].NotAfter.UTC().Format("2006-01-02"))
		}
		return t, nil
	})
	l.tls, l.asksCert, l.cert = true, asked, cert
	return l
}

func (c *Client) look(addr string, wait time.Duration, dial func() (net.Conn, error)) (l listener) {
	conn, err := dial()
	if err != nil {
		l.err = err
		return l
	}
	defer conn.Close()
	vr := kmsg.NewPtrApiVersionsResponse()
	head, err := c.probeAsk(conn, addr, wait, kmsg.NewPtrApiVersionsRequest(), vr)
	var ne net.Error
	switch {
	case len(head) >= 2 && (head[0] == 0x15 || head[0] == 0x16) && head[1] == 3: // TLS alert or handshake
		l.tls = true
		return l
	case strings.HasPrefix(string(head), "HTTP"):
		l.http = true
		return l
	case errors.As(err, &ne) && ne.Timeout() && len(head) == 0:
		l.http = c.speaksHTTP(wait, dial) // many HTTP servers wait for the end of the line
		l.silent = !l.http
		return l
	case errors.Is(err, io.EOF) && len(head) == 0:
		l.err = err
		l.tls = c.speaksTLS(wait, dial) // some TLS servers close without an alert
		return l
	case err != nil:
		l.err = err
		return l
	}
	keys := map[int16]bool{}
	for _, k := range vr.ApiKeys {
		keys[k.ApiKey] = true
	}
	l.kafka = true
	if !keys[0] || !keys[3] { // a controller offers neither Produce nor Metadata
		l.controller = true
		return l
	}
	hs := kmsg.NewPtrSASLHandshakeRequest()
	hs.Version, hs.Mechanism = 1, noMechanism
	hr := kmsg.NewPtrSASLHandshakeResponse()
	if _, err := c.probeAsk(conn, addr, wait, hs, hr); err != nil {
		l.err = err
		return l
	}
	l.sasl = kafka.ErrorCode(hr.ErrorCode) != kafka.IllegalSASLState
	l.mechanisms = hr.SupportedMechanisms
	return l
}

func (c *Client) speaksTLS(wait time.Duration, dial func() (net.Conn, error)) bool {
	conn, err := dial()
	if err != nil {
		return false
	}
	defer conn.Close()
	if _, already := conn.(*tls.Conn); already {
		return false
	}
	conn.SetDeadline(time.Now().Add(wait))
	t := tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
	err = t.Handshake()
	return err == nil || strings.Contains(err.Error(), "remote error: tls")
}

func (c *Client) speaksHTTP(wait time.Duration, dial func() (net.Conn, error)) bool {
	conn, err := dial()
	if err != nil {
		return false
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(wait))
	if _, err := io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n"); err != nil {
		return false
	}
	h := make([]byte, 5)
	_, err = io.ReadFull(conn, h)
	return err == nil && string(h) == "HTTP/"
}

// probeAsk sends one request on a bare connection. The first bytes are given back for a look when they are no Kafka answer.
func (c *Client) probeAsk(conn net.Conn, addr string, wait time.Duration, req kmsg.Request, resp kmsg.Response) (head []byte, err error) {
	if err := c.admit(node{-1, addr}, req); err != nil {
		return nil, err
	}
	conn.SetDeadline(time.Now().Add(wait))
	if _, err := conn.Write(kmsg.NewRequestFormatter(kmsg.FormatterClientID(c.cfg.ClientID)).AppendRequest(nil, req, correlation)); err != nil {
		return nil, err
	}
	h := make([]byte, 8)
	n, err := io.ReadAtLeast(conn, h, 4)
	if err != nil {
		return h[:n], err
	}
	size := int(binary.BigEndian.Uint32(h))
	if size < 4 || size > 1<<20 {
		return h[:n], fmt.Errorf("the first bytes are %q", h[:n])
	}
	b := make([]byte, size)
	copy(b, h[4:n])
	if _, err := io.ReadFull(conn, b[min(n-4, size):]); err != nil {
		return h[:n], err
	}
	resp.SetVersion(req.GetVersion())
	return h[:n], resp.ReadFrom(b[4:])
}
