package diagnose

// strayChecks are about checkpoints and commits that belong to no link of this flow.
var strayChecks = []check{}
