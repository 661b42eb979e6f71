package read

import "github.com/mm2doctor/mm2doctor/translate"

// lines watches the offset syncs of one partition for a second writer. Two set-ups that use the same aliases write into one
// offset-syncs topic, for the same source partition and about two different targets: the downstream offsets then go on along two
// lines in turn. One MirrorMaker 2 never does that: where it begins anew, on a target topic or after a crash, it stays there.
type lines struct {
	last, before translate.Sync
	n            int
	falls        int // steps back downstream while upstream went on
	leaps        int // steps ahead downstream by more than records and markers explain, after a fall
	returns      int // syncs with just the shift of the one before the last, and another than the last
}

const (
	// slack is how far a step ahead downstream may be beyond twice the step upstream: markers, aborted copies, local records.
	slack = 64
	// apart is how far two shifts differ that are not one with markers of transactions in between.
	apart = 8
	// often is how many returns are no accident.
	often = 4
)

// add takes the next sync in the order of the topic, as the flow wrote it.
func (l *lines) add(s translate.Sync) {
	l.n++
	up, down := s.Upstream-l.last.Upstream, s.Downstream-l.last.Downstream
	switch {
	case l.n == 1 || up < 0:
	case down < 0:
		l.falls++
	case l.falls > 0 && down > 2*up+slack:
		l.leaps++
	}
	if l.n > 2 && up >= 0 {
		to, from := s.Downstream-s.Upstream, l.last.Downstream-l.last.Upstream
		if to == l.before.Downstream-l.before.Upstream && max(to-from, from-to) >= apart {
			l.returns++
		}
	}
	l.before, l.last = l.last, s
}

// two says that there are two lines: after falling the offsets came back up and fell again, or two shifts take turns. A topic made
// anew twice does not leap in between. Few syncs, or two targets at nearly the same offsets, cannot be told from one line.
func (l *lines) two() bool { return l.falls >= 2 && l.leaps >= 1 || l.returns >= often }
