package api

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

// binder fills the input of an operation from a request.
type binder struct {
	params    []param
	known     []string // names of the query parameters
	body      *jsonschema.Schema
	bodyIndex []int
	hints     map[string]string // messages about fields that the body may not set
	maxBody   int64
}

type param struct {
	in       string // "path", "query" or "header"
	name     string
	index    []int
	pointer  bool
	elem     reflect.Type
	required bool
	value    string // the default
	schema   *jsonschema.Schema
}

var (
	uuidType = reflect.TypeFor[uuid.UUID]()
	timeType = reflect.TypeFor[time.Time]()
	listType = reflect.TypeFor[[]string]() // a parameter that may be repeated
)

// newBinder compiles the input type. out is the type of the answer, whose fields the body may not
// set, or nil.
func newBinder[In any](a *API, op *Operation, out reflect.Type) *binder {
	b := &binder{maxBody: op.MaxBody}
	if b.maxBody == 0 {
		b.maxBody = defaultMaxBody
	}
	for _, field := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		if field.Anonymous {
			continue
		}
		if field.Name == "Body" {
			b.body, b.bodyIndex = a.schemas.OfField(field, op.ID+"-body"), field.Index
			b.body.Restrict()
			b.setReadOnly(a.schemas, op, out)
			continue
		}
		if p, ok := newParam(a.schemas, op, field); ok {
			b.params = append(b.params, p)
			if p.in == "query" {
				b.known = append(b.known, p.name)
			}
		}
	}
	slices.Sort(b.known)
	return b
}

func (b *binder) setReadOnly(schemas *jsonschema.Set, op *Operation, out reflect.Type) {
	names := slices.Clone(op.ReadOnly)
	if out != nil {
		for name := range schemas.Of(out, op.ID+"-answer").Resolve().Properties {
			names = append(names, name)
		}
	}
	b.hints = map[string]string{}
	for _, name := range names {
		b.hints[name] = "is read-only and cannot be set"
	}
	maps.Copy(b.hints, op.NotHere)
}

func newParam(schemas *jsonschema.Set, op *Operation, field reflect.StructField) (param, bool) {
	p := param{index: field.Index, elem: field.Type, value: field.Tag.Get("default")}
	switch {
	case field.Tag.Get("path") != "":
		p.in, p.name, p.required = "path", field.Tag.Get("path"), true
	case field.Tag.Get("query") != "":
		p.in, p.name, p.required = "query", field.Tag.Get("query"), field.Tag.Get("required") == "true"
	case field.Tag.Get("header") != "":
		p.in, p.name, p.required = "header", field.Tag.Get("header"), field.Tag.Get("required") == "true"
	default:
		return p, false
	}
	if p.elem.Kind() == reflect.Pointer {
		p.pointer, p.elem = true, p.elem.Elem()
	}
	p.schema = schemas.OfField(field, "")
	p.schema.Nullable = false
	if p.name == "per_page" && op.PerPage.Default != 0 {
		top := float64(op.PerPage.Max)
		p.schema.Maximum, p.schema.Default, p.value = &top, op.PerPage.Default, strconv.Itoa(op.PerPage.Default)
	}
	if p.in == "query" {
		refuseEmpty(p.schema)
		p.schema.Restrict()
	}
	switch {
	case p.elem == uuidType, p.elem == timeType, p.elem == listType:
	case p.elem.Kind() == reflect.String, p.elem.Kind() == reflect.Int, p.elem.Kind() == reflect.Bool:
	default:
		panic(fmt.Sprintf("api: %s: parameter %s has a type that cannot be read from text", op.ID, p.name)) //nolint:forbidigo // a mistake in the program, found when it starts
	}
	return p, true
}

// bind fills in, a pointer to the operation's input.
func (b *binder) bind(w http.ResponseWriter, r *http.Request, in any) error {
	v := reflect.ValueOf(in).Elem()
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return problem.New(problem.InvalidParameter,
			"The query string is malformed: percent-encode it, and separate parameters by &.").Because(err)
	}
	var wrong []problem.Field
	for _, p := range b.params {
		if p.in == "path" {
			if err := p.parse(r.PathValue(p.name), v); err != nil {
				return problem.New(problem.NotFound, "There is nothing with this id.").Because(err)
			}
			continue
		}
		values := query[p.name]
		if p.in == "header" {
			values = r.Header.Values(p.name)
			if len(values) > 1 {
				values = []string{strings.Join(values, ", ")} // lines of one list (RFC 9110, section 5.3)
			}
		}
		if message := p.fromValues(values, v); message != "" {
			wrong = append(wrong, problem.Field{Field: p.name, Message: message})
		}
	}
	wrong = append(wrong, b.unknown(query)...)
	if query.Has("cursor") && query.Has("page") && slices.Contains(b.known, "cursor") {
		wrong = append(wrong, problem.Field{Field: "page", Message: "must not be given together with cursor"})
	}
	if len(wrong) > 0 {
		return problem.Parameter(wrong...)
	}
	if b.body == nil {
		return nil
	}
	return readBody(w, r, b.body, b.hints, b.maxBody, v.FieldByIndex(b.bodyIndex).Addr().Interface())
}

