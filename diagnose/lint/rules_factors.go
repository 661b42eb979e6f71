package lint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/internal/mm2/conf"
)

// factorKeys are replication factors by who creates the topic.
var factorKeys = []struct {
	r      conf.Reader
	key    string
	chain  bool // an internal topic of the offset chain
	worker bool
}{
	{conf.Source, "offset-syncs.topic.replication.factor", true, false},
	{conf.Checkpoint, "checkpoints.topic.replication.factor", true, false},
	{conf.Heartbeat, "heartbeats.topic.replication.factor", false, false},
	{conf.Source, "replication.factor", false, false},
	{conf.Worker, "offset.storage.replication.factor", false, true},
	{conf.Worker, "config.storage.replication.factor", false, true},
	{conf.Worker, "status.storage.replication.factor", false, true},
}

// notCreated: MirrorMaker 2 creates its topics in a job of its own at the start; its failure is one ERROR in the log, and the connector runs on.
const notCreated = "With fewer brokers the topic cannot be created: one ERROR in the log, and then the topic is missing, or the broker makes one by its own defaults."

// factors compares replication factors with each other and with the brokers that addresses show. Neither is proof of how many
// brokers there are, so a factor is called too high only where the file contradicts itself.
func (l *linter) factors(f *flow) {
	s := f.in
	if !f.runs() {
		return
	}
	highest, lowest := int64(0), int64(0) // written ones; -1, the broker's default, does not count
	for _, k := range factorKeys {
		if n, e, ok := l.number(f, k.r, k.key); f.Has(k.r) && ok && !e.IsDefault() && n > 0 {
			highest = max(highest, n)
			if lowest == 0 || n < lowest {
				lowest = n
			}
		}
	}
	for _, k := range factorKeys {
		n, e, ok := l.number(f, k.r, k.key)
		if !f.Has(k.r) || !ok || n < 1 {
			continue
		}
		if emit, _, known := l.flag(f, conf.Checkpoint, keyEmit); k.r == conf.Checkpoint && known && !emit {
			continue // nobody writes there
		}
		on := f.Target
		if k.key == "offset-syncs.topic.replication.factor" && f.location() == mm2.OnSource {
			on = f.Source
		}
		show := brokers(s.cluster(on).Bootstrap.Value)
		at := f.where(k.r, e, k.key)
		switch {
		case e.IsDefault():
			if k.chain && highest > 0 && highest < n && int64(show) < n && f.whole(k.r) {
				l.add(say{slug: "replication-factor-default", severity: finding.Warning, at: at, flow: f.Name(), because: fmt.Sprintf("%s is not set and %d by default, while every other replication factor is at most %d.", k.key, n, highest), leads: notCreated, fixes: f.set(k.r, k.key, fmt.Sprint(highest))})
			}
		case n == 1 && (k.chain || k.key == "offset.storage.replication.factor" || k.key == "replication.factor") && (show > 1 || highest > 1 && (k.chain || k.worker) && s.lowOn(on) != 1):
			sev := finding.Info
			if k.chain {
				sev = finding.Warning
			}
			why := fmt.Sprintf("the addresses of %s show %d brokers", on, show)
			if show <= 1 {
				why = fmt.Sprintf("other topics have a factor of %d", highest)
			}
			l.add(say{slug: "replication-factor-low", severity: sev, at: at, flow: f.Name(), because: fmt.Sprintf("%s is 1, although %s: when one broker is lost, so is the topic.", k.key, why), leads: "Without offset syncs and checkpoints nothing is translated, and what was there before does not come back.", fixes: s.inPlace(at, fmt.Sprint(max(min(int64(show), 3), highest, 2)))})
		case !k.worker && show > 0 && n > int64(show) && (show >= 3 || s.lowOn(on) > 0 && s.lowOn(on) < n):
			sev, why := finding.Warning, fmt.Sprintf("the addresses of %s show %d brokers", on, show)
			if low := s.lowOn(on); low > 0 && low < n {
				why += fmt.Sprintf(", and the other topics there have a factor of %d", low)
				if k.chain {
					sev = finding.Error
				}
			}
			l.add(say{slug: "replication-factor-too-high", severity: sev, at: at, flow: f.Name(), because: fmt.Sprintf("%s is %d, the topic lies on %s, and %s.", k.key, n, on, why), leads: notCreated, fixes: s.inPlace(at, fmt.Sprint(show))})
		}
	}
}

// location is where offset syncs are written.
func (f *flow) location() mm2.Location {
	if v, _ := f.Text(conf.Source, "offset-syncs.topic.location"); v == string(mm2.OnTarget) {
		return mm2.OnTarget
	}
	return mm2.OnSource
}

// lowOn is the highest factor that the file writes for a cluster itself, behind its alias; 0 without one.
func (s *setup) lowOn(alias string) int64 {
	if s.props == nil {
		return 0
	}
	most := int64(0)
	for _, e := range s.props.Under(alias + ".") {
		if strings.HasSuffix(e.Key, "replication.factor") {
			if n, err := strconv.ParseInt(strings.TrimSpace(e.Value), 10, 16); err == nil {
				most = max(most, n)
			}
		}
	}
	return most
}
