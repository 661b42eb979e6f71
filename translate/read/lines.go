package read

import "github.com/mm2doctor/mm2doctor/translate"

// lines watches the offset syncs of one partition for a second writer. Two set-ups that use the same aliases write into one
// offset-syncs topic, for the same source partition and about two different targets: the downstream offsets then go on along two
// lines in turn. One MirrorMaker 2 never does that: where it begins anew, on a target topic or after a crash, it stays there.
type lines struct {
	last  translate.Sync
	n     int
	falls int // steps back downstream while upstream went on
	leaps int // steps ahead downstream by more than records and markers explain, after a fall
}

// slack is how far a step ahead downstream may be beyond twice the step upstream: markers, aborted copies, local records.
const slack = 64

// add takes the next sync in the order of the topic, as the flow wrote it.
func (l *lines) add(s translate.Sync) {
	if l.n++; l.n > 1 {
		up, down := s.Upstream-l.last.Upstream, s.Downstream-l.last.Downstream
		switch {
		case up >= 0 && down < 0:
			l.falls++
		case up >= 0 && l.falls > 0 && down > 2*up+slack:
			l.leaps++
		}
	}
	l.last = s
}

// two says that there are two lines: after falling the offsets came back up and fell again. A topic made anew twice does not leap
// in between; flows whose two targets are at about the same offset cannot be told apart, nor can those of which only a few syncs
// are left.
func (l *lines) two() bool { return l.falls >= 2 && l.leaps >= 1 }
