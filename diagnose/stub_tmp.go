package diagnose

import "github.com/mm2doctor/mm2doctor/diagnose/snapshot"

func decideLists(inc, exc snapshot.ConfigEntry, name string) decision {
	return decision{known: true, passes: true}
}
