package wire

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// recorder keeps what was sent.
type recorder struct {
	mu   sync.Mutex
	sent []Sent
}

func (r *recorder) add(s Sent) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent = append(r.sent, s)
}

func (r *recorder) count(key int16) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.sent {
		if s.Key == key {
			n++
		}
	}
	return n
}

func (r *recorder) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen := map[string]int{}
	for _, s := range r.sent {
		seen[fmt.Sprintf("%s v%d", kmsg.NameForKey(s.Key), s.Version)]++
	}
	var out []string
	for k, n := range seen {
		out = append(out, fmt.Sprintf("%s ×%d", k, n))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}
