package api

import (
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
)

// Description is an OpenAPI 3.1 document, as far as the API uses it.
type Description struct {
	OpenAPI string            `json:"openapi"`
	Info    descriptionInfo   `json:"info"`
	Servers []descriptionHost `json:"servers"`
	// Paths has the operations by their paths and their methods in lower case.
	Paths      map[string]map[string]*DescribedOperation `json:"paths"`
	Components components                                `json:"components"`
}

type descriptionInfo struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Version     string `json:"version"`
}

type descriptionHost struct {
	URL string `json:"url"`
}

type components struct {
	Schemas         map[string]*jsonschema.Schema `json:"schemas"`
	Responses       map[string]*response          `json:"responses"`
	Headers         map[string]*header            `json:"headers"`
	SecuritySchemes map[string]securityScheme     `json:"securitySchemes"`
}

type securityScheme struct {
	Type        string `json:"type"`
	Scheme      string `json:"scheme"`
	Description string `json:"description"`
}

// DescribedOperation is an operation as the description has it.
type DescribedOperation struct {
	Method string `json:"-"`
	Path   string `json:"-"`

	OperationID string                `json:"operationId"`
	Tags        []string              `json:"tags,omitempty"`
	Summary     string                `json:"summary,omitempty"`
	Description string                `json:"description,omitempty"`
	Parameters  []*Parameter          `json:"parameters,omitempty"`
	RequestBody *RequestBody          `json:"requestBody,omitzero"`
	Responses   map[string]*response  `json:"responses"`
	Security    []map[string][]string `json:"security"`
	Scope       string                `json:"x-scope"`
	// Also has the scopes that a key needs besides.
	Also  []auth.Scope `json:"x-also-scopes,omitempty"`
	Limit string       `json:"x-rate-limit"`
	// ReadOnly says that a POST changes nothing.
	ReadOnly bool `json:"x-read-only,omitzero"`
	// Secret says that the answer shows something once only.
	Secret bool `json:"x-secret,omitzero"`
}

// Parameter is a parameter of an operation in the path, the query or a header.
type Parameter struct {
	Name        string             `json:"name"`
	In          string             `json:"in"`
	Description string             `json:"description,omitempty"`
	Required    bool               `json:"required,omitzero"`
	Schema      *jsonschema.Schema `json:"schema"`
}

// RequestBody describes the bodies that an operation accepts, by content type.
type RequestBody struct {
	Required bool                  `json:"required"`
	Content  map[string]*MediaType `json:"content"`
}

// MediaType describes a body of one content type.
type MediaType struct {
	Schema   *jsonschema.Schema `json:"schema"`
	Example  any                `json:"example,omitzero"`
	Examples map[string]example `json:"examples,omitempty"`
}

type example struct {
	Summary string `json:"summary"`
	Value   any    `json:"value"`
}

type response struct {
	Ref         string                `json:"$ref,omitempty"`
	Description string                `json:"description,omitempty"`
	Headers     map[string]*header    `json:"headers,omitempty"`
	Content     map[string]*MediaType `json:"content,omitempty"`
	Links       map[string]link       `json:"links,omitempty"`
}

type header struct {
	Ref         string             `json:"$ref,omitempty"`
	Description string             `json:"description,omitempty"`
	Schema      *jsonschema.Schema `json:"schema,omitzero"`
	Example     any                `json:"example,omitzero"`
}

type link struct {
	OperationID string            `json:"operationId"`
	Parameters  map[string]string `json:"parameters"`
}
