package cmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose/bundle"
	"github.com/mm2doctor/mm2doctor/diagnose/collect"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// recordsOptions are the flags of records.
type recordsOptions struct {
	diagnoseOptions
	Kind   formatters.Kind
	Format string
	Topic  string
}

var recordKinds = map[string]formatters.Kind{"offset-syncs": formatters.OffsetSync, "checkpoints": formatters.Checkpoint, "heartbeats": formatters.Heartbeat}

func newRecords(s *term.Streams) *cobra.Command {
	o := &recordsOptions{diagnoseOptions: diagnoseOptions{streams: s, now: time.Now, sleep: sleep}}
	c := &cobra.Command{
		Use:   "records offset-syncs|checkpoints|heartbeats [FILE|EVIDENCE...]",
		Short: "Decode MirrorMaker 2's binary records: Kafka's exact text, or JSON",
		Long: `Prints the records of an offset-syncs, checkpoints or heartbeats topic, one a line, as Kafka's own formatters do, or as
JSON with -o json. Live with an mm2.properties or with --source and --target; from files and standard input (-) that
hold lines of JSON {"partition","offset","timestamp","key_b64","value_b64"} or of Kafka's text.

A record that does not decode is reported with its offset and the reason on standard error (text) or as an object with
"error" (json), and the exit code is 1.`,
		Example: `  mm2doctor records offset-syncs mm2.properties
  mm2doctor records checkpoints --source kafka-a:9092 --target kafka-b:9092 -o json
  kafka-console-consumer.sh ... --formatter ...CheckpointFormatter | mm2doctor records checkpoints -`,
		Args: minArgs(1, "name the kind: mm2doctor records offset-syncs|checkpoints|heartbeats"),
		RunE: func(c *cobra.Command, args []string) error {
			kind, ok := recordKinds[args[0]]
			if !ok {
				return usage("records %s: one of offset-syncs, checkpoints, heartbeats", args[0])
			}
			o.Kind, o.Files = kind, args[1:]
			return runRecords(c.Context(), o)
		},
	}
	o.evidence.flags(c)
	c.Flags().StringVarP(&o.Format, "output", "o", "text", "text or json")
	c.Flags().StringVar(&o.Topic, "records-topic", "", "read this topic instead of the one the flow names")
	return c
}

func runRecords(ctx context.Context, o *recordsOptions) error {
	if o.Format != "text" && o.Format != "json" {
		return usage("-o %s: text or json", o.Format)
	}
	v, err := claimedVersion(o.MM2Version)
	if err != nil {
		return err
	}
	for _, v := range append(o.Groups, o.Topics...) {
		if v == "" {
			return usage("an empty --group or --topic matches nothing; give a name, a glob, or /java regex/")
		}
	}
	group, err := wanted("--group", o.Groups)
	if err != nil {
		return err
	}
	topic, err := wanted("--topic", o.Topics)
	if err != nil {
		return err
	}
	out := &recordPrinter{group: group, topic: topic, w: bufio.NewWriter(o.streams.Out), errs: o.streams.Err, json: o.Format == "json", version: v}
	files, configs, err := splitFiles(o.Files)
	if err != nil {
		return err
	}
	switch {
	case len(files) > 0 && (len(configs) > 0 || len(o.Source)+len(o.Target) > 0):
		return usage("records are read either from files or from clusters; leave one out")
	case len(files) > 0 && len(o.Flows) > 0:
		return usage("--flow applies to clusters; records from files hold no flow")
	case len(files) > 0:
		err = out.files(files, o.streams.In, o.Kind)
	default:
		o.Files = configs
		err = out.live(ctx, o)
	}
	if ferr := out.w.Flush(); err == nil && ferr != nil {
		err = &exitError{exitUsage, fmt.Errorf("writing the records: %w", ferr)}
	}
	if err == nil && out.bad > 0 {
		return &exitError{exitFinding, fmt.Errorf("%d of %d records did not decode", out.bad, out.bad+out.good)}
	}
	return err
}

// splitFiles tells record files from configuration files by their content; standard input always holds records.
func splitFiles(names []string) (records, configs []string, err error) {
	for _, n := range names {
		if n == "-" {
			records = append(records, n)
			continue
		}
		f, err := os.Open(n)
		if err != nil {
			return nil, nil, usage("%v; name a file of records or an mm2.properties", err)
		}
		head := make([]byte, 64<<10)
		k, rerr := io.ReadFull(f, head)
		f.Close()
		if rerr != nil && !errors.Is(rerr, io.EOF) && !errors.Is(rerr, io.ErrUnexpectedEOF) {
			return nil, nil, usage("%s: %v", n, rerr)
		}
		head = head[:k]
		if bundle.Is(head) || confdoc.Sniff(head) == confdoc.KindProperties && !formatters.IsText(firstLine(head)) {
			configs = append(configs, n)
		} else {
			records = append(records, n)
		}
	}
	return records, configs, nil
}

