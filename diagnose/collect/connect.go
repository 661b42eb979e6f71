package collect

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// RESTTimeout ends one request to a Connect worker.
const RESTTimeout = 15 * time.Second

// Connect is a Connect cluster's REST interface: the addresses of one or several workers of it, tried in turn.
type Connect struct {
	URLs           []string
	User, Password string
	HTTP           *http.Client // nil: a client with RESTTimeout and the system's roots

	answers string // the URL that answered last; it is asked first, so that a worker that hangs costs its time once
}

// ConnectWorker is what the root of the interface tells.
type ConnectWorker struct {
	URL       string `json:"-"` // without credentials
	Version   string `json:"version"`
	ClusterID string `json:"kafka_cluster_id"` // of the cluster that the worker is attached to: MirrorMaker 2 wants the target
}

// MirrorConnector is one MirrorMaker 2 connector as the interface shows it. Properties hold secrets until SafeEntries.
type MirrorConnector struct {
	Name       string
	Class      string // short: MirrorSourceConnector, ...
	Properties map[string]string
	Status     []snapshot.TaskStatus
	Groups     []string // of all checkpoint tasks, sorted
	TaskCount  int
	Places     map[string]Place // of Properties, where a file holds them
	Managed    bool             // run by MSK Connect, which has no REST interface of Kafka's
}

// Source and Target are the aliases; MirrorMaker 2 falls back to "target" (KAFKA: default of target.cluster.alias).
func (m MirrorConnector) Source() string { return m.Properties["source.cluster.alias"] }

// Target gives the alias of the target.
func (m MirrorConnector) Target() string {
	return cmp.Or(m.Properties["target.cluster.alias"], "target")
}

// mostAnswer bounds one REST answer.
const mostAnswer = 64 << 20

// get reads one path from the first worker that answers. The error names every worker that did not, never credentials.
func (c *Connect) get(ctx context.Context, path string, into any) (string, error) {
	hc := c.HTTP
	if hc == nil {
		hc = &http.Client{Timeout: RESTTimeout}
	}
	var errs []error
	urls := slices.Clone(c.URLs)
	slices.SortStableFunc(urls, func(a, b string) int {
		switch c.answers {
		case a:
			return -1
		case b:
			return 1
		}
		return 0
	})
	for _, base := range urls {
		shown, err := c.getFrom(ctx, hc, base, path, into)
		if err == nil {
			c.answers = base
			return shown, nil
		}
		errs = append(errs, err)
	}
	return "", errors.Join(errs...)
}

func (c *Connect) getFrom(ctx context.Context, hc *http.Client, base, path string, into any) (shown string, err error) {
	u, err := url.Parse(strings.TrimRight(base, "/") + path)
	if err != nil {
		return "", fmt.Errorf("--connect-url: not a URL; write http://HOST:8083")
	}
	user, password := c.User, c.Password
	if u.User != nil {
		user = u.User.Username()
		password, _ = u.User.Password()
		u.User = nil
	}
	shown = u.Scheme + "://" + u.Host
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return "", fmt.Errorf("Connect at %s: %w; write http://HOST:8083", shown, err)
	}
	req.Header.Set("Accept", "application/json")
	if user != "" {
		req.SetBasicAuth(user, password)
	}
	resp, err := hc.Do(req)
	if err != nil {
		var ue *url.Error
		if errors.As(err, &ue) {
			err = ue.Err
		}
		return "", fmt.Errorf("Connect at %s: GET %s: %w; %s", shown, path, err, unreached(err))
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, mostAnswer+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("Connect at %s: GET %s: %w; %s", shown, path, err, unreached(err))
	case len(body) > mostAnswer:
		return "", fmt.Errorf("Connect at %s: GET %s: the answer is larger than %d bytes; is that the REST port?", shown, path, mostAnswer)
	case (resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden) && user != "":
		return "", fmt.Errorf("Connect at %s: GET %s: %s; the worker refuses user %s with the password of --connect-url: correct them, or give the user the right to read connectors", shown, path, resp.Status, user)
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return "", fmt.Errorf("Connect at %s: GET %s: %s; give user and password in the URL: http://USER:PASSWORD@HOST:8083", shown, path, resp.Status)
	case resp.StatusCode != http.StatusOK:
		return "", &httpError{resp.StatusCode, fmt.Sprintf("Connect at %s: GET %s: %s: %s; %s", shown, path, resp.Status, firstWords(body), refused(resp.StatusCode))}
	}
	if err := json.Unmarshal(body, into); err != nil {
		return "", fmt.Errorf("Connect at %s: GET %s: the answer is no JSON of Kafka Connect (%w); is that the REST port?", shown, path, err)
	}
	if string(bytes.TrimSpace(body)) == "null" {
		return "", fmt.Errorf("Connect at %s: GET %s: the answer is empty (null), which Kafka Connect never gives; is that the REST port?", shown, path)
	}
	return shown, nil
}

