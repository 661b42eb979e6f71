package finding

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestObservedKeepsItsOrder(t *testing.T) {
	for _, c := range []struct {
		name string
		in   Observed
		want string
	}{
		{"order", Observed{{Name: "target", Value: int64(200)}, {Name: "checkpoint", Value: 405}, {Name: "a", Value: "x->y"}}, `{"target":200,"checkpoint":405,"a":"x->y"}`},
		{"empty", Observed{}, `{}`},
		{"repeated", Observed{{Name: "n", Value: 1}, {Name: "n", Value: 2}, {Name: "n", Value: nil}}, `{"n":1,"n#2":2,"n#3":null}`},
		{"quotes", Observed{{Name: `a"b`, Value: []string{"<"}}}, `{"a\"b":["<"]}`},
	} {
		got, err := c.in.MarshalJSON()
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s %v, want %s", c.name, got, err, c.want)
		}
	}
	if _, err := json.Marshal(Observed{{Name: "f", Value: func() {}}}); err == nil {
		t.Error("a value that JSON cannot hold was accepted")
	}
}

func TestObservedRoundTrip(t *testing.T) {
	want := Observed{{Name: "z", Value: int64(9007199254740993)}, {Name: "a", Value: 0.5}, {Name: "s", Value: "t"}, {Name: "n", Value: nil}}
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	var got Observed
	if err := json.Unmarshal(b, &got); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %#v", got)
	}
	for _, bad := range []string{`[1]`, `"x"`, `{"a":}`} {
		if err := json.Unmarshal([]byte(bad), &got); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
	if err := json.Unmarshal([]byte(`null`), &got); err != nil || got != nil {
		t.Errorf("null: %v %v", got, err)
	}
}
