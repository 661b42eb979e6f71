package translate

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/fixtures/captures"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
)

// The lines of MirrorMaker 2 (3.4.1 and later, TRACE) that tell its store, its translations and its decisions.
var (
	loadLine      = regexp.MustCompile(`INFO (Starting|Started) KafkaBasedLog (with|for) topic mm2-offset-syncs\.`)
	mustReadLine  = regexp.MustCompile(`must read to OffsetSync end = (true|false)`)
	newSyncLine   = regexp.MustCompile(`TRACE New sync (OffsetSync\{.*\}) applied, new state is \[([-0-9:,]*)\]`)
	translateLine = regexp.MustCompile(`DEBUG translateDownstream\(([^,]*),([^,]*)-(\d+),(-?\d+)\): (Translated|Skipped) (.*) \(org`)
	decisionLine  = regexp.MustCompile(`TRACE (?:Emitting|Skipping) (Checkpoint\{.*\}) \(([a-z ]+)\) \(org`)
	relativeTo    = regexp.MustCompile(`^(-?\d+) \(relative to (OffsetSync\{.*\})\)$`)
	ahead         = regexp.MustCompile(`^\((OffsetSync\{.*\}) is ahead of upstream consumer group`)
)

var decisionWords = map[Decision]string{
	EmitFirst: "first for this", EmitUpstreamRewind: "upstream offset rewind", EmitAdvanced: "downstream offset advanced",
	SkipRepeated: "repeated checkpoint", SkipDownstreamRewind: "preventing downstream rewind",
}

// task replays the log of one checkpoint task after another.
type task struct {
	*run
	t        *testing.T
	line     string
	known    map[kafka.TopicPartition]map[Sync]bool
	options  Options
	loading  bool
	stores   map[kafka.TopicPartition]*Store
	last     map[string]Checkpoint
	states   int
	answers  int
	decided  int
	firstGot int // first syncs, which the log does not tell
}

func TestCaptureLogs(t *testing.T) {
	fsys := captureFiles()
	names, err := captures.List(fsys)
	if err != nil || len(names) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			r := decode(t, fsys, name)
			if r.gen < mm2.G3 {
				t.Skip("this generation does not log its store")
			}
			k := &task{run: &r, t: t, known: map[kafka.TopicPartition]map[Sync]bool{}, last: map[string]Checkpoint{}}
			for _, rec := range append(r.SyncsBeforeCompaction, r.OffsetSyncs...) {
				s, _, err := formatters.DecodeOffsetSync(rec.Key, rec.Value)
				if err != nil {
					t.Fatal(err)
				}
				if k.known[s.TopicPartition()] == nil {
					k.known[s.TopicPartition()] = map[Sync]bool{}
				}
				k.known[s.TopicPartition()][Sync{Upstream: s.Upstream, Downstream: s.Downstream}] = true
			}
			for _, file := range []string{"mm2-1.log", "mm2-2.log"} {
				b, err := r.File(file)
				if err != nil {
					t.Fatal(err)
				}
				for line := range strings.Lines(string(b)) {
					k.read(strings.TrimSuffix(line, "\n"))
				}
			}
			t.Logf("%s: %d states, %d answers, %d decisions, %d first syncs", r.gen, k.states, k.answers, k.decided, k.firstGot)
			if k.states < 200 || k.answers < 4000 || k.decided < 4000 {
				t.Error("the logs are not whole")
			}
			if k.firstGot > 3*7 { // three tasks, seven partitions with records
				t.Errorf("%d first syncs were taken from the log", k.firstGot)
			}
		})
	}
}

func (k *task) read(line string) {
	k.line = line
	if m := mustReadLine.FindStringSubmatch(line); m != nil {
		k.options.MustReadToEnd = m[1] == "true"
	} else if m := loadLine.FindStringSubmatch(line); m != nil {
		k.load(m[1])
	} else if m := newSyncLine.FindStringSubmatch(line); m != nil {
		k.newSync(m[1], m[2])
	} else if m := translateLine.FindStringSubmatch(line); m != nil {
		k.translate(m)
	} else if m := decisionLine.FindStringSubmatch(line); m != nil {
		k.decide(m[1], m[2])
	}
}

