package apply

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// death is what a process that is killed leaves behind: nothing runs after it.
type death struct{ step int }

// fuse counts steps, and burns down at one of them.
type fuse struct {
	n, at int     // at 0: never
	after bool    // the step still takes effect
	torn  float64 // of a step of the journal: this part of its bytes reaches the disk
	log   []string
}

func (f *fuse) step(op string, effect func()) {
	f.n++
	f.log = append(f.log, op)
	if f.n == f.at && !f.after {
		panic(death{f.n})
	}
	effect()
	if f.n == f.at {
		panic(death{f.n})
	}
}

// world is a target cluster in memory that keeps the rules of a broker.
type world struct {
	*fuse
	id     string
	groups map[string]*worldGroup
	topics map[string]TopicNow
	ends   map[EpochQuery]int64
	// meddle runs before each reading of groups: somebody else at work.
	meddle func(reading int)
	// broken gives the fault of a write; took says whether it took effect all the same.
	broken   func(op, group string, tp kafka.TopicPartition) (err error, took bool)
	readings int
	writes   []string
}

type worldGroup struct {
	kind    kafka.GroupType
	holders []string
	offsets map[kafka.TopicPartition]plan.Committed
	open    map[kafka.TopicPartition]int64 // the lag of a share group
	had     string                         // protocol type of consumers that it has had
}

func tp(topic string, p int32) kafka.TopicPartition {
	return kafka.TopicPartition{Topic: topic, Partition: p}
}

