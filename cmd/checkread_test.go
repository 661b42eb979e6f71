package cmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/fix"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

const small = "clusters = a, b\na.bootstrap.servers = a:9092\nb.bootstrap.servers = b:9092\na->b.enabled = true\n"

// readNames gives the names of what check reads.
func readNames(t *testing.T, in io.Reader, names ...string) ([]string, error) {
	t.Helper()
	o := &checkOptions{checkRun: newCheckRun("check", &term.Streams{In: in}), Files: names}
	files, err := o.read()
	var out []string
	for _, f := range files {
		out = append(out, filepath.ToSlash(f.Name))
	}
	return out, err
}

// TestFolderLinks: a link to a folder is that folder, links within it are the files that they lead to, each once, and no circle is walked.
func TestFolderLinks(t *testing.T) {
	folder(t, map[string]string{"conf/b.properties": small, "mount/..2026/mm2.properties": small, "other/o.properties": small, "conf/old.sarif": `{"connector.class": "org.apache.kafka.connect.mirror.MirrorSourceConnector"}`, "conf/x.diff": small})
	for link, to := range map[string]string{"link": "conf", "mount/..data": "..2026", "mount/mm2.properties": "..data/mm2.properties", "conf/a.properties": "b.properties", "conf/z.properties": "../other/o.properties", "conf/self": ".", "conf/gone.properties": "nowhere"} {
		if err := os.Symlink(to, link); err != nil {
			t.Skip(err)
		}
	}
	for root, want := range map[string][]string{
		"conf": {"conf/b.properties", "conf/z.properties"}, "link": {"link/b.properties", "link/z.properties"}, "mount": {"mount/mm2.properties"}, "./conf/": {"conf/b.properties", "conf/z.properties"},
		".": {"conf/b.properties", "mount/mm2.properties", "other/o.properties"},
	} {
		if got, err := readNames(t, nil, root); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %q, want %q", root, err, got, want)
		}
	}
	if got, err := readNames(t, nil, "conf/b.properties", "./conf/b.properties", "conf"); err != nil || !slices.Equal(got, []string{"conf/b.properties", "conf/z.properties"}) {
		t.Errorf("one file named twice: %v %q", err, got)
	}
}

// endless is a pipe that never ends.
type endless struct{}

func (endless) Read(b []byte) (int, error) { clear(b); return len(b), nil }

func TestEndlessInput(t *testing.T) {
	if _, err := readNames(t, endless{}, "-"); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Error(err)
	}
	if _, err := os.Stat("/dev/zero"); err == nil {
		if _, err := readNames(t, nil, "/dev/zero"); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
			t.Error(err)
		}
	}
}

// TestCheckInterrupted: an interrupt ends the reading of a pipe and the looking, and then nothing is written.
func TestCheckInterrupted(t *testing.T) {
	folder(t, map[string]string{"mm2.properties": small})
	ctx, cancel := context.WithCancel(t.Context())
	in, writer := io.Pipe()
	defer writer.Close()
	o := &checkOptions{checkRun: newCheckRun("check", &term.Streams{In: in}), Files: []string{"-"}}
	reading := make(chan struct{})
	go func() {
		writer.Write([]byte("clusters")) // returns once it is read
		close(reading)
	}()
	go func() { <-reading; cancel() }()
	if err := runCheck(ctx, o); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}

	ctx, cancel = context.WithCancel(t.Context())
	release := make(chan struct{})
	defer close(release)
	var out bytes.Buffer
	run := newCheckRun("check", &term.Streams{Out: &out, Err: &out, Env: func(string) string { return "" }})
	run.FailOn, run.Fix, run.Output = "error", true, []string{"json=r.json"}
	err := run.run(ctx, []fix.Text{{Name: "mm2.properties", Bytes: []byte(small)}}, func([]fix.Text) []finding.Finding {
		cancel()
		<-release
		return nil
	})
	if _, serr := os.Stat("r.json"); !errors.Is(err, context.Canceled) || serr == nil || out.Len() > 0 || content(t, "mm2.properties") != small {
		t.Errorf("%v, report: %v, %q", err, serr, out.String())
	}
}

// TestCheckoutRoot: files are named from the root of the checkout wherever check is started in it, and fingerprints stay.
func TestCheckoutRoot(t *testing.T) {
	folder(t, map[string]string{"work/repo/deploy/conf/f": "a.enabled=false\n", "work/repo/.git": "gitdir: elsewhere\n", "bare/deploy/f": "a.enabled=false\n"})
	top, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	print := func(dir, name string, env map[string]string) (annotation, issues string) {
		t.Chdir(filepath.Join(top, dir))
		var out bytes.Buffer
		run := newCheckRun("check", &term.Streams{Out: &out, Err: io.Discard, Env: func(k string) string { return env[k] }})
		run.FailOn, run.Output = "never", []string{"github", "codeclimate=" + filepath.Join(top, "cc.json")}
		if err := run.run(t.Context(), []fix.Text{{Name: name, Bytes: []byte("a.enabled=false\n")}}, oneRule); err != nil {
			t.Fatal(err)
		}
		line, _, _ := strings.Cut(out.String(), ",line")
		return line, content(t, filepath.Join(top, "cc.json"))
	}
	first, issues := print("work/repo", "deploy/conf/f", nil)
	for _, c := range []struct{ dir, name string }{{"work/repo/deploy", "conf/f"}, {"work/repo/deploy/conf", "f"}, {"work/repo/deploy/conf", "../conf/f"}} {
		if got, same := print(c.dir, c.name, nil); got != first || got != "::error file=deploy/conf/f" || same != issues {
			t.Errorf("in %s: %s", c.dir, got)
		}
	}
	for _, c := range []struct {
		env  map[string]string
		want string
	}{
		{nil, "::error file=f"}, {map[string]string{"GITHUB_WORKSPACE": filepath.Join(top, "bare")}, "::error file=deploy/f"},
		{map[string]string{"CI_PROJECT_DIR": filepath.Join(top, "bare")}, "::error file=deploy/f"}, {map[string]string{"CI_PROJECT_DIR": filepath.Join(top, "work")}, "::error file=f"},
	} {
		if got, _ := print("bare/deploy", "f", c.env); got != c.want {
			t.Errorf("%v: %s, want %s", c.env, got, c.want)
		}
	}
}
