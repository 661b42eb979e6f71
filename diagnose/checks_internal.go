package diagnose

// internalChecks are about the offset-syncs topic and MirrorMaker 2's other internal topics as topics: their settings, their number, their history.
var internalChecks = []check{}
