package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lodestone/pkg/problem"
)

const (
	maxValue   = 64 << 10 // of an answer that is given to a model
	maxJSON    = 16 << 20 // that is read to be cut
	maxPicture = 1 << 20
)

// outcome is what came of a call.
type outcome struct {
	status  int      // of the API; 0: there was no answer
	answer  *answer  // of a success
	failure *failure // otherwise
	picture *sdk.ImageContent
}

// answer is what an agent gets.
type answer struct {
	Query   asked    `json:"query"`
	AsOf    string   `json:"as_of"`
	LeftOut *leftOut `json:"left_out"`
	ETag    string   `json:"etag,omitempty"`
	Data    data     `json:"data"`
}

// data is the part of an answer that strangers may have written.
type data struct {
	Untrusted   bool           `json:"untrusted"`
	ContentType string         `json:"content_type"`
	Value       jsontext.Value `json:"value"`
}

// leftOut is what an answer does not have.
type leftOut struct {
	Further    *int64         `json:"further_items,omitzero"` // of the list; nil: there are some, or none if Next is nil
	Next       map[string]any `json:"next,omitempty"`         // the arguments that ask for them
	Bots       int64          `json:"events_of_bots,omitzero"`
	Older      bool           `json:"older_details,omitzero"` // the API's answer says that it is truncated
	Truncated  []cut          `json:"truncated,omitempty"`    // by this server, since the answer was too long
	NotShown   string         `json:"not_shown,omitempty"`    // of a file
	Suggestion string         `json:"suggestion,omitempty"`
}

// cut is a list that was shortened to its first elements.
type cut struct {
	List string `json:"list"`
	Kept int    `json:"kept"`
	Of   int    `json:"of,omitzero"` // 0: it was not read to its end
}

// failure is what an agent gets instead of an answer.
type failure struct {
	Query asked       `json:"query"`
	Error description `json:"error"`
}

type description struct {
	Status int     `json:"status,omitzero"`
	Code   string  `json:"code"`
	Title  string  `json:"title"`
	Detail string  `json:"detail"`
	Fields []field `json:"fields,omitempty"`
	After  int     `json:"retry_after_seconds,omitzero"`
}

type field struct {
	Field   string `json:"field"`
	Message string `json:"message"`
	Allowed any    `json:"allowed,omitzero"`
}

// codeUnreachable is the code of a request without an answer, which the API has no code for.
const codeUnreachable = "unreachable"

// wrongArguments is the outcome of a call that was not sent.
func wrongArguments(q asked, fields []problem.Field) *outcome {
	return refused(q, problem.Parameter(fields...), 0)
}

// refused is the outcome of a request that the API did not answer as asked.
func refused(q asked, err error, after time.Duration) *outcome {
	var p *problem.Problem
	if !errors.As(err, &p) {
		return &outcome{failure: &failure{q, description{Code: codeUnreachable, Title: "No answer from the API", Detail: err.Error()}}}
	}
	f := &failure{q, description{Status: p.Status, Code: string(p.Code), Title: p.Title, Detail: p.Detail, After: int((after + time.Second - 1) / time.Second)}}
	for _, e := range p.Errors {
		f.Error.Fields = append(f.Error.Fields, field{Field: e.Field, Message: e.Message})
	}
	return &outcome{status: p.Status, failure: f}
}

// read makes the outcome of a success.
func read(op *operation, q asked, res *http.Response) (*outcome, error) {
	kind, _, err := mime.ParseMediaType(res.Header.Get("Content-Type"))
	if err != nil {
		kind = "" // there is no content
	}
	etag := res.Header.Get("ETag")
	if strings.HasPrefix(etag, "W/") {
		etag = "" // no change can name it
	}
	a := &answer{Query: q, AsOf: asOf(res), ETag: etag, Data: data{true, kind, jsontext.Value("null")}}
	out := &outcome{status: res.StatusCode, answer: a}
	limit := int64(maxValue)
	switch {
	case kind == jsonType:
		limit = maxJSON
	case isPicture(kind):
		limit = maxPicture
	case kind == "" || isText(kind):
	default:
		a.LeftOut = &leftOut{NotShown: "a file of the type " + kind, Suggestion: "Ask for another format, or fetch it with curl or `lodestone export`."}
		return out, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	long := int64(len(text)) > limit
	switch {
	case kind == jsonType && long:
		return nil, fmt.Errorf("the answer has more than %d MB: narrow the period or the filters", limit>>20)
	case kind == jsonType:
		a.take(op, text)
	case isPicture(kind) && long:
		a.LeftOut = &leftOut{NotShown: fmt.Sprintf("a picture of more than %d MB", limit>>20)}
	case isPicture(kind):
		out.picture = &sdk.ImageContent{MIMEType: kind, Data: text}
	case len(text) > 0:
		if long {
			text = text[:bytes.LastIndexByte(text[:limit], '\n')+1]
			a.LeftOut = &leftOut{
				Truncated:  []cut{{List: "lines", Kept: bytes.Count(text, []byte{'\n'})}},
				Suggestion: "Narrow the period or the filters, or write the whole file with `lodestone export`.",
			}
		}
		if a.Data.Value, err = jsontext.AppendQuote(nil, bytes.ToValidUTF8(text, []byte("\uFFFD"))); err != nil {
			return nil, fmt.Errorf("read answer: %w", err)
		}
	}
	return out, nil
}

// asOf is the time of an answer that has none of its own.
func asOf(res *http.Response) string {
	at, err := http.ParseTime(res.Header.Get("Date"))
	if err != nil {
		at = time.Now()
	}
	return at.UTC().Format(time.RFC3339)
}

// result writes the outcome as the protocol has it. input is the schema of the tool's arguments, which says what is allowed.
func (o *outcome) result(input any) (*sdk.CallToolResult, error) {
	var content any = o.answer
	if o.failure != nil {
		for i, f := range o.failure.Error.Fields {
			o.failure.Error.Fields[i].Allowed = allowed(input, f.Field)
		}
		content = o.failure
	}
	text, err := encode(content)
	if err != nil {
		return nil, err
	}
	r := &sdk.CallToolResult{
		IsError: o.failure != nil, StructuredContent: json.RawMessage(text),
		Content: []sdk.Content{&sdk.TextContent{Text: string(text)}}, // for clients that do not know structured content
	}
	if o.picture != nil {
		r.Content = append(r.Content, o.picture)
	}
	return r, nil
}

// allowed returns the schema of a field that an error names, such as per_page or emails[3], or nil if it is not known. Fields of the
// body are below the argument body.
func allowed(input any, name string) any {
	if s := within(input, name); s != nil {
		return s
	}
	return within(input, bodyArgument+"."+name)
}

func within(s any, path string) any {
	for part := range strings.SplitSeq(path, ".") {
		name, elements, _ := strings.Cut(part, "[")
		object, _ := s.(schema)
		fields, _ := object["properties"].(schema)
		s = fields[name]
		for range strings.Count(elements, "]") {
			list, _ := s.(schema)
			s = list["items"]
		}
		if s == nil {
			return nil
		}
	}
	return s
}
