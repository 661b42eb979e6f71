package lint

import (
	"path"
	"path/filepath"

	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// sets parts connectors that cannot all run in one Connect cluster: where a flow has a connector of one class more than once, as with a
// folder for each environment, those of one folder belong together. The first set has all that is there once.
func sets(cs []conf.Connector) [][]conf.Connector {
	type kind struct {
		flow   string
		reader conf.Reader
	}
	type part struct {
		dir string
		n   int // of several connectors of a kind in one folder
	}
	of := func(c conf.Connector) kind { return kind{conf.FlowOf(c), c.Reader} }
	count := map[kind]int{}
	several := map[string]bool{} // flows
	for _, c := range cs {
		k := of(c)
		if count[k]++; count[k] > 1 {
			several[k.flow] = true
		}
	}
	if len(cs) == 0 {
		return nil
	}
	if len(several) == 0 {
		return [][]conf.Connector{cs}
	}
	var base []conf.Connector
	first := map[string]part{}
	seen := map[kind]map[string]int{}
	parts := map[part][]conf.Connector{}
	var order []part
	for _, c := range cs {
		k := of(c)
		if !several[k.flow] {
			base = append(base, c)
			continue
		}
		dir := path.Dir(filepath.ToSlash(c.File))
		if seen[k] == nil {
			seen[k] = map[string]int{}
		}
		p := part{dir, seen[k][dir]}
		seen[k][dir]++
		if _, ok := first[k.flow]; !ok {
			first[k.flow] = p
		}
		if first[k.flow] == p {
			base = append(base, c)
			continue
		}
		if parts[p] == nil {
			order = append(order, p)
		}
		parts[p] = append(parts[p], c)
	}
	out := [][]conf.Connector{base}
	for _, p := range order {
		out = append(out, completed(parts[p], cs))
	}
	return out
}

// completed adds to a set the connectors that its flows share with others: several source connectors may have one checkpoint connector.
func completed(set, all []conf.Connector) []conf.Connector {
	has := map[string]conf.Reader{}
	target := map[string]string{}
	for _, c := range set {
		has[conf.FlowOf(c)] |= c.Reader
		target[conf.FlowOf(c)] = address(c)
	}
	for _, c := range all {
		flow := conf.FlowOf(c)
		if have, ok := has[flow]; ok && have&c.Reader == 0 && c.Reader != conf.Heartbeat && address(c) != "" && address(c) == target[flow] {
			has[flow] |= c.Reader
			set = append(set, c)
		}
	}
	return set
}

func address(c conf.Connector) string { return c.Config.Get("target.cluster.bootstrap.servers").Text() }
