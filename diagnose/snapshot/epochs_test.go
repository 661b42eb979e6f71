package snapshot

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestEpochText(t *testing.T) {
	in := []Epoch{{{137, 0, 3587, 101}, {3800, 3590, 0, 0}}, {{0, 4000, 0, 0}}}
	b, err := json.Marshal(in)
	if err != nil || string(b) != `["137,0,3587,101 3800,3590,0,0","0,4000,0,0"]` {
		t.Fatalf("%s %v", b, err)
	}
	var out []Epoch
	if err := json.Unmarshal(b, &out); err != nil || len(out) != 2 || !slices.Equal(out[0], in[0]) || !slices.Equal(out[1], in[1]) {
		t.Fatalf("%v %v", out, err)
	}
	for _, bad := range []string{`["1,2,3"]`, `["1,2,3,4,5"]`, `["1,2,3,x"]`, `["1,2,3,99999999999999999999"]`, `[[1,2,3,4]]`} {
		if err := json.Unmarshal([]byte(bad), &out); err == nil {
			t.Errorf("%s was read as %v", bad, out)
		}
	}
}

func FuzzEpochText(f *testing.F) {
	f.Add("1,2,3,4 5,6,0,0")
	f.Fuzz(func(t *testing.T, s string) {
		var e, again Epoch
		if e.UnmarshalText([]byte(s)) != nil {
			return
		}
		b, _ := e.MarshalText()
		if err := again.UnmarshalText(b); err != nil || !slices.Equal(e, again) {
			t.Errorf("%q became %v, then %s, then %v (%v)", s, e, b, again, err)
		}
	})
}
