package diagnose

// ownershipChecks are about who writes a group on the target: consumers, another flow, the opposite flow, a group of another type.
var ownershipChecks = []check{}
