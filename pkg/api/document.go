package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"lodestone/pkg/jsonschema"
)

// complete adds to the description what is known only when everything has been registered.
func (a *API) complete() {
	for _, op := range a.operations() {
		if op.RequestBody != nil {
			for _, m := range op.RequestBody.Content {
				if m.Example == nil && m.Schema.ContentMediaType == "" {
					m.Example = exampleOf(m.Schema, "")
				}
				m.Schema.Restrict()
			}
		}
		for status, answer := range op.Responses {
			if m := answer.Content["application/json"]; m != nil && status < "300" && m.Example == nil {
				m.Example = exampleOf(m.Schema, "")
			}
		}
		a.link(op)
	}
}

// link tells, at the operation that makes a thing, which others take its id.
func (a *API) link(op *DescribedOperation) {
	created := op.Responses[strconv.Itoa(http.StatusCreated)]
	if created == nil {
		return
	}
	prefix := op.Path + "/{id}"
	created.Links = map[string]link{}
	for _, other := range a.operations() {
		if other.Path == prefix || strings.HasPrefix(other.Path, prefix+"/") {
			if ok := other.Responses["200"]; other.Method == http.MethodGet && ok != nil && len(ok.Content) > 0 &&
				ok.Content["application/json"] == nil {
				continue // a file, which may not be there yet
			}
			created.Links[other.OperationID] = link{OperationID: other.OperationID,
				Parameters: map[string]string{"id": "$response.body#/id"}}
			continue
		}
		// A list that can be narrowed to it, or a body that refers to it.
		name := strings.ReplaceAll(strings.TrimSuffix(op.Path[strings.LastIndexByte(op.Path, '/')+1:], "s"), "-", "_") + "_id"
		for _, p := range other.Parameters {
			if p.In == "query" && p.Name == name {
				created.Links[other.OperationID] = link{OperationID: other.OperationID,
					Parameters: map[string]string{name: "$response.body#/id"}}
			}
		}
	}
	if len(created.Links) == 0 {
		created.Links = nil
	}
}

// operations lists what is described, by path and then by method.
func (a *API) operations() []*DescribedOperation {
	var all []*DescribedOperation
	for _, item := range a.openapi.Paths {
		all = slices.AppendSeq(all, maps.Values(item))
	}
	order := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	slices.SortFunc(all, func(x, y *DescribedOperation) int {
		return cmp.Or(cmp.Compare(x.Path, y.Path), cmp.Compare(slices.Index(order, x.Method), slices.Index(order, y.Method)))
	})
	return all
}

// exampleOf returns a value of a schema, for people to look at. A field's own example comes first
// (the tag `example`), then what its form suggests.
func exampleOf(s *jsonschema.Schema, name string) any {
	s = s.Resolve()
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Default != nil:
		return s.Default
	}
	if known, ok := examples[name]; ok && s.Type != jsonschema.Array && s.Type != jsonschema.Object {
		return known
	}
	switch s.Type {
	case jsonschema.Object:
		return exampleObject(s)
	case jsonschema.Array:
		return []any{exampleOf(s.Items, name)}
	case jsonschema.Integer, jsonschema.Number:
		if s.Minimum != nil {
			return *s.Minimum
		}
		return 1
	case jsonschema.Boolean:
		return true
	case jsonschema.String:
		return exampleText(s, name)
	}
	return nil
}

// exampleObject has the fields in the order in which they are declared, as far as that is known:
// those that are always there first.
func exampleObject(s *jsonschema.Schema) object {
	names := slices.Clone(s.Required)
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	slices.Sort(rest)
	o := object{}
	for _, name := range append(names, rest...) {
		o = append(o, member{name, exampleOf(s.Properties[name], name)})
	}
	return o
}

// object is a JSON object whose members keep their order.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	out := jsontext.Value("{")
	for i, m := range o {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := jsontext.AppendQuote(nil, m.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(m.value, json.Deterministic(true))
		if err != nil {
			return nil, fmt.Errorf("write example of %s: %w", m.name, err)
		}
		out = append(append(append(out, name...), ':'), value...)
	}
	return append(out, '}'), nil
}

// examples are values of fields and parameters by their names, where their form alone suggests none
// that tells much.
var examples = map[string]any{
	"title":         "The field guide to lead magnets",
	"description":   "What makes a document worth an email address.",
	"name":          "Ada Lovelace",
	"email":         "ada@example.com",
	"emails":        "ada@example.com",
	"slug":          "field-guide-x7k2p9",
	"file_name":     "field-guide.pdf",
	"file_size":     482133,
	"page_count":    12,
	"content_type":  "application/pdf",
	"thumbnail_url": "https://example.com/cover.png",
	"url":           "https://links.example.com/l/field-guide-x7k2p9",
	"max_views":     10,
	"expires_at":    "2036-03-01T09:30:00.000Z",
	"per_page":      20,
	"total":         57,
	"total_pages":   3,
	"key":           "lsk_…",
	"prefix":        "lsk_w9lF5UR6",
	"ip_hash":       "9f86d081884c7d659a2feaa0c55ad015",
	"user_agent":    "Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0",
	"next_cursor":   nil,

	"allowed_origins": "https://www.example.com",
	"archived":        false,
	"allow":           "example.com",
	"block":           "mail.example.com",
	"medium":          "email",
	"campaign":        "spring-launch",
}

func exampleText(s *jsonschema.Schema, name string) any {
	switch {
	case s.Format == jsonschema.UUID:
		return "0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55"
	case s.Format == jsonschema.DateTime:
		return "2026-03-01T09:30:00.000Z"
	case strings.HasSuffix(name, "token"):
		return "AQECAAAAAAGh_ggl…"
	case s.Nullable:
		return nil
	}
	return "text"
}

// marshal writes a value as JSON for people.
func marshal(v any) (string, error) {
	text, err := json.Marshal(v, json.Deterministic(true), jsontext.WithIndent("  "))
	return string(text), err
}
