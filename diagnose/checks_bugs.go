package diagnose

// bugChecks are about known faults of MirrorMaker 2, and which release writes what is seen.
var bugChecks = []check{}
