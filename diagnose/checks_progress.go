package diagnose

// progressChecks are about how far and how fast data is mirrored.
var progressChecks = []check{}
