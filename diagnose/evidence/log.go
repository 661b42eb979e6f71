package evidence

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/bugs"
)

// Kinds of signs beside the ids of known bugs.
const (
	AclDenied       = "acl-denied"        // a right is missing; Group or Topic where the text names one
	GroupActive     = "group-active"      // the target refused a commit because the group has members there
	CommitRefused   = "commit-refused"    // the target refused a commit for another reason, which the text names
	StoreLoadFailed = "store-load-failed" // the checkpoint task did not load its offset syncs and says RUNNING
	TaskFailed      = "task-failed"       // a task ended with an exception
	SyncLost        = "sync-lost"         // an offset sync was not written, or was read and dropped
)

// mostSigns is how many different signs are kept; further ones are counted in Dropped.
const mostSigns = 500

// longestText is how much of a message is kept, in characters.
const longestText = 300

// Log is what one log file tells.
type Log struct {
	File    string
	Version string // of the newest start
	First   int64  // ms; times without a zone are taken as UTC
	Last    int64
	Lines   int64
	Flows   []string // every flow that the log names, sorted
	Signs   []Sign
	Dropped int64
}

// Sign is a sign with where it comes from, as far as the line tells; both may be empty.
type Sign struct {
	snapshot.LogSign
	Flow      string // "a->b"
	Connector string // its name
}

// Error is why a text could not be read as a log: what failed, why, and what to do.
type Error struct {
	File, Why, Next string
	Err             error
}

func (e *Error) Error() string {
	why := e.Why
	if e.Err != nil {
		why += " (" + e.Err.Error() + ")"
	}
	return fmt.Sprintf("%s: cannot be read as a log of MirrorMaker 2: %s; %s", e.File, why, e.Next)
}

func (e *Error) Unwrap() error { return e.Err }

const wantedLog = "give the log that connect-mirror-maker or the Connect worker writes (connect.log, or kubectl logs of its pod)"

var gzipMagic = []byte{0x1f, 0x8b}

// IsLog says whether a text begins like a log, packed or not. head is its beginning, some kilobytes.
func IsLog(head []byte) bool {
	if bytes.HasPrefix(head, gzipMagic) {
		z, err := gzip.NewReader(bytes.NewReader(head))
		if err != nil {
			return false
		}
		plain := make([]byte, 64<<10)
		n, _ := io.ReadFull(z, plain) // the head is cut, so it ends early
		head = plain[:n]
	}
	seen := 0
	for line := range strings.Lines(strings.ToValidUTF8(string(head), "\uFFFD")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, ok := parse(line); ok {
			return true
		}
		if seen++; seen >= 50 { // a script's words before the first line of the log
			return false
		}
	}
	return false
}

// ReadLog reads a log to its end, keeping only what tells something. name is for words alone. What is packed with gzip is
// unpacked.
func ReadLog(name string, in io.Reader) (*Log, error) {
	r := bufio.NewReader(in)
	var plain io.Reader = r
	if head, _ := r.Peek(2); bytes.Equal(head, gzipMagic) {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, &Error{name, "it begins like a gzip file and is none", "pack or copy it again", err}
		}
		plain = z
	}
	k := newKeeper()
	lines, err := readEvents(plain, k.see)
	switch {
	case err != nil:
		return nil, &Error{name, fmt.Sprintf("it is damaged after %d lines", lines), "copy it again, or unpack what can be unpacked and give that", err}
	case lines == 0:
		return nil, &Error{name, "it is empty", wantedLog, nil}
	case k.events == 0:
		return nil, &Error{name, "no line has a time and a level as log4j writes them", wantedLog, nil}
	case !k.connect:
		return nil, &Error{name, "it is a log, but nothing in it comes from Kafka Connect or MirrorMaker 2", wantedLog, nil}
	}
	return k.result(name, lines), nil
}

// keeper takes the signs out of a stream of events.
type keeper struct {
	out     Log
	events  int64
	connect bool // something of Connect or MirrorMaker 2 wrote a line
	flows   map[string]bool
	signs   map[signKey]*Sign
}

type signKey struct{ kind, group, topic, flow, connector, text string }

func newKeeper() *keeper { return &keeper{flows: map[string]bool{}, signs: map[signKey]*Sign{}} }

var (
	ours    = regexp.MustCompile(`org\.apache\.kafka\.connect\.|\bMirror(?:Maker|Source|Checkpoint|Heartbeat|Herder|Utils)|\bKafka MirrorMaker\b|\bconnect\.mirror\b`)
	started = regexp.MustCompile(`^(?:\[[^\]]*\] )?Kafka version ?: (\S+)$`)
	// flowOf finds the flow in client ids ("a->b|MirrorCheckpointConnector-0|…"), in Strimzi's names of connectors
	// ("a->b.MirrorSourceConnector"), and in MirrorMaker 2's own messages.
	flowOf = regexp.MustCompile(`([A-Za-z0-9._-]+)->([A-Za-z0-9._-]+?)(?:\||\.)Mirror(?:Source|Checkpoint|Heartbeat)|` +
		`(?:[Hh]erder for|leader for|follower for|configured for|groups for|consumer groups|topic-partitions) ([A-Za-z0-9._-]+)->([A-Za-z0-9._-]*[A-Za-z0-9_-])`)
	// contextOf is the connector's name as Connect puts it before the message: "[NAME|task-0] ".
	contextOf = regexp.MustCompile(`^\[([^\]|]+)\|(?:task-\d+|worker)(?:\|[^\]]*)?\] `)
)

