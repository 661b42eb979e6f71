package diagnose

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/mm2doctor/mm2doctor/"

// pure are the packages that judge and translate: no network, no terminal, no clock, no files.
var pure = []string{"internal/kafka", "internal/mm2", "internal/mm2/conf", "internal/confdoc", "internal/javaregex", "formatters", "translate", "translate/match", "translate/ranges", "translate/plan",
	"diagnose", "diagnose/snapshot", "diagnose/finding", "diagnose/bundle", "diagnose/lint", "diagnose/suppress", "diagnose/fix", "diagnose/evidence", "internal/mm2/bugs"}

// forbidden are packages, with all below them, that no pure package may lead to.
var forbidden = []string{"net", "net/http", "github.com/segmentio/kafka-go", "github.com/twmb/franz-go", "github.com/spf13/cobra", "github.com/charmbracelet/lipgloss", "github.com/olekukonko/tablewriter",
	module + "internal/wire", module + "internal/security", module + "internal/term", module + "diagnose/collect", module + "cmd"}

func TestPurePackagesLeadToNoClient(t *testing.T) {
	for _, p := range pure {
		out, err := exec.Command("go", "list", "-deps", module+p).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", p, err)
		}
		deps := strings.Fields(string(out))
		if !slices.Contains(deps, module+p) {
			t.Fatalf("go list does not know %s", p)
		}
		for _, d := range deps {
			for _, f := range forbidden {
				if d == f || strings.HasPrefix(d, f+"/") && f != "net" { // net/netip and the like open nothing
					t.Errorf("%s leads to %s", p, d)
				}
			}
		}
	}
}

// clocks are what a pure package never asks: the report's only clock is the snapshot's.
var clocks = []string{"Now", "Since", "Until", "After", "AfterFunc", "Tick", "NewTimer", "NewTicker", "Sleep"}

func TestPureSourceHasNoClockAndNoFiles(t *testing.T) {
	for _, p := range pure {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(p), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no source (%v)", p, err)
		}
		for _, name := range files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range f.Imports {
				path, _ := strconv.Unquote(i.Path.Value)
				if path == "os" || strings.HasPrefix(path, "os/") || path == "syscall" || path == "math/rand" || path == "math/rand/v2" {
					t.Errorf("%s imports %s", name, path)
				}
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if s, ok := n.(*ast.SelectorExpr); ok {
					if x, ok := s.X.(*ast.Ident); ok && x.Name == "time" && slices.Contains(clocks, s.Sel.Name) {
						t.Errorf("%s calls time.%s", name, s.Sel.Name)
					}
				}
				return true
			})
		}
	}
}
