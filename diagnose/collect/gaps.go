package collect

import (
	"context"
	"errors"
	"net"
	"slices"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
	"github.com/mm2doctor/mm2doctor/internal/kafka"
	"github.com/mm2doctor/mm2doctor/internal/wire"
)

// coordinatorCodes are answers that a group has no coordinator, or one that cannot answer yet, for as long as was waited.
var coordinatorCodes = []kafka.ErrorCode{kafka.CoordinatorNotAvailable, kafka.CoordinatorLoadInProgress, kafka.NotCoordinator}

// gapOf says why a read failed: resource names the topic or group where there is one.
func gapOf(alias, api, resource string, err error) *snapshot.Gap {
	g := &snapshot.Gap{Code: "failed", Cluster: alias, API: api, Why: err.Error()}
	if resource != "" {
		g.API += " " + resource
	}
	var we *wire.Error
	if errors.As(err, &we) {
		g.Why = we.Why()
		if n := we.Next(); n != "" {
			g.Why += "; " + n
		}
		switch {
		case we.Code.Denied():
			g.Code = "denied"
		case we.Code == kafka.UnsupportedVersion:
			g.Code = "unsupported"
		case we.Hint == "" && slices.Contains(coordinatorCodes, we.Code): // with a hint, an ACL hides whether there is one
			g.Code = "coordinator"
		}
	}
	var ne net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout() {
		g.Code = "timeout"
	}
	return g
}

func (cl *cluster) unreachable() *snapshot.Gap {
	if c := cl.out.Contact; c != nil && c.Code == 0 { // it was told not to ask
		return &snapshot.Gap{Code: "given-up", Cluster: cl.Alias, Why: c.Why}
	}
	return &snapshot.Gap{Code: "unreachable", Cluster: cl.Alias, Why: "the cluster could not be reached: see " + contactCode(cl.out.Contact)}
}

func contactCode(c *snapshot.Contact) string {
	if c == nil {
		return "MM2D-001"
	}
	return [4]string{"MM2D-001", "MM2D-001", "MM2D-002", "MM2D-003"}[c.Code]
}

func (c *collector) addGap(g *snapshot.Gap) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.gaps = append(c.gaps, *g)
}