// unreached says what to do about a worker that gave no answer.
func unreached(err error) string {
	var cert *tls.CertificateVerificationError
	switch text := err.Error(); {
	case errors.As(err, &cert):
		return "name the CA's certificate in a file of client properties (ssl.truststore.type=PEM, ssl.truststore.location=FILE) and give it as --connect-config"
	case strings.Contains(text, "tls: certificate required"), strings.Contains(text, "tls: bad certificate"):
		return "the worker wants a client certificate: give one as ssl.keystore.type=PEM, ssl.keystore.location=FILE in --connect-config"
	case strings.Contains(text, "malformed HTTP response"), strings.Contains(text, "connection reset by peer"):
		return "if the port speaks TLS, write https://HOST:8443"
	case strings.Contains(text, "does not look like a TLS handshake"), strings.Contains(text, "server gave HTTP response to HTTPS client"):
		return "the port does not speak TLS: write http://HOST:8083"
	case errors.Is(err, context.DeadlineExceeded):
		return "the worker hangs, or is slow: look at its log, name another worker with --connect-url, or give it longer with --timeout"
	}
	return "check the address and that the worker runs"
}

// refused says what to do about an answer that is no success.
func refused(status int) string {
	switch {
	case status == http.StatusNotFound:
		return "check the address (is it the REST port of a Connect worker?); where connectors are being changed, ask again"
	case status >= 500:
		return "the worker is not ready, or its group rebalances: ask again in a minute, or name another worker with --connect-url"
	}
	return "check the address and the path before /connectors"
}

// httpError is an answer that is no success.
type httpError struct {
	status int
	text   string
}

func (e *httpError) Error() string { return e.text }

// firstWords gives the message of an error answer.
func firstWords(body []byte) string {
	var e struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(body, &e) == nil && e.Message != "" {
		return redact(e.Message)
	}
	return redact(strings.Join(strings.Fields(string(body[:min(len(body), 200)])), " "))
}

// Worker reads the root of the interface.
func (c *Connect) Worker(ctx context.Context) (ConnectWorker, error) {
	var w ConnectWorker
	shown, err := c.get(ctx, "/", &w)
	w.URL = shown
	if err == nil && w.Version == "" {
		err = fmt.Errorf("Connect at %s: GET /: the answer tells no version, as each Connect worker does; is that the REST port?", shown)
	}
	return w, err
}

// expanded is one entry of GET /connectors?expand=info&expand=status (Connect from 2.3 on).
type expanded struct {
	Info struct {
		Name   string            `json:"name"`
		Config map[string]string `json:"config"`
	} `json:"info"`
	Status struct {
		Connector restState   `json:"connector"`
		Tasks     []restState `json:"tasks"`
	} `json:"status"`
}

type restState struct {
	ID       int    `json:"id"`
	State    string `json:"state"`
	WorkerID string `json:"worker_id"`
	Trace    string `json:"trace"`
	Version  string `json:"version"` // from 4.1 on (KIP-891)
}

// restTask is one entry of GET /connectors/NAME/tasks.
type restTask struct {
	Config map[string]string `json:"config"`
}

