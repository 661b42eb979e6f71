package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// writing keys are the requests that change what groups have committed, and the groups.
var writingKeys = []int16{8, 42, 47, 91, 92}

func wrote(ts *testscript.TestScript, _ bool, args []string) {
	p := stageOf(ts).proxies[args[0]]
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) == 0 {
		ts.Fatalf("proxy %s has seen nothing", args[0])
	}
	got := 0
	for _, k := range writingKeys {
		got += p.seen[k]
	}
	if got != want {
		ts.Fatalf("%d writing requests, want %d: %v", got, want, p.seen)
	}
	p.seen = map[int16]int{}
}

// unseen says that nothing came through a proxy.
func unseen(ts *testscript.TestScript, _ bool, args []string) {
	p := stageOf(ts).proxies[args[0]]
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.seen) > 0 {
		ts.Fatalf("proxy %s has seen %v", args[0], p.seen)
	}
}

// admin opens a client to cluster A or B of the pair.
func admin(ts *testscript.TestScript, name string) *kadm.Client {
	p := stageOf(ts).pair
	addrs := map[string][]string{"A": p.SourceAddrs, "B": p.TargetAddrs}[name]
	c, err := kgo.NewClient(kgo.SeedBrokers(addrs...))
	ts.Check(err)
	return kadm.NewClient(c)
}

func commit(ts *testscript.TestScript, _ bool, args []string) {
	c := admin(ts, args[0])
	defer c.Close()
	part, err := strconv.ParseInt(args[3], 10, 32)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if args[4] == "none" {
		_, err := c.DeleteOffsets(ctx, args[1], kadm.TopicsSet{args[2]: {int32(part): {}}})
		ts.Check(err)
		return
	}
	at, err := strconv.ParseInt(args[4], 10, 64)
	ts.Check(err)
	os := kadm.Offsets{}
	os.AddOffset(args[2], int32(part), at, -1)
	r, err := c.CommitOffsets(ctx, args[1], os)
	ts.Check(errors.Join(err, r.Error()))
}

func committed(ts *testscript.TestScript, _ bool, args []string) {
	c := admin(ts, args[0])
	defer c.Close()
	part, err := strconv.ParseInt(args[3], 10, 32)
	ts.Check(err)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	r, err := c.FetchOffsets(ctx, args[1])
	if !errors.Is(err, kerr.GroupIDNotFound) {
		ts.Check(err)
	}
	got := "none"
	if o, ok := r.Lookup(args[2], int32(part)); ok && o.At >= 0 {
		got = fmt.Sprint(o.At)
	}
	if got != args[4] {
		ts.Fatalf("group %s has %s in %s-%d, want %s", args[1], got, args[2], part, args[4])
	}
}

// printed runs a command that mm2doctor printed: as an operator who copies the line.
func printed(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	line := ""
	for l := range strings.SplitSeq(ts.ReadFile(args[1]), "\n") {
		if rest, ok := strings.CutPrefix(strings.TrimSpace(l), args[2]); ok {
			line = strings.TrimSpace(rest)
		}
	}
	if !strings.HasPrefix(line, "mm2doctor ") {
		ts.Fatalf("%s has no command after %q", args[1], args[2])
	}
	got := 0
	err = ts.Exec("sh", "-c", strings.Join(append([]string{line}, args[3:]...), " "))
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		got = ee.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("%s: exit %d, want %d\n%s\n%s", line, got, want, ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

// process prepares mm2doctor as a process beside the script's own.
func process(ts *testscript.TestScript, args []string) *exec.Cmd {
	path, err := exec.LookPath("mm2doctor")
	ts.Check(err)
	c := exec.Command(path, args...)
	c.Dir = ts.MkAbs(".")
	return c
}

func interrupts(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	p := stageOf(ts).proxies[args[1]]
	c := process(ts, args[2:])
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	ts.Check(c.Start())
	select {
	case <-p.reached:
	case <-time.After(20 * time.Second):
		c.Process.Kill()
		ts.Fatalf("the proxy was never reached\n%s%s", out.String(), errs.String())
	}
	ts.Check(c.Process.Signal(syscall.SIGINT))
	_ = c.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("out"), out.Bytes(), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs("err"), errs.Bytes(), 0o600))
	if got := c.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit %d, want %d\n%s\n%s", got, want, out.String(), errs.String())
	}
}

func amend(ts *testscript.TestScript, _ bool, args []string) {
	p, err := plan.Read(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(err)
	switch what, value, _ := strings.Cut(args[2], "="); what {
	case "made":
		age, err := time.ParseDuration(value)
		ts.Check(err)
		p.Made = time.Now().Add(-age).UTC().Format(time.RFC3339)
	case "to":
		p.To.ID = value
	default:
		ts.Fatalf("usage: amend PLAN OUT made=AGE|to=ID")
	}
	p.Seal()
	var b bytes.Buffer
	ts.Check(p.Write(&b))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b.Bytes(), 0o600))
}

func fits(ts *testscript.TestScript, _ bool, args []string) {
	c := jsonschema.NewCompiler()
	id := ""
	for _, name := range []string{"report", args[0]} {
		f, err := os.Open("../docs/schema/" + name + ".schema.json")
		ts.Check(err)
		doc, err := jsonschema.UnmarshalJSON(f)
		f.Close()
		ts.Check(err)
		id = doc.(map[string]any)["$id"].(string)
		ts.Check(c.AddResource(id, doc))
	}
	s, err := c.Compile(id)
	ts.Check(err)
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(ts.ReadFile("stdout")))
	ts.Check(err)
	ts.Check(s.Validate(v))
}

func answer(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	c := process(ts, args[2:])
	shown, err := onTerminal(c, args[0])
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("terminal"), []byte(shown), 0o600))
	if got := c.ProcessState.ExitCode(); got != want {
		ts.Fatalf("exit %d, want %d\n%s", got, want, shown)
	}
}
