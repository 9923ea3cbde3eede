package mcp

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lodestone/pkg/problem"
)

const (
	bodyArgument   = "body"
	ifMatch        = "If-Match"
	idempotencyKey = "Idempotency-Key"
)

// arguments lists the parameters that a tool takes. Of the headers, only If-Match says what is to be done; the others are this server's business.
func (op *operation) arguments() []*parameter {
	return slices.DeleteFunc(slices.Clone(op.Parameters), func(p *parameter) bool { return p.In == "header" && p.Name != ifMatch })
}

// takes reports whether the operation has a parameter.
func (op *operation) takes(in, name string) bool {
	return slices.ContainsFunc(op.Parameters, func(p *parameter) bool { return p.In == in && p.Name == name })
}

// tool describes the operation as a tool.
func (op *operation) tool() (*sdk.Tool, error) {
	properties, required := schema{}, []string{}
	for _, p := range op.arguments() {
		s, ok := op.plain(p.Schema, 0).(schema)
		if !ok {
			return nil, fmt.Errorf("the description of %s has no schema for %s", op.ID, p.Name)
		}
		if p.Description != "" {
			s["description"] = p.Description
		}
		properties[p.Name] = s
		if p.Required {
			required = append(required, p.Name)
		}
	}
	if body := op.body(); body != nil {
		properties[bodyArgument] = op.plain(body, 0)
		if op.RequestBody.Required {
			required = append(required, bodyArgument)
		}
	}
	input := schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		input["required"] = required
	}
	closed, destroys := false, op.method == http.MethodDelete || op.ID == "erase-person"
	t := &sdk.Tool{
		Name: op.ID, Title: op.Summary, Description: op.text(), InputSchema: input,
		Annotations: &sdk.ToolAnnotations{Title: op.Summary, ReadOnlyHint: op.reads(), OpenWorldHint: &closed},
	}
	if !op.reads() {
		t.Annotations.DestructiveHint, t.Annotations.OpenWorldHint = &destroys, nil
		t.Annotations.IdempotentHint = op.method == http.MethodPut || op.method == http.MethodDelete
	}
	return t, nil
}

// text is the description of the tool.
func (op *operation) text() string {
	var parts []string
	if !op.reads() {
		parts = append(parts, "Changes data.")
	}
	for _, part := range []string{op.Summary, op.Description} {
		if part != "" {
			parts = append(parts, strings.TrimRight(part, ".")+".")
		}
	}
	if op.Scope != "" {
		parts = append(parts, "Needs an API key with the scope "+strings.Join(append([]string{op.Scope}, op.Also...), " and ")+".")
	}
	return strings.Join(parts, " ")
}

// request is a call of an operation.
type request struct {
	path   string // with the query
	header http.Header
	body   jsontext.Value // nil: none
	asked  asked
}

// asked is the part of an answer that says what was asked.
type asked struct {
	Method     string                    `json:"method"`
	Path       string                    `json:"path"`
	Parameters map[string]jsontext.Value `json:"parameters"`
	Body       jsontext.Value            `json:"body,omitzero"`
}

// request makes the request of a call. The fields are what is wrong with the arguments; a request with any must not be sent.
func (op *operation) request(arguments []byte) (r *request, fields []problem.Field) {
	r = &request{header: http.Header{}, asked: asked{Method: op.method, Path: op.path, Parameters: map[string]jsontext.Value{}}}
	var given map[string]jsontext.Value
	if len(arguments) > 0 {
		if err := json.Unmarshal(arguments, &given); err != nil {
			return r, []problem.Field{{Field: "arguments", Message: "must be one JSON object without repeated names"}}
		}
	}
	wrong := func(name, message string) { fields = append(fields, problem.Field{Field: name, Message: message}) }
	query := url.Values{}
	for _, p := range op.arguments() {
		value, has := given[p.Name]
		delete(given, p.Name)
		if !has || value.Kind() == 'n' {
			if p.Required {
				wrong(p.Name, "is required")
			}
			continue
		}
		text, ok := scalar(value)
		if !ok {
			wrong(p.Name, "must be a single value")
			continue
		}
		r.asked.Parameters[p.Name] = value
		switch p.In {
		case "path":
			// The path of another operation must not come of it.
			if text == "" || text == "." || text == ".." {
				wrong(p.Name, "must not be empty or a part of a path")
			}
			r.asked.Path = strings.ReplaceAll(r.asked.Path, "{"+p.Name+"}", url.PathEscape(text))
		case "header":
			if strings.ContainsAny(text, "\r\n\x00") {
				wrong(p.Name, "must be a single line")
			}
			r.header.Set(p.Name, text)
		default:
			query.Set(p.Name, text)
		}
	}
	r.path = r.asked.Path
	if len(query) > 0 {
		r.path += "?" + query.Encode()
	}
	if op.body() != nil {
		if body, has := given[bodyArgument]; has {
			r.body, r.asked.Body = body, body
			r.header.Set("Content-Type", jsonType)
		} else if op.RequestBody.Required {
			wrong(bodyArgument, "is required")
		}
		delete(given, bodyArgument)
	}
	if op.takes("header", idempotencyKey) {
		r.header.Set(idempotencyKey, uuid.NewString()) // a repetition after 429 or 503 has one effect
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		wrong(name, "is not an argument of "+op.ID)
	}
	return r, fields
}

// scalar returns a text, a number or a bool as a parameter has it.
func scalar(v jsontext.Value) (string, bool) {
	switch v.Kind() {
	case '"':
		var text string
		err := json.Unmarshal(v, &text)
		return text, err == nil
	case '0', 't', 'f':
		return string(v), true
	default:
		return "", false
	}
}
