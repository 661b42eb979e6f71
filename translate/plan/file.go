package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// MaxFile is the greatest plan or state file that is read, in bytes.
const MaxFile = 1 << 30

// Seal writes the digest: SHA-256 over the plan's JSON without it.
func (p *Plan) Seal() { p.Digest = p.digest() }

// Check says whether the plan is of a known schema and still what was sealed.
func (p *Plan) Check() error {
	switch {
	case p.SchemaVersion != SchemaVersion:
		return fmt.Errorf("a plan of schema version %d, and this mm2doctor knows %d: make the plan again with this one", p.SchemaVersion, SchemaVersion)
	case p.Digest == "":
		return errors.New("the plan has no digest: it was not made by translate --plan-out, or was cut; make it again")
	case p.Digest != p.digest():
		return errors.New("the plan's digest does not fit its contents: it was changed after it was made; make it again")
	}
	return nil
}

func (p *Plan) digest() string {
	c := *p
	c.Digest = ""
	b, err := encode(&c, "")
	if err != nil {
		return "" // no value of a plan can be unencodable, and "" never passes Check
	}
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

func encode(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	err := enc.Encode(v)
	return b.Bytes(), err
}

// Write writes a plan file. The plan must be sealed.
func (p *Plan) Write(w io.Writer) error {
	if err := p.Check(); err != nil {
		return err
	}
	b, err := encode(p, " ")
	if err != nil {
		return err
	}
	_, err = w.Write(b)
	return err
}

// Read reads a plan file and checks it. Fields that this version does not know refuse it: they may matter.
func Read(r io.Reader) (*Plan, error) {
	var p Plan
	if err := decode(r, "plan", MaxFile, SchemaVersion, &p); err != nil {
		return nil, err
	}
	if err := p.Check(); err != nil {
		return nil, err
	}
	return &p, nil
}

// decode reads one JSON object of a known schema version, and nothing after it.
func decode(r io.Reader, what string, limit int64, version int, into any) error {
	b, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return fmt.Errorf("reading the %s: %w", what, err)
	}
	if int64(len(b)) > limit {
		return fmt.Errorf("the %s is larger than %d MiB: not read", what, limit>>20)
	}
	var head struct {
		SchemaVersion *int `json:"schemaVersion"`
	}
	if err := json.Unmarshal(b, &head); err != nil {
		return fmt.Errorf("this is no %s of mm2doctor, or a cut one: %w", what, err)
	}
	switch {
	case head.SchemaVersion == nil:
		return fmt.Errorf("this is no %s of mm2doctor: it has no schemaVersion", what)
	case *head.SchemaVersion != version:
		return fmt.Errorf("a %s of schema version %d, and this mm2doctor knows %d; make it again with this one", what, *head.SchemaVersion, version)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("this is no %s of this mm2doctor%s: %s", what, kindOf(b), strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// kindOf tells files of mm2doctor apart that are easily taken for one another.
func kindOf(b []byte) string {
	var head struct {
		Command   string          `json:"command"`
		Groups    json.RawMessage `json:"groups"`
		Positions json.RawMessage `json:"positions"`
		Clusters  json.RawMessage `json:"clusters"`
	}
	switch err := json.Unmarshal(b, &head); {
	case err != nil:
		return ""
	case head.Command == "translate" && head.Groups != nil:
		return " but a plan"
	case head.Positions != nil:
		return " but a state file"
	case head.Clusters != nil:
		return " but a captured snapshot"
	}
	return ""
}
