package collect

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
	"github.com/mm2doctor/mm2doctor/internal/security"
)

// Principals tells from the operator's file whom MirrorMaker 2 connects as on both ends of a flow.
func Principals(s *conf.Setup, f *conf.Flow) snapshot.Principals {
	of := func(alias string) string {
		var es []security.Entry
		client, _ := s.Client(alias)
		for _, e := range client {
			es = append(es, security.Entry{Key: e.Key, Value: e.Value})
		}
		return security.User(es)
	}
	return snapshot.Principals{Source: of(f.Source), Target: of(f.Target)}
}

// principalsOf tells the same from a connector's configuration. Of the settings, only the two names leave this function.
func principalsOf(props map[string]string) snapshot.Principals {
	of := func(prefix string) string {
		var es []security.Entry
		for k, v := range props {
			if key, ok := strings.CutPrefix(k, prefix); ok {
				es = append(es, security.Entry{Key: key, Value: v})
			}
		}
		return security.User(es)
	}
	return snapshot.Principals{Source: of("source.cluster."), Target: of("target.cluster.")}
}
