package apply

import (
	"context"
	"time"

	"github.com/mm2doctor/mm2doctor/diagnose"
	"github.com/mm2doctor/mm2doctor/diagnose/finding"
	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// Options steer a run. The zero value is the careful one.
type Options struct {
	Tool diagnose.Tool
	// IdleProof is the time between the two readings that show that nobody moves the offsets; 0 is 10 s, below 0 none.
	IdleProof time.Duration
	MaxAge    time.Duration // how old a plan may be; 0 is plan.MaxAge
	// Parallel is how many groups are committed side by side: 1 (default) to 4. The journal stays in order all the same.
	Parallel int
	// Chunk is how many groups share a reading and a flush of the journal; 0 is 50. With AllOrNothing all are one chunk.
	Chunk int
	// Moved explains a value that MirrorMaker 2 put in the meantime, in words; empty where it does not. A value equal to what the
	// plan expects of MirrorMaker 2 needs no explanation.
	Moved func(targetGroup string, row plan.Row, now plan.Committed) string
	// SourceLost takes the positions of a plan as they are: the cluster where they come from is not asked again, though the plan was
	// made while it answered. The outcome says what is not proved then.
	SourceLost bool
	// Refresh makes the groups anew whose source position moved since the plan; nil refuses them. It gets ids of source groups.
	Refresh func(ctx context.Context, groups []string) ([]plan.Group, error)
	// Commands gives the command lines that go on with a journal and that take it back, as the outcome prints them; nil: without
	// the arguments that find the clusters again.
	Commands func(journal string) (resume, rollback string)
	// Progress is told what goes on; may be nil.
	Progress func(string)

	Now   func() time.Time                                 // nil: the clock
	Sleep func(ctx context.Context, d time.Duration) error // nil: really
}

func (o *Options) fill() {
	if o.IdleProof == 0 {
		o.IdleProof = 10 * time.Second
	}
	o.Parallel = min(max(o.Parallel, 1), 4)
	if o.Chunk <= 0 {
		o.Chunk = 50
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			t := time.NewTimer(d)
			defer t.Stop()
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-t.C:
				return nil
			}
		}
	}
	if o.Commands == nil {
		o.Commands = func(journal string) (string, string) {
			return "mm2doctor translate apply --resume " + finding.Quote(journal), "mm2doctor translate rollback " + finding.Quote(journal)
		}
	}
	if o.Progress == nil {
		o.Progress = func(string) {}
	}
}

func (o *Options) stamp() string { return o.Now().UTC().Format(time.RFC3339Nano) }
