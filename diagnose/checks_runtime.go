package diagnose

// runtimeChecks are about the process: what runs against what was configured, task restarts, coordinators, clocks.
var runtimeChecks = []check{}
