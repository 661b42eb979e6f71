//go:build unix

package cmd

import (
	"io/fs"
	"os"
	"syscall"
)

// sameOwner gives a file the owner and group of another: a service must still be able to read its configuration after root has repaired it.
func sameOwner(f *os.File, as fs.FileInfo) error {
	want, ok := as.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if got, ok := info.Sys().(*syscall.Stat_t); ok && got.Uid == want.Uid && got.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}
