package api

import (
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

const schemeName = "key"

func newDescription(schemas *jsonschema.Set) *Description {
	return &Description{
		OpenAPI: "3.1.0",
		Info:    descriptionInfo{Title: "Lodestone", Version: "v1", Description: description},
		Servers: []descriptionHost{{"/"}},
		Paths:   map[string]map[string]*DescribedOperation{},
		Components: components{
			Schemas: schemas.Named,
			SecuritySchemes: map[string]securityScheme{schemeName: {
				Type: "http", Scheme: "bearer",
				Description: "An API key, lsk_ and 38 characters, as `Authorization: Bearer <key>`. A key has one or more of the scopes read, write, leads (reading personal data), webhooks, keys, people and people:privacy (exporting one person).",
			}},
			Headers:   headers(),
			Responses: map[string]*response{},
		},
	}
}

// add adds an operation to the description.
func (d *Description) add(op *DescribedOperation) {
	if d.Paths[op.Path] == nil {
		d.Paths[op.Path] = map[string]*DescribedOperation{}
	}
	d.Paths[op.Path][strings.ToLower(op.Method)] = op
}

// description applies to every operation.
const description = `Lead magnets, links to them, and the activity of their readers.

Bodies and answers are JSON. Ids are UUIDs, times are RFC 3339 in UTC, and absent values are null.
Lists are paginated, newest first; the header Link contains the other pages. Errors are problems (RFC 9457) with a
stable code. Parameters and fields that are not listed here are errors.`

// Names of the described headers.
const (
	headerLocation = "Location"
	headerRetry    = "Retry-After"
	headerLink     = "Link"
)

// headers are the described headers of answers, by name.
func headers() map[string]*header {
	text := func(description, example string) *header {
		return &header{Description: description, Schema: &jsonschema.Schema{Type: jsonschema.String}, Example: example}
	}
	count := func(description string, example int) *header {
		return &header{Description: description, Schema: &jsonschema.Schema{Type: jsonschema.Integer}, Example: example}
	}
	return map[string]*header{
		RequestIDHeader: text(
			"Id of the request, for support. A request may send its own: 8 to 128 letters, digits and . _ -",
			"8a1f3c1e-6a0e-4d3e-9a59-0d3bb2f2a3c4"),
		"RateLimit-Policy": text(
			"The limit that applies: its name, and the number of requests (q) per window of w seconds.",
			`"requests";q=1000;w=60`),
		"RateLimit": text(
			"The remaining limit: the number of requests (r) left until the window ends in t seconds.", `"requests";r=999;t=60`),
		"X-RateLimit-Limit":     count("Requests per window.", 1000),
		"X-RateLimit-Remaining": count("Requests left in this window.", 999),
		"X-RateLimit-Reset":     count("When the window ends, in seconds since 1970.", 1767225660),
		headerRetry:             count("Seconds to wait before a retry.", 30),
		headerLocation: text("Path of the created object.",
			"/api/v1/generic-links/0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55"),
		headerLink: text("The first, previous, next and last page (RFC 8288).",
			`</api/v1/generic-links?page=2&per_page=20>; rel="next"`),
		"WWW-Authenticate": text("How to authenticate.", "Bearer"),
		ReplayedHeader: text(
			"true if this is the stored answer to an earlier request with the same Idempotency-Key.", "true"),
		"Allow":         text("The methods that the path supports.", "GET, HEAD, OPTIONS"),
		"Content-Range": text("The range in this answer, and the total size.", "bytes 0-1023/482133"),
		"Accept-Ranges": text("Ranges are supported.", "bytes"),
		"ETag":          text("State of the object, for If-Match and If-None-Match.", `"3-9f86d081884c7d65"`),
	}
}

// answerHeaders returns references to the headers of an answer.
func (a *API) answerHeaders(names ...string) map[string]*header {
	all := append([]string{RequestIDHeader}, names...)
	if a.limits != nil {
		all = append(all, "RateLimit-Policy", "RateLimit", "X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")
	}
	refs := make(map[string]*header, len(all))
	for _, name := range all {
		refs[name] = &header{Ref: "#/components/headers/" + name}
	}
	return refs
}

// success returns the form of the answer to a request that went well.
func (a *API) success(op *Operation, content map[string]*MediaType) *response {
	var names []string
	if op.Status == http.StatusCreated {
		names = append(names, headerLocation)
	}
	if op.PerPage.Default != 0 {
		names = append(names, headerLink)
	}
	if op.repeatable() && a.idempotency != nil {
		names = append(names, ReplayedHeader)
	}
	return &response{Description: http.StatusText(op.Status), Headers: a.answerHeaders(names...), Content: content}
}

// describe returns the OpenAPI form of an operation, without its success.
func (a *API) describe(op *Operation, b *binder) *DescribedOperation {
	codes := append([]problem.Code{problem.Unauthorized, problem.Forbidden, problem.InvalidParameter, problem.Unavailable,
		problem.Internal}, op.Errors...)
	limit := op.Limit
	if limit == "" {
		limit = ratelimit.Requests
	}
	doc := &DescribedOperation{
		OperationID: op.ID, Method: op.Method, Path: op.Path, Summary: op.Summary, Description: op.Description,
		Security:  []map[string][]string{{schemeName: {}}},
		Responses: map[string]*response{},
		Scope:     string(op.Scope), Also: op.Also, Limit: string(limit), ReadOnly: op.Safe, Secret: op.Secret,
	}
	if op.Tag != "" {
		doc.Tags = []string{op.Tag}
	}
	stale := false
	for _, f := range b.params {
		stale = stale || f.in == "header" && f.name == "If-Match"
		if f.in == "path" {
			codes = append(codes, problem.NotFound)
		}
		form := f.schema
		if f.in == "header" { // its form is HTTP's, which tools know better than a pattern tells it
			form = &jsonschema.Schema{Type: jsonschema.String}
		}
		doc.Parameters = append(doc.Parameters, &Parameter{
			Name: f.name, In: f.in, Required: f.required, Schema: form, Description: f.schema.Description,
		})
	}
	if b.body != nil {
		codes = append(codes, problem.InvalidJSON, problem.ValidationError,
			problem.UnsupportedMediaType, problem.PayloadTooLarge)
		doc.RequestBody = &RequestBody{Required: true,
			Content: map[string]*MediaType{"application/json": {Schema: b.body, Example: op.BodyExample}}}
	}
	if a.limits != nil {
		codes = append(codes, problem.RateLimited)
	}
	if a.idempotency != nil && op.repeatable() {
		codes = append(codes, problem.Conflict, problem.ValidationError)
		low, high := 1, 255
		doc.Parameters = append(doc.Parameters, &Parameter{
			Name: idempotencyHeader, In: "header",
			Description: "A name for this request, such as a UUID, that the API key uses for no other request. For 24 hours, the same request by the same API key with this name gets the first answer again and has no second effect.",
			Schema: &jsonschema.Schema{Type: jsonschema.String, MinLength: &low, MaxLength: &high,
				Pattern: "^[!-~]([ -~]*[!-~])?$"},
		})
	}
	a.describeProblems(doc, codes)
	if stale {
		changed := problem.Stale("thing")
		doc.Responses[strconv.Itoa(changed.Status)] = a.problemResponse(changed)
	}
	return doc
}

// describeRanges adds to the description what parts of an answer bring. A range that is not there
// is answered with the whole, so there is no 416.
func (a *API) describeRanges(doc *DescribedOperation, success *response) {
	text := &jsonschema.Schema{Type: jsonschema.String}
	doc.Parameters = append(doc.Parameters,
		&Parameter{Name: "Range", In: "header", Schema: text,
			Description: "One range to return, such as bytes=0-1023. If the range does not exist, the full content is returned."},
	)
	for _, name := range []string{"ETag", "Accept-Ranges"} {
		success.Headers[name] = &header{Ref: "#/components/headers/" + name}
	}
	doc.Responses[strconv.Itoa(http.StatusPartialContent)] = &response{
		Description: http.StatusText(http.StatusPartialContent), Content: success.Content,
		Headers: a.answerHeaders("ETag", "Accept-Ranges", "Content-Range"),
	}
	a.describeNotModified(doc)
}

// describeNotModified adds to the description that nothing is sent again that the client has.
func (a *API) describeNotModified(doc *DescribedOperation) {
	doc.Parameters = append(doc.Parameters, &Parameter{
		Name: "If-None-Match", In: "header", Schema: &jsonschema.Schema{Type: jsonschema.String},
		Description: "ETag of an earlier answer. If nothing has changed, the answer is 304 without a body.",
	})
	doc.Responses[strconv.Itoa(http.StatusNotModified)] = &response{
		Description: http.StatusText(http.StatusNotModified), Headers: a.answerHeaders("ETag"),
	}
}

func (a *API) describeProblems(doc *DescribedOperation, codes []problem.Code) {
	byStatus := map[int][]problem.Code{}
	for _, c := range codes {
		if known := byStatus[c.Status()]; !slices.Contains(known, c) {
			byStatus[c.Status()] = append(known, c)
		}
	}
	for status, codes := range byStatus {
		var all []*problem.Problem
		for _, c := range codes {
			all = append(all, exampleProblem(c))
		}
		doc.Responses[strconv.Itoa(status)] = a.problemResponse(all...)
	}
}

// problemResponse returns a reference to the form of answers of one status, with an example of each
// code. Operations that answer alike share one.
func (a *API) problemResponse(all ...*problem.Problem) *response {
	var names, extra []string
	examples := map[string]example{}
	for _, p := range all {
		names = append(names, string(p.Code))
		examples[string(p.Code)] = example{Summary: p.Title, Value: p}
	}
	slices.Sort(names)
	status := all[0].Status
	name := strconv.Itoa(status) + "." + strings.Join(names, ".")
	ref := &response{Ref: responsePrefix + name}
	if a.openapi.Components.Responses[name] != nil {
		return ref
	}
	switch status {
	case http.StatusUnauthorized:
		extra = append(extra, "WWW-Authenticate")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		extra = append(extra, headerRetry)
	}
	a.openapi.Components.Responses[name] = &response{
		Description: strings.Join(names, ", "),
		Headers:     a.answerHeaders(extra...),
		Content: map[string]*MediaType{problem.ContentType: {Schema: a.schemas.Of(reflect.TypeFor[problem.Problem](), ""),
			Examples: examples}},
	}
	return ref
}

const responsePrefix = "#/components/responses/"

// exampleProblem returns how a problem of a code may look.
func exampleProblem(c problem.Code) *problem.Problem {
	switch c {
	case problem.ValidationError:
		return problem.Invalid(problem.Field{Field: "title", Message: "must be a string, not a number"})
	case problem.InvalidParameter:
		return problem.Parameter(problem.Field{Field: "colour", Message: "is not a parameter here"})
	case problem.SlugTaken:
		return problem.New(c, "The slug is in use: choose another.",
			problem.Field{Field: "slug", Message: "is already in use"})
	case problem.InvalidLeadMagnet:
		return problem.New(c, "lead_magnet_id names no lead magnet of this account.", problem.Field{Field: "lead_magnet_id",
			Message: "names no lead magnet of this account"})
	default:
		return problem.New(c, c.Title()+".")
	}
}
