package bugs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rank is how sure it is that an entry is at work, ascending.
type Rank uint8

// The ranks.
const (
	// DoesNotApply: the version is not affected, or a condition does not hold.
	DoesNotApply Rank = iota
	// MayApply: the version fits, or is not known, and nothing shown decides; Because says so. Never a finding by itself.
	MayApply
	// Exposed: version and all conditions hold, no sign of damage is seen. The highest rank of an entry that harms nobody.
	Exposed
	// WillOnRestart: as Exposed, and the next start of a task or worker does the harm.
	WillOnRestart
	// DoesDamageNow: version and conditions hold, and a sign is seen. Conditions that no fact can show need not be known when
	// the sign proves the mechanism.
	DoesDamageNow
)

func (r Rank) String() string {
	return [...]string{"does not apply", "may apply", "exposed", "will on restart", "does damage now"}[min(r, DoesDamageNow)]
}

// Assessment is the judgement on one entry.
type Assessment struct {
	Bug     Bug
	Rank    Rank
	Because string
	Unknown []string // what would have to be known to say more
}

// Evaluate judges every entry: highest rank first, then the worst impact, then the order of All.
func Evaluate(f Facts) []Assessment {
	out := make([]Assessment, 0, len(catalogue))
	for _, b := range catalogue {
		out = append(out, b.Assess(f))
	}
	slices.SortStableFunc(out, func(a, b Assessment) int {
		return cmp.Or(cmp.Compare(b.Rank, a.Rank), cmp.Compare(b.Bug.Impact.Weight(), a.Bug.Impact.Weight()))
	})
	return out
}

// Assess judges one entry.
func (b Bug) Assess(f Facts) Assessment {
	a := Assessment{Bug: b}
	version, words := b.version(f)
	if version == No {
		a.Because = words
		return a
	}
	if version == Unknown {
		a.Unknown = append(a.Unknown, words)
	}
	holds, unseen, texts := Yes, 0, []string(nil)
	for _, c := range b.Conditions {
		if c.Test == nil {
			unseen++
			a.Unknown = append(a.Unknown, c.Text)
			continue
		}
		switch c.Test(&f) {
		case No:
			return Assessment{Bug: b, Because: "not the case: " + c.Text}
		case Yes:
			texts = append(texts, c.Text)
		default:
			holds = Unknown
			a.Unknown = append(a.Unknown, c.Text)
		}
	}
	shown, proved := b.seen(&f)
	for _, s := range b.Signs {
		if s.Test != nil && s.Test(&f) == Unknown {
			a.Unknown = append(a.Unknown, "sign: "+s.Text)
		}
	}

	certain := version == Yes && holds == Yes && (unseen == 0 || proved)
	switch {
	case certain && len(shown) > 0:
		a.Rank = DoesDamageNow
	case certain && len(b.Conditions) > 0 && b.AtRestart:
		a.Rank = WillOnRestart
	case certain && len(b.Conditions) > 0:
		a.Rank = Exposed
	default:
		a.Rank = MayApply
	}
	if b.Impact == Cosmetic {
		a.Rank = min(a.Rank, Exposed)
	}
	a.Because = because(a.Rank, version, holds, words, texts, shown)
	return a
}

// seen gives the signs that are there, and whether one of them proves the mechanism.
func (b Bug) seen(f *Facts) (texts []string, proved bool) {
	for _, s := range b.Signs {
		if s.Test != nil && s.Test(f) == Yes {
			texts = append(texts, s.Text)
			proved = proved || s.Proof
		}
	}
	for _, h := range f.Logs {
		if h.ID == b.ID && h.Shows() {
			texts = append(texts, fmt.Sprintf("the log says %q", h.Pattern.words()))
			proved = true
		}
	}
	return texts, proved
}

// version says whether the deciding version is affected, in words for each answer.
func (b Bug) version(f Facts) (Answer, string) {
	if len(b.Affects) == 0 {
		return No, "no release shows it by itself"
	}
	var answers []Answer
	var places []string
	for _, p := range b.RunsOn {
		r, name := f.MM2, "MirrorMaker 2"
		switch p {
		case OnSourceBroker:
			r, name = f.SourceBroker, "the source brokers"
		case OnTargetBroker:
			r, name = f.TargetBroker, "the target brokers"
		}
		answers = append(answers, b.inRange(r))
		places = append(places, fmt.Sprintf("%s (%v)", name, r))
	}
	subject, answer := strings.Join(places, " or "), either(answers...)
	if i := slices.Index(answers, Yes); i >= 0 {
		subject = places[i]
	}
	switch answer {
	case Yes:
		return Yes, fmt.Sprintf("%s is in the affected range: %s", subject, b.affectedWords())
	case No:
		return No, fmt.Sprintf("not affected: %s; affected is %s", subject, b.affectedWords())
	}
	return Unknown, fmt.Sprintf("the version of %s; affected is %s", subject, b.affectedWords())
}

func because(rank Rank, version, holds Answer, words string, conditions, shown []string) string {
	parts := []string{}
	if version == Yes {
		parts = append(parts, words)
	} else {
		parts = append(parts, "not known: "+words)
	}
	if len(conditions) > 0 {
		parts = append(parts, "holds: "+strings.Join(conditions, ", "))
	}
	if len(shown) > 0 {
		parts = append(parts, "seen: "+strings.Join(shown, ", "))
	}
	switch {
	case rank == MayApply && version == Yes && len(conditions) == 0 && len(shown) == 0:
		parts = append(parts, "the version alone says so, nothing that was looked at shows it")
	case rank == MayApply && len(shown) > 0 && version == Unknown:
		parts = append(parts, "the version would decide")
	case rank == MayApply && len(shown) > 0 && holds == Unknown:
		parts = append(parts, "whether all its conditions hold is not known")
	case rank == MayApply && len(shown) > 0:
		parts = append(parts, "other causes give the same signs")
	case rank == MayApply:
		parts = append(parts, "nothing that was looked at shows it")
	case rank == Exposed && len(shown) == 0:
		parts = append(parts, "no sign of it is seen")
	}
	return strings.Join(parts, "; ")
}
