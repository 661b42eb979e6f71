package cmd

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

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
	o.ConnectConf = conf
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
