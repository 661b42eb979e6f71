package diagnose

// connectChecks are about how connectors agree with each other and with their worker.
var connectChecks = []check{}
