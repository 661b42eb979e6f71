package diagnose

// expiryChecks are about committed offsets that the broker drops, refuses or answers out of range.
var expiryChecks = []check{}
