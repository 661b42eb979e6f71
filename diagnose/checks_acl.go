package diagnose

// aclChecks are about rights that MirrorMaker 2 lacks.
var aclChecks = []check{}
