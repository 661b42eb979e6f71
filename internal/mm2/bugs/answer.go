package bugs

import "cmp"

// Answer is the value of a predicate. The zero value is Unknown: a fact that nobody filled in is never taken for a no.
type Answer uint8

// The answers.
const (
	Unknown Answer = iota
	No
	Yes
)

func (a Answer) String() string { return [...]string{"unknown", "no", "yes"}[min(a, Yes)] }

// If turns a known truth into an answer.
func If(b bool) Answer {
	if b {
		return Yes
	}
	return No
}

// Not turns Yes and No round; Unknown stays.
func (a Answer) Not() Answer {
	switch a {
	case Yes:
		return No
	case No:
		return Yes
	}
	return Unknown
}

// all is No when one is No, else Unknown when one is unknown.
func all(as ...Answer) Answer {
	out := Yes
	for _, a := range as {
		if a == No {
			return No
		}
		if a == Unknown {
			out = Unknown
		}
	}
	return out
}

// either is Yes when one is Yes, else Unknown when one is unknown.
func either(as ...Answer) Answer {
	out := No
	for _, a := range as {
		if a == Yes {
			return Yes
		}
		if a == Unknown {
			out = Unknown
		}
	}
	return out
}

// Value is a fact with a value: known, known to be absent, or unknown (the zero value).
type Value[T any] struct {
	v  T
	st Answer // Yes: known; No: absent
}

// Is makes a known value.
func Is[T any](v T) Value[T] { return Value[T]{v, Yes} }

// None makes a value that is known to be absent.
func None[T any]() Value[T] { return Value[T]{st: No} }

// Present says whether there is a value: Yes, No or Unknown.
func (v Value[T]) Present() Answer { return v.st }

// Absent is the opposite of Present.
func (v Value[T]) Absent() Answer { return v.st.Not() }

// Get gives the value; ok is false when it is absent or unknown.
func (v Value[T]) Get() (T, bool) { return v.v, v.st == Yes }

// test asks a question about a value: an absent one answers No, an unknown one Unknown.
func test[T any](v Value[T], ask func(T) bool) Answer {
	if v.st != Yes {
		return v.st
	}
	return If(ask(v.v))
}

func is[T comparable](v Value[T], want ...T) Answer {
	return test(v, func(got T) bool {
		for _, w := range want {
			if got == w {
				return true
			}
		}
		return false
	})
}

// less says a < b; it is No where either is absent.
func less[T cmp.Ordered](a, b Value[T]) Answer {
	return test2(a, b, func(x, y T) bool { return x < y })
}

func test2[A, B any](a Value[A], b Value[B], ask func(A, B) bool) Answer {
	if known := all(a.st, b.st); known != Yes {
		return known
	}
	return If(ask(a.v, b.v))
}

// part takes one number out of a pair.
func part[T, U any](v Value[T], f func(T) U) Value[U] {
	if v.st != Yes {
		return Value[U]{st: v.st}
	}
	return Is(f(v.v))
}
