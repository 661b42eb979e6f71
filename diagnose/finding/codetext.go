package finding

import (
	"fmt"
	"strconv"
	"strings"
)

// UnmarshalText reads "MM2D-302".
func (c *Code) UnmarshalText(b []byte) error {
	n, ok := strings.CutPrefix(string(b), "MM2D-")
	v, err := strconv.ParseUint(n, 10, 16)
	if !ok || err != nil {
		return fmt.Errorf("%q is no code of the form MM2D-302", b)
	}
	*c = Code(v)
	return nil
}

// UnmarshalText reads the words of MarshalText.
func (s *Severity) UnmarshalText(b []byte) error {
	for _, v := range []Severity{Info, Warning, Error} {
		if v.String() == string(b) {
			*s = v
			return nil
		}
	}
	return fmt.Errorf("%q is no severity", b)
}
