package apply

import (
	"errors"
	"fmt"
	"testing"
)

// mortal runs something that may die; it says whether it did.
func mortal(f func()) (died bool) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case death:
			died = true
		default:
			panic(r)
		}
	}()
	f()
	return false
}

type blow struct {
	name  string
	after bool
	torn  float64
}

var blows = []blow{{"before", false, 0}, {"after", true, 0}, {"torn early", false, 0.1}, {"torn", false, 0.5}, {"torn late", false, 0.97}, {"torn at the line end", false, 1}}

// steps counts the steps of a whole run.
func steps(t *testing.T) int {
	w, p := scene()
	if _, err := Run(t.Context(), p, w, nil, &paper{fuse: w.fuse}, quick()); err != nil {
		t.Fatal(err)
	}
	if w.state() != planned {
		t.Fatalf("without a death:\n%s", w.state())
	}
	return w.n
}

// TestKilledAtEveryStep kills a run at each of its steps, before and after the step took effect, and in the middle of each line
// of the journal; then it is resumed, and taken back.
func TestKilledAtEveryStep(t *testing.T) {
	total := steps(t)
	if total < 20 {
		t.Fatalf("only %d steps", total)
	}
	wrote, nothing := 0, 0
	for k := 1; k <= total; k++ {
		for _, b := range blows {
			for _, resume := range []bool{true, false} {
				name := fmt.Sprintf("step %d, %s, resume %v", k, b.name, resume)
				w, p := scene()
				before := w.state()
				w.fuse.at, w.fuse.after, w.fuse.torn = k, b.after, b.torn
				j := &paper{fuse: w.fuse}
				if !mortal(func() { _, _ = Run(t.Context(), p, w, nil, j, quick()) }) {
					t.Fatalf("%s: lived", name)
				}
				w.fuse.at = 0
				j2, l, err := j.reopen(t, w.fuse)
				if errors.Is(err, ErrNothingNoted) {
					if w.state() != before {
						t.Errorf("%s: no header, and yet:\n%s", name, w.state())
					}
					nothing++
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if resume {
					out, err := Resume(t.Context(), l, w, nil, j2, quick())
					if err != nil || out.Result != Done {
						t.Fatalf("%s: resume: %v %+v", name, err, out)
					}
					if w.state() != planned {
						t.Errorf("%s: after resume:\n%s", name, w.state())
					}
					if _, l, err = j2.reopen(t, w.fuse); err != nil {
						t.Fatalf("%s: %v\n%s", name, err, j2.b.String())
					}
				}
				wrote++
				if out, err := Rollback(t.Context(), l, w, &paper{fuse: w.fuse}, quick()); err != nil || out.Result != Done {
					t.Fatalf("%s: rollback: %v %+v", name, err, out)
				}
				if w.state() != before {
					t.Errorf("%s: after rollback:\n%swant\n%s", name, w.state(), before)
				}
			}
		}
	}
	if wrote == 0 || nothing == 0 {
		t.Errorf("%d rolled back, %d died before the header", wrote, nothing)
	}
}

// TestKilledAgain kills the run, then the resumed run, then the rollback, each at every step it has, and ends in the pre-image.
func TestKilledAgain(t *testing.T) {
	total := steps(t)
	for k := 1; k <= total; k += 2 {
		for k2 := 1; k2 < 30; k2++ {
			b, b2 := blows[(k+k2)%len(blows)], blows[(k+3*k2)%len(blows)]
			name := fmt.Sprintf("steps %d %s, %d %s", k, b.name, k2, b2.name)
			w, p := scene()
			before := w.state()
			w.fuse.at, w.fuse.after, w.fuse.torn = k, b.after, b.torn
			j := &paper{fuse: w.fuse}
			mortal(func() { _, _ = Run(t.Context(), p, w, nil, j, quick()) })
			j2, l, err := j.reopen(t, w.fuse)
			if errors.Is(err, ErrNothingNoted) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			w.fuse.n, w.fuse.at, w.fuse.after, w.fuse.torn = 0, k2, b2.after, b2.torn
			if !mortal(func() { _, _ = Resume(t.Context(), l, w, nil, j2, quick()) }) {
				break // it has fewer steps
			}
			j3, l, err := j2.reopen(t, w.fuse)
			if err != nil {
				t.Fatalf("%s: after the second death: %v\n%s", name, err, j2.b.String())
			}
			w.fuse.at = 0
			if k2%2 == 0 {
				if out, err := Resume(t.Context(), l, w, nil, j3, quick()); err != nil || out.Result != Done || w.state() != planned {
					t.Fatalf("%s: resume: %v %+v\n%s", name, err, out, w.state())
				}
				if _, l, err = j3.reopen(t, w.fuse); err != nil {
					t.Fatal(err)
				}
			}
			r := &paper{fuse: w.fuse}
			w.fuse.n, w.fuse.at = 0, k2
			if mortal(func() { _, _ = Rollback(t.Context(), l, w, r, quick()) }) {
				w.fuse.at = 0
				r2, rl, err := r.reopen(t, w.fuse)
				if errors.Is(err, ErrNothingNoted) {
					if _, err := Rollback(t.Context(), l, w, &paper{fuse: w.fuse}, quick()); err != nil {
						t.Fatal(err)
					}
				} else if err != nil {
					t.Fatalf("%s: journal of the rollback: %v", name, err)
				} else if out, err := Resume(t.Context(), rl, w, nil, r2, quick()); err != nil || out.Result != Done {
					t.Fatalf("%s: resumed rollback: %v %+v", name, err, out)
				}
			}
			if w.state() != before {
				t.Errorf("%s: after rollback:\n%swant\n%s", name, w.state(), before)
			}
		}
	}
}

// TestRolledForward takes a rollback back.
func TestRolledForward(t *testing.T) {
	w, p := scene()
	j := &paper{fuse: w.fuse}
	if _, err := Run(t.Context(), p, w, nil, j, quick()); err != nil {
		t.Fatal(err)
	}
	_, l, err := j.reopen(t, w.fuse)
	if err != nil {
		t.Fatal(err)
	}
	r := &paper{fuse: w.fuse}
	if _, err := Rollback(t.Context(), l, w, r, quick()); err != nil {
		t.Fatal(err)
	}
	_, l, err = r.reopen(t, w.fuse)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Rollback(t.Context(), l, w, &paper{fuse: w.fuse}, quick())
	if err != nil || out.Result != Done || w.state() != planned {
		t.Errorf("%v %+v\n%s", err, out, w.state())
	}
}
