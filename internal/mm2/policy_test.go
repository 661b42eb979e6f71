package mm2

import (
	"bufio"
	"encoding/json"
	"os"
	"testing"
)

// TestPolicyAsReal compares with the policies and the cycle test of real releases (testdata/PolicyVectors.java), for a->b.
func TestPolicyAsReal(t *testing.T) {
	// 3.7.0 gave the same as 3.9.1, 4.1.1 the same as 4.3.1, byte for byte.
	for release, run := range map[Version]string{
		V(2, 8, 2): "2.8.2", V(3, 3, 1): "3.3.1", V(3, 7, 0): "3.9.1", V(3, 9, 1): "3.9.1", V(4, 1, 1): "4.3.1", V(4, 3, 1): "4.3.1",
	} {
		t.Run(release.String(), func(t *testing.T) {
			f, err := os.Open("testdata/policy-" + run + ".jsonl")
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			n := 0
			for sc := bufio.NewScanner(f); sc.Scan(); n++ {
				var v policyVector
				if err := json.Unmarshal(sc.Bytes(), &v); err != nil {
					t.Fatal(err)
				}
				v.check(t, release)
			}
			if n < 300 {
				t.Fatalf("only %d vectors", n)
			}
		})
	}
}

type policyVector struct {
	Class, Topic                                           string
	Sep, Flag                                              *string
	Remote, Source, Upstream, Original, Syncs, Checkpoints *string
	Internal, Cycle                                        bool
}

func (v policyVector) check(t *testing.T, release Version) {
	t.Helper()
	c := PolicyConfig{Class: v.Class, InternalSeparatorEnabled: v.Flag == nil, SourceAlias: "a"}
	if v.Sep != nil {
		c.Separator, c.SeparatorSet = *v.Sep, true
	}
	p := NewPolicy(c, release)
	where := func(what string) string { return p.ShortClass() + " " + c.Separator + " " + what + " of " + v.Topic }
	text := func(what, got string, remote, known bool, want *string) {
		if !known || remote != (want != nil) || want != nil && got != *want {
			t.Errorf("%s: got %q (remote %v, known %v), MirrorMaker 2: %v", where(what), got, remote, known, deref(want))
		}
	}
	name, known := p.FormatRemoteTopic("a", v.Topic)
	text("remote topic", name, true, known, v.Remote)
	name, remote, known := p.TopicSource(v.Topic)
	text("source", name, remote, known, v.Source)
	name, remote, known = p.UpstreamTopic(v.Topic)
	text("upstream topic", name, remote, known, v.Upstream)
	name, known = p.OriginalTopic(v.Topic)
	text("original topic", name, true, known, v.Original)
	if got, known := p.IsInternal(v.Topic, release); !known || got != v.Internal {
		t.Errorf("%s: got %v (known %v), MirrorMaker 2: %v", where("internal"), got, known, v.Internal)
	}
	if got, known := p.IsCycle(v.Topic, "b"); !known || got != v.Cycle {
		t.Errorf("%s: got %v (known %v), MirrorMaker 2: %v", where("cycle"), got, known, v.Cycle)
	}
	if v.Syncs == nil {
		return // before 3.1.0 the names are no matter of the policy
	}
	n := NamesOf(p, "a", "b", OnSource, release)
	text("offset-syncs topic", n.OffsetSyncs, true, n.Certain, v.Syncs)
	text("checkpoints topic", n.Checkpoints, true, n.Certain, v.Checkpoints)
}

func TestPolicyUnknown(t *testing.T) {
	custom := NewPolicy(PolicyConfig{Class: "com.example.Policy", Separator: "_", SeparatorSet: true, InternalSeparatorEnabled: true}, V(3, 9, 1))
	if custom.ShortClass() != "com.example.Policy" || custom.Kind != PolicyUnknown {
		t.Errorf("got %+v", custom)
	}
	if _, known := custom.FormatRemoteTopic("a", "t"); known {
		t.Error("the remote name of an unknown policy is not known")
	}
	if _, known := custom.IsInternal("t", V(3, 9, 1)); known {
		t.Error("what is internal to an unknown policy is not known")
	}
	if NamesOf(custom, "a", "b", OnSource, V(3, 9, 1)).Certain || !NamesOf(custom, "a", "b", OnSource, V(2, 8, 2)).Certain {
		t.Error("only before 3.1.0 a policy has no say in the names of internal topics")
	}
	legacy := NewPolicy(PolicyConfig{Class: StrimziIdentityPolicyClass, SourceAlias: "a"}, Version{})
	if name, known := legacy.FormatRemoteTopic("a", "t"); name != "t" || !known {
		t.Errorf("a legacy identity policy keeps names, got %q, %v", name, known)
	}
	if _, known := legacy.FormatRemoteTopic("a", "heartbeats"); known {
		t.Error("what a legacy identity policy does with heartbeats is not known")
	}
	if p := NewPolicy(PolicyConfig{Class: IdentityPolicyClass}, V(2, 8, 2)); p.Kind != PolicyUnknown {
		t.Error("there is no IdentityReplicationPolicy before 3.0.0")
	}
}

func TestNames(t *testing.T) {
	sep := func(enabled bool) PolicyConfig {
		return PolicyConfig{Separator: "_", SeparatorSet: true, InternalSeparatorEnabled: enabled}
	}
	for _, tc := range []struct {
		name                   string
		config                 PolicyConfig
		location               Location
		release                Version
		syncs, on, checkpoints string
	}{
		{"default", PolicyConfig{}, OnSource, V(3, 9, 1), "mm2-offset-syncs.b.internal", "a", "a.checkpoints.internal"},
		{"location target", PolicyConfig{}, OnTarget, V(3, 9, 1), "mm2-offset-syncs.a.internal", "b", "a.checkpoints.internal"},
		{"location target before 3.0", PolicyConfig{}, OnTarget, V(2, 8, 2), "mm2-offset-syncs.b.internal", "a", "a.checkpoints.internal"},
		{"separator before 3.1", sep(true), OnSource, V(3, 0, 2), "mm2-offset-syncs.b.internal", "a", "a.checkpoints.internal"},
		{"separator from 3.1", sep(true), OnSource, V(3, 1, 0), "mm2-offset-syncs_b_internal", "a", "a_checkpoints_internal"},
		{"KIP-949 unknown to 3.5.1", sep(false), OnSource, V(3, 5, 1), "mm2-offset-syncs_b_internal", "a", "a_checkpoints_internal"},
		{"KIP-949 in 3.5.2", sep(false), OnSource, V(3, 5, 2), "mm2-offset-syncs.b.internal", "a", "a.checkpoints.internal"},
		{"KIP-949 with location target", sep(false), OnTarget, V(3, 6, 0), "mm2-offset-syncs.a.internal", "b", "a.checkpoints.internal"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			n := NamesOf(NewPolicy(tc.config, tc.release), "a", "b", tc.location, tc.release)
			if n.OffsetSyncs != tc.syncs || n.OffsetSyncsOn != tc.on || n.Checkpoints != tc.checkpoints {
				t.Errorf("got %+v", n)
			}
			if n.Heartbeats != "heartbeats" || n.ConnectOffsets != "mm2-offsets.a.internal" || n.ConnectStatus != "mm2-status.a.internal" || n.ConnectConfigs != "mm2-configs.a.internal" {
				t.Errorf("worker topics %+v", n)
			}
		})
	}
}

func deref(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}
