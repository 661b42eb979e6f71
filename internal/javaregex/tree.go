package javaregex

// node is one part of a parsed pattern.
type node interface{}

type (
	seq  []node             // one after the other; empty matches the empty string
	alt  []node             // one of
	set  struct{ r ranges } // one character
	mark struct{ kind byte }
	rep  struct {
		body     node
		min, max int // max < 0: no bound
		mode     byte
	}
	group struct {
		body  node
		index int // of a capturing group, from 1; 0 otherwise
	}
	look struct {
		body           node
		behind, negate bool
	}
	atomic struct{ body node }
	ref    struct{ index int }
)

// Kinds of mark: zero-width positions.
const (
	atStart  = 'A'
	atEnd    = 'z'
	atWord   = 'b'
	notWord  = 'B'
	greedy   = 0
	lazy     = '?'
	possess  = '+'
	maxReps  = -1
	maxCount = 1<<31 - 1
)

// children gives the parts below a node.
func children(n node) []node {
	switch n := n.(type) {
	case seq:
		return n
	case alt:
		return n
	case rep:
		return []node{n.body}
	case group:
		return []node{n.body}
	case look:
		return []node{n.body}
	case atomic:
		return []node{n.body}
	}
	return nil
}

// anyNode says that the node or one below it fulfils f.
func anyNode(n node, f func(node) bool) bool {
	if f(n) {
		return true
	}
	for _, c := range children(n) {
		if anyNode(c, f) {
			return true
		}
	}
	return false
}

// backtracks says that the meaning of the pattern depends on the order of attempts, which RE2 does not know.
func backtracks(n node) bool {
	return anyNode(n, func(n node) bool {
		switch n := n.(type) {
		case look, atomic, ref:
			return true
		case rep:
			return n.mode == possess
		}
		return false
	})
}

// work bounds what a backtracking engine may do: at most length^degree times choices steps.
type work struct {
	degree  int
	choices int
	fixed   bool // no choice at all inside
}

const (
	maxDegree  = 2
	maxChoices = 1 << 12
)

// cheap says that the pattern cannot blow up in a backtracking engine, whatever the string.
func (p *parser) cheap(n node) bool {
	w, ok := cost(n)
	return ok && w.degree <= maxDegree && w.choices <= maxChoices
}

func cost(n node) (work, bool) {
	total := work{choices: 1, fixed: true}
	switch n := n.(type) {
	case seq:
		for _, c := range n {
			w, ok := cost(c)
			if !ok {
				return w, false
			}
			total.degree += w.degree
			total.choices = min(total.choices*w.choices, maxChoices+1)
			total.fixed = total.fixed && w.fixed
		}
	case alt:
		total = work{}
		for _, c := range n {
			w, ok := cost(c)
			if !ok {
				return w, false
			}
			total.degree = max(total.degree, w.degree)
			total.choices = min(total.choices+w.choices, maxChoices+1)
		}
		total.fixed = false
	case group:
		return cost(n.body)
	case look:
		return isolated(n.body)
	case atomic:
		return isolated(n.body)
	case rep:
		w, ok := cost(n.body)
		if !ok {
			return w, false
		}
		switch {
		case n.min == n.max && w.fixed:
			w.choices = min(w.choices*max(min(n.max, maxChoices), 1), maxChoices+1)
			return w, true
		case n.min > maxChoices || n.max > maxChoices:
			return w, false
		case n.min == 0 && n.max == 1:
			w.choices, w.fixed = min(2*w.choices, maxChoices+1), false
			return w, true
		case !w.fixed:
			return w, false // a choice inside a repetition multiplies with every round
		}
		return work{degree: 1, choices: 1}, true
	}
	return total, true
}

// isolated is a part that is tried once and never entered again: its work does not multiply with what follows.
func isolated(body node) (work, bool) {
	w, ok := cost(body)
	if !ok || w.degree > maxDegree || w.choices > maxChoices {
		return w, false
	}
	return work{choices: 1, fixed: w.fixed}, true
}
