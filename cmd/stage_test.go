package cmd

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/mm2doctor/mm2doctor/fixtures/demo"
)

// stage is what one script has running.
type stage struct {
	ctx     context.Context
	pair    *demo.Pair
	brokers []*kfake.Cluster
	proxies map[string]*proxy
}

type stageKey struct{}

func stageOf(ts *testscript.TestScript) *stage { return ts.Value(stageKey{}).(*stage) }

func (s *stage) close() {
	for _, p := range s.proxies {
		p.die()
	}
	for _, b := range s.brokers {
		b.Close()
	}
	if s.pair != nil {
		s.pair.Close()
	}
}

func pair(ts *testscript.TestScript, _ bool, args []string) {
	s := stageOf(ts)
	p, err := demo.Start(s.ctx, args[0], slices.Contains(args, "fixed"))
	ts.Check(err)
	s.pair = p
	b, err := os.ReadFile(p.Properties)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("mm2.properties"), b, 0o600))
	ts.Setenv("A", p.SourceAddrs[0])
	ts.Setenv("B", p.TargetAddrs[0])
}

func stop(ts *testscript.TestScript, _ bool, _ []string) {
	s := stageOf(ts)
	s.pair.Close()
	s.pair = nil
}

func broker(ts *testscript.TestScript, _ bool, args []string) {
	opts := []kfake.Opt{kfake.NumBrokers(1), kfake.ClusterID(args[0])}
	switch args[1] {
	case "tls":
		// The certificate of httptest: self-signed, for 127.0.0.1 among others.
		h := httptest.NewUnstartedServer(nil)
		h.StartTLS()
		defer h.Close()
		opts = append(opts, kfake.TLS(&tls.Config{Certificates: h.TLS.Certificates}))
	case "sasl":
		opts = append(opts, kfake.EnableSASL(), kfake.Superuser("PLAIN", "doctor", "right"))
	default:
		ts.Fatalf("usage: broker NAME tls|sasl")
	}
	k, err := kfake.NewCluster(opts...)
	ts.Check(err)
	s := stageOf(ts)
	s.brokers = append(s.brokers, k)
	ts.Setenv(args[0], k.ListenAddrs()[0])
}

func proxied(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) != 5 {
		ts.Fatalf("usage: proxy NAME ADDR KEY N die|hang")
	}
	key, err1 := strconv.Atoi(args[2])
	n, err2 := strconv.Atoi(args[3])
	ts.Check(errors.Join(err1, err2))
	p, err := newProxy(args[1], int16(key), n, args[4] == "die")
	ts.Check(err)
	stageOf(ts).proxies[args[0]] = p
	ts.Setenv(args[0], p.addr())
}

func interrupted(ts *testscript.TestScript, _ bool, args []string) {
	p := stageOf(ts).proxies[args[0]]
	path, err := exec.LookPath("mm2doctor")
	ts.Check(err)
	var out, errs bytes.Buffer
	c := exec.Command(path, args[1:]...)
	c.Dir, c.Stdout, c.Stderr = ts.MkAbs("."), &out, &errs
	ts.Check(c.Start())
	select {
	case <-p.reached:
	case <-time.After(20 * time.Second):
		c.Process.Kill()
		ts.Fatalf("the proxy was never reached\n%s", errs.String())
	}
	at := time.Now()
	ts.Check(c.Process.Signal(syscall.SIGINT))
	_ = c.Wait()
	if took := time.Since(at); took > 5*time.Second {
		ts.Fatalf("ended %v after the interrupt", took)
	}
	if got := c.ProcessState.ExitCode(); got != exitInterrupted || out.Len() > 0 || !strings.Contains(errs.String(), "interrupted") {
		ts.Fatalf("exit %d\n%s\n%s", got, out.String(), errs.String())
	}
}

// proxy passes requests on until one with a key was seen n times; then it closes everything, or lets all wait.
type proxy struct {
	to      string
	key     int16
	kill    bool
	l       net.Listener
	reached chan struct{} // closed at the nth request

	mu    sync.Mutex
	left  int
	seen  map[int16]int // requests by API key
	conns []net.Conn
}

func newProxy(to string, key int16, n int, kill bool) (*proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{to: to, key: key, left: n, kill: kill, l: l, seen: map[int16]int{}, reached: make(chan struct{})}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(in)
		}
	}()
	return p, nil
}

func (p *proxy) addr() string { return p.l.Addr().String() }

func (p *proxy) serve(in net.Conn) {
	defer in.Close()
	out, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer out.Close()
	p.mu.Lock()
	p.conns = append(p.conns, in, out)
	p.mu.Unlock()
	go func() { io.Copy(in, out); in.Close() }()
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		switch key := int16(binary.BigEndian.Uint16(frame)); {
		case !p.over(key):
			out.Write(append(size[:], frame...))
		case p.kill:
			p.die()
			return
		}
	}
}

// over counts a request and says whether the end has come.
func (p *proxy) over(key int16) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[key]++
	if key == p.key && p.left > 0 {
		if p.left--; p.left == 0 {
			close(p.reached)
		}
	}
	return p.left == 0
}

func (p *proxy) die() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.l.Close()
	for _, c := range p.conns {
		c.Close()
	}
}
