package cmd

import (
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/diagnose/fix"
	"github.com/mm2doctor/mm2doctor/diagnose/lint"
	"github.com/mm2doctor/mm2doctor/diagnose/render"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/term"
)

// checkOptions are the flags of check.
type checkOptions struct {
	*checkRun
	Files      []string
	MM2Version string
	Effective  bool
}

func newCheck(s *term.Streams) *cobra.Command {
	o := &checkOptions{checkRun: newCheckRun("check", s)}
	c := &cobra.Command{
		Use:   "check FILE...",
		Short: "Check configurations of MirrorMaker 2, offline",
		Long: `Reads configurations of MirrorMaker 2 as Java, Connect and the operator read them, and reports what does not do what it
seems to do, with file and line. It never connects.

FILE is an mm2.properties of dedicated mode, connector JSON (one, several, or an answer of Connect's REST interface), a
KafkaMirrorMaker2 or KafkaConnector resource of Strimzi (several documents, lists of kubectl), another document that holds
one of these (a ConfigMap, a playbook of Ansible, JSON of Terraform, a compose file whose script writes it), the file of
the Connect worker beside its connectors, a folder, in which everything else is passed over, or - for standard input.
Give files that belong together at once: connectors of one flow are compared. References to config providers,
${provider:key}, are left alone; template text that is not rendered yet is recognised and not judged.

Without --mm2-version, and where a resource states none, rules that depend on the version hold for 2.7 and later.`,
		Example: `  mm2doctor check mm2.properties
  mm2doctor check source.json checkpoint.json --mm2-version 3.9.1
  kubectl get kafkamirrormaker2 -A -o yaml | mm2doctor check - --fail-on warning
  mm2doctor check mm2.properties --effective`,
		RunE: func(c *cobra.Command, args []string) error {
			o.Files = args
			return runCheck(c.Context(), o)
		},
	}
	o.flags(c)
	f := c.Flags()
	f.StringVar(&o.MM2Version, "mm2-version", "", "version of MirrorMaker 2: 3.9.1, a vendor's build (7.6.1-ccs, 3.7.0.redhat-00007), or an image (strimzi/kafka:0.45.0-kafka-3.9.0)")
	f.BoolVar(&o.Effective, "effective", false, "print the settings in force for each flow, connector and worker, with their origin, instead of findings; as text or json")
	return c
}

func runCheck(ctx context.Context, o *checkOptions) error {
	var err error
	opts := lint.Options{}
	if o.MM2Version != "" {
		if opts.Version, err = claimedVersion(o.MM2Version); err != nil {
			return err
		}
		if b, err := mm2.ParseBuild(o.MM2Version); err == nil {
			opts.Range = b.Range
		}
	}
	files, err := o.readUntil(ctx)
	if err != nil {
		return err
	}
	if o.Effective {
		if o.Fix || o.Diff {
			return usage("--effective shows settings and repairs nothing; leave out --fix and --diff")
		}
		outs, err := parseOutputs(o.Output, "text", "json")
		if err != nil {
			return err
		}
		return o.effective(files, opts, outs)
	}
	texts := make([]fix.Text, len(files))
	for i, f := range files {
		texts[i] = fix.Text(f)
	}
	return o.run(ctx, texts, func(texts []fix.Text) []finding.Finding {
		files := make([]lint.File, len(texts))
		for i, t := range texts {
			files[i] = lint.File(t)
		}
		return fix.Safe(texts, lint.Run(files, opts))
	})
}

// readUntil gives up at an interrupt: a pipe may never end.
func (o *checkOptions) readUntil(ctx context.Context) ([]lint.File, error) {
	var files []lint.File
	var err error
	if stopped := await(ctx, func() { files, err = o.read() }); stopped != nil {
		return nil, stopped
	}
	return files, err
}

// read reads the files, and what folders hold.
func (o *checkOptions) read() ([]lint.File, error) {
	if len(o.Files) == 0 {
		return nil, usage("nothing to check: give an mm2.properties, connector JSON, a KafkaMirrorMaker2 resource, a folder, or - for standard input")
	}
	var files []lint.File
	seen := map[string]bool{}
	for _, name := range o.Files {
		var found []lint.File
		var err error
		if fi, serr := os.Stat(name); name != "-" && serr == nil && fi.IsDir() {
			if found, err = readFolder(name); err == nil && !slices.ContainsFunc(found, func(f lint.File) bool { return lint.Recognised(f.Bytes) }) {
				err = usage("%s: the folder holds no configuration of MirrorMaker 2", name)
			}
		} else {
			found, err = o.readOne(name)
		}
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			if clean := filepath.Clean(f.Name); !seen[clean] {
				seen[clean] = true
				files = append(files, f)
			}
		}
	}
	if !slices.ContainsFunc(files, func(f lint.File) bool { return !lint.Worker(f.Bytes) }) {
		return nil, usage("%s: the file of a Connect worker, which is judged together with its connectors; give their JSON as well", files[0].Name)
	}
	return files, nil
}

