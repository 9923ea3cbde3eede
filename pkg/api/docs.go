package api

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed" // the page's parts
	"encoding/hex"
	"fmt"
	"html/template"
	"net/http"
	"path"
	"slices"
	"strings"

	"lodestone/pkg/asset"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

//go:embed docs/page.html
var docsHTML string

//go:embed docs/page.css
var docsCSS string

//go:embed docs/page.js
var pageJS string

//go:embed docs/example.js
var exampleJS string

// docsScript is the script of the page: what finds operations, and what writes examples in other
// languages and sends them. It is a file of its own, so that the page is there before it.
var docsScript = pageJS + exampleJS

// scriptPath is where the script is served. The name changes with the text, so browsers may keep
// it.
var scriptPath = func() string {
	sum := sha256.Sum256([]byte(docsScript))
	return DocsPath + "-" + hex.EncodeToString(sum[:6]) + ".js"
}()

// The page's content, as its template takes it.
type (
	docsPage struct {
		CSS                                          template.CSS
		Icon                                         template.HTML
		Script                                       string // beside the page
		Authenticate, Problem, Pages, Headers, Retry docsCode
		Codes                                        []docsProblem
		Limits                                       []docsLimit
		Groups                                       []docsGroup
	}
	docsCode struct {
		Title, Text string
		Copy        bool
	}
	docsProblem struct {
		Status      int
		Code, Title string
	}
	docsLimit struct {
		Name, For string
		Quota     int
	}
	docsGroup struct {
		Name, Anchor string
		Operations   []docsOperation
	}
	docsOperation struct {
		ID, Method, Class, Path, Summary, Description, Limit string
		Scopes                                               []string
		Fields                                               []docsFields
		Answers                                              []docsAnswer
		Answer                                               []docsField // of a success
		Call                                                 docsCall
		Examples                                             []docsCode // of answers
	}
	// docsCall is a request with an operation's example. The page shows it as a command of curl; its
	// script makes the other languages and the form that sends it of the same parts.
	docsCall struct {
		Method, Path, JSON, Type string // Type is that of a file in place of JSON
		File                     string // its name in the example
		Answer                   string // what the answer is, unless it is JSON: none, file or stream
	}
	docsFields struct {
		Title string
		Rows  []docsField
	}
	docsField struct {
		Name, Type, Text string
		Required         bool
	}
	docsAnswer struct {
		Status, Class, Text string
		Codes               []string
	}
)

// docsStyle returns the style of a page of the documentation. up leads from the page to the root of
// the site.
func docsStyle(up string) string { return asset.FontCSS(up) + docsCSS }

// Ways from pages to the root of the site.
const (
	upFromDocs    = "../.."
	upFromProblem = "../../.."
)

// renderDocs writes the page. It does not depend on the request, so it is rendered once.
func (a *API) renderDocs() ([]byte, error) {
	page, err := template.New("docs").Parse(docsHTML)
	if err != nil {
		return nil, fmt.Errorf("parse docs page: %w", err)
	}
	content, err := a.docsContent()
	if err != nil {
		return nil, err
	}
	out := &bytes.Buffer{}
	if err := page.Execute(out, content); err != nil {
		return nil, fmt.Errorf("write docs page: %w", err)
	}
	return out.Bytes(), nil
}

