package cmd

import (
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/collect"
)

// TestConnectTLS: the CA of --connect-config is trusted, and without it the error says how to give it.
func TestConnectTLS(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, ok := r.BasicAuth(); !ok || u != "me" || p != "pw" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Write([]byte(`{"version":"3.9.1","kafka_cluster_id":"b"}`))
	}))
	defer srv.Close()

	dir := t.TempDir()
	ca, conf := filepath.Join(dir, "ca.pem"), filepath.Join(dir, "connect.properties")
	write := func(file, text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(ca, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})))
	urls := []string{"https://me:pw@" + strings.TrimPrefix(srv.URL, "https://")}

	write(conf, "ssl.truststore.type=PEM\nssl.truststore.location="+ca+"\n")
	o := &diagnoseOptions{}
	o.ConnectConf, o.Timeout = conf, time.Minute
	hc, err := o.connectHTTP()
	if err != nil {
		t.Fatal(err)
	}
	w, err := (&collect.Connect{URLs: append([]string{"https://127.0.0.1:1"}, urls...), HTTP: hc}).Worker(t.Context())
	if err != nil || w.Version != "3.9.1" || w.URL != srv.URL {
		t.Errorf("%+v, %v", w, err)
	}
	if _, err := (&collect.Connect{URLs: urls}).Worker(t.Context()); err == nil || !strings.Contains(err.Error(), "--connect-config") || strings.Contains(err.Error(), "pw") {
		t.Errorf("without the CA: %v", err)
	}
	write(conf, "ssl.truststore.location=/nowhere/ca.jks\n")
	if _, err := o.connectHTTP(); err == nil || !strings.Contains(err.Error(), "--connect-config") {
		t.Errorf("a Java key store: %v", err)
	}
}

// TestConnectHangs: a worker that hangs costs --timeout once, however many questions follow.
func TestConnectHangs(t *testing.T) {
	stop := make(chan struct{})
	hangs := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-stop }))
	defer hangs.Close()
	defer close(stop)
	works := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			w.Write([]byte(`{"version":"3.9.1","kafka_cluster_id":"b"}`))
			return
		}
		w.Write([]byte(`{}`))
	}))
	defer works.Close()
	o := &diagnoseOptions{}
	o.Timeout, o.ConnectURL = 300*time.Millisecond, []string{hangs.URL, works.URL}
	hc, err := o.connectHTTP()
	if err != nil {
		t.Fatal(err)
	}
	c := &collect.Connect{URLs: o.ConnectURL, HTTP: hc}
	begin := time.Now()
	for range 6 {
		if _, err := c.Worker(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Connectors(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if d := time.Since(begin); d > 4*o.Timeout {
		t.Errorf("12 questions took %s with a patience of %s", d, o.Timeout)
	}
}

// TestConnectAnswers: what is no answer of a Connect worker is an error that says what to do, never "no connectors".
func TestConnectAnswers(t *testing.T) {
	root := `{"version":"3.9.1","kafka_cluster_id":"b"}`
	for _, tt := range []struct {
		name, root, connectors string
		status                 int
		user                   string
		want                   string // what to do
	}{
		{"null for all", "null", "null", 200, "", "is that the REST port?"},
		{"an empty object at the root", "{}", "{}", 200, "", "is that the REST port?"},
		{"null for the connectors", root, "null", 200, "", "is that the REST port?"},
		{"HTML", "<html>", "<html>", 200, "", "is that the REST port?"},
		{"half an answer", root, `{"a":{"info"`, 200, "", "is that the REST port?"},
		{"a rebalance", `{"message":"Request timed out"}`, "", 500, "", "ask again"},
		{"not found", "{}", "", 404, "", "check the address"},
		{"no login", "{}", "", 401, "", "USER:PASSWORD@"},
		{"a wrong login", "{}", "", 401, "me:geheim@", "refuses user me"},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(tt.status)
			if r.URL.Path == "/" {
				w.Write([]byte(tt.root))
				return
			}
			w.Write([]byte(tt.connectors))
		}))
		c := &collect.Connect{URLs: []string{strings.Replace(srv.URL, "http://", "http://"+tt.user, 1)}}
		_, err := c.Worker(t.Context())
		if err == nil {
			_, err = c.Connectors(t.Context())
		}
		srv.Close()
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "geheim") {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// TestConnectURL: what is no address is bad usage.
func TestConnectURL(t *testing.T) {
	for _, u := range []string{"", "127.0.0.1:8083", "connect:8083", "foo://127.0.0.1:8083", "http://", "http://%zz"} {
		if exit, _, errs := run("diagnose", "--connect-url", u); exit != exitUsage || !strings.Contains(errs, "write http://HOST:8083") {
			t.Errorf("%q: exit %d, %s", u, exit, errs)
		}
	}
}

// TestScopeOfABundle: a flow that the snapshot lacks and a pattern that is none are said, as they are for live clusters.
func TestScopeOfABundle(t *testing.T) {
	bundle := filepath.Join("..", "fixtures", "codes", "MM2D-302", "near.json")
	for _, tt := range []struct {
		args []string
		exit int
		want string
	}{
		{[]string{"--flow", "a:b"}, exitOK, "HEALTHY"},
		{[]string{"--flow", "x:y"}, exitFinding, "holds no flow x->y; it holds a->b"},
		{[]string{"--flow", "x:y", "--flow", "a:b"}, exitFinding, "holds no flow x->y; it holds a->b"},
		{[]string{"--group", "/(/"}, exitUsage, "--group: "},
		{[]string{"--topic", "/(/"}, exitUsage, "--topic: "},
		{[]string{"--group", ""}, exitUsage, "matches nothing"},
	} {
		exit, out, errs := run(append([]string{"diagnose", bundle}, tt.args...)...)
		if text := strings.Join(strings.Fields(out+errs), " "); exit != tt.exit || !strings.Contains(text, tt.want) {
			t.Errorf("%q: exit %d, %s", tt.args, exit, text)
		}
	}
}

// TestConnectRemarks: connectors that a Connect cluster holds are judged as their JSON would be; the place is the connector.
func TestConnectRemarks(t *testing.T) {
	ms := []collect.MirrorConnector{{Name: "cp", Class: "MirrorCheckpointConnector", Properties: map[string]string{
		"connector.class": "org.apache.kafka.connect.mirror.MirrorCheckpointConnector", "source.cluster.alias": "a", "target.cluster.alias": "b",
		"source.cluster.bootstrap.servers": "a:9092", "target.cluster.bootstrap.servers": "b:9092", "groups": ".*", "sync.group.offset.enabled": "true",
		"source.cluster.sasl.jaas.config": `org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="geheim";`}}}
	got := connectorRemarks(ms, collect.ConnectWorker{Version: "3.9.1"}, &loaded{}).Or(nil)
	found := false
	for _, r := range got {
		found = found || r.Slug == "misspelt-key" && r.Connector == "cp" && r.File == "" && r.Line == 0 && r.Setting == "sync.group.offsets.enabled" && r.Flow == "a->b"
		if text := fmt.Sprint(r); strings.Contains(text, "geheim") || strings.Contains(text, "jaas") {
			t.Errorf("a secret: %s", text)
		}
	}
	if !found {
		t.Errorf("%+v", got)
	}
}
