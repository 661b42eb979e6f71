package cmd

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// tellFiles says on standard error which files were written, and the commands that take them.
func (o *translateOptions) tellFiles(m *made, outs []output) {
	if o.Quiet {
		return
	}
	for _, out := range outs {
		if out.file == "" {
			continue
		}
		for _, l := range o.fileLines(m, out) {
			fmt.Fprintln(o.streams.Err, l)
		}
	}
}

func (o *translateOptions) fileLines(m *made, out output) []string {
	p := m.plan
	rows, takes, others := 0, []string(nil), []string(nil)
	for _, g := range p.Groups {
		n := 0
		for i := range g.Rows {
			if g.Rows[i].Wanting() {
				n++
			}
		}
		rows += n
		switch kind := kafka.GroupType(cmp.Or(g.TargetType, g.Type)); {
		case n == 0:
		case kind == kafka.TypeShare || kind == kafka.TypeStreams:
			others = append(others, g.TargetGroup)
		default:
			takes = append(takes, g.TargetGroup)
		}
	}
	wrote := fmt.Sprintf("wrote %s: %s of %s", out.file, finding.Count(rows, "offset"), finding.Count(len(takes)+len(others), "group"))
	switch {
	case out.format == "json":
		line := fmt.Sprintf("wrote %s: the plan", out.file)
		if m.session.live() && p.Summary.Set > 0 {
			line += "; to carry it out within 60 minutes: " + shellLine(append([]string{"mm2doctor", "translate", "apply", out.file}, o.evidenceArgs()...))
		}
		return []string{line}
	case out.format == "text":
		return []string{"wrote " + out.file}
	case rows == 0:
		return []string{wrote + ", since nothing can be set"}
	case out.format == "rpk":
		return []string{wrote + " on " + p.To.Alias + ", for rpk (it has no dry run):", "  " + shellLine([]string{"rpk", "group", "seek", append(takes, others...)[0], "--to-file", out.file, "-X", "brokers=" + brokersOf(p)})}
	}
	lines := []string{wrote + " on " + p.To.Alias + ". For Kafka's own tool: look first (--dry-run), then set:"}
	if len(takes) > 0 {
		args := []string{"kafka-consumer-groups.sh", "--bootstrap-server", brokersOf(p)}
		file, secured := o.commandConfig(m)
		if secured {
			args = append(args, "--command-config", file)
		}
		for _, id := range takes {
			args = append(args, "--group", id)
		}
		args = append(args, "--reset-offsets", "--from-file", out.file)
		lines = append(lines, "  "+shellLine(append(slices.Clone(args), "--dry-run")), "  "+shellLine(append(args, "--execute")))
		if secured && file == clientConfig {
			lines = append(lines, fmt.Sprintf("  (%s: Kafka client properties with the security settings of %s)", clientConfig, p.To.Alias))
		}
	}
	if len(others) > 0 {
		lines = append(lines, fmt.Sprintf("  That tool does not set share and streams groups (%s): translate apply does.", strings.Join(others, ", ")))
	}
	return lines
}

func brokersOf(p *plan.Plan) string {
	return cmp.Or(strings.Join(p.To.Bootstrap, ","), "HOST:PORT")
}

// clientConfig stands for a file that only the operator can name.
const clientConfig = "client.properties"

// commandConfig is the file of client properties for the cluster that is written, and whether it takes one.
func (o *translateOptions) commandConfig(m *made) (file string, secured bool) {
	for _, c := range m.session.request.Clusters {
		if c.Alias == m.plan.To.Alias && c.CommandConfig != "" {
			return c.CommandConfig, true
		}
	}
	cfg, ok := m.session.configs[m.plan.To.Alias]
	return clientConfig, ok && (cfg.TLS != nil || cfg.SASL != nil)
}
