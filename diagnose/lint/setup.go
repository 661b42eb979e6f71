package lint

import (
	"regexp"
	"strings"

	"github.com/mm2doctor/mm2doctor/internal/confdoc"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// Ways of running MirrorMaker 2.
const (
	dedicated = "dedicated"
	connect   = "connect"
	strimzi   = "strimzi"
	managed   = "msk-connect"
)

// setup is one configuration: an mm2.properties, a resource, or all connectors of Connect that were given.
type setup struct {
	*conf.Setup // nil where nothing can be resolved
	mode        string
	file        string
	version     mm2.Version
	props       *confdoc.Properties // of dedicated mode
	resource    *confdoc.Node       // of Strimzi
	versionAt   place               // where the version is stated
	flows       []*flow
	worker      *workerFile // of Connect, where its file was given
	broken      int         // last line of an entry that was meant to go on
	owns        *bool       // ownClasses, once asked for
	java        bool        // a connector in a properties file, as connect-standalone takes it
	// partial: a template decides later what else the file holds, so that what is missing proves nothing.
	partial map[string]bool
}

// threeConnectors are those that a flow may have.
var threeConnectors = []conf.Reader{conf.Source, conf.Checkpoint, conf.Heartbeat}

// flow is one flow of a setup.
type flow struct {
	*conf.Flow
	in *setup
	// at is where what is missing from a connector is reported: the line that makes the setting necessary.
	at    map[conf.Reader]place
	meant bool // its switch holds "true", and a comment, quotes or the like
}

// runs says that the flow is on, or was clearly meant to be: what is wrong with its switch is a finding of its own.
func (f *flow) runs() bool { return f.Enabled || f.meant }

// first is the connector that the flow certainly has.
func (f *flow) first() conf.Reader {
	for _, r := range threeConnectors {
		if f.Has(r) {
			return r
		}
	}
	return conf.Source
}

// where gives the place of a value, or that of what is missing.
func (f *flow) where(r conf.Reader, e conf.Effective, key string) place {
	if e.File != "" {
		return place{e.File, e.Line, e.Column, e.Written}
	}
	at, ok := f.at[r]
	if !ok {
		at = f.at[f.first()]
	}
	at.key = key
	return at
}

// whole says that the files of a connector hold everything: what is missing is missing.
func (f *flow) whole(r conf.Reader) bool { return !f.in.partial[f.at[r].file] }

// text is a value in force, false where it is template text, comes from a provider, or was found at fault.
func (l *linter) text(f *flow, r conf.Reader, key string) (string, conf.Effective, bool) {
	v, e := f.Text(r, key)
	return v, e, l.sound(e)
}

// flag is a boolean in force, false behind it where that cannot be told.
func (l *linter) flag(f *flow, r conf.Reader, key string) (bool, conf.Effective, bool) {
	on, e, err := f.Bool(r, key)
	return on, e, err == nil && l.sound(e)
}

// number is a whole number in force.
func (l *linter) number(f *flow, r conf.Reader, key string) (int64, conf.Effective, bool) {
	n, e, err := f.Int(r, key)
	_, there := f.Get(r, key)
	return n, e, err == nil && there && l.sound(e)
}

func (l *linter) sound(e conf.Effective) bool {
	if e.File == "" {
		return true
	}
	return !opaque(e.Value) && !l.wrong[place{e.File, e.Line, e.Column, e.Written}]
}

// opaque: the value is not here: a reference to a provider, or template text.
func opaque(value string) bool { return len(conf.Placeholders(value)) > 0 || template(value) != "" }

// is says that the version, or every version that counts where none is stated, is at least the given one.
func (s *setup) atLeast(major, minor, patch int) bool {
	return s.version.IsZero() || s.version.AtLeast(major, minor, patch)
}

// brokers counts the brokers that an address list shows; 0 where it shows none.
func brokers(bootstrap string) int {
	if opaque(bootstrap) && !hostMarks.MatchString(bootstrap) {
		return 0
	}
	seen := map[string]bool{}
	for a := range strings.SplitSeq(bootstrap, ",") {
		if a = strings.TrimSpace(a); a != "" {
			seen[strings.ToLower(a)] = true
		}
	}
	return len(seen)
}

// hostMarks is a list of hosts to fill in, each in angle brackets: how many there are is told.
var hostMarks = regexp.MustCompile(`^\s*<[^<>,]*>(?:\s*,\s*<[^<>,]*>)+\s*$`)

func (s *setup) cluster(alias string) conf.Cluster {
	for _, c := range s.Clusters {
		if c.Alias == alias {
			return c
		}
	}
	return conf.Cluster{}
}