func (a *API) docsContent() (*docsPage, error) {
	p := &docsPage{
		CSS: template.CSS(docsStyle(upFromDocs)), Icon: template.HTML(asset.IconLink(upFromDocs)), //nolint:gosec // ours, from this directory
		Script: path.Base(scriptPath),
		Authenticate: docsCode{"Shell",
			"source data/lodestone.env\ncurl -H \"Authorization: Bearer $LODESTONE_API_KEY\" \\\n" +
				"  \"$LODESTONE_URL/api/v1/lead-magnets\"", true},
		Pages: docsCode{"Part of an answer",
			"\"pagination\": {\n  \"page\": 1,\n  \"per_page\": 20,\n  \"total\": 57,\n  \"total_pages\": 3\n}", false},
		Headers: docsCode{"Headers of an answer",
			"RateLimit-Policy: \"requests\";q=1000;w=60\nRateLimit: \"requests\";r=998;t=41\nX-RateLimit-Limit: 1000\n" +
				"X-RateLimit-Remaining: 998\nX-RateLimit-Reset: 1772357441", false},
		Retry: docsCode{"Shell",
			"curl -H \"Authorization: Bearer $LODESTONE_API_KEY\" \\\n  -H \"Idempotency-Key: $(uuidgen)\" \\\n" +
				"  \"$LODESTONE_URL/api/v1/lead-magnets\" \\\n  --json '{\"title\": \"Worth the email\"}'", true},
	}
	example, err := marshal(problem.Invalid(problem.Field{Field: "title",
		Message: "must have 1 to 200 characters, and has 0"}))
	if err != nil {
		return nil, fmt.Errorf("write example: %w", err)
	}
	p.Problem = docsCode{"422 application/problem+json", example, false}
	for _, c := range problem.Codes() {
		p.Codes = append(p.Codes, docsProblem{c.Status(), string(c), c.Title()})
	}
	slices.SortStableFunc(p.Codes, func(x, y docsProblem) int { return cmp.Compare(x.Status, y.Status) })
	if a.limits != nil {
		for _, l := range []struct {
			name  ratelimit.Name
			whose string
		}{{ratelimit.Requests, "each key"}, {ratelimit.Analytics, "the account"}, {ratelimit.AnalyticsEmail, "the account"},
			{ratelimit.AnalyticsQuery, "the account"}} {
			p.Limits = append(p.Limits, docsLimit{string(l.name), l.whose, a.limits.Untouched(l.name).Quota})
		}
	}
	for _, op := range a.operations() {
		name := "Other"
		if len(op.Tags) > 0 {
			name = op.Tags[0]
		}
		i := slices.IndexFunc(p.Groups, func(g docsGroup) bool { return g.Name == name })
		if i < 0 {
			i = len(p.Groups)
			p.Groups = append(p.Groups,
				docsGroup{Name: name, Anchor: "group-" + strings.ReplaceAll(strings.ToLower(name), " ", "-")})
		}
		entry, err := a.docsOperation(op)
		if err != nil {
			return nil, err
		}
		p.Groups[i].Operations = append(p.Groups[i].Operations, entry)
	}
	// As a newcomer meets them.
	order := []string{"Lead magnets", "Generic links", "Submissions", "Access links", "Analytics", "Webhooks", "Account"}
	rank := func(g docsGroup) int {
		if i := slices.Index(order, g.Name); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(p.Groups, func(x, y docsGroup) int { return cmp.Compare(rank(x), rank(y)) })
	return p, nil
}

func (a *API) docsOperation(op *DescribedOperation) (docsOperation, error) {
	d := docsOperation{
		ID: op.OperationID, Method: op.Method, Class: strings.ToLower(op.Method), Path: op.Path,
		Summary: op.Summary, Description: op.Description, Limit: op.Limit, Scopes: []string{op.Scope},
	}
	for _, scope := range op.Also {
		d.Scopes = append(d.Scopes, string(scope))
	}
	for _, in := range []struct{ in, title string }{{"path", "Path"},
		{"query", "Query parameters"}, {"header", "Headers"}} {
		group := docsFields{Title: in.title}
		for _, p := range op.Parameters {
			if p.In == in.in {
				group.Rows = append(group.Rows, docsField{p.Name, docsType(p.Schema), cmp.Or(p.Description, p.Schema.Description),
					p.Required && p.In != "path"})
			}
		}
		if group.Rows != nil {
			d.Fields = append(d.Fields, group)
		}
	}
	if op.RequestBody != nil {
		if m := op.RequestBody.Content["application/json"]; m != nil {
			d.Fields = append(d.Fields, docsFields{"Body", docsBody(m.Schema, "", true)})
		}
	}
	var err error
	if d.Call, err = callOf(op); err != nil {
		return d, err
	}
	statuses := make([]string, 0, len(op.Responses))
	for status := range op.Responses {
		statuses = append(statuses, status)
	}
	slices.Sort(statuses)
	for _, status := range statuses {
		answer := op.Responses[status]
		if name, found := strings.CutPrefix(answer.Ref, responsePrefix); found {
			answer = a.openapi.Components.Responses[name]
		}
		entry := docsAnswer{Status: status, Class: "bad", Text: answer.Description}
		if status < "300" {
			entry.Class = "ok"
		}
		if answer.Content[problem.ContentType] != nil {
			entry.Codes = strings.Split(answer.Description, ", ")
		}
		d.Answers = append(d.Answers, entry)
		if m := answer.Content["application/json"]; m != nil && m.Schema != nil {
			d.Answer = docsBody(m.Schema, "", false)
		}
		if m := answer.Content["application/json"]; m != nil && m.Example != nil {
			example, err := marshal(m.Example)
			if err != nil {
				return d, fmt.Errorf("write example of %s: %w", op.OperationID, err)
			}
			d.Examples = append(d.Examples, docsCode{status + " application/json", example, false})
		}
	}
	return d, nil
}

// callOf returns a request with an operation's example.
func callOf(op *DescribedOperation) (docsCall, error) {
	c := docsCall{Method: op.Method, Path: op.Path, Answer: answerKind(op)}
	for _, p := range op.Parameters {
		switch {
		case p.In == "path":
			c.Path = strings.ReplaceAll(c.Path, "{"+p.Name+"}", fmt.Sprint(exampleOf(p.Schema, p.Name)))
		case p.In == "query" && p.Required:
			c.Path += "?" + p.Name + "=" + fmt.Sprint(exampleOf(p.Schema, p.Name))
		}
	}
	if op.RequestBody == nil {
		return c, nil
	}
	content := op.RequestBody.Content
	switch m := content["application/json"]; {
	case m != nil:
		body, err := marshal(m.Example)
		if err != nil {
			return c, fmt.Errorf("write example of %s: %w", op.OperationID, err)
		}
		c.JSON = body
	case content["image/png"] != nil:
		c.Type, c.File = "image/png", "picture.png"
	default:
		c.Type, c.File = "application/pdf", "guide.pdf"
	}
	return c, nil
}

// answerKind tells how an example reads the answer of a success; "" is JSON.
func answerKind(op *DescribedOperation) string {
	for status, answer := range op.Responses {
		if status >= "300" || status == "206" {
			continue
		}
		switch {
		case answer.Content["application/json"] != nil:
			return ""
		case answer.Content[eventStream] != nil:
			return "stream"
		case len(answer.Content) > 0:
			return "file"
		}
	}
	return "none"
}

// Verb is the option of curl for the method; "": curl sends it by itself.
func (c docsCall) Verb() string {
	if c.Method == http.MethodGet || c.Method == http.MethodPost && (c.JSON != "" || c.File != "") {
		return ""
	}
	return "-X " + c.Method + " "
}

// Quoted is the body for a shell, within single quotes.
func (c docsCall) Quoted() string { return strings.ReplaceAll(c.JSON, "'", `'\''`) }

// docsBody lists the fields of a schema and, behind each, those within it: bulk.emails[],
// data[].id. Of a body, those that are required come first, and are marked; an answer's are in the
// order of its example.
func docsBody(s *jsonschema.Schema, prefix string, body bool) (rows []docsField) {
	s = s.Resolve()
	var names []string
	for _, name := range s.Required {
		if s.Properties[name] != nil {
			names = append(names, name)
		}
	}
	var rest []string
	for name := range s.Properties {
		if !slices.Contains(names, name) {
			rest = append(rest, name)
		}
	}
	if body {
		slices.Sort(names)
	}
	slices.Sort(rest)
	for _, name := range append(names, rest...) {
		p := s.Properties[name].Resolve()
		rows = append(rows, docsField{prefix + name, docsType(p), cmp.Or(s.Properties[name].Description, p.Description),
			body && slices.Contains(s.Required, name)})
		within := prefix + name + "."
		if p.Type == jsonschema.Array {
			within, p = prefix+name+"[].", p.Items.Resolve()
		}
		if p.Type == jsonschema.Object && strings.Count(within, ".") < docsDepth {
			rows = append(rows, docsBody(p, within, body)...)
		}
	}
	return rows
}

// docsDepth bounds how deep the page goes into a schema, which might hold itself.
const docsDepth = 5

// docsType says in words what values a schema takes.
func docsType(s *jsonschema.Schema) string {
	s = s.Resolve()
	text := s.Type
	switch {
	case len(s.Enum) > 0:
		text = strings.Join(s.Enum, " | ")
	case s.Format == jsonschema.UUID:
		text = "UUID"
	case s.Format == jsonschema.DateTime:
		text = "ISO 8601 date or time"
	case s.Type == jsonschema.Array:
		text = "list of " + docsType(s.Items)
		if s.MaxItems != nil {
			text += fmt.Sprintf(", at most %d", *s.MaxItems)
		}
	case s.Minimum != nil && s.Maximum != nil:
		text += fmt.Sprintf(", %.0f to %.0f", *s.Minimum, *s.Maximum)
	case s.MaxLength != nil && s.MinLength != nil && *s.MinLength > 1:
		text += fmt.Sprintf(", %d to %d characters", *s.MinLength, *s.MaxLength)
	case s.MaxLength != nil:
		text += fmt.Sprintf(", at most %d characters", *s.MaxLength)
	}
	if s.Default != nil {
		text += fmt.Sprintf(", default %v", s.Default)
	}
	if s.Nullable {
		text += " or null"
	}
	return text
}
