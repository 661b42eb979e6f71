package read

import (
	"context"

	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// byTimes answers the positions that ask for the first record of a time: the end of the log where none is that young.
func (l *locator) byTimes(ctx context.Context) {
	type question struct {
		i int
		q wire.OffsetQuery
	}
	by := map[string][]question{}
	for i, p := range l.ps {
		if p.Time > 0 && l.out[i].Target != nil {
			by[p.To.Cluster] = append(by[p.To.Cluster], question{i, wire.OffsetQuery{Topic: p.To.Topic, Partition: p.To.Partition, Timestamp: p.Time}})
		}
	}
	for alias, asked := range by {
		qs := make([]wire.OffsetQuery, len(asked))
		for k := range asked {
			qs[k] = asked[k].q
		}
		for k, a := range l.clusters[alias].Client.ListOffsets(ctx, qs) {
			x := &l.out[asked[k].i]
			at := a.Offset
			switch {
			case a.Err != nil:
				because(x, "the first record of that time could not be asked for: "+a.Err.Error())
				continue
			case at < 0:
				at = x.Target.End
			}
			x.AtTime = &at
		}
	}
}
