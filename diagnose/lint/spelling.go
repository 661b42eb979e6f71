package lint

import (
	"slices"
	"strings"
	"sync"

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
		if slices.Contains([]string{n + "d", strings.TrimSuffix(n, ".enabled"), strings.TrimSuffix(n, ".class"), strings.Replace(n, ".topic.replication", ".replication", 1), strings.Replace(n, ".seconds", ".ms", 1),
			strings.TrimSuffix(n, ".seconds"), strings.Replace(n, "group.", "consumer.group.", 1), strings.Replace(n, "groups.", "group.", 1), strings.Replace(n, "topics.", "topic.", 1)}, name) && n != name {
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

// plainName takes away what people get wrong first: case, and what stands between words.
func plainName(s string) string {
	return strings.NewReplacer("_", ".", "-", ".", " ", "").Replace(strings.ToLower(s))
}

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
