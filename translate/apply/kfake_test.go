package apply

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
	"github.com/mm2doctor/mm2doctor/translate/plan"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

// sent counts requests by key.
type sent struct {
	mu   sync.Mutex
	keys map[int16]int
}

func (s *sent) add(m wire.Sent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[int16]int{}
	}
	s.keys[m.Key]++
}

// writes are the requests that change something: OffsetCommit, DeleteGroups, OffsetDelete, Alter- and DeleteShareGroupOffsets,
// and whatever else is not on the list of those that read.
func (s *sent) writes() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	read := []int16{1, 2, 3, 9, 10, 15, 16, 18, 23, 69, 77, 89, 90}
	for k, c := range s.keys {
		if !slices.Contains(read, k) {
			n += c
		}
	}
	return n
}

func dial(t testing.TB, addrs []string, g wire.Guard, rec *sent) *wire.Client {
	t.Helper()
	cfg := wire.Config{Bootstrap: addrs, Timeout: 20 * time.Second, Alias: "b", Guard: g}
	if rec != nil {
		cfg.Recorder = rec.add
	}
	c, err := wire.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// brokers starts a cluster with a topic of ten records in each partition.
func brokers(t testing.TB, topic string, partitions int32) []string {
	t.Helper()
	k, err := kfake.NewCluster(kfake.NumBrokers(2), kfake.ClusterID("fake"), kfake.SeedTopics(partitions, topic))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	fill(t, k.ListenAddrs(), topic, partitions)
	return k.ListenAddrs()
}

func fill(t testing.TB, addrs []string, topic string, partitions int32) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	var rs []*kgo.Record
	for p := range partitions {
		for i := range 10 {
			rs = append(rs, &kgo.Record{Topic: topic, Partition: p, Value: []byte{byte(i)}})
		}
	}
	if err := cl.ProduceSync(context.Background(), rs...).FirstErr(); err != nil {
		t.Fatal(err)
	}
}

// seed commits by an admin client.
func seed(t testing.TB, addrs []string, group string, offsets map[kafka.TopicPartition]plan.Committed) {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	os := kadm.Offsets{}
	for k, c := range offsets {
		os.Add(kadm.Offset{Topic: k.Topic, Partition: k.Partition, At: c.Offset, LeaderEpoch: c.Epoch, Metadata: c.Metadata})
	}
	if err := kadm.NewClient(cl).CommitAllOffsets(context.Background(), group, os); err != nil {
		t.Fatal(err)
	}
}

