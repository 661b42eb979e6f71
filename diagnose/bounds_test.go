package diagnose

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// TestBounds: the true position of every group lies within what the syncs allow, in every captured moment of every version.
func TestBounds(t *testing.T) {
	rows, sharp := 0, 0
	for _, c := range captured(t) {
		for _, p := range c.Phases {
			truth := truthOf(t, c, p.Phase)
			v := newView(look(t, c, p.Phase, told))
			for _, f := range v.flows {
				f.selectRows(nil, nil)
				for _, gp := range f.rows {
					a, ok := truth[place{gp.group, gp.topic, gp.part}]
					ps, st := gp.syncsOf().Get()
					u, ust := gp.sourceOffset().Get()
					if !ok || gp.part < 0 || st != snapshot.Known || ust != snapshot.Known || u != a.U {
						continue
					}
					low, high, known := gp.bounds(ps, u)
					if !known {
						continue
					}
					rows++
					// The truth names the first record at or above U, or the end of the copy; markers and holes before it are the same place.
					if low > a.Exact || high < a.Exact && high != noLimit {
						t.Errorf("%s %s: %s %s-%d: position %d not in [%d, %d]", c.Name, p.Phase, gp.group, gp.topic, gp.part, a.Exact, low, high)
					}
					if low == a.Exact {
						sharp++
					}
				}
			}
		}
	}
	t.Logf("%d rows, the lower bound is exact in %d", rows, sharp)
	if rows < 5000 || sharp < rows/2 {
		t.Errorf("%d rows, the lower bound is exact in %d", rows, sharp)
	}
}

// TestCoordinatorPartition: as GroupMetadataManager of Kafka has it, the absolute hash modulo the number of partitions.
func TestCoordinatorPartition(t *testing.T) {
	ps := make([]snapshot.Partition, 50)
	for i := range ps {
		ps[i] = snapshot.Partition{ID: int32(i), Leader: int32(i % 3)}
	}
	c := newCluster(&snapshot.Cluster{Alias: "b", Topics: snapshot.Is([]snapshot.Topic{{Name: "__consumer_offsets", Partitions: ps}})}, snapshot.Fact[[]snapshot.Group]{})
	for _, x := range []struct {
		group string
		hash  int32
		part  int32
	}{{"", 0, 0}, {"a", 97, 47}, {"app-00", -1411123924, 24}, {"polygenelubricants", -2147483648, 0}} {
		part, leader := (&View{}).coordinatorPartition(c, x.group)
		if h := javaHash(x.group); h != x.hash || part != x.part || leader != x.part%3 {
			t.Errorf("%q: hash %d, partition %d led by %d", x.group, h, part, leader)
		}
	}
}
