package diagnose

// distanceChecks are about how far a correct position lies back, and how old it may be.
var distanceChecks = []check{}
