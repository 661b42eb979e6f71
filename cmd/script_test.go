package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/mm2doctor/mm2doctor/internal/term"
)

// TestMain lets the test binary be mm2doctor: scripts run it as a process of its own.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"mm2doctor": func() { os.Exit(Main(os.Args[1:], term.Standard())) }})
}

// TestScripts runs testdata/*.txtar. Commands of our own, beside those of testscript:
//
//	exits CODE ARG...         run mm2doctor; the exit code must be CODE, and standard output empty for 2 and 130
//	pair SCENARIO [fixed]     start an embedded pair: ./mm2.properties, $A and $B its addresses
//	stop                      end that pair
//	broker NAME tls|sasl      start one embedded broker; $NAME is its address
//	proxy NAME ADDR KEY N die|hang   a proxy for ADDR that dies or hangs at the Nth request with that API key; $NAME is its address.
//	                          KEY -1 only passes on and counts
//	wrote NAME N              N requests that write have passed proxy NAME since the last time (commit, delete, alter of group offsets)
//	unseen NAME               nothing came through proxy NAME
//	commit A|B GROUP TOPIC PARTITION OFFSET     commit as an administrator; an offset of none deletes
//	committed A|B GROUP TOPIC PARTITION OFFSET  what is committed; none for nothing
//	printed CODE FILE HEAD [ARG...]  run the command that FILE has after HEAD, as it is, in a shell, with more arguments
//	amend PLAN OUT made=AGE|to=ID  a sealed plan that was made that long ago, or for another cluster
//	answer TEXT CODE ARG...   run mm2doctor on a terminal and type TEXT; what it showed is in ./terminal, its exit code must be CODE
//	interrupt NAME ARG...     run mm2doctor, interrupt it once proxy NAME hangs: it must exit with 130 and print nothing
//	interrupts CODE NAME ARG...  the same with another exit code; what was printed is in ./out and ./err
//	object [PATH=VALUE...]    standard output is one JSON object, with these values
//	fits plan|outcome         standard output keeps to the published schema
//	found [CODE...]           standard output is a JSON report with these findings and no others
//	same FILE FILE            two reports that differ in nothing but the time of reading
//	plain stdout|stderr       nothing but printable ASCII and line ends
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			s := &stage{ctx: t.Context(), proxies: map[string]*proxy{}}
			e.Values[stageKey{}] = s
			e.Defer(s.close)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "pair": pair, "stop": stop, "broker": broker, "proxy": proxied, "interrupt": interrupted, "object": object, "plain": plain, "same": same, "found": found,
			"wrote": wrote, "unseen": unseen, "commit": commit, "committed": committed, "printed": printed, "answer": answer, "interrupts": interrupts, "amend": amend, "fits": fits,
		},
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	want, err := strconv.Atoi(args[0])
	if neg || err != nil {
		ts.Fatalf("usage: exits CODE ARG...")
	}
	err = ts.Exec("mm2doctor", args[1:]...)
	got := 0
	var ee *exec.ExitError
	if errors.As(err, &ee) {
		got = ee.ExitCode()
	} else {
		ts.Check(err)
	}
	out, errs := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if got != want {
		ts.Fatalf("exit %d, want %d\n%s\n%s", got, want, out, errs)
	}
	if want == exitUsage && (out != "" || !strings.HasPrefix(errs, "mm2doctor: ") && !strings.Contains(errs, "\nmm2doctor: ")) {
		ts.Fatalf("exit 2 with standard output %q and standard error %q", out, errs)
	}
}

func object(ts *testscript.TestScript, neg bool, args []string) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	d.UseNumber()
	var v map[string]any
	ts.Check(d.Decode(&v))
	var more any
	if err := d.Decode(&more); err != io.EOF {
		ts.Fatalf("more than one object on standard output: %v %v", more, err)
	}
	for _, a := range args {
		path, want, _ := strings.Cut(a, "=")
		if got := fmt.Sprint(at(v, path)); got != want {
			ts.Fatalf("%s is %s, want %s", path, got, want)
		}
	}
}

// at gives the value at a path such as findings.0.code; nil where there is none.
func at(v any, path string) any {
	for p := range strings.SplitSeq(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			v = x[p]
		case []any:
			i, err := strconv.Atoi(p)
			if err != nil || i >= len(x) {
				return nil
			}
			v = x[i]
		default:
			return nil
		}
	}
	return v
}

func found(ts *testscript.TestScript, _ bool, args []string) {
	var r struct {
		Findings []struct{ Code, Because string }
	}
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &r))
	got := []string{}
	for _, f := range r.Findings {
		got = append(got, f.Code)
	}
	if !slices.Equal(got, append([]string{}, args...)) {
		ts.Fatalf("findings %+v, want %v", r.Findings, args)
	}
}

func same(ts *testscript.TestScript, _ bool, args []string) {
	var text [2]string
	for i, name := range args[:2] {
		var v map[string]any
		ts.Check(json.Unmarshal([]byte(ts.ReadFile(name)), &v))
		delete(v, "collected")
		b, err := json.MarshalIndent(v, "", " ")
		ts.Check(err)
		text[i] = string(b)
	}
	if a, b := strings.Split(text[0], "\n"), strings.Split(text[1], "\n"); text[0] != text[1] {
		for i := range min(len(a), len(b)) {
			if a[i] != b[i] {
				ts.Fatalf("line %d is %s in %s and %s in %s", i+1, a[i], args[0], b[i], args[1])
			}
		}
		ts.Fatalf("%d and %d lines", len(a), len(b))
	}
}

func plain(ts *testscript.TestScript, _ bool, args []string) {
	for i, b := range []byte(ts.ReadFile(args[0])) {
		if b != '\n' && (b < 0x20 || b > 0x7e) {
			ts.Fatalf("byte %#x at %d", b, i)
		}
	}
}
