//go:build unix

package cmd

import (
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestFixKeepsOwner: the service that owned the file still does.
func TestFixKeepsOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root makes files of others")
	}
	folder(t, map[string]string{"f": "a.enabled=false\n"})
	if err := os.Chown("f", 4711, 4712); err != nil {
		t.Skip(err)
	}
	if exit, _, errs := checked(t, "f", "--fix"); exit != 0 || content(t, "f") != "a.enabled=true\n" {
		t.Fatalf("exit %d, %s", exit, errs)
	}
	info, err := os.Stat("f")
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != 4711 || s.Gid != 4712 || info.Mode().Perm() != 0o640 {
		t.Errorf("%d:%d %v", s.Uid, s.Gid, info.Mode())
	}
}

func TestFixTellsWhatToDo(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write everywhere")
	}
	folder(t, map[string]string{"d/f": "a.enabled=false\n"})
	if err := os.Chmod("d", 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("d", 0o700)
	if exit, _, errs := checked(t, "d/f", "--fix"); exit != 2 || !strings.Contains(errs, "d/f cannot be replaced: permission denied; make") {
		t.Errorf("exit %d, %s", exit, errs)
	}
}