func (b *binder) unknown(query url.Values) []problem.Field {
	var names []string
	for name := range query {
		if !slices.Contains(b.known, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	allowed := "this takes none"
	if len(b.known) > 0 {
		allowed = "the known ones are " + strings.Join(b.known, ", ")
	}
	var wrong []problem.Field
	for _, name := range names[:min(len(names), jsonschema.MaxProblems)] {
		wrong = append(wrong, problem.Field{Field: jsonschema.Printable(name),
			Message: "is not a parameter here: " + allowed})
	}
	return wrong
}

// fromValues reads one query parameter or header and returns what is wrong with it, or "".
func (p *param) fromValues(values []string, into reflect.Value) string {
	if p.elem == listType {
		return p.listOf(values, into)
	}
	if len(values) > 1 {
		return "must be given only once"
	}
	if len(values) == 0 {
		switch {
		case p.required:
			return "is required: " + p.schema.Wanted()
		case p.value == "":
			return ""
		}
		values = []string{p.value}
	} else if values[0] == "" {
		return "must not be empty: leave it out, or give a value"
	}
	if err := p.parse(values[0], into); err != nil {
		return err.Error()
	}
	return ""
}

// listOf reads a parameter that may be repeated, and returns what is wrong with it, or "".
func (p *param) listOf(values []string, into reflect.Value) string {
	if most := p.schema.MaxItems; most != nil && len(values) > *most {
		return fmt.Sprintf("must be given at most %d times", *most)
	}
	for _, text := range values {
		if !utf8.ValidString(text) {
			return "must be valid UTF-8"
		}
		if message := p.schema.Items.CheckString(text); message != "" {
			return message
		}
	}
	into.FieldByIndex(p.index).Set(reflect.ValueOf(values))
	return ""
}

// parse sets the field from text. The error says what is allowed.
func (p *param) parse(text string, into reflect.Value) error {
	if !utf8.ValidString(text) {
		return errors.New("must be valid UTF-8")
	}
	var value any
	message := ""
	switch {
	case p.elem == uuidType, p.elem == timeType, p.elem.Kind() == reflect.String:
		if message = p.schema.CheckString(text); message == "" {
			value = p.fromText(text)
		}
	case p.elem.Kind() == reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil || strconv.Itoa(n) != text || !p.schema.AllowsInt(int64(n)) {
			message = p.schema.Wanted()
		}
		value = n
	default:
		if text != "true" && text != "false" {
			message = p.schema.Wanted()
		}
		value = text == "true"
	}
	if message != "" {
		return errors.New(message)
	}
	field := into.FieldByIndex(p.index)
	if p.pointer {
		field.Set(reflect.New(p.elem))
		field = field.Elem()
	}
	field.Set(reflect.ValueOf(value).Convert(p.elem))
	return nil
}

// fromText returns the value of a text that CheckString let pass.
func (p *param) fromText(text string) any {
	switch p.elem {
	case uuidType:
		id, _ := jsonschema.ParseUUID(text)
		return id
	case timeType:
		t, _ := jsonschema.ParseTime(text)
		return t
	}
	return text
}

// refuseEmpty describes that a parameter is left out rather than empty.
func refuseEmpty(s *jsonschema.Schema) {
	if s.Type == jsonschema.String && s.MinLength == nil && s.Format == "" && len(s.Enum) == 0 {
		one := 1
		s.MinLength = &one
	}
}

// readBody reads a JSON body into a struct that the schema was derived from.
func readBody(w http.ResponseWriter, r *http.Request, s *jsonschema.Schema, hints map[string]string,
	limit int64, into any) error {
	if err := requireJSON(r.Header); err != nil {
		return err
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return bodyError(err)
	}
	// some editors put a byte order mark before a text
	return jsonschema.Decode(bytes.TrimPrefix(body, []byte("\ufeff")), s, hints, into)
}

// bodyError returns the answer to a body that could not be read.
func bodyError(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return fmt.Errorf("read body: %w", err)
	}
	return problem.New(problem.InvalidJSON, "The body could not be read completely.").Because(err)
}

// requireJSON refuses another content type than JSON in UTF-8.
func requireJSON(h http.Header) error {
	wrong := problem.New(problem.UnsupportedMediaType, "Send the body as Content-Type: application/json.")
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return problem.New(problem.UnsupportedMediaType, "Send the body without Content-Encoding.")
	}
	kind, params, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return wrong.Because(err)
	}
	if charset, ok := params["charset"]; kind != "application/json" || ok && !strings.EqualFold(charset, "utf-8") {
		return wrong
	}
	return nil
}
