package javaregex

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestAsJava compares with java.util.regex of Java 17 (testdata/RegexVectors.java): the same patterns are refused, with the
// same reason and index, and whatever is said to be known is what Java says.
func TestAsJava(t *testing.T) {
	f, err := os.Open("testdata/regex-vectors.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Scan()
	var inputs []string
	if err := json.Unmarshal(sc.Bytes(), &inputs); err != nil {
		t.Fatal(err)
	}
	var patterns, refused, undecided int
	for sc.Scan() {
		var v struct {
			P, M, Err, Fault string
			At               int
		}
		if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		patterns++
		re, err := Compile(v.P)
		if v.Fault != "" { // Java's parser itself fails: nothing may be claimed
			if err == nil && re.Unknown() == "" {
				t.Errorf("%q: Java fails with %s, here it is taken for known", v.P, v.Fault)
			}
			continue
		}
		var bad *SyntaxError
		if errors.As(err, &bad) != (v.Err != "") {
			if err == nil && re.Unknown() != "" {
				undecided++
				continue
			}
			t.Errorf("%q: got %v, Java: %q at %d", v.P, err, v.Err, v.At)
			continue
		}
		if bad != nil {
			refused++
			behind := strings.Contains(v.P, "(?<=") || strings.Contains(v.P, "(?<!") // Java may stop there already
			if (bad.Reason != v.Err || bad.Index != v.At) && !behind {
				t.Errorf("%q: got %q at %d, Java: %q at %d", v.P, bad.Reason, bad.Index, v.Err, v.At)
			}
			continue
		}
		if re.Unknown() != "" {
			undecided++
			continue
		}
		for i, s := range inputs {
			if got, known := re.Match(s); known && got != (v.M[i] == '1') {
				t.Errorf("%q on %q: got %v, Java: %c", v.P, s, got, v.M[i])
			}
		}
	}
	if patterns < 5000 || refused < 1000 {
		t.Errorf("only %d patterns, %d of them refused", patterns, refused)
	}
	t.Logf("%d patterns, %d refused, %d unknown", patterns, refused, undecided)
	if undecided*10 > patterns {
		t.Errorf("%d of %d patterns are unknown: more than 10 %%", undecided, patterns)
	}
}

func TestUnknownByShape(t *testing.T) {
	for _, tc := range []struct {
		name, pattern, s string
		matched, known   bool
	}{
		{"RE2 has no blow-up", "(a+)+", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", false, true},
		{"nested repetition with look-ahead", "(?=x)(a+)+", "aaab", false, false},
		{"alternatives repeated with a back reference", "(a|ab)*\\1", "ab", false, false},
		{"exclusion by look-ahead", "(?!.*-internal).*", "orders", true, true},
		{"exclusion by look-ahead, excluded", "(?!.*-internal).*", "orders-internal", false, true},
		{"two look-aheads do not multiply", "(?!.*foo)(?!.*bar)(?!.*baz).*", "orders", true, true},
		{"three free repetitions", "(?!x).*a.*b.*c", "orders", false, false},
		{"too long for backtracking", "(?!x).*", strings.Repeat("a", 1001), false, false},
		{"comments flag", "(?x) a b", "ab", false, false},
		{"case rules beyond ASCII", "(?iu)k", "\u212a", false, false},
		{"case rules within ASCII", "(?iu)k", "K", true, true},
		{"word boundary beyond ASCII", "\\bé", "é", false, false},
		{"Unicode table within ASCII", "\\p{L}+", "orders", true, true},
		{"Unicode table beyond ASCII", "\\p{L}+", "é", false, false},
		{"end before a line end", "a$", "a\n", false, false},
		{"dot and Java's line ends", "a.b", "a\u2028b", false, true},
		{"string that is not UTF-8", ".*", "a\xff", false, false},
		{"more repetitions than RE2 takes", "a{1001}", "a", false, false},
		{"posix class is no POSIX class in Java", "[[:alpha:]]+", "alpha", true, true},
		{"intersection", "[a-z&&[^x]]+", "axb", false, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			re, err := Compile(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			m, known := re.Match(tc.s)
			if known != tc.known || known && m != tc.matched {
				t.Errorf("Match(%q) = %v, %v; want %v, %v (unknown: %q)", tc.s, m, known, tc.matched, tc.known, re.Unknown())
			}
		})
	}
}

func TestSyntaxErrorText(t *testing.T) {
	_, err := Compile("orders-[0-9]{1|3}")
	const want = `Java rejects the regular expression "orders-[0-9]{1|3}": Unclosed counted closure near index 14`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func FuzzCompile(f *testing.F) {
	for _, s := range []string{"", "a{2}{3}", "[a-z&&[^x]]", "\\Qa\\E1", "(?<n>a)\\k<n>", "(?i)[^a]", "(?x)", "\\p{L}", "\\ud83d\\ude00", "((((", "\\", "[\\", "(?<", "a{1", "(?:a|b)*+c", "\\x{"} {
		f.Add(s, "orders")
	}
	f.Fuzz(func(t *testing.T, pattern, s string) {
		re, err := Compile(pattern)
		if (re == nil) == (err == nil) {
			t.Fatalf("Compile(%q) = %v, %v", pattern, re, err)
		}
		if re != nil && len(s) < 200 {
			re.Match(s)
		}
	})
}
