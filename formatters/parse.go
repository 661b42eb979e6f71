package formatters

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// TextError is a line that is not the text form it should be.
type TextError struct {
	Kind   Kind
	Reason string
}

func (e *TextError) Error() string {
	return fmt.Sprintf("not the text form of a MirrorMaker 2 %s: %s", e.Kind, e.Reason)
}

// ParseOffsetSync reads a line of Kafka's OffsetSyncFormatter. The error, when not nil, is a *TextError.
func ParseOffsetSync(line string) (mm2.OffsetSync, error) {
	t, err := body(OffsetSync, "OffsetSync{", line)
	if err != nil {
		return mm2.OffsetSync{}, err
	}
	var s mm2.OffsetSync
	s.Downstream = t.lastNumber("downstreamOffset")
	s.Upstream = t.lastNumber("upstreamOffset")
	s.Topic, s.Partition = t.partition(t.firstField("topicPartition"))
	if t.err != nil {
		return mm2.OffsetSync{}, t.err
	}
	return s, nil
}

// ParseCheckpoint reads a line of Kafka's CheckpointFormatter, either spelling of metadata. Nothing in the line is
// escaped: of several ways to read a group or metadata that holds the separators, the one with the longest metadata is
// taken whose numbers and topic are valid. The error, when not nil, is a *TextError.
func ParseCheckpoint(line string) (mm2.Checkpoint, error) {
	t, err := body(Checkpoint, "Checkpoint{", line)
	if err != nil {
		return mm2.Checkpoint{}, err
	}
	const sep = ", upstreamOffset="
	// The metadata is free text, so the offsets are looked for from the front; a group id may hold the same words.
	failure := t.fail("there is no field upstreamOffset")
	for at := 0; ; {
		i := strings.Index(t.rest[at:], sep)
		if i < 0 {
			return mm2.Checkpoint{}, failure
		}
		c, err := checkpointAt(t.rest, at+i, len(sep))
		if err == nil {
			return c, nil
		}
		failure = err
		at += i + 1
	}
}

// checkpointAt reads the body with the offsets beginning at i.
func checkpointAt(s string, i, sepLen int) (mm2.Checkpoint, error) {
	t := text{kind: Checkpoint}
	var c mm2.Checkpoint
	head, tail := s[:i], s[i+sepLen:]
	up, tail, ok := strings.Cut(tail, ", downstreamOffset=")
	if !ok {
		return c, t.fail("there is no field downstreamOffset after upstreamOffset")
	}
	down, tail, ok := strings.Cut(tail, ", ")
	if !ok {
		return c, t.fail("there is no field metadata after downstreamOffset")
	}
	word, metadata, ok := strings.Cut(tail, "=")
	if !ok || word != "metadata" && word != misspelt {
		return c, t.fail("there is no field metadata after downstreamOffset")
	}
	c.Metadata = metadata
	c.Upstream, c.Downstream = t.number("upstreamOffset", up), t.number("downstreamOffset", down)
	t.rest = head
	group, ok := strings.CutPrefix(head, "consumerGroupId=")
	// Topic names hold no comma, so the last topicPartition is the real one.
	at := strings.LastIndex(group, ", topicPartition=")
	if !ok || at < 0 {
		return c, t.fail("it does not begin with consumerGroupId and topicPartition")
	}
	c.Group = group[:at]
	c.Topic, c.Partition = t.partition(group[at+len(", topicPartition="):])
	if t.err != nil {
		return mm2.Checkpoint{}, t.err
	}
	return c, nil
}

// ParseHeartbeat reads a line of Kafka's HeartbeatFormatter. The error, when not nil, is a *TextError.
func ParseHeartbeat(line string) (mm2.Heartbeat, error) {
	t, err := body(Heartbeat, "Heartbeat{", line)
	if err != nil {
		return mm2.Heartbeat{}, err
	}
	var h mm2.Heartbeat
	h.Timestamp = t.lastNumber("timestamp")
	h.Target = t.lastField("targetClusterAlias")
	h.Source = t.firstField("sourceClusterAlias")
	if t.err != nil {
		return mm2.Heartbeat{}, t.err
	}
	return h, nil
}

// text is a body between the braces that is eaten from its end.
type text struct {
	kind Kind
	rest string
	err  error
}

func body(k Kind, head, line string) (*text, error) {
	t := &text{kind: k}
	s := strings.TrimLeft(strings.TrimRight(line, "\r\n"), " \t")
	rest, ok := strings.CutPrefix(s, head)
	if !ok {
		return nil, t.fail("it does not begin with " + head)
	}
	if rest, ok = strings.CutSuffix(strings.TrimRight(rest, " \t"), "}"); !ok {
		return nil, t.fail("it does not end with }")
	}
	t.rest = rest
	return t, nil
}

func (t *text) fail(why string) error {
	if t.err == nil {
		t.err = &TextError{t.kind, why}
	}
	return t.err
}

// lastField cuts the last ", name=value" off.
func (t *text) lastField(name string) string {
	i := strings.LastIndex(t.rest, ", "+name+"=")
	if i < 0 {
		t.fail("there is no field " + name)
		return ""
	}
	v := t.rest[i+len(name)+3:]
	t.rest = t.rest[:i]
	return v
}

// firstField is what is left when all others are cut off.
func (t *text) firstField(name string) string {
	v, ok := strings.CutPrefix(t.rest, name+"=")
	if !ok {
		t.fail("it does not begin with " + name)
	}
	return v
}

func (t *text) lastNumber(name string) int64 { return t.number(name, t.lastField(name)) }

func (t *text) number(name, s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		t.fail(fmt.Sprintf("field %s is %q, not a number of 64 bits", name, s))
	}
	return n
}

// partition splits at the last '-': topic names may hold that character.
func (t *text) partition(s string) (string, int32) {
	i := strings.LastIndexByte(s, '-')
	if i <= 0 {
		t.fail(fmt.Sprintf("topicPartition is %q, not a topic and a partition", s))
		return "", 0
	}
	p, err := strconv.ParseInt(s[i+1:], 10, 32)
	if err != nil || p < 0 {
		t.fail(fmt.Sprintf("topicPartition is %q, whose last part is no partition", s))
		return "", 0
	}
	return s[:i], int32(p)
}
