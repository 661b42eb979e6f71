package lint

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

var (
	mm2Names = sync.OnceValue(func() []string {
		var out []string
		for _, k := range conf.Keys() {
			if k.ReadBy&anyConnector != 0 && k.Removed.IsZero() && !strings.HasPrefix(k.Name, "task.") {
				out = append(out, k.Name)
			}
		}
		return out
	})
	connectorNames = sync.OnceValue(func() []string { return sorted(slices.Concat(mm2Names(), kafkaNames(conf.OfConnector))) })
	clientNames    = sync.OnceValue(func() []string { return sorted(kafkaNames(conf.OfProducer | conf.OfConsumer | conf.OfAdmin)) })
	workerNames    = sync.OnceValue(func() []string {
		return sorted(kafkaNames(conf.OfWorker | conf.OfAdmin))
	})
	bareNames = sync.OnceValue(func() []string { return sorted(slices.Concat([]string{"clusters"}, connectorNames(), workerNames())) })
)

func kafkaNames(of conf.Place) []string {
	var out []string
	for _, n := range conf.KafkaKeyNames() {
		if k, _ := conf.LookupKafkaKey(n); k.Of&of != 0 {
			out = append(out, n)
		}
	}
	return out
}

func sorted(names []string) []string {
	out := slices.Clone(names)
	slices.Sort(out)
	return slices.Compact(out)
}

// nearest gives the setting that a name was meant for, or "".
func nearest(name string, names []string) string {
	plain := plainName(name)
	if len(plain) < 4 || len(name) > 80 {
		return ""
	}
	best, least := "", 3
	for _, n := range names {
		p := plainName(n)
		if p == plain && n != name {
			return n
		}
		if n != name && (shortened(n, name) || len(p) == len(plain) && sameWords(p, plain) || camel(name) && strings.ReplaceAll(p, ".", "") == plain) {
			return n
		}
		most := 2
		if len(plain) < 10 {
			most = 1
		}
		if d := len(p) - len(plain); d > most || -d > most {
			continue
		}
		if d := distance(plain, p, most); d <= most && d < least {
			best, least = n, d
		}
	}
	if best == name {
		return ""
	}
	return best
}

// onlyNear says that no other setting is as near to a name as the one that is meant: then it can be renamed unseen. A part left out or
// exchanged is a guess, a change of case or of what stands between words is none.
func onlyNear(name, meant string, names []string) bool {
	plain := plainName(name)
	if plainName(meant) == plain {
		for _, n := range names {
			if n != meant && plainName(n) == plain {
				return false
			}
		}
		return true
	}
	d := distance(plain, plainName(meant), 2)
	if d > 2 {
		return false
	}
	for _, n := range names {
		if n != meant && n != name && distance(plain, plainName(n), 2) <= min(d+1, 2) {
			return false
		}
	}
	return true
}

// shortened says that a name is a setting's with a part left out or exchanged, as it often is.
func shortened(setting, name string) bool {
	for _, end := range []string{".enabled", ".class", ".seconds"} {
		if rest, ok := strings.CutSuffix(setting, end); ok && rest == name {
			return true
		}
	}
	for _, x := range [][2]string{{".topic.replication", ".replication"}, {".seconds", ".ms"}, {"group.", "consumer.group."}, {".class", ".class.name"}, {"emit.", ""}} {
		if strings.Contains(setting, x[0]) && strings.Replace(setting, x[0], x[1], 1) == name {
			return true
		}
	}
	return false
}

// camel says that a name is written in one piece with capitals inside.
func camel(name string) bool {
	return !strings.ContainsAny(name, ".-_") && strings.IndexFunc(name, unicode.IsUpper) > 0
}

// sameWords says that two names differ in the order of their words alone.
func sameWords(a, b string) bool {
	x, y := strings.Split(a, "."), strings.Split(b, ".")
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

// plainName takes away what people get wrong first: case, and what stands between words.
func plainName(s string) string {
	if p, ok := plain()[s]; ok {
		return p
	}
	return separators.Replace(strings.ToLower(s))
}

var (
	separators = strings.NewReplacer("_", ".", "-", ".", " ", "")
	// plain holds the plain names of all settings that are known.
	plain = sync.OnceValue(func() map[string]string {
		out := map[string]string{}
		for _, n := range bareNames() {
			out[n] = separators.Replace(strings.ToLower(n))
		}
		return out
	})
)

// distance counts insertions, deletions, changes and exchanged neighbours, up to most+1.
func distance(a, b string, most int) int {
	before, prev, cur := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(a); i++ {
		cur[0] = i
		row := i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			cur[j] = min(prev[j]+1, cur[j-1]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				cur[j] = min(cur[j], before[j-2]+1)
			}
			row = min(row, cur[j])
		}
		if row > most {
			return most + 1
		}
		before, prev, cur = prev, cur, before
	}
	return prev[len(b)]
}
