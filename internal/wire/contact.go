package wire

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
)

// Codes of a failed first contact, as findings number them.
const (
	Unreachable = 1
	AuthFailed  = 2
	Denied      = 3
)

// ContactError says how the first contact with a cluster went wrong.
type ContactError struct {
	Alias    string
	Code     int    // Unreachable, AuthFailed or Denied
	What     string // what failed
	Why      string // the broker's words and plain words
	Next     string // what to do
	Listener string // what a probe without credentials found at the address; empty where none was made
	Err      error
}

func (e *ContactError) Error() string {
	s := e.What + ": " + e.Why
	if e.Listener != "" {
		s += "; at that address: " + e.Listener
	}
	return s + "; " + e.Next
}

func (e *ContactError) Unwrap() error { return e.Err }

// Contact makes the first contact: API versions and metadata from the first bootstrap address that answers, then a look
// whether the advertised addresses can be reached. On failure the error is a *ContactError. A refused login is not tried at
// the next address. Where only some brokers cannot be reached it succeeds; their requests fail one by one.
func (c *Client) Contact(ctx context.Context) error {
	var first *ContactError
	for _, addr := range c.cfg.Bootstrap {
		n := node{-1, addr}
		_, err := c.ranges(ctx, n)
		if err == nil {
			_, err = c.metadataFrom(ctx, n, []string{})
		}
		if err == nil {
			c.mu.Lock()
			c.home = addr
			c.mu.Unlock()
			return c.advertised(ctx, addr)
		}
		if ctx.Err() != nil && !errors.Is(err, errNoProgress) {
			return &ContactError{Alias: c.alias, Code: Unreachable, What: c.what(addr), Why: context.Cause(ctx).Error(), Next: "run again with more time", Err: err}
		}
		ce := c.judge(ctx, addr, err)
		c.logf("%v", ce)
		if first == nil || ce.Code != Unreachable {
			first = ce
		}
		if ce.Code != Unreachable {
			break
		}
	}
	return first
}

func (c *Client) what(addr string) string {
	s := "first contact"
	if c.alias != "" {
		s = "cluster " + c.alias + ": " + s
	}
	s += " with " + addr
	if to := c.resolve(addr); to != addr {
		s += " (dialled as " + to + ")"
	}
	return s + " failed"
}

// advertised dials what the brokers advertise. A bootstrap address that works says nothing about them.
func (c *Client) advertised(ctx context.Context, home string) error {
	c.mu.Lock()
	nodes := make([]node, 0, len(c.brokers))
	for id, a := range c.brokers {
		nodes = append(nodes, node{id, a})
	}
	c.mu.Unlock()
	type failure struct {
		n   node
		err error
	}
	var mu sync.Mutex
	var wg sync.WaitGroup
	var bad []failure
	dctx, cancel := context.WithTimeout(ctx, min(c.timeout, 5*time.Second))
	defer cancel()
	for _, n := range nodes {
		if n.addr == home {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			conn, err := c.dial(dctx, "tcp", n.addr)
			if err == nil {
				conn.Close()
				return
			}
			mu.Lock()
			bad = append(bad, failure{n, err})
			mu.Unlock()
		}()
	}
	wg.Wait()
	for _, f := range bad {
		c.logf("broker %d at its advertised address %s: %v", f.n.id, f.n.addr, f.err)
	}
	if len(bad) < len(nodes) || len(bad) == 0 {
		return nil
	}
	f := bad[0]
	for _, b := range bad {
		if b.n.id < f.n.id {
			f = b
		}
	}
	who := fmt.Sprintf("broker %d advertises %s", f.n.id, f.n.addr)
	if len(bad) > 1 {
		who = fmt.Sprintf("none of %d advertised addresses answers, for instance %s", len(bad), who)
	}
	what := "contact with the brokers behind " + home + " failed"
	if c.alias != "" {
		what = "cluster " + c.alias + ": " + what
	}
	return &ContactError{
		Alias: c.alias, Code: Unreachable, What: what,
		Why:  fmt.Sprintf("the bootstrap address works, but %s: %v (%s)", who, f.err, dialWords(f.err)),
		Next: fmt.Sprintf("use a listener whose advertised addresses can be reached from here, or map them: --resolve %s=HOST:PORT", f.n.addr), Err: f.err,
	}
}

func dialWords(err error) string {
	if p := plain(err); p != "" {
		return p
	}
	var ne net.Error
	if errors.As(err, &ne) && ne.Timeout() {
		return "no answer to the connection attempt: a firewall or a wrong network"
	}
	return "the address cannot be dialled"
}

