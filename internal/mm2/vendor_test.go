package mm2

import "testing"

func TestParseBuild(t *testing.T) {
	for text, want := range map[string]struct{ vendor, releases, gens string }{
		"3.9.1":                       {"", "3.9.1", "G5"},
		"v3.7.0":                      {"", "3.7.0", "G4"},
		"2.13-3.6.2":                  {"", "3.6.2", "G4"},
		"3.7":                         {"", "3.7.0 - 3.7.2", "G4, G5"},
		"3.10.0":                      {"", "3.10.0", "G5"},
		"7.6.1-ccs":                   {"Confluent", "3.6.0 - 3.6.2", "G4"},
		"7.6.1-ce":                    {"Confluent", "3.6.0 - 3.6.2", "G4"},
		"7.6.1":                       {"Confluent", "3.6.0 - 3.6.2", "G4"},
		"7.7.0-ccs":                   {"Confluent", "3.7.0 - 3.7.2", "G4, G5"},
		"7.4.12-ccs":                  {"Confluent", "3.4.0 - 3.5.2", "G2, G3, G4"},
		"7.3.0-ce":                    {"Confluent", "3.3.0 - 3.5.2", "G2, G3, G4"},
		"6.2.15-ccs":                  {"Confluent", "2.8.0 - 2.8.2", "G1"},
		"8.0.0-ccs":                   {"Confluent", "4.0.0 - 4.0.2", "G5"},
		"confluentinc/cp-kafka:7.9.0": {"Confluent", "3.9.0 - 3.9.2", "G5"},
		"9.1.0-ccs":                   {"unknown", "2.4.0 and later", "G1, G2, G3, G4, G5"},
		"3.7.0.redhat-00007":          {"Red Hat", "3.7.0 - 3.7.2", "G4, G5"},
		"3.4.0.redhat-00006":          {"Red Hat", "3.4.0 - 3.5.2", "G2, G3, G4"},
		"registry.redhat.io/amq-streams/kafka-37-rhel9:2.7.0-12": {"Red Hat", "3.7.0 - 3.7.2", "G4, G5"},
		"strimzi/kafka:0.45.0-kafka-3.9.0":                       {"Strimzi", "3.9.0", "G5"},
		"quay.io/strimzi/kafka:0.34.0-kafka-3.4.0":               {"Strimzi", "3.4.0", "G2"},
		"0.45.0-kafka-3.8.1":                                     {"Strimzi", "3.8.1", "G5"},
		"apache/kafka:3.9.1":                                     {"", "3.9.1", "G5"},
		"localhost:5000/bitnami/kafka:3.5.1-debian-11-r7":        {"", "3.5.1", "G3"},
		"3.7.x.kraft":       {"Amazon MSK", "3.7.0 - 3.7.2", "G4, G5"},
		"3.7.x":             {"", "3.7.0 - 3.7.2", "G4, G5"},
		"2.8.2.tiered":      {"Amazon", "2.8.2", "G1"},
		"2.4.1.1":           {"Amazon", "2.4.1", "G1"},
		"3.6.0-amzn-1":      {"Amazon", "3.6.0 - 3.6.2", "G4"},
		"3.4.1.7.3.1.0-197": {"Cloudera", "3.4.1 - 3.5.2", "G3, G4"},
		"2.5.0.7.1.7.0-551": {"Cloudera", "2.5.0 - 2.5.1", "G1"},
		"3.7.1-aiven-2":     {"unknown", "3.7.1 - 3.7.2", "G5"},
		"3.5.0-SNAPSHOT":    {"unknown", "3.5.0 - 3.5.2", "G3, G4"},
		"3.9.1-ccs":         {"Confluent", "3.9.1 - 3.9.2", "G5"},
	} {
		b, err := ParseBuild(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if b.Vendor != want.vendor || b.Range.String() != want.releases || b.Range.Generations().String() != want.gens {
			t.Errorf("%s: %q %s (%s), want %+v", text, b.Vendor, b.Range, b.Range.Generations(), want)
		}
		if v, exact := b.Exact(); exact != (b.Range.From == b.Range.To) || exact && v != b.Range.From {
			t.Errorf("%s: exact %v", text, exact)
		}
	}
	for _, text := range []string{"", "3", "latest", "x.y", "2.3.1", "1.0.0-ccs", "3.9.1x", "strimzi/kafka:latest", "3.9.1-", "kafka"} {
		if b, err := ParseBuild(text); err == nil {
			t.Errorf("%q is taken for %+v", text, b)
		}
	}
}

func TestEmissions(t *testing.T) {
	for _, c := range []struct {
		e    Emissions
		gens Generations
	}{{EmissionsOf(E1), SetOf(G1, G2)}, {EmissionsOf(E2), SetOf(G3, G4)}, {EmissionsOf(E3), SetOf(G4, G5)}, {AllEmissions, AllGenerations}, {0, 0}} {
		if got := c.e.Generations(); got != c.gens {
			t.Errorf("%v: %s, want %s", c.e.All(), got, c.gens)
		}
	}
	if SetOf(G4).Emissions() != EmissionsOf(E2, E3) || SetOf(G1, G2).Emissions() != EmissionsOf(E1) || AllGenerations.Emissions() != AllEmissions {
		t.Error("emissions of generations")
	}
}

func FuzzParseBuild(f *testing.F) {
	for _, s := range []string{"3.9.1", "7.6.1-ccs", "strimzi/kafka:0.45.0-kafka-3.9.0", "3.7.x.kraft", "a/b:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := ParseBuild(s); err == nil && (b.Range.From.Before(2, 4, 0) || b.Range.Generations() == 0) {
			t.Errorf("%q: %+v", s, b)
		}
	})
}