// Connectors lists MirrorMaker 2's connectors with status, and the groups of checkpoint tasks. Times are not told by the
// interface.
func (c *Connect) Connectors(ctx context.Context) ([]MirrorConnector, error) {
	var all map[string]expanded
	if _, err := c.get(ctx, "/connectors?expand=info&expand=status", &all); err != nil {
		return nil, err
	}
	var out []MirrorConnector
	for name, e := range all {
		class := e.Info.Config["connector.class"]
		class = class[strings.LastIndexByte(class, '.')+1:]
		if !slices.Contains(connectorClasses, class) {
			continue
		}
		m := MirrorConnector{Name: name, Class: class, Properties: e.Info.Config, TaskCount: len(e.Status.Tasks)}
		m.Status = append(m.Status, status(class, -1, e.Status.Connector))
		for _, t := range e.Status.Tasks {
			m.Status = append(m.Status, status(class, t.ID, t))
		}
		if class == "MirrorCheckpointConnector" {
			var tasks []restTask
			if _, err := c.get(ctx, "/connectors/"+url.PathEscape(name)+"/tasks", &tasks); err != nil {
				return nil, err
			}
			m.TaskCount = len(tasks)
			for _, t := range tasks {
				for g := range strings.SplitSeq(t.Config["task.assigned.groups"], ",") {
					if g != "" {
						m.Groups = append(m.Groups, g)
					}
				}
			}
			slices.Sort(m.Groups)
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b MirrorConnector) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

func status(class string, task int, s restState) snapshot.TaskStatus {
	return snapshot.TaskStatus{Connector: class, Task: task, State: s.State, Worker: s.WorkerID, Version: s.Version, Trace: shortTrace(s.Trace)}
}

// ConnectFlow puts the connectors of one flow together; what the two must agree on is judged later.
func ConnectFlow(source, target string, ms []MirrorConnector, v mm2.Version) snapshot.Flow {
	var cs snapshot.Connectors
	var tasks []snapshot.TaskStatus
	assigned := snapshot.NotKnown[snapshot.Assigned](&snapshot.Gap{Code: "absent", Why: "the Connect cluster has no MirrorCheckpointConnector for " + source + "->" + target})
	props := map[string]string{}
	var names [2]string
	managed := false
	for _, m := range ms {
		if m.Source() != source || m.Target() != target {
			continue
		}
		cs.Enabled = true
		tasks = append(tasks, m.Status...)
		managed = managed || m.Managed
		es := m.placed(SafeEntries(m.Class, m.Properties, v))
		switch m.Class {
		case "MirrorSourceConnector":
			cs.Source = es
			names[0] = m.Name
			if len(cs.Checkpoint) == 0 {
				props = m.Properties
			}
		case "MirrorCheckpointConnector":
			cs.Checkpoint = es
			props = m.Properties
			names[1] = m.Name
			assigned = snapshot.Is(snapshot.Assigned{Groups: append([]string{}, m.Groups...), Tasks: m.TaskCount})
		default:
			cs.Heartbeat = es
		}
	}
	s := FlowSettings{Source: source, Target: target, PolicyClass: props["replication.policy.class"], Location: props["offset-syncs.topic.location"], Version: v}
	s.Separator, s.SeparatorSet = props["replication.policy.separator"]
	s.InternalSeparatorEnabled = true
	if b, err := strconv.ParseBool(props["replication.policy.internal.topic.separator.enabled"]); err == nil {
		s.InternalSeparatorEnabled = b
	}
	f := NewFlow(s)
	f.Mode = "connect"
	if managed {
		f.Mode = "msk-connect"
	}
	f.SourceConnector, f.CheckpointConnector = names[0], names[1]
	f.Running, f.Tasks, f.Assigned = snapshot.Is(cs), snapshot.Is(tasks), assigned
	f.Principal = principalsOf(props)
	return f
}

// notTold is why a Connect worker's answer lacks times.
var notTold = &snapshot.Gap{Code: "not-asked", API: "Connect REST", Why: "Kafka Connect's REST interface does not tell when tasks started"}

// readConnect asks the Connect cluster again for the flow's connectors: each look has its own answer.
func (c *collector) readConnect(ctx context.Context, f *snapshot.Flow) {
	f.CheckpointStarts = snapshot.NotKnown[[]int64](notTold)
	c.restPositions(ctx, f)
	ms, err := c.Connect.Connectors(ctx)
	if err != nil {
		g := &snapshot.Gap{Code: "failed", API: "Connect REST", Why: err.Error()}
		f.Running, f.Assigned, f.Tasks = snapshot.NotKnown[snapshot.Connectors](g), snapshot.NotKnown[snapshot.Assigned](g), snapshot.NotKnown[[]snapshot.TaskStatus](g)
		return
	}
	v := mm2.ReleaseOf(c.MM2Version)
	n := ConnectFlow(f.Source, f.Target, ms, v)
	f.Running, f.Assigned, f.Tasks = n.Running, n.Assigned, n.Tasks
}
