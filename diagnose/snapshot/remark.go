package snapshot

// Remark is what a rule over the configuration's text found. It is kept with the facts because the text is not.
type Remark struct {
	Code     int    `json:"code"`
	Slug     string `json:"slug"`
	Severity string `json:"severity"` // as check gives it: error, warning, info
	Flow     string `json:"flow,omitempty"`
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"`
	Key      string `json:"key,omitempty"` // as written
	// Setting is the setting that the text was meant to give, as a connector knows it; empty where it is about no single one.
	Setting     string   `json:"setting,omitempty"`
	Connector   string   `json:"connector,omitempty"` // where it stands in no file
	Because     string   `json:"because"`
	Consequence string   `json:"consequence,omitempty"`
	Bugs        []string `json:"bugs,omitempty"`
	Fixes       []Repair `json:"fixes,omitempty"`
	// Accepted is the reason of a comment in the text that accepts it; then it is no finding, nor is what it alone leads to.
	Accepted string `json:"accepted,omitempty"`
}

// Repair is how a remark's setting is put right.
type Repair struct {
	Mode       string  `json:"mode"`
	Text       string  `json:"text"`
	Where      string  `json:"where,omitempty"`
	File       string  `json:"file,omitempty"`
	Properties []Named `json:"properties,omitempty"`
}
