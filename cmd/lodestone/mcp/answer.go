package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

const (
	maxValue    = 64 << 10         // bytes of an answer that is given to a model
	callTimeout = 50 * time.Second // with the waits for limits; clients give up after a minute
)

// answer is the result of a tool call.
type answer struct {
	Query   query    `json:"query"`
	AsOf    string   `json:"as_of"`
	LeftOut *leftOut `json:"left_out"`
	Data    data     `json:"data"`
}

// query is the request that was sent.
type query struct {
	Method string          `json:"method"`
	Path   string          `json:"path"`
	Body   json.RawMessage `json:"body,omitempty"`
}

// data is the part of an answer that strangers may have written.
type data struct {
	Untrusted bool            `json:"untrusted"`
	Value     json.RawMessage `json:"value"`
}

// leftOut says what an answer omits.
type leftOut struct {
	Further *int64         `json:"further_items,omitempty"` // of the list; nil: not known
	Next    map[string]any `json:"next,omitempty"`          // the arguments that ask for them
	Bots    int64          `json:"events_of_bots,omitempty"`
	Older   bool           `json:"older_details,omitempty"` // the API's answer says that it is truncated
}

// failure is the result of a tool call that failed.
type failure struct {
	Query query       `json:"query"`
	Error description `json:"error"`
}

type description struct {
	Status int             `json:"status,omitempty"`
	Code   string          `json:"code"`
	Title  string          `json:"title"`
	Detail string          `json:"detail"`
	Fields []problem.Field `json:"fields,omitempty"`
}

// add adds a tool whose arguments are those of a request: parts of the path, parameters, or the
// body.
func add[In any](s *Server, method, path string, t *sdk.Tool) {
	sdk.AddTool(s.server, t, func(ctx context.Context, r *sdk.CallToolRequest, in In) (*sdk.CallToolResult, any, error) {
		began := time.Now()
		q, err := newQuery(method, path, in)
		if err != nil {
			return nil, nil, err
		}
		out, status, err := s.call(ctx, r, q)
		s.log.Info("tool called", "tool", t.Name, "status", status, "took", time.Since(began))
		if err != nil {
			return &sdk.CallToolResult{IsError: true}, failed(q, err), nil
		}
		return nil, out, nil
	})
}

// newQuery returns the request that arguments make.
func newQuery(method, path string, in any) (query, error) {
	body, err := json.Marshal(in)
	if err != nil {
		return query{}, fmt.Errorf("encode arguments: %w", err)
	}
	if method == http.MethodPost {
		return query{method, path, body}, nil
	}
	var arguments map[string]any
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	if err := decoder.Decode(&arguments); err != nil {
		return query{}, fmt.Errorf("read arguments: %w", err)
	}
	parameters := url.Values{}
	for name, value := range arguments {
		text, place := fmt.Sprint(value), "{"+name+"}"
		switch {
		case !strings.Contains(path, place):
			parameters.Set(name, text)
		case text == "" || strings.Trim(text, ".") == "": // it would be another operation
			return query{}, fmt.Errorf("%s must be an id", name)
		default:
			path = strings.Replace(path, place, url.PathEscape(text), 1)
		}
	}
	if len(parameters) > 0 {
		path += "?" + parameters.Encode()
	}
	return query{method, path, nil}, nil
}

// call sends a request. The client sends it again where the API is busy and asks for a short wait.
func (s *Server) call(ctx context.Context, r *sdk.CallToolRequest, q query) (out *answer, status int, err error) {
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	c := s.client(s.config.Key, nil)
	if s.config.Key == "" && r.Extra != nil {
		c = s.client(bearer(r.Extra.Header), r.Extra.Header.Values(forwardedFor))
	}
	var body json.RawMessage
	if q.Method == http.MethodPost {
		body, err = client.Post[json.RawMessage](ctx, c, q.Path, q.Body)
	} else {
		body, err = client.Get[json.RawMessage](ctx, c, q.Path, nil)
	}
	if err != nil {
		p, _ := errors.AsType[*problem.Problem](err)
		if p == nil {
			return nil, 0, err
		}
		return nil, p.Status, err
	}
	if len(body) > maxValue {
		return nil, http.StatusOK, fmt.Errorf("the answer has %d kB, and at most %d kB fit: "+
			"ask for fewer elements or values, or a shorter period", len(body)>>10, maxValue>>10)
	}
	return newAnswer(q, body), http.StatusOK, nil
}

// reported is the envelope of an answer of the API.
type reported struct {
	AsOf       string          `json:"as_of"`
	Bots       int64           `json:"excluded_bots"`
	Truncated  bool            `json:"truncated"`
	Data       json.RawMessage `json:"data"`
	Pagination *struct {
		Page              int64   `json:"page"`
		PerPage           int64   `json:"per_page"`
		Total             int64   `json:"total"`
		NextCursor        *string `json:"next_cursor"`
		NextReceivedAfter *string `json:"next_received_after"`
	} `json:"pagination"`
}

// newAnswer says what an answer of the API has, and what it does not have.
func newAnswer(q query, body json.RawMessage) *answer {
	var r reported
	var list []json.RawMessage
	var first reported
	if json.Unmarshal(body, &r) == nil && json.Unmarshal(r.Data, &list) == nil && len(list) == 1 {
		_ = json.Unmarshal(list[0], &first) // the answer to a question says it inside
	}
	left := leftOut{Bots: r.Bots + first.Bots, Older: r.Truncated}
	asOf := cmp.Or(r.AsOf, first.AsOf, time.Now().UTC().Format(time.RFC3339))
	if p := r.Pagination; p != nil {
		if p.NextReceivedAfter != nil {
			asOf = *p.NextReceivedAfter // a list of events has everything that was stored until then
		}
		if further := p.Total - (p.Page-1)*p.PerPage - int64(len(list)); p.Page > 0 && further > 0 {
			left.Further, left.Next = &further, map[string]any{"page": p.Page + 1}
		}
		if p.NextCursor != nil {
			left.Next = map[string]any{"cursor": *p.NextCursor}
		}
	}
	a := &answer{Query: q, AsOf: asOf, Data: data{true, body}}
	if left.Next != nil || left.Bots > 0 || left.Older {
		a.LeftOut = &left
	}
	return a
}

// failed describes why there is no answer.
func failed(q query, err error) *failure {
	p, _ := errors.AsType[*problem.Problem](err)
	if p == nil {
		return &failure{q, description{Code: "no_answer", Title: "No answer", Detail: err.Error()}}
	}
	return &failure{q, description{p.Status, string(p.Code), p.Title, p.Detail, p.Errors}}
}
