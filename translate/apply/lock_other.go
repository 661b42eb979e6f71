//go:build !unix

package apply

import "os"

func lock(*os.File) error { return nil }

func notSupported(error) bool { return true }
