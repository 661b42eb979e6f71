package wire

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// message carries one kmsg request through kafka-go's Transport by protocol.RawExchanger: the transport gives it an
// authenticated connection, neither kafka-go's registry nor its codec is touched.
type message struct {
	ctx      context.Context
	req      kmsg.Request
	resp     kmsg.Response // nil: leave the body undecoded
	client   string
	raw      []byte
	progress func()
	begun    atomic.Bool // something of the request may have left
}

const (
	correlation = 0x6d6d3264
	maxAnswer   = 512 << 20
	readStep    = 256 << 10
)

func (m *message) ApiKey() protocol.ApiKey                 { return protocol.ApiKey(m.req.Key()) }
func (m *message) Required(map[protocol.ApiKey]int16) bool { return true }

// Broker routes to the address that the pool was made for.
func (m *message) Broker(protocol.Cluster) (protocol.Broker, error) {
	return protocol.Broker{ID: -1}, nil
}

func (m *message) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	m.progress()                    // the connection stands
	if c, ok := rw.(net.Conn); ok { // a cancelled context frees the connection at once
		stop := context.AfterFunc(m.ctx, func() { c.SetDeadline(time.Unix(1, 0)) })
		defer stop()
	}
	m.begun.Store(true)
	f := kmsg.NewRequestFormatter(kmsg.FormatterClientID(m.client))
	if _, err := rw.Write(f.AppendRequest(nil, m.req, correlation)); err != nil {
		return nil, err
	}
	var h [8]byte
	if _, err := io.ReadFull(rw, h[:]); err != nil {
		return nil, err
	}
	n := int(int32(binary.BigEndian.Uint32(h[:4]))) - 4
	if n < 0 || n > maxAnswer {
		return nil, fmt.Errorf("an answer of %d bytes is outside 0..%d", n, maxAnswer)
	}
	if binary.BigEndian.Uint32(h[4:]) != correlation {
		return nil, errors.New("the answer belongs to another request")
	}
	body, err := m.read(rw, n)
	if err != nil {
		return nil, err
	}
	// ApiVersions answers with header version 0 always (KIP-511); every other flexible answer has tags in its header.
	if m.req.IsFlexible() && m.req.Key() != 18 {
		if body, err = skipTags(body); err != nil {
			return nil, err
		}
	}
	m.raw = body
	if m.resp == nil {
		return m, nil
	}
	m.resp.SetVersion(m.req.GetVersion())
	return m, m.resp.ReadFrom(body)
}

// read takes n bytes in steps, so that a size that nothing follows costs no memory and a slow answer counts as progress.
func (m *message) read(r io.Reader, n int) ([]byte, error) {
	b := m.raw[:0]
	for len(b) < n {
		step := min(n-len(b), readStep)
		if cap(b)-len(b) < step {
			nb := make([]byte, len(b), min(n, max(2*cap(b), len(b)+step)))
			copy(nb, b)
			b = nb
		}
		at := len(b)
		b = b[:at+step]
		if _, err := io.ReadFull(r, b[at:]); err != nil {
			return nil, err
		}
		m.progress()
	}
	return b, nil
}

func skipTags(b []byte) ([]byte, error) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			b = nil
			return 0
		}
		b = b[n:]
		return v
	}
	for t := next(); t > 0; t-- {
		next()
		size := next()
		if size > uint64(len(b)) || b == nil {
			return nil, io.ErrUnexpectedEOF
		}
		b = b[size:]
	}
	if b == nil {
		return nil, io.ErrUnexpectedEOF
	}
	return b, nil
}

// send is the one place from which messages of the doctor leave: guard and recorder stand here.
// buf is reused for the body where it is large enough; after an error it must not be used again.
func (c *Client) send(ctx context.Context, n node, req kmsg.Request, resp kmsg.Response, buf []byte) ([]byte, error) {
	if err := c.admit(n, req); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	limit := c.quietLimit(n.addr)
	quiet := time.AfterFunc(limit, func() { cancel(errNoProgress) })
	defer quiet.Stop()
	m := &message{ctx: ctx, req: req, resp: resp, client: c.cfg.ClientID, raw: buf, progress: func() { quiet.Reset(limit) }}
	r, err := c.transport.RoundTrip(ctx, kafkago.TCP(n.addr), m)
	c.heard(n.addr, err)
	if err != nil {
		if cause := context.Cause(ctx); cause != nil {
			err = cause
		}
		if writes(req) && m.begun.Load() {
			err = unanswered{err}
		}
		return nil, err
	}
	return r.(*message).raw, nil
}

// unanswered is a writing request that left, or began to, and whose answer did not come: whether it was done is not known.
type unanswered struct{ error }

func (u unanswered) Unwrap() error { return u.error }

func (c *Client) admit(n node, req kmsg.Request) error {
	if err := c.cfg.Guard.check(req, c); err != nil {
		return err
	}
	if c.cfg.Recorder != nil {
		c.cfg.Recorder(Sent{Key: req.Key(), Version: req.GetVersion(), Broker: n.id, Addr: n.addr})
	}
	return nil
}

// ask negotiates the version of req with the broker, within the doctor's own range for the API, and sends it.
func (c *Client) ask(ctx context.Context, n node, req kmsg.Request) (kmsg.Response, error) {
	s := spanOf(req.Key())
	return c.askWithin(ctx, n, req, s.lo, s.hi)
}

func (c *Client) askWithin(ctx context.Context, n node, req kmsg.Request, lo, hi int16) (kmsg.Response, error) {
	if err := c.negotiate(ctx, n, req, lo, hi); err != nil {
		return nil, err
	}
	resp := req.ResponseKind()
	_, err := c.send(ctx, n, req, resp, nil)
	return resp, err
}