// state prints everything a rollback must bring back.
func (w *world) state() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(w.groups)) {
		g := w.groups[id]
		fmt.Fprintf(&b, "%s %s:", id, g.kind)
		for _, k := range slices.SortedFunc(maps.Keys(g.offsets), kafka.TopicPartition.Compare) {
			o := g.offsets[k]
			if g.kind == kafka.TypeShare {
				fmt.Fprintf(&b, " %s=%d", k, o.Offset)
				continue
			}
			fmt.Fprintf(&b, " %s=%d/%d/%q", k, o.Offset, o.Epoch, o.Metadata)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func (w *world) ClusterID(context.Context) (id string, _ error) {
	w.step("cluster", func() { id = w.id })
	return id, nil
}

func (w *world) Groups(_ context.Context, ids []string) map[string]GroupNow {
	out := map[string]GroupNow{}
	w.step("groups", func() {
		w.readings++
		if w.meddle != nil {
			w.meddle(w.readings)
		}
		for _, id := range ids {
			g := w.groups[id]
			if g == nil {
				out[id] = GroupNow{State: kafka.StateDead}
				continue
			}
			now := GroupNow{Exists: true, State: kafka.StateEmpty, Type: g.kind, ProtocolType: g.had, Holders: g.holders, Offsets: map[kafka.TopicPartition]OffsetNow{}}
			if len(g.holders) > 0 {
				now.State = kafka.StateStable
			}
			for k, o := range g.offsets {
				x := OffsetNow{Committed: o}
				if lag, ok := g.open[k]; ok {
					x.Lag = &lag
				}
				now.Offsets[k] = x
			}
			out[id] = now
		}
	})
	return out
}

func (w *world) Topics(_ context.Context, names []string) map[string]TopicNow {
	out := map[string]TopicNow{}
	w.step("topics", func() {
		for _, n := range names {
			t, ok := w.topics[n]
			if !ok {
				t.Err = kafka.UnknownTopicOrPartition
			}
			out[n] = t
		}
	})
	return out
}

func (w *world) Epochs(_ context.Context, qs []EpochQuery) (out []EpochEnd) {
	w.step("epochs", func() {
		for _, q := range qs {
			end, ok := w.ends[q]
			if !ok {
				end = -1
			}
			out = append(out, EpochEnd{End: end})
		}
	})
	return out
}

// each applies one change per partition, as far as nothing is broken.
func (w *world) each(op, group string, tps []kafka.TopicPartition, change func(i int)) (a Answer) {
	w.step(op+" "+group, func() {
		w.writes = append(w.writes, op+" "+group)
		if g := w.groups[group]; g != nil && len(g.holders) > 0 {
			a.Err = kafka.UnknownMemberID
			return
		}
		a.Places = map[kafka.TopicPartition]error{}
		for i, k := range tps {
			var err error
			took := true
			if w.broken != nil {
				if err, took = w.broken(op, group, k); err == nil {
					took = true
				}
			}
			if took {
				change(i)
			}
			if err != nil {
				a.Places[k] = err
			}
		}
	})
	return a
}

func places(vs []Value) (out []kafka.TopicPartition) {
	for _, v := range vs {
		out = append(out, v.TopicPartition)
	}
	return out
}

func (w *world) put(group string, kind kafka.GroupType, v Value) {
	g := w.groups[group]
	if g == nil {
		g = &worldGroup{kind: kind, offsets: map[kafka.TopicPartition]plan.Committed{}}
		w.groups[group] = g
	}
	if kind == kafka.TypeShare && v.Offset < 0 {
		delete(g.offsets, v.TopicPartition)
		return
	}
	g.offsets[v.TopicPartition] = v.Committed
}

func (w *world) Commit(_ context.Context, group string, vs []Value, keepMs int64) Answer {
	return w.each("commit", group, places(vs), func(i int) { w.put(group, kafka.TypeClassic, vs[i]) })
}

func (w *world) AlterShare(_ context.Context, group string, vs []Value) Answer {
	return w.each("alter", group, places(vs), func(i int) { w.put(group, kafka.TypeShare, vs[i]) })
}

func (w *world) Delete(_ context.Context, group string, tps []kafka.TopicPartition) Answer {
	return w.each("delete", group, tps, func(i int) {
		if g := w.groups[group]; g != nil {
			delete(g.offsets, tps[i])
		}
	})
}

func (w *world) DeleteShare(_ context.Context, group string, topics []string) Answer {
	var tps []kafka.TopicPartition
	for _, t := range topics {
		tps = append(tps, tp(t, -1))
	}
	return w.each("delete-share", group, tps, func(i int) {
		for k := range w.groups[group].offsets {
			if k.Topic == tps[i].Topic {
				delete(w.groups[group].offsets, k)
			}
		}
	})
}

func (w *world) DeleteGroup(_ context.Context, group string) (err error) {
	w.step("delete-group "+group, func() {
		w.writes = append(w.writes, "delete-group "+group)
		if g := w.groups[group]; g != nil && len(g.holders) > 0 {
			err = kafka.ErrorCode(68)
			return
		}
		delete(w.groups, group)
	})
	return err
}

// paper is a journal in memory that can die with the world.
type paper struct {
	*fuse
	b    bytes.Buffer
	full int // Append fails after so many calls; 0: never
	done int
}

func (p *paper) Path() string { return "j.json" }

func (p *paper) Append(es ...Entry) (err error) {
	var b []byte
	for _, e := range es {
		line, err := encodeEntry(e)
		if err != nil {
			return err
		}
		b = append(b, line...)
	}
	if p.done++; p.full > 0 && p.done >= p.full {
		p.b.Write(b[:len(b)/3])
		return fmt.Errorf("no space left on device")
	}
	if p.n+1 == p.at && p.torn > 0 {
		p.b.Write(b[:int(float64(len(b))*p.torn)])
	}
	p.step("journal "+string(es[0].Kind), func() { p.b.Write(b) })
	return nil
}

// reopen reads the journal as a new process does.
func (p *paper) reopen(t *testing.T, f *fuse) (*paper, *Log, error) {
	t.Helper()
	l, err := ReadLog(bytes.NewReader(p.b.Bytes()))
	if err != nil {
		return nil, nil, err
	}
	n := &paper{fuse: f}
	n.b.Write(p.b.Bytes())
	if l.open {
		n.b.WriteByte('\n')
	}
	l.Path = "j.json"
	return n, l, nil
}

var clock = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func quick() Options {
	return Options{Now: func() time.Time { return clock }, Sleep: func(context.Context, time.Duration) error { return nil }, Chunk: 2}
}

func at(off int64, epoch int32, meta string) *plan.Committed {
	return &plan.Committed{Offset: off, Epoch: epoch, Metadata: meta}
}

func setRow(topic string, p int32, from, before *plan.Committed, to int64) plan.Row {
	return plan.Row{Topic: topic, TargetTopic: "a." + topic, Partition: p, TargetTopicID: "id-" + topic, Action: plan.Set, From: from, FromBasis: "committed", Before: before, To: &to, Epoch: -1, End: 1000}
}

func log0(end int64) PartitionNow { return PartitionNow{End: end, Stable: end, Epoch: 3} }

// scene is a cluster, and a plan over groups of every kind: existing, absent, half there, of the consumer protocol, share.
func scene() (*world, *plan.Plan) {
	w := &world{
		fuse: &fuse{}, id: "target-id", ends: map[EpochQuery]int64{},
		groups: map[string]*worldGroup{
			"full": {kafka.TypeClassic, nil, map[kafka.TopicPartition]plan.Committed{tp("a.t", 0): *at(5, 2, "old"), tp("a.t", 1): *at(6, -1, ""), tp("other", 0): *at(1, 0, "")}, nil, ""},
			"half": {kafka.TypeConsumer, nil, map[kafka.TopicPartition]plan.Committed{tp("a.t", 0): *at(7, 0, "x")}, nil, ""},
			"pool": {kafka.TypeShare, nil, map[kafka.TopicPartition]plan.Committed{tp("a.t", 0): *at(3, -1, "")}, nil, ""},
			"same": {kafka.TypeClassic, nil, map[kafka.TopicPartition]plan.Committed{tp("a.t", 0): *at(100, -1, "m")}, nil, ""},
		},
		topics: map[string]TopicNow{
			"a.t": {ID: "id-t", Partitions: map[int32]PartitionNow{0: log0(1000), 1: log0(1000)}},
		},
	}
	kind := func(id string, k kafka.GroupType, target kafka.GroupType, rows ...plan.Row) plan.Group {
		return plan.Group{Group: id, TargetGroup: id, Type: string(k), TargetType: string(target), Action: plan.Set, Rows: rows}
	}
	p := &plan.Plan{
		SchemaVersion: plan.SchemaVersion, Command: "translate", Made: clock.Add(-10 * time.Minute).Format(time.RFC3339), Flow: "a->b", Direction: "forward",
		From: plan.Cluster{Alias: "a", ID: "source-id"}, To: plan.Cluster{Alias: "b", ID: "target-id"},
		Groups: []plan.Group{
			kind("absent", kafka.TypeClassic, "", setRow("t", 0, at(50, 1, "meta"), nil, 40), setRow("t", 1, at(51, 1, ""), nil, 41)),
			kind("full", kafka.TypeClassic, kafka.TypeClassic, setRow("t", 0, at(60, 1, "kept"), at(5, 2, "old"), 55), setRow("t", 1, at(61, 1, ""), at(6, -1, ""), 56)),
			kind("half", kafka.TypeConsumer, kafka.TypeConsumer, setRow("t", 0, at(70, 1, ""), at(7, 0, "x"), 65), setRow("t", 1, at(71, 1, ""), nil, 66)),
			kind("pool", kafka.TypeShare, kafka.TypeShare, setRow("t", 0, at(80, -1, ""), at(3, -1, ""), 75), setRow("t", 1, at(81, -1, ""), nil, 76)),
			kind("pool2", kafka.TypeShare, "", setRow("t", 0, at(80, -1, ""), nil, 75), setRow("t", 1, at(81, -1, ""), nil, 76)),
			kind("same", kafka.TypeClassic, kafka.TypeClassic, setRow("t", 0, at(90, 1, "m"), at(100, -1, "m"), 100)),
		},
	}
	p.Seal()
	return w, p
}

const planned = `absent classic: a.t-0=40/-1/"meta" a.t-1=41/-1/""
full classic: a.t-0=55/-1/"kept" a.t-1=56/-1/"" other-0=1/0/""
half consumer: a.t-0=65/-1/"" a.t-1=66/-1/""
pool share: a.t-0=75 a.t-1=76
pool2 share: a.t-0=75 a.t-1=76
same classic: a.t-0=100/-1/"m"
`
