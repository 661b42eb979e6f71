package collect

import (
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/formatters"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/mm2"
	"github.com/mm2doctor/mm2doctor/translate"
)

func folded(h *history, syncs map[int32][]translate.Sync) map[int32]*snapshot.PartitionSyncs {
	out := map[int32]*snapshot.PartitionSyncs{}
	for part, ss := range syncs {
		p := &partitionFold{}
		for _, s := range ss {
			h.add(p, s)
		}
		h.result(p)
		h.result(p) // asked twice it says the same
		out[part] = &p.out
	}
	return out
}

func TestHistoryKeepsEverySync(t *testing.T) {
	h := &history{most: mostRanges, of: map[*partitionFold]*kept{}}
	got := folded(h, map[int32][]translate.Sync{0: {{Upstream: 10, Downstream: 7}, {Upstream: 111, Downstream: 108}, {Upstream: 150, Downstream: 140}, {Upstream: 50, Downstream: 200}}})[0]
	want := []string{"10,7,101,101 150,140,0,0", "50,200,0,0"}
	if len(got.Epochs) != len(want) || got.Thinned || got.Lost != nil {
		t.Fatalf("%+v", got)
	}
	for i, e := range got.Epochs {
		if b, _ := e.MarshalText(); string(b) != want[i] {
			t.Errorf("epoch %d is %s, want %s", i, b, want[i])
		}
	}
}

// TestHistoryIsBounded: past the limit stretches are thinned out and short epochs dropped, and both are said.
func TestHistoryIsBounded(t *testing.T) {
	h := &history{most: 1000, of: map[*partitionFold]*kept{}}
	in := map[int32][]translate.Sync{}
	for i := range int64(3000) {
		in[0] = append(in[0], translate.Sync{Upstream: i * 101, Downstream: i * 102})
		in[1] = append(in[1], translate.Sync{Upstream: i % 2 * 7, Downstream: i * 9})
		in[2] = append(in[2], translate.Sync{Upstream: i * 101, Downstream: i * 101})
	}
	got := folded(h, in)
	if h.total > 1000 {
		t.Errorf("%d ranges are held, at most 1000 may be", h.total)
	}
	if !got[0].Thinned || got[0].Lost != nil || len(got[0].Epochs) != 1 || len(got[0].Epochs[0]) < 10 {
		t.Errorf("one long epoch: thinned %v, lost %v, %d epochs", got[0].Thinned, got[0].Lost, len(got[0].Epochs))
	}
	if got[1].Lost == nil || got[1].Lost.Top != 7 || got[1].Lost.Count+len(got[1].Epochs) != 1500 {
		t.Errorf("short epochs: lost %+v, %d left", got[1].Lost, len(got[1].Epochs))
	}
	if len(got[2].Epochs) != 1 || len(got[2].Epochs[0]) != 1 || got[2].Thinned {
		t.Errorf("one stretch: %+v", got[2])
	}
}

// TestHistoryOfVeryManyPartitions: more partitions than the limit has ranges still keep their newest sync.
func TestHistoryOfVeryManyPartitions(t *testing.T) {
	h := &history{most: 100, of: map[*partitionFold]*kept{}}
	in := map[int32][]translate.Sync{}
	for p := range int32(500) {
		in[p] = []translate.Sync{{Upstream: int64(p), Downstream: 1}}
	}
	for p, got := range folded(h, in) {
		if len(got.Epochs) != 1 || got.Epochs[0][0] != (snapshot.Stretch{Up: int64(p), Down: 1}) {
			t.Fatalf("%d: %+v", p, got.Epochs)
		}
	}
}

// TestFoldWithoutRanges: a diagnosis keeps none.
func TestFoldWithoutRanges(t *testing.T) {
	for _, keep := range []bool{false, true} {
		f := NewSyncFold("a", &snapshot.Flow{})
		if keep {
			f.KeepRanges()
		}
		k, v, err := formatters.EncodeOffsetSync(mm2.OffsetSync{Topic: "orders", Upstream: 5, Downstream: 3})
		if err != nil {
			t.Fatal(err)
		}
		f.Add(&kafka.Record{Key: k, Value: v})
		got := f.Result(0, 1)
		if len(got.Partitions) != 1 {
			t.Fatalf("%+v", got)
		}
		if want := map[bool]string{false: "fold", true: "ranges"}[keep]; got.History != want || (len(got.Partitions[0].Epochs) > 0) != keep {
			t.Errorf("history %s, %d epochs", got.History, len(got.Partitions[0].Epochs))
		}
	}
}