// judge turns the first error into advice, with the help of a probe where the error does not speak for itself.
func (c *Client) judge(ctx context.Context, addr string, err error) *ContactError {
	e := &ContactError{Alias: c.alias, What: c.what(addr), Why: err.Error(), Err: err}
	if dialFailed(err) {
		e.Code, e.Why = Unreachable, err.Error()+" ("+dialWords(err)+")"
		e.Next = "check the bootstrap address, the network, and that the broker runs"
		var dns *net.DNSError
		if errors.As(err, &dns) {
			e.Next = "check the host name, or map it: --resolve " + addr + "=HOST:PORT"
		}
		return e
	}
	code := CodeOf(err)
	if code.Denied() {
		e.Code, e.Next = Denied, words[code].next
		return e
	}
	l := c.probe(ctx, addr)
	e.Listener = l.String()
	if code == kafka.SASLAuthenticationFailed {
		e.Code = AuthFailed
		e.Next = fmt.Sprintf("check user name and password of sasl.jaas.config for mechanism %s, and that the user exists on this cluster", c.mechanism())
		return e
	}
	if c.judgeTLS(e, l, err) {
		return e
	}
	c.judgeListener(e, l)
	return e
}

func (c *Client) mechanism() string {
	if c.cfg.SASL == nil {
		return "none"
	}
	return c.cfg.SASL.Name()
}

// judgeTLS knows the faults of certificates.
func (c *Client) judgeTLS(e *ContactError, l listener, err error) bool {
	var unknown x509.UnknownAuthorityError
	var host x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	switch {
	case errors.As(err, &unknown):
		e.Next = "name the CA that signed the broker's certificate: ssl.truststore.type=PEM and ssl.truststore.location"
	case errors.As(err, &host):
		e.Next = "use a name that stands in the certificate as bootstrap address (--resolve can map it), or, knowing the risk, set ssl.endpoint.identification.algorithm= (empty)"
	case errors.As(err, &invalid), errors.As(err, &verify):
		e.Next = "have the broker's certificate renewed or corrected"
	case strings.Contains(err.Error(), "remote error: tls"):
		e.Next = "the broker refuses our side of TLS"
		if l.asksCert {
			e.Next = "the listener wants a client certificate of a CA it trusts: ssl.keystore.type=PEM and ssl.keystore.location"
		}
	default:
		return false
	}
	e.Code = AuthFailed
	return true
}

// judgeListener compares what the listener is with what the configuration takes it for.
func (c *Client) judgeListener(e *ContactError, l listener) {
	wantTLS, wantSASL := c.cfg.TLS != nil, c.cfg.SASL != nil
	protocol := map[[2]bool]string{{false, false}: "PLAINTEXT", {true, false}: "SSL", {false, true}: "SASL_PLAINTEXT", {true, true}: "SASL_SSL"}
	e.Code = AuthFailed
	switch {
	case l.tls && !wantTLS && !l.controller && !l.http:
		e.Next = "the listener speaks TLS: set security.protocol=SSL (the configuration says " + protocol[[2]bool{wantTLS, wantSASL}] + ")"
		if l.sasl {
			e.Next = fmt.Sprintf("set security.protocol=SASL_SSL (the configuration says %s)", protocol[[2]bool{wantTLS, wantSASL}]) + c.saslHint(l)
		}
		if l.asksCert {
			e.Next += ", with a client certificate: ssl.keystore.type=PEM and ssl.keystore.location"
		}
	case !l.kafka || l.controller:
		e.Code = Unreachable
		switch {
		case l.controller:
			e.Next = "this is a KRaft controller: give the address of a broker listener"
		case l.http:
			e.Next = "this port speaks HTTP, not Kafka (Kafka Connect, Schema Registry, a proxy?): give the port of a broker"
		case l.silent:
			e.Next = "the port accepts and says nothing: check that it is a broker (a load balancer without a backend, an overloaded broker?)"
		case l.tls && l.asksCert:
			e.Code = AuthFailed
			e.Next = "the listener wants a client certificate of a CA it trusts: ssl.keystore.type=PEM and ssl.keystore.location"
		default:
			e.Next = "check that the address is a Kafka broker"
		}
	case l.tls != wantTLS || l.sasl != wantSASL:
		e.Next = fmt.Sprintf("set security.protocol=%s (the configuration says %s)", protocol[[2]bool{l.tls, l.sasl}], protocol[[2]bool{wantTLS, wantSASL}])
		e.Next += c.saslHint(l)
	case wantSASL && !contains(l.mechanisms, c.mechanism()):
		e.Next = fmt.Sprintf("set sasl.mechanism to one of %s (the configuration says %s)", strings.Join(l.mechanisms, ", "), c.mechanism())
	case wantSASL:
		e.Next = fmt.Sprintf("the listener fits the configuration, so the login itself failed: check user name and password for mechanism %s", c.mechanism())
	default:
		e.Code = Unreachable
		e.Next = "the listener fits the configuration: run again, and look at the broker's log if it happens again"
	}
}

func (c *Client) saslHint(l listener) string {
	if !l.sasl || c.cfg.SASL != nil {
		return ""
	}
	return fmt.Sprintf(", sasl.jaas.config and sasl.mechanism (one of %s)", strings.Join(l.mechanisms, ", "))
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if strings.EqualFold(x, s) {
			return true
		}
	}
	return false
}
