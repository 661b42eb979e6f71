package cmd

import (
	"os"
	"path/filepath"
)

// checkoutRoot is the folder that CI servers and code hosts name files from: the nearest one above the working directory that holds .git,
// else the one that a CI server names, where the working directory lies in it. "." where there is none.
func checkoutRoot(env func(string) string) string {
	dir, err := os.Getwd()
	if err != nil {
		return "."
	}
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Lstat(filepath.Join(d, ".git")); err == nil {
			return d
		}
		if d == filepath.Dir(d) {
			break
		}
	}
	for _, name := range []string{"GITHUB_WORKSPACE", "CI_PROJECT_DIR"} {
		if root := env(name); root != "" && inside(root, dir) {
			return root
		}
	}
	return "."
}

// inside says that a folder is another one or lies below it.
func inside(root, dir string) bool {
	rel, err := filepath.Rel(root, dir)
	return err == nil && filepath.IsLocal(rel)
}
