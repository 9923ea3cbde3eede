package mcp

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"lodestone/pkg/client"
)

const (
	documentPath = "/api/v1/openapi.json"
	jsonType     = "application/json"
	maxDepth     = 12 // of schemas in each other
)

// schema is a JSON Schema as the description has it.
type schema = map[string]any

// document is the API's description (OpenAPI), as far as tools need it.
type document struct {
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas map[string]any `json:"schemas"`
	} `json:"components"`
}

// operation is one operation of the API.
type operation struct {
	ID          string       `json:"operationId"`
	Summary     string       `json:"summary"`
	Description string       `json:"description"`
	Parameters  []*parameter `json:"parameters"`
	RequestBody *struct {
		Required bool `json:"required"`
		Content  map[string]struct {
			Schema schema `json:"schema"`
		} `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]any `json:"content"`
	} `json:"responses"`
	Scope    string   `json:"x-scope"`
	Also     []string `json:"x-also-scopes"`
	Limit    string   `json:"x-rate-limit"`
	ReadOnly bool     `json:"x-read-only"`
	Secret   bool     `json:"x-secret"`

	method, path string
	schemas      map[string]any // of the document, by name
}

type parameter struct {
	Name        string `json:"name"`
	In          string `json:"in"`
	Description string `json:"description"`
	Required    bool   `json:"required"`
	Schema      schema `json:"schema"`
}

func readDocument(ctx context.Context, c *client.Client) (*document, error) {
	doc, err := client.Get[*document](ctx, c, documentPath, nil)
	if err == nil && (doc == nil || len(doc.Paths) == 0) {
		err = fmt.Errorf("%s describes no operations", documentPath)
	}
	return doc, err
}

// operations lists what is described, by path and method.
func (d *document) operations() (all []*operation) {
	for path, item := range d.Paths {
		for method, op := range item {
			op.method, op.path, op.schemas = strings.ToUpper(method), path, d.Components.Schemas
			all = append(all, op)
		}
	}
	slices.SortFunc(all, func(x, y *operation) int { return cmp.Or(cmp.Compare(x.path, y.path), cmp.Compare(x.method, y.method)) })
	return all
}

// reads reports whether the operation changes nothing.
func (op *operation) reads() bool { return op.method == http.MethodGet || op.ReadOnly }

// offered reports whether there is a tool for the operation. There is none for uploads, for streams without an end, for files that a model
// cannot read, and for what shows a secret: that would stay in the conversation.
func (op *operation) offered(write bool) bool {
	switch {
	case op.ID == "" || op.Secret || !op.reads() && !write:
		return false
	case op.RequestBody != nil && op.body() == nil:
		return false
	}
	types := op.answers()
	return len(types) == 0 || slices.ContainsFunc(types, readable)
}

// body returns the schema of the JSON body, or nil.
func (op *operation) body() schema {
	if op.RequestBody == nil {
		return nil
	}
	return op.RequestBody.Content[jsonType].Schema
}

// answers lists the content types of success.
func (op *operation) answers() (types []string) {
	for status, answer := range op.Responses {
		if status < "300" {
			types = slices.AppendSeq(types, maps.Keys(answer.Content))
		}
	}
	return types
}

// readable reports whether a model can take an answer of a content type.
func readable(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return false
	}
	return kind == jsonType || isText(kind) || isPicture(kind)
}

func isText(kind string) bool {
	return strings.HasPrefix(kind, "text/") && kind != "text/event-stream" || kind == "application/x-ndjson" || kind == "image/svg+xml"
}

func isPicture(kind string) bool {
	return kind == "image/png" || kind == "image/jpeg" || kind == "image/gif" || kind == "image/webp"
}

// plain returns a schema without references and without what only costs a model its attention: the API checks patterns itself.
func (op *operation) plain(value any, depth int) any {
	s, ok := value.(schema)
	if !ok || depth == maxDepth {
		return value
	}
	out := schema{}
	if ref, ok := s["$ref"].(string); ok {
		target, _ := op.plain(op.schemas[ref[strings.LastIndexByte(ref, '/')+1:]], depth+1).(schema)
		maps.Copy(out, target)
	}
	for name, v := range s {
		switch name {
		case "$ref", "pattern", "x-patternDescription", "examples":
		case "format":
			if v != "int64" && v != "int32" {
				out[name] = v
			}
		case "properties":
			fields, _ := v.(schema)
			plain := schema{}
			for field, of := range fields {
				plain[field] = op.plain(of, depth+1)
			}
			out[name] = plain
		case "items", "additionalProperties":
			out[name] = op.plain(v, depth+1)
		case "allOf":
			list, _ := v.([]any)
			plain := make([]any, len(list))
			for i, of := range list {
				plain[i] = op.plain(of, depth+1)
			}
			out[name] = plain
		default:
			out[name] = v
		}
	}
	return out
}

// encode writes JSON that is the same each time.
func encode(value any) ([]byte, error) {
	text, err := json.Marshal(value, json.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return text, nil
}