func (k *task) load(what string) {
	if what == "Starting" {
		k.loading = true
		k.stores = map[kafka.TopicPartition]*Store{}
		if k.version.Before(3, 7, 1) {
			clear(k.last)
		}
		return
	}
	k.loading = false
	for _, s := range k.stores {
		s.LoadingFinished()
	}
}

// store gives the partition's store; a new one begins with the first sync, which MirrorMaker 2 does not log.
func (k *task) store(tp kafka.TopicPartition, first *Sync) *Store {
	s := k.stores[tp]
	if s != nil {
		return s
	}
	s = New(k.gen, k.options)
	if !k.loading {
		s.LoadingFinished()
	}
	if first != nil {
		if !k.known[tp][*first] {
			k.complain(k.t, "%s\nfirst sync %v of %s was never written", k.line, *first, tp)
		}
		s.Apply(*first)
		k.firstGot++
		k.stores[tp] = s
	}
	return s
}

func (k *task) newSync(text, state string) {
	n, err := formatters.ParseOffsetSync(text)
	if err != nil {
		k.t.Fatal(err)
	}
	tp := n.TopicPartition()
	pairs := strings.Split(state, ",")
	var oldest Sync
	if _, err := fmt.Sscanf(pairs[len(pairs)-1], "%d:%d", &oldest.Upstream, &oldest.Downstream); err != nil {
		k.t.Fatal(err)
	}
	s := k.store(tp, &oldest)
	s.Apply(Sync{Upstream: n.Upstream, Downstream: n.Downstream})
	var got []string
	for _, r := range s.Runs() {
		got = append(got, fmt.Sprintf("%d:%d", r.Sync.Upstream, r.Sync.Downstream))
	}
	if k.states++; strings.Join(got, ",") != state {
		k.complain(k.t, "%s\nours is %v", k.line, got)
	}
}

func (k *task) translate(m []string) {
	partition, _ := strconv.Atoi(m[3])
	up, _ := strconv.ParseInt(m[4], 10, 64)
	tp := kafka.TopicPartition{Topic: m[2], Partition: int32(partition)}
	want := Result{Status: NoSync, Offset: -1}
	var named string
	switch rel, skip := relativeTo.FindStringSubmatch(m[6]), ahead.FindStringSubmatch(m[6]); {
	case rel != nil:
		want.Status = Translated
		want.Offset, _ = strconv.ParseInt(rel[1], 10, 64)
		named = rel[2]
	case skip != nil:
		want.Status, named = SyncAhead, skip[1]
	case strings.HasPrefix(m[6], "(initial offset syncs read"):
		want.Status = StillLoading
	case m[6] != "(offset sync not found)":
		k.t.Fatalf("unknown line %s", k.line)
	}
	var first *Sync
	if named != "" {
		s, err := formatters.ParseOffsetSync(named)
		if err != nil || s.TopicPartition() != tp {
			k.t.Fatalf("%s: %v", k.line, err)
		}
		want.Sync = Sync{Upstream: s.Upstream, Downstream: s.Downstream}
		first = &want.Sync
	}
	k.answers++
	got := k.store(tp, first).Translate(up)
	got.Slot = 0 // not logged
	if got != want {
		k.complain(k.t, "%s\nours is %+v", k.line, got)
	}
}

func (k *task) decide(text, words string) {
	c, err := formatters.ParseCheckpoint(text)
	if err != nil {
		k.t.Fatal(err)
	}
	key := fmt.Sprint(c.Group, " ", c.TopicPartition())
	var last *Checkpoint
	if l, ok := k.last[key]; ok {
		last = &l
	}
	d := Decide(k.version, last, c.Upstream, Result{Status: Translated, Offset: c.Downstream})
	if k.decided++; !strings.HasPrefix(words, decisionWords[d]) || decisionWords[d] == "" {
		k.complain(k.t, "%s\nours is %s, last %+v", k.line, d, last)
	}
	if d.Emits() {
		k.last[key] = Checkpoint{c.Upstream, c.Downstream}
	}
}
