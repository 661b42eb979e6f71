package collect

import (
	"cmp"
	"slices"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/confdoc"
)

// Place is where a setting stands.
type Place struct {
	File         string
	Line, Column int
}

// ConnectorTree finds the configurations of MirrorMaker 2's connectors in JSON, as files and Connect's REST interface have
// them: {"name", "config"}, a flat object with connector.class, a list of either, an answer of GET /connectors?expand=info&expand=status
// ({"NAME": {"info", "status"}}), of GET /connectors/NAME, or of MSK Connect's describe-connector.
func ConnectorTree(docs []confdoc.Doc) []MirrorConnector {
	var out []MirrorConnector
	for _, d := range docs {
		for _, n := range confdoc.Objects([]confdoc.Doc{d}) {
			out = append(out, connectorsIn(d.File, n)...)
		}
	}
	return out
}

func connectorsIn(file string, n *confdoc.Node) []MirrorConnector {
	config := n
	for _, name := range []string{"config", "connectorConfiguration"} {
		if c := n.Get(name); c.Is(confdoc.Map) {
			config = c
		}
	}
	if m, ok := mirrorConnector(file, config); ok {
		m.Name = cmp.Or(n.Get("name").Text(), n.Get("connectorName").Text(), m.Name)
		m.Managed = n.Get("connectorConfiguration").Is(confdoc.Map)
		return []MirrorConnector{m}
	}
	var out []MirrorConnector
	for _, f := range n.Effective() { // an expanded list
		info := f.Value.Get("info")
		m, ok := mirrorConnector(file, info.Get("config"))
		if !ok {
			continue
		}
		m.Name = cmp.Or(info.Get("name").Text(), f.Key)
		out = append(out, m)
	}
	return out
}

func mirrorConnector(file string, config *confdoc.Node) (MirrorConnector, bool) {
	class := strings.TrimSpace(config.Get("connector.class").Text())
	class = class[strings.LastIndexByte(class, '.')+1:]
	if !slices.Contains(connectorClasses, class) {
		return MirrorConnector{}, false
	}
	m := MirrorConnector{Class: class, Properties: map[string]string{}, Places: map[string]Place{}}
	for _, f := range config.Effective() {
		if f.Value.Scalar() {
			m.Properties[f.Key] = f.Value.Text()
			m.Places[f.Key] = Place{file, f.Line, f.Column}
		}
	}
	m.Name = m.Properties["name"]
	return m, true
}

// placed adds to the settings of a connector where they stand, where a file tells.
func (m MirrorConnector) placed(es []snapshot.ConfigEntry) []snapshot.ConfigEntry {
	for i := range es {
		if p, ok := m.Places[es[i].Key]; ok && !es[i].Default {
			es[i].File, es[i].Line, es[i].Column, es[i].Rule = p.File, p.Line, p.Column, "config of the connector"
		}
	}
	return es
}
