package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	kafkago "github.com/segmentio/kafka-go"
)

// Error is a request that failed, or one entry of an answer that the broker refused.
type Error struct {
	Alias  string          // cluster
	API    string          // Kafka's name of the request
	Entry  string          // topic, partition or group that the answer was about; empty for the whole request
	Broker int32           // -1 where any broker was asked
	Code   kafka.ErrorCode // 0 when the fault is not a broker's answer
	Err    error           // the fault when Code is 0, or the broker's own text
	Hint   string          // what to do next
	Doubt  bool            // of a write: the broker may have done it all the same
}

var errNoProgress = errors.New("no progress within the timeout")

func (e *Error) Error() string {
	var b strings.Builder
	if e.Alias != "" {
		fmt.Fprintf(&b, "cluster %s: ", e.Alias)
	}
	b.WriteString(e.API)
	if e.Entry != "" {
		b.WriteString(" of " + e.Entry)
	}
	if e.Broker >= 0 {
		fmt.Fprintf(&b, " on broker %d", e.Broker)
	}
	b.WriteString(" failed: ")
	b.WriteString(e.Why())
	if e.Doubt {
		b.WriteString("; it may have been written all the same: read the group before going on")
	}
	if n := e.Next(); n != "" {
		b.WriteString("; " + n)
	}
	return b.String()
}