// planFor plans offset 3 + partition%5 for every partition of a topic, in each group as it is now.
func planFor(t testing.TB, tg Target, topic string, partitions int32, groups ...string) *plan.Plan {
	t.Helper()
	id, err := tg.ClusterID(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	top := tg.Topics(t.Context(), []string{topic})[topic]
	if top.Err != nil {
		t.Fatal(top.Err)
	}
	now := tg.Groups(t.Context(), groups)
	p := &plan.Plan{
		SchemaVersion: plan.SchemaVersion, Command: "translate", Made: time.Now().UTC().Format(time.RFC3339), Flow: "a->b", Direction: "forward",
		From: plan.Cluster{Alias: "a", ID: "elsewhere"}, To: plan.Cluster{Alias: "b", ID: id},
	}
	for _, g := range groups {
		if now[g].Err != nil {
			t.Fatal(now[g].Err)
		}
		pg := plan.Group{Group: g, TargetGroup: g, Type: "classic", TargetType: string(now[g].Type), TargetState: string(now[g].State), Action: plan.Set}
		for i := range partitions {
			to := int64(3 + i%5)
			r := plan.Row{Topic: topic, TargetTopic: topic, Partition: i, TargetTopicID: top.ID, Action: plan.Set, From: at(to+100, 7, "m "+g), FromBasis: "committed", To: &to, Epoch: -1, End: top.Partitions[i].End}
			if o, ok := now[g].Offsets[tp(topic, i)]; ok {
				r.Before = &o.Committed
			}
			pg.Rows = append(pg.Rows, r)
		}
		p.Groups = append(p.Groups, pg)
	}
	p.Seal()
	return p
}

// stands prints what groups hold; absent ones are missing.
func stands(t testing.TB, tg Target, groups ...string) string {
	t.Helper()
	var b strings.Builder
	now := tg.Groups(context.Background(), groups)
	for _, id := range slices.Sorted(maps.Keys(now)) {
		g := now[id]
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		if !g.Exists {
			continue
		}
		fmt.Fprintf(&b, "%s:", id)
		for _, k := range slices.SortedFunc(maps.Keys(g.Offsets), kafka.TopicPartition.Compare) {
			o := g.Offsets[k]
			if g.Type == kafka.TypeShare && o.Offset < 0 {
				continue // named, and not begun
			}
			fmt.Fprintf(&b, " %s=%d/%d/%s", k, o.Offset, o.Epoch, o.Metadata)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func planState(p *plan.Plan) string {
	var b strings.Builder
	gs := slices.Clone(p.Groups)
	slices.SortFunc(gs, func(a, b plan.Group) int { return strings.Compare(a.Group, b.Group) })
	for _, g := range gs {
		fmt.Fprintf(&b, "%s:", g.Group)
		for _, r := range g.Rows {
			fmt.Fprintf(&b, " %s-%d=%d/-1/%s", r.TargetTopic, r.Partition, *r.To, r.From.Metadata)
		}
		b.WriteString("\n")
	}
	return b.String()
}

var hasty = Options{IdleProof: -1}

// TestOverTheWire applies, verifies and takes back over TCP, and counts what was sent.
func TestOverTheWire(t *testing.T) {
	addrs := brokers(t, "t", 3)
	seed(t, addrs, "there", map[kafka.TopicPartition]plan.Committed{tp("t", 0): *at(1, 0, "old"), tp("t", 2): *at(2, -1, "")})
	rec := &sent{}
	tg := NewTarget(dial(t, addrs, wire.Writer(), rec))
	groups := []string{"new", "there"}
	p := planFor(t, tg, "t", 3, groups...)
	before := stands(t, tg, groups...)
	if n := rec.writes(); n != 0 {
		t.Errorf("%d writing requests before anything: %v", n, rec.keys)
	}
	path := filepath.Join(t.TempDir(), "j.json")
	j, err := CreateJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Run(t.Context(), p, tg, nil, j, hasty)
	if err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	j.Close()
	if rec.keys[8] != 2 || rec.writes() != 2 {
		t.Errorf("one OffsetCommit per group: %v", rec.keys)
	}
	if got := stands(t, tg, groups...); got != planState(p) {
		t.Errorf("%s", got)
	}
	if v, err := Verify(t.Context(), p, tg, hasty); err != nil || v.Summary.Holds != 6 {
		t.Errorf("%v %+v", err, v)
	}
	j, l, err := OpenJournal(path)
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
	back, err := CreateJournal(path + ".back")
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	if out, err = Rollback(t.Context(), l, tg, back, hasty); err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	if got := stands(t, tg, groups...); got != before {
		t.Errorf("%swant\n%s", got, before)
	}
	if rec.keys[8] != 3 || rec.keys[47] != 2 {
		t.Errorf("%v", rec.keys)
	}
}

// TestRefusalsSendNoWrite: refusals of every kind, and looking again, make no writing request.
func TestRefusalsSendNoWrite(t *testing.T) {
	addrs := brokers(t, "t", 2)
	seed(t, addrs, "g", map[kafka.TopicPartition]plan.Committed{tp("t", 0): *at(1, -1, "")})
	seed(t, addrs, "live", map[kafka.TopicPartition]plan.Committed{tp("t", 0): *at(1, -1, "")})
	cl, err := kgo.NewClient(kgo.SeedBrokers(addrs...), kgo.ConsumerGroup("live"), kgo.ConsumeTopics("t"), kgo.ClientID("billing-7"), kgo.DisableAutoCommit())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	cl.PollFetches(t.Context())
	rec := &sent{}
	c := dial(t, addrs, wire.Writer(), rec)
	tg := NewTarget(c)
	for name, change := range map[string]func(p *plan.Plan){
		"members":         func(p *plan.Plan) { p.Groups = p.Groups[1:] },
		"all or nothing":  func(p *plan.Plan) { p.Options.AllOrNothing = true },
		"stale":           func(p *plan.Plan) { p.Groups = p.Groups[:1]; p.Groups[0].Rows[0].Before = at(2, -1, "") },
		"topic gone":      func(p *plan.Plan) { p.Groups = p.Groups[:1]; p.Groups[0].Rows[1].TargetTopic = "not-there" },
		"topic new":       func(p *plan.Plan) { p.Groups = p.Groups[:1]; p.Groups[0].Rows[1].TargetTopicID = "other" },
		"another cluster": func(p *plan.Plan) { p.To.ID = "other" },
		"too old":         func(p *plan.Plan) { p.Made = "2020-01-01T00:00:00Z" },
	} {
		p := planFor(t, tg, "t", 2, "g", "live")
		change(p)
		p.Seal()
		path := filepath.Join(t.TempDir(), "j.json")
		j, err := CreateJournal(path)
		if err != nil {
			t.Fatal(err)
		}
		out, err := Run(t.Context(), p, tg, nil, j, hasty)
		if err != nil || out.Result != Nothing || out.Wrote || out.Journal != "" {
			t.Errorf("%s: %v %+v", name, err, out)
		}
		if name == "members" && (len(out.Groups[0].Holders) != 1 || !strings.HasPrefix(out.Groups[0].Holders[0], "billing-7")) {
			t.Errorf("holders %v", out.Groups[0].Holders)
		}
		j.Close()
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s: a journal stays: %v", name, err)
		}
		if _, err := Verify(t.Context(), p, tg, hasty); err != nil {
			t.Error(err)
		}
	}
	if n := rec.writes(); n != 0 {
		t.Errorf("%d writing requests: %v", n, rec.keys)
	}
	// A connection that only reads never sends a write, and the outcome says so.
	p := planFor(t, tg, "t", 2, "g")
	rec = &sent{}
	out, err := Run(t.Context(), p, NewTarget(dial(t, addrs, wire.ReadOnly(), rec)), nil, &paper{fuse: &fuse{}}, hasty)
	if err != nil || out.Wrote || out.Groups[0].Action != Failed || !strings.Contains(out.Groups[0].Because, "was not sent") || rec.writes() != 0 {
		t.Errorf("%v %+v %v", err, out, rec.keys)
	}
}

// childEnv makes the test binary apply a plan, as a process that can be killed: "ADDR PLAN JOURNAL".
const childEnv = "MM2DOCTOR_APPLY_CHILD"

func TestMain(m *testing.M) {
	args := os.Getenv(childEnv)
	if args == "" {
		os.Exit(m.Run())
	}
	if err := child(strings.Fields(args)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func child(a []string) error {
	c, err := wire.Open(wire.Config{Bootstrap: []string{a[0]}, Guard: wire.Writer()})
	if err != nil {
		return err
	}
	defer c.Close()
	f, err := os.Open(a[1])
	if err != nil {
		return err
	}
	p, err := plan.Read(f)
	if err != nil {
		return err
	}
	j, err := CreateJournal(a[2])
	if err != nil {
		return err
	}
	defer j.Close()
	o := hasty
	o.Chunk = 3
	_, err = Run(context.Background(), p, NewTarget(c), nil, j, o)
	return err
}

// killed runs a plan in a process of its own, kills it a while after its journal began, and gives the journal's path and
// whether it was killed before it had come to its end.
func killed(t testing.TB, addr string, p *plan.Plan, after time.Duration) (string, bool) {
	t.Helper()
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "plan.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Write(f); err != nil {
		t.Fatal(err)
	}
	f.Close()
	path := filepath.Join(dir, "j.json")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join([]string{addr, f.Name(), path}, " "))
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for range 5000 {
		if st, err := os.Stat(path); err == nil && st.Size() > 0 {
			break
		}
		time.Sleep(200 * time.Microsecond)
	}
	time.Sleep(after)
	_ = cmd.Process.Signal(syscall.SIGKILL)
	err = cmd.Wait()
	return path, err != nil
}

// settle resumes (or not) and takes back what a killed process left, and looks at the cluster after each,
// by its own connection and by look.
func settle(t testing.TB, tg Target, path string, p *plan.Plan, before string, resume bool, groups []string, look func(applied bool)) string {
	t.Helper()
	j, l, err := OpenJournal(path)
	if err == nil && !resume {
		j.Close()
	}
	if err != nil {
		if got := stands(t, tg, groups...); got != before {
			t.Fatalf("%v, and yet:\n%s", err, got)
		}
		return "before the header"
	}
	what := "taken back at once"
	if resume {
		what = "resumed, then taken back"
		out, err := Resume(t.Context(), l, tg, nil, j, hasty)
		if err != nil || out.Result != Done {
			t.Fatalf("%v %+v", err, out)
		}
		if got := stands(t, tg, groups...); got != planState(p) {
			t.Fatalf("after going on:\n%s", got)
		}
		look(true)
		j.Close()
		if j, l, err = OpenJournal(path); err != nil {
			t.Fatal(err)
		}
		j.Close()
	}
	back, err := CreateJournal(path + ".back")
	if err != nil {
		t.Fatal(err)
	}
	defer back.Close()
	out, err := Rollback(t.Context(), l, tg, back, hasty)
	if err != nil || out.Result != Done {
		t.Fatalf("%v %+v", err, out)
	}
	if got := stands(t, tg, groups...); got != before {
		t.Fatalf("after taking back:\n%swant\n%s", got, before)
	}
	look(false)
	return what
}

// TestKilledProcess kills a real process by SIGKILL at different moments.
func TestKilledProcess(t *testing.T) {
	addrs := brokers(t, "t", 4)
	tg := NewTarget(dial(t, addrs, wire.Writer(), nil))
	var groups []string
	for i := range 30 {
		groups = append(groups, fmt.Sprintf("g%02d", i))
		if i%2 == 0 {
			seed(t, addrs, groups[i], map[kafka.TopicPartition]plan.Committed{tp("t", 1): *at(int64(i), 0, "old"), tp("t", 3): *at(1, -1, "")})
		}
	}
	p := planFor(t, tg, "t", 4, groups...)
	before := stands(t, tg, groups...)
	for i := range 8 {
		path, early := killed(t, addrs[0], p, time.Duration(i*4)*time.Millisecond)
		t.Logf("%d ms, killed %v: %s", i*4, early, settle(t, tg, path, p, before, i%2 == 0, groups, func(bool) {}))
	}
}

// BenchmarkThousandGroups applies 1,000 groups of 20 partitions over TCP, with a journal on disk.
func BenchmarkThousandGroups(b *testing.B) {
	addrs := brokers(b, "t", 20)
	tg := NewTarget(dial(b, addrs, wire.Writer(), nil))
	for _, par := range []int{1, 4} {
		for _, chunk := range []int{1, 10, 50, 200} {
			b.Run(fmt.Sprintf("parallel %d, chunk %d", par, chunk), func(b *testing.B) {
				for n := 0; b.Loop(); n++ {
					b.StopTimer()
					var groups []string
					for i := range 1000 {
						groups = append(groups, fmt.Sprintf("g-%d-%d-%d-%d-%d", par, chunk, n, time.Now().UnixNano(), i))
					}
					p := planFor(b, tg, "t", 20, groups...)
					j, err := CreateJournal(filepath.Join(b.TempDir(), "j.json"))
					if err != nil {
						b.Fatal(err)
					}
					b.StartTimer()
					o := hasty
					o.Parallel, o.Chunk = par, chunk
					out, err := Run(b.Context(), p, tg, nil, j, o)
					if err != nil || out.Result != Done {
						b.Fatalf("%v %+v", err, out.Summary)
					}
					j.Close()
				}
			})
		}
	}
}
