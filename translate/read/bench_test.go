package read

import (
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/mm2doctor/mm2doctor/translate/plan"
)

// BenchmarkGroups places 1,000 groups on 20 partitions of 5,000 records with a sync every 100, and compares with reading the
// groups' offsets.
func BenchmarkGroups(b *testing.B) {
	const groups, partitions, records = 1000, 20, 5000
	w := mirror(b, 1, shape{partitions: partitions, records: records, every: 100})
	var ps []plan.Position
	adm := kadm.NewClient(w.a.client)
	names := make([]string, groups)
	for g := range groups {
		names[g] = fmt.Sprintf("group-%04d", g)
		os := kadm.Offsets{}
		for p := range int32(partitions) {
			at := int64((g*7919 + int(p)*104729) % records)
			os.AddOffset("orders", p, at, -1)
			ps = append(ps, w.position(names[g], p, at))
		}
		if err := adm.CommitAllOffsets(b.Context(), names[g], os); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("offsets", func(b *testing.B) {
		for b.Loop() {
			if n := len(w.a.read.FetchOffsets(b.Context(), names)); n != groups {
				b.Fatal(n)
			}
		}
	})
	for _, c := range []struct {
		name string
		o    Options
	}{{"ranges", Options{}}, {"records", Options{Records: true}}, {"records in turn", Options{Records: true, Parallel: 1}}} {
		b.Run(c.name, func(b *testing.B) {
			var st Stats
			for b.Loop() {
				var as []plan.Answer
				as, st = locate(b, w, ps, c.o)
				for i, a := range as {
					if c.o.Records && a.Records.T != w.want(ps[i]) {
						b.Fatalf("%+v", a)
					}
				}
			}
			b.ReportMetric(float64(st.Clusters["a"].Bytes+st.Clusters["b"].Bytes)/1e6, "MB/op")
			b.ReportMetric(float64(st.Clusters["a"].Fetches+st.Clusters["b"].Fetches), "pages/op")
		})
	}
}
