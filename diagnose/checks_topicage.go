package diagnose

// topicAgeChecks are about numbers that belong to an earlier topic of the same name, or to records that are gone.
var topicAgeChecks = []check{}
