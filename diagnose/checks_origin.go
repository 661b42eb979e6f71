package diagnose

// originChecks are about what the clusters are, before MirrorMaker 2 comes in: what a broker is too old to tell, and topics of other replicators.
var originChecks = []check{}