func (o *checkOptions) readOne(name string) ([]lint.File, error) {
	in := o.streams.In
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, usage("%v; name a readable configuration of MirrorMaker 2", err)
		}
		defer f.Close()
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, maxConfig))
	if err != nil {
		return nil, usage("%v; name a readable configuration of MirrorMaker 2", err)
	}
	if len(b) >= maxConfig {
		return nil, usage("%s: is larger than %d MiB, which no configuration is; give the configuration of MirrorMaker 2 alone", name, maxConfig>>20)
	}
	if lint.Foreign(b) && !lint.Worker(b) {
		return nil, usage("%s: no configuration of MirrorMaker 2 is recognised in it (no clusters, no connector.class of MirrorMaker 2, no KafkaMirrorMaker2)", name)
	}
	return []lint.File{{Name: name, Bytes: b}}, nil
}

// readFolder gives the configurations below a folder, by name.
func readFolder(root string) ([]lint.File, error) {
	paths, err := inFolder(root)
	if err != nil {
		return nil, usage("%v; make it readable, or name the files to check instead of the folder", err)
	}
	var out []lint.File
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			return nil, usage("%v; make it readable, or name the files to check instead of the folder", err)
		}
		if lint.Recognised(b) || lint.Worker(b) {
			out = append(out, lint.File{Name: path, Bytes: b})
		}
	}
	return out, nil
}

// inFolder lists the files below a folder that may be configurations. Hidden folders are passed over, and links to folders are not
// followed. A link to a file is that file where it stands nowhere else in the folder: Kubernetes mounts a ConfigMap as links into a hidden one.
func inFolder(root string) ([]string, error) {
	var paths []string
	links := map[string]bool{}
	top := root + string(filepath.Separator) // the folder itself, also where its name is a link
	err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != top && d.Name()[0] == '.' {
				return filepath.SkipDir
			}
			return nil
		}
		if slices.Contains(prose, strings.ToLower(filepath.Ext(path))) {
			return nil
		}
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() || info.Size() >= maxConfig {
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			links[path] = true
		}
		paths = append(paths, path)
		return nil
	})
	if err != nil || len(links) == 0 {
		return paths, err
	}
	seen := map[string]bool{}
	twice := map[string]bool{}
	for _, link := range []bool{false, true} { // files before the links to them
		for _, path := range paths {
			if links[path] != link {
				continue
			}
			target, err := filepath.Abs(path)
			if err != nil {
				return nil, err
			}
			if target, err = filepath.EvalSymlinks(target); err != nil {
				return nil, err
			}
			twice[path] = seen[target]
			seen[target] = true
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return twice[p] }), nil
}

// prose are the names of texts and programs that quote configurations, or report on them; in a folder they are passed over.
var prose = []string{".md", ".markdown", ".mdx", ".rst", ".adoc", ".asciidoc", ".txt", ".html", ".htm", ".log",
	".go", ".java", ".kt", ".kts", ".scala", ".groovy", ".gradle", ".py", ".rb", ".js", ".mjs", ".ts", ".tsx", ".jsx", ".rs", ".c", ".h", ".cc", ".cpp", ".cs", ".php", ".pl", ".lua", ".sh", ".bash", ".zsh", ".ps1", ".bat", ".cmd", ".sql", ".r",
	".xml", ".svg", ".css", ".scss", ".csv", ".tf", ".hcl", ".proto", ".ipynb", ".lock", ".sum", ".mod", ".diff", ".patch", ".sarif"}

// effective prints what is in force.
func (o *checkOptions) effective(files []lint.File, opts lint.Options, outs []output) error {
	flows := lint.Effective(files, opts)
	if len(flows) == 0 {
		return usage("no flow can be resolved: %s", "run check without --effective to see why")
	}
	return writeOutputs(outs, o.streams, func(w io.Writer, screen term.Screen, format string) error {
		if format == "json" {
			return render.EffectiveJSON(w, flows, o.Verbose)
		}
		return render.Effective(w, flows, render.Options{Screen: screen, Verbose: o.Verbose})
	})
}
