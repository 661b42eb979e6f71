package diagnose

import (
	"strings"
	"testing"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// TestConfirmMakesNothing: a console consumer makes a topic that is not there, so a printed proof never reads one that is known to be absent.
func TestConfirmMakesNothing(t *testing.T) {
	s := readBundle(t, "../fixtures/codes/MM2D-208/bundle.json")
	f := &s.Flows[0]
	f.Checkpointed, f.Syncs = snapshot.None[snapshot.Checkpoints](), snapshot.None[snapshot.Syncs]()
	r, _ := Run(s, Options{})
	lists := 0
	for _, x := range r.Findings {
		for _, c := range x.Confirm {
			if strings.Contains(c.Command, "kafka-console-consumer.sh") && (strings.Contains(c.Command, "--topic "+f.Checkpoints) || strings.Contains(c.Command, "--topic "+f.SyncsTopic)) {
				t.Errorf("%s: %s", x.ID, c.Command)
			}
			if strings.Contains(c.Command, "kafka-topics.sh") && strings.HasSuffix(c.Command, " --list") {
				lists++
			}
		}
	}
	if lists == 0 {
		t.Error("no command shows that the topic is not there")
	}
}
