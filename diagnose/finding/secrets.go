package finding

import (
	"regexp"
	"strings"
)

// secret is a setting whose value is no one else's business, also within a jaas.config that is continued on further lines, and a password
// within an address.
var (
	secret       = regexp.MustCompile(`(?i)(?:pass?w(?:or)?d|passphrase|secret|token|credential|jaa?ss?\.\w+|user\.info|(?:api|access|private|account)[._-]?key|keystore\.key|key\.pass|licen[sc]e)[\w.-]*["']?(?:\s+\w+)?[\s\x{a0}]*[=:]\s*["']?`)
	urlPassword  = regexp.MustCompile(`://[^\s/:@]*:[^\s/@]+@`)
	removed      = "[removed]"
	keyMaterial  = regexp.MustCompile(`[A-Za-z0-9+/=]{40,}`) // a line of PEM
	placeholders = regexp.MustCompile(`^` + reference + `["',;\s]*$`)
	alone        = regexp.MustCompile(`^\s*` + reference + `\s*$`)
)

// reference is what a config provider resolves; ${KEY:-text} has the text in it.
const reference = `\$\{\w[\w.]*(?::[^-=?+}][^}]*)?\}`

// Reference says that a value is a reference to a config provider and nothing else.
func Reference(value string) bool { return alone.MatchString(value) }

// Secret says that a line of a configuration holds what must not be shown.
func Secret(line string) bool { return Masked(line) != line }

// Masked takes the secret out of a line of a configuration; all behind it goes too. References such as ${file:...} are no secrets.
func Masked(line string) string {
	if at := secret.FindStringIndex(line); at != nil && strings.TrimSpace(strings.Trim(line[at[1]:], `"',;`)) != "" && !placeholders.MatchString(line[at[1]:]) {
		return line[:at[1]] + removed
	}
	return urlPassword.ReplaceAllString(keyMaterial.ReplaceAllString(line, removed), "://"+removed+"@")
}
