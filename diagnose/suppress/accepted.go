package suppress

import "github.com/mm2doctor/mm2doctor/diagnose/finding"

// Accepted gives, for a finding about one subject, the reason for which a comment or .mm2doctor.yaml accepts it, "" for none. It is for
// runs that look at more than files: whether a suppression is of use is the business of check, which sees all it could be about.
func Accepted(o Options) func(*finding.Finding) string {
	rules, _ := o.rules()
	return func(f *finding.Finding) string {
		for _, r := range rules {
			if r.covers(f, f.Subject, o) {
				return r.reason()
			}
		}
		return ""
	}
}

// Severities gives the severity that .mm2doctor.yaml gives a finding, 0 for none.
func (s *Settings) Severities() func(*finding.Finding) finding.Severity { return s.severity }
