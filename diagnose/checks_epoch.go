package diagnose

// epochChecks are about the leader epoch that is committed beside an offset.
var epochChecks = []check{}
