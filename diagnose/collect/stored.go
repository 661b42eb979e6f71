package collect

import (
	"strings"

	"github.com/mm2doctor/mm2doctor/diagnose/snapshot"
)

// storedName is what a connector is called in the worker's topics: its class in dedicated mode, where each flow has topics of
// its own; Strimzi puts the flow before it, because one worker runs the connectors of several.
func storedName(f *snapshot.Flow, class string) string {
	if f.Mode == "strimzi" {
		return f.Name() + "." + class
	}
	return class
}

// workerOf is the cluster that holds the worker's topics: the target, unless a resource attaches the worker to the other one.
func (c *collector) workerOf(f *snapshot.Flow) *cluster {
	if r := f.Resource; r != nil && c.by[r.WorkerOn] != nil {
		return c.by[r.WorkerOn]
	}
	return c.by[f.Target]
}

// ofResource says of a missing topic what that means where an operator names it.
func ofResource(f *snapshot.Flow, gap *snapshot.Gap) *snapshot.Gap {
	if gap == nil || gap.Code != "absent" || f.Mode != "strimzi" {
		return gap
	}
	g := *gap
	g.Why = "there is no such topic, in which the worker of this resource keeps what it runs: the operator did not start it, or runs it by another version of the resource"
	return &g
}

// classOf gives the class of a connector of this flow by its stored name; false for another flow's.
func classOf(f *snapshot.Flow, name string) (string, bool) {
	for _, class := range connectorClasses {
		if name == storedName(f, class) {
			return class, true
		}
	}
	return name, f.Mode != "strimzi"
}

// ofFlow keeps the stored configurations of a flow, under the names of dedicated mode.
func ofFlow(f *snapshot.Flow, recs map[string]configRecord) map[string]configRecord {
	if f.Mode != "strimzi" {
		return recs
	}
	out := map[string]configRecord{}
	for key, r := range recs {
		for _, class := range connectorClasses {
			name := storedName(f, class)
			for _, kind := range []string{"connector-", "commit-", "target-state-"} {
				if key == kind+name {
					out[kind+class] = r
				}
			}
			if number, ok := strings.CutPrefix(key, "task-"+name+"-"); ok {
				out["task-"+class+"-"+number] = r
			}
		}
	}
	return out
}