func (k *keeper) see(e *event) {
	k.events++
	if e.at > 0 {
		if k.out.First == 0 || e.at < k.out.First {
			k.out.First = e.at
		}
		k.out.Last = max(k.out.Last, e.at)
	}
	k.connect = k.connect || ours.MatchString(e.logger) || ours.MatchString(e.message)
	if strings.HasSuffix(strings.TrimRight(e.message, " \t"), "values:") {
		return // a dump of settings, with what may be secret below it
	}
	message, connector := e.message, ""
	if m := contextOf.FindStringSubmatch(message); m != nil {
		message, connector = message[len(m[0]):], m[1]
	}
	if strings.Contains(message, "Kafka version") {
		if m := started.FindStringSubmatch(message); m != nil {
			k.out.Version = cut(m[1], 80)
			return
		}
	}
	flow := ""
	var m []string
	if strings.Contains(e.message, "->") { // flowOf tries each place of a line, which takes most of the time of a long log
		m = flowOf.FindStringSubmatch(e.message)
	}
	if m != nil {
		flow = m[1] + m[3] + "->" + m[2] + m[4]
		if len(k.flows) < 100 {
			k.flows[flow] = true
		}
	}
	k.classify(e, message, flow, connector)
}

// add keeps a sign.
func (k *keeper) add(e *event, s snapshot.LogSign, message, flow, connector string) {
	s.Text = shorten(message)
	key := signKey{s.Kind, s.Group, s.Topic, flow, connector, numbers.ReplaceAllString(s.Text, "N")}
	at := k.signs[key]
	if at == nil {
		if len(k.signs) >= mostSigns {
			k.out.Dropped++
			return
		}
		s.First = e.at
		at = &Sign{LogSign: s, Flow: flow, Connector: connector}
		k.signs[key] = at
	}
	at.Count++
	if e.at > 0 {
		if at.First == 0 || e.at < at.First {
			at.First = e.at
		}
		at.Last = max(at.Last, e.at)
	}
}

var numbers = regexp.MustCompile(`\d+`)

// secret finds values that must not leave the log: settings by name, and credentials in addresses.
var secret = regexp.MustCompile(`(?i)([\w.-]*(?:password|passwd|secret|token|credential|jaas\.config|api[._-]?key|private[._-]?key)[\w.-]*["']?\s*[=:]\s*)("[^"]*"|'[^']*'|[^\s,;)}\]]+)|(://)[^/\s@]+@|\b((?:Basic|Bearer)\s+)[\w+/=._-]{6,}`)

func redact(s string) string { return secret.ReplaceAllString(s, "$1$3$4[removed]") }

// shorten keeps the beginning of a message, without secrets and control characters.
func shorten(s string) string {
	s = redact(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == utf8.RuneError {
			return ' '
		}
		return r
	}, cut(s, 4*longestText)))
	if rs := []rune(s); len(rs) > longestText {
		s = string(rs[:longestText-1]) + "…"
	}
	return strings.ToValidUTF8(strings.TrimSpace(s), "")
}

func (k *keeper) result(name string, lines int64) *Log {
	out := k.out
	out.File, out.Lines = name, lines
	for f := range k.flows {
		out.Flows = append(out.Flows, f)
	}
	slices.Sort(out.Flows)
	for _, s := range k.signs {
		out.Signs = append(out.Signs, *s)
	}
	slices.SortFunc(out.Signs, compareSigns)
	return &out
}

func compareSigns(a, b Sign) int {
	return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Flow, b.Flow),
		cmp.Compare(a.Connector, b.Connector), cmp.Compare(a.First, b.First))
}

// Of gives what the logs say of a flow: connectors are the names of its connectors in Connect mode. A line that names neither flow
// nor a known connector counts where its file speaks of no other flow.
func Of(logs []*Log, flow string, connectors ...string) (snapshot.Log, bool) {
	out := snapshot.Log{Files: []string{}, Signs: []snapshot.LogSign{}}
	var newest int64
	for _, l := range logs {
		others := slices.ContainsFunc(l.Flows, func(f string) bool { return f != flow })
		named := slices.Contains(l.Flows, flow)
		used := named || !others
		for _, s := range l.Signs {
			mine := s.Flow == flow || s.Flow == "" && (s.Connector != "" && slices.Contains(connectors, s.Connector) || !others)
			if mine {
				used = true
				out.Signs = append(out.Signs, s.LogSign)
			}
		}
		if !used {
			continue
		}
		out.Files = append(out.Files, l.File)
		out.First, out.Last = earlier(out.First, l.First), max(out.Last, l.Last)
		if l.Version != "" && (out.Version == "" || l.Last >= newest) {
			out.Version, newest = l.Version, l.Last
		}
	}
	slices.SortFunc(out.Signs, func(a, b snapshot.LogSign) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Text, b.Text), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.First, b.First))
	})
	return out, len(out.Files) > 0
}

func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// bugsOf are the entries of the catalogue that the event proves.
func bugsOf(e *event) []string {
	var out []string
	for _, h := range bugs.MatchLog(e.text()) {
		if h.Shows() && !slices.Contains(out, h.ID) {
			out = append(out, h.ID)
		}
	}
	return out
}