func firstLine(b []byte) string {
	for i, c := range b {
		if c == '\n' {
			return string(b[:i])
		}
	}
	return string(b)
}

// recordPrinter writes decoded records and counts those that did not decode.
type recordPrinter struct {
	group, topic func(string) bool // nil: all
	w            *bufio.Writer
	errs         io.Writer
	json         bool
	version      mm2.Version
	good, bad    int64
}

// wants applies --group and --topic; a topic is compared by the name in the record. What does not decode is always told.
func (p *recordPrinter) wants(e *formatters.Entry) bool {
	topic := e.OffsetSync.Topic
	if e.Kind == formatters.Checkpoint {
		topic = e.Checkpoint.Topic
		if p.group != nil && !p.group(e.Checkpoint.Group) {
			return false
		}
	}
	return p.topic == nil || e.Kind == formatters.Heartbeat || p.topic(topic)
}

func (p *recordPrinter) print(e *formatters.Entry, where string) {
	if e.Err == nil && !p.wants(e) {
		return
	}
	if e.Err != nil {
		p.bad++
	} else {
		p.good++
	}
	switch {
	case p.json:
		p.w.Write(e.JSON())
		p.w.WriteByte('\n')
	case e.Err != nil:
		fmt.Fprintf(p.errs, "mm2doctor: %s: %v\n", where, e.Err)
	default:
		p.w.WriteString(e.Text(p.version))
		p.w.WriteByte('\n')
		for _, n := range e.Notes {
			fmt.Fprintf(p.errs, "mm2doctor: %s: note: %s\n", where, n)
		}
	}
}

func (p *recordPrinter) files(names []string, stdin io.Reader, kind formatters.Kind) error {
	for _, n := range names {
		r := stdin
		if n != "-" {
			f, err := os.Open(n)
			if err != nil {
				return usage("%v", err)
			}
			defer f.Close()
			r = f
		} else {
			n = "standard input"
		}
		for e, err := range formatters.Read(r, kind) {
			if err != nil {
				return usage("%s: %v", n, err)
			}
			p.print(&e, fmt.Sprintf("%s:%d", n, e.Line))
		}
	}
	return nil
}

func (p *recordPrinter) live(ctx context.Context, o *recordsOptions) error {
	s, err := o.look(ctx)
	if err != nil {
		return err
	}
	defer s.close()
	if !s.live() {
		return usage("a snapshot holds no single records; name clusters or files of records")
	}
	if len(s.request.Flows) == 0 {
		for _, c := range s.request.Clusters {
			if c.Client == nil {
				continue
			}
			if err := c.Client.Contact(ctx); err != nil {
				return &exitError{exitIncomplete, err}
			}
		}
	}
	if len(s.request.Flows) != 1 {
		for _, pr := range s.request.Unresolved {
			return &exitError{exitUsage, fmt.Errorf("%s; %s", pr.Because, pr.Fix)}
		}
		return usage("%d flows: choose one with --flow", len(s.request.Flows))
	}
	f := s.request.Flows[0]
	topic, alias := f.Checkpoints, f.Target
	switch o.Kind {
	case formatters.OffsetSync:
		topic, alias = f.SyncsTopic, f.SyncsOn
	case formatters.Heartbeat:
		topic = f.Heartbeats
	}
	if o.Topic != "" {
		topic = o.Topic
	}
	for _, c := range s.request.Clusters {
		if c.Alias != alias {
			continue
		}
		if err := c.Client.Contact(ctx); err != nil {
			return &exitError{exitIncomplete, err}
		}
		if err := collect.Records(ctx, c, topic, func(r *kafka.Record) {
			p.print(entryOf(o.Kind, r), fmt.Sprintf("%s-%d offset %d", topic, r.Partition, r.Offset))
		}); err != nil {
			return &exitError{exitIncomplete, err}
		}
		return nil
	}
	return usage("no cluster %s", alias)
}

func entryOf(kind formatters.Kind, r *kafka.Record) *formatters.Entry {
	e := &formatters.Entry{Kind: kind, Place: &formatters.Place{Partition: r.Partition, Offset: r.Offset, Timestamp: r.Timestamp}}
	switch kind {
	case formatters.OffsetSync:
		e.OffsetSync, e.Notes, e.Err = formatters.DecodeOffsetSync(r.Key, r.Value)
	case formatters.Checkpoint:
		e.Checkpoint, e.Notes, e.Err = formatters.DecodeCheckpoint(r.Key, r.Value)
	default:
		e.Heartbeat, e.Notes, e.Err = formatters.DecodeHeartbeat(r.Key, r.Value)
	}
	return e
}