// Why gives the broker's words and plain words.
func (e *Error) Why() string {
	if e.Code == 0 {
		if e.Err == nil {
			return "unknown fault"
		}
		if p := plain(e.Err); p != "" {
			return e.Err.Error() + " (" + p + ")"
		}
		return e.Err.Error()
	}
	s := e.Code.Name()
	if w, ok := words[e.Code]; ok {
		s += " (" + w.why + ")"
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Next says what to do; empty where nothing is known to help.
func (e *Error) Next() string {
	if e.Hint != "" {
		return e.Hint
	}
	if w, ok := words[e.Code]; ok && e.Code != 0 {
		return w.next
	}
	switch {
	case errors.Is(e.Err, errNoProgress):
		return "raise --timeout, or look whether the broker is overloaded"
	case e.Broker >= 0 && dialFailed(e.Err):
		return fmt.Sprintf("make the address that broker %d advertises reachable from here, or map it with --resolve", e.Broker)
	case e.Err != nil && passing(e.Err):
		return "run again when the broker is back"
	}
	return ""
}

func (e *Error) Unwrap() []error {
	var out []error
	if e.Code != 0 {
		out = append(out, e.Code)
	}
	if e.Err != nil {
		out = append(out, e.Err)
	}
	return out
}

var words = map[kafka.ErrorCode]struct{ why, next string }{
	kafka.OffsetOutOfRange:           {"the offset is not in the log", "the log was truncated, or retention removed the records: read again"},
	kafka.UnknownTopicOrPartition:    {"the broker knows no such topic or partition", "check the name; a topic just created needs a moment"},
	kafka.LeaderNotAvailable:         {"the partition has no leader", "bring its replicas back"},
	kafka.NotLeaderOrFollower:        {"the leader moves", "run again in a moment"},
	kafka.CoordinatorLoadInProgress:  {"the group coordinator still loads its offsets", "run again in a moment"},
	kafka.CoordinatorNotAvailable:    {"the group has no coordinator", "look at the partitions of __consumer_offsets: one without a leader blocks its groups"},
	kafka.NotCoordinator:             {"the group's coordinator moves", "run again in a moment"},
	kafka.TopicAuthorizationFailed:   {"an ACL forbids it, or hides that the topic does not exist", "grant Describe (and Read for records, DescribeConfigs for settings) on the topic"},
	kafka.GroupAuthorizationFailed:   {"an ACL forbids it", "grant Describe on the group"},
	kafka.ClusterAuthorizationFailed: {"an ACL forbids it", "grant Describe on the cluster"},
	kafka.UnsupportedVersion:         {"the broker is too old for this question, or has the feature off", ""},
	kafka.SASLAuthenticationFailed:   {"the broker refuses the credentials", "check user name and password of sasl.jaas.config"},
	kafka.UnsupportedSASLMechanism:   {"the listener does not offer the mechanism", "set sasl.mechanism to one that it offers"},
	kafka.IllegalSASLState:           {"the listener expects no SASL login", "use security.protocol=PLAINTEXT or SSL, or another listener"},
	kafka.GroupIDNotFound:            {"there is no such group of this type", ""},
	kafka.OffsetMetadataTooLarge:     {"the metadata of the commit is longer than offset.metadata.max.bytes", "shorten it"},
	kafka.InvalidGroupID:             {"the broker takes no such group id", ""},
	kafka.IllegalGeneration:          {"the group is of another generation", "look whether it has members"},
	kafka.UnknownMemberID:            {"the group has members: only they may commit for it", "stop its consumers, wait until the group is Empty, and run again"},
	kafka.RebalanceInProgress:        {"the group has members that come or go", "stop its consumers, wait until the group is Empty, and run again"},
	kafka.InvalidCommitOffsetSize:    {"the commit is larger than one record of " + offsetsTopic + " may be", "commit fewer partitions at once, or shorter metadata"},
	kafka.NonEmptyGroup:              {"the group has members", "stop its consumers, wait until the group is Empty, and run again"},
	kafka.FencedLeaderEpoch:          {"the leader epoch is older than the broker's", ""},
	kafka.GroupSubscribedToTopic:     {"the group's members read the topic", "stop its consumers, wait until the group is Empty, and run again"},
	kafka.UnstableOffsetCommit:       {"a transaction that commits the group's offsets is open", "run again in a moment"},
	kafka.StaleMemberEpoch:           {"the group has members: only they may commit for it", "stop its consumers, wait until the group is Empty, and run again"},
}

// InDoubt says of a failed write that the broker may have done it all the same: the request left and no answer came, or the
// broker's own store did not answer in time.
func InDoubt(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Doubt
}

// CodeOf gives the broker's code inside err; 0 when the fault is not a broker's answer.
func CodeOf(err error) kafka.ErrorCode {
	var e *Error
	if errors.As(err, &e) && e.Code != 0 {
		return e.Code
	}
	var k kafka.ErrorCode
	if errors.As(err, &k) {
		return k
	}
	var g kafkago.Error
	if errors.As(err, &g) {
		return kafka.ErrorCode(g)
	}
	return 0
}

// fail makes an *Error of what went wrong with one request; an *Error stays as it is.
func (c *Client) fail(api string, n node, err error) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	out := &Error{Alias: c.alias, API: api, Broker: n.id}
	var k kafka.ErrorCode
	switch {
	case errors.As(err, &k):
		out.Code = k
		if err.Error() != k.Error() {
			out.Err = err
		}
	default:
		out.Code, out.Err = CodeOf(err), err
	}
	return out
}

// code makes an *Error of a code in an answer; nil for 0. text is the broker's own, may be nil.
func (c *Client) code(api string, n node, code int16, text *string) error {
	if code == 0 {
		return nil
	}
	e := &Error{Alias: c.alias, API: api, Broker: n.id, Code: kafka.ErrorCode(code)}
	if text != nil && *text != "" {
		e.Err = errors.New(*text)
	}
	return e
}

// about names the entry that an error stands for.
func about(err error, entry string) error {
	var e *Error
	if !errors.As(err, &e) || e.Entry != "" {
		return err
	}
	named := *e
	named.Entry = entry
	return &named
}

// passing says that the same request may succeed a moment later.
func passing(err error) bool {
	if err == nil || errors.Is(err, errNoProgress) || errors.Is(err, context.Canceled) {
		return false
	}
	var s stop
	if errors.As(err, &s) { // a callback's own error, whatever it looks like
		return false
	}
	if code := CodeOf(err); code != 0 {
		return code.Retriable()
	}
	if strings.Contains(err.Error(), "expecting TLS") { // kafka-go's words on a TLS alert; wraps io.ErrUnexpectedEOF
		return false
	}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		return dns.IsTimeout || dns.IsTemporary
	}
	var ne net.Error
	for _, e := range []error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.ECONNREFUSED, syscall.ECONNABORTED, syscall.EPIPE, net.ErrClosed, os.ErrDeadlineExceeded, errGone, errEmpty} {
		if errors.Is(err, e) {
			return true
		}
	}
	return errors.As(err, &ne) && ne.Timeout()
}

// errGone is a broker that is named as leader or coordinator and is not in the metadata.
var errGone = errors.New("the broker is not in the cluster's metadata")

func dialFailed(err error) bool {
	var op *net.OpError
	var dns *net.DNSError
	return errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
}

func plain(err error) string {
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return "the name does not resolve here"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens there"
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.ErrUnexpectedEOF):
		return "the broker closed the connection"
	case errors.Is(err, errNoProgress), errors.Is(err, os.ErrDeadlineExceeded):
		return "the broker accepts, and answers nothing"
	}
	return ""
}
