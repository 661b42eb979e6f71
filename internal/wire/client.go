// Package wire is the doctor's connection to one Kafka cluster: it sends messages of every protocol version, finds and
// retries leaders and coordinators, and reads record batches.
//
// What may enter: requests and answers as values of internal/kafka. kafka-go's Transport dials, secures, authenticates and
// pools; messages of kmsg travel through it. No MirrorMaker 2, no judgement. A read that failed is an error of exactly the
// entries it would have answered, never an empty result, and unknown is never zero. The zero Guard refuses every request that
// writes.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl"
)

// Config says how to reach a cluster.
type Config struct {
	Bootstrap []string          // HOST:PORT, tried in order
	TLS       *tls.Config       // nil: no TLS; an empty ServerName is filled in per broker
	SASL      sasl.Mechanism    // nil: no SASL
	ClientID  string            // default mm2doctor
	Resolve   map[string]string // advertised HOST:PORT → HOST:PORT to dial instead; TLS still checks the advertised name
	Timeout   time.Duration     // no progress for this long ends a request; default 60s
	Guard     Guard             // the zero Guard is ReadOnly()
	Recorder  func(Sent)        // told of every message before it is sent; may be called from several goroutines
	Log       func(string)      // told of retries; may be nil
	Alias     string            // names the cluster in error texts
}

// Sent is one message on its way: API key, version, the broker's id (-1 before metadata told it) and address.
type Sent struct {
	Key, Version int16
	Broker       int32
	Addr         string
}

const (
	defaultTimeout = 60 * time.Second
	// A broker's death is noticed after broker.session.timeout.ms (9s by default): trying for a little longer bridges it.
	defaultPatience = 15 * time.Second
	// Metadata of a new topic spreads within moments; after that an unknown topic is unknown.
	defaultUnknownFor = 2 * time.Second
	maxDial           = 15 * time.Second
)

// node is one broker: id is -1 while only its bootstrap address is known.
type node struct {
	id   int32
	addr string
}

// Client speaks to one cluster. It is safe for concurrent use.
type Client struct {
	cfg        Config
	alias      string
	timeout    time.Duration
	patience   time.Duration
	unknownFor time.Duration
	transport  *kafkago.Transport

	mu       sync.Mutex
	closed   bool
	home     string                        // the bootstrap address that answered
	versions map[string]map[int16][2]int16 // by address
	brokers  map[int32]string              // id → advertised address, of the newest metadata
	leaders  map[kafka.TopicPartition]int32
	coords   map[string]int32
	internal map[string]bool      // internal topics that are known to exist
	epochs   map[sharePart]int32  // leader epochs of share partitions, as read
	failing  map[string]time.Time // address → first failure since it last answered
}

// Open checks the configuration; nothing is dialled yet.
func Open(cfg Config) (*Client, error) {
	c := &Client{
		cfg: cfg, alias: cfg.Alias, timeout: cfg.Timeout, unknownFor: defaultUnknownFor,
		versions: map[string]map[int16][2]int16{}, brokers: map[int32]string{},
		leaders: map[kafka.TopicPartition]int32{}, coords: map[string]int32{}, internal: map[string]bool{}, epochs: map[sharePart]int32{},
	}
	if c.cfg.ClientID == "" {
		c.cfg.ClientID = "mm2doctor"
	}
	if c.timeout <= 0 {
		c.timeout = defaultTimeout
	}
	c.patience = min(c.timeout, defaultPatience)
	boots := slices.Clone(cfg.Bootstrap)
	if len(boots) == 0 {
		return nil, &Error{Alias: c.alias, API: "bootstrap", Broker: -1, Err: errors.New("no bootstrap address"), Hint: "give one as HOST:PORT"}
	}
	for i, b := range boots {
		b = strings.TrimSpace(b)
		if _, scheme, ok := cutScheme(b); ok {
			return nil, &Error{Alias: c.alias, API: "bootstrap", Broker: -1, Err: fmt.Errorf("%q starts with %s://", b, scheme), Hint: "give HOST:PORT alone; encryption and login are set by security.protocol"}
		}
		host, port, err := net.SplitHostPort(b)
		if err != nil || host == "" || port == "" {
			return nil, &Error{Alias: c.alias, API: "bootstrap", Broker: -1, Err: fmt.Errorf("%q is not HOST:PORT", b), Hint: "give host and port, for example kafka-1.example.com:9092 or [::1]:9092"}
		}
		boots[i] = b
	}
	c.cfg.Bootstrap, c.home = boots, boots[0]
	c.transport = &kafkago.Transport{
		Dial: c.dial, DialTimeout: min(c.timeout, maxDial), ClientID: c.cfg.ClientID, TLS: cfg.TLS, SASL: cfg.SASL,
		// The transport's own metadata is not used: no topics, and no periodic logins.
		MetadataTopics: []string{}, MetadataTTL: time.Hour,
	}
	return c, nil
}

func cutScheme(s string) (rest, scheme string, ok bool) {
	scheme, rest, ok = strings.Cut(s, "://")
	return rest, scheme, ok
}

// Close ends all idle connections.
func (c *Client) Close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.transport.CloseIdleConnections()
}

// resolve gives the address to dial for an advertised one.
func (c *Client) resolve(addr string) string {
	if to, ok := c.cfg.Resolve[addr]; ok {
		return to
	}
	return addr
}

func (c *Client) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: min(c.timeout, maxDial)}
	return d.DialContext(ctx, network, c.resolve(addr))
}

func (c *Client) logf(format string, args ...any) {
	if c.cfg.Log != nil {
		c.cfg.Log(fmt.Sprintf(format, args...))
	}
}

// anyNode gives a broker for a request that every broker answers: the one that answered first, then the others in turn.
func (c *Client) anyNode(try int) node {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []node{{-1, c.home}}
	for _, b := range c.cfg.Bootstrap {
		if b != c.home {
			all = append(all, node{-1, b})
		}
	}
	ids := make([]int32, 0, len(c.brokers))
	for id := range c.brokers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		if !slices.ContainsFunc(all, func(n node) bool { return n.addr == c.brokers[id] }) {
			all = append(all, node{id, c.brokers[id]})
		}
	}
	return all[try%len(all)]
}

// nodeOf gives the broker of an id; ok is false when the newest metadata does not name it.
func (c *Client) nodeOf(id int32) (node, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a, ok := c.brokers[id]
	return node{id, a}, ok
}
