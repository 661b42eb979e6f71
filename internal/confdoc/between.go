package confdoc

import (
	"slices"
	"strings"
)

// mostCells bounds the table that Between fills; above it what differs is one edit.
const mostCells = 4_000_000

// Between gives edits of whole lines that turn one text into the other.
func Between(name string, before, after []byte) []Edit {
	old := lines(before)
	var out []Edit
	at, line := 0, 0
	for _, h := range between(old, lines(after)) {
		for ; line < h.from; line++ {
			at += len(old[line])
		}
		e := Edit{File: name, Start: at, Text: strings.Join(h.text, "")}
		for ; line < h.to; line++ {
			at += len(old[line])
		}
		e.End = at
		out = append(out, e)
	}
	return out
}

// between gives the stretches of lines that differ.
func between(a, b []string) []hunk {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	var out []hunk
	i, j := 0, 0
	for _, same := range append(common(a, b), [2]int{len(a), len(b)}) {
		if i < same[0] || j < same[1] {
			out = append(out, hunk{head + i, head + same[0], b[j:same[1]]})
		}
		i, j = same[0]+1, same[1]+1
	}
	return out
}

// common gives the pairs of lines of a longest common subsequence.
func common(a, b []string) [][2]int {
	if len(a)*len(b) > mostCells {
		return nil
	}
	n := make([][]int32, len(a)+1)
	for i := range n {
		n[i] = make([]int32, len(b)+1)
	}
	for i, x := range slices.Backward(a) {
		for j, y := range slices.Backward(b) {
			if x == y {
				n[i][j] = n[i+1][j+1] + 1
			} else {
				n[i][j] = max(n[i+1][j], n[i][j+1])
			}
		}
	}
	var out [][2]int
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out = append(out, [2]int{i, j})
			i, j = i+1, j+1
		case n[i+1][j] >= n[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}
