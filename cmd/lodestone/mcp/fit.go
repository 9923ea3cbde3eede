package mcp

import (
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// reported is what answers of the API say about themselves.
type reported struct {
	AsOf       *string        `json:"as_of"`
	Bots       *int64         `json:"excluded_bots"`
	Truncated  bool           `json:"truncated"`
	Data       jsontext.Value `json:"data"`
	Pagination *struct {
		Page              int64   `json:"page"`
		PerPage           int64   `json:"per_page"`
		Total             int64   `json:"total"`
		NextCursor        *string `json:"next_cursor"`
		NextReceivedAfter *string `json:"next_received_after"`
	} `json:"pagination"`
}

// take makes a JSON body the data of the answer, and says what it does not have.
func (a *answer) take(op *operation, body jsontext.Value) {
	var r reported
	out := &leftOut{}
	if json.Unmarshal(body, &r) == nil { // other bodies say nothing
		r.questions()
		out.pages(op, &r)
		out.Older = r.Truncated
		switch {
		case r.AsOf != nil:
			a.AsOf = *r.AsOf
		case r.Pagination != nil && r.Pagination.NextReceivedAfter != nil:
			a.AsOf = *r.Pagination.NextReceivedAfter // a list of events has everything that was stored until then
		}
		if r.Bots != nil {
			out.Bots = *r.Bots
		}
	}
	f := &fitter{}
	a.Data.Value = f.fit(body, maxValue, "")
	if out.Truncated = f.cuts; f.cuts != nil {
		out.Suggestion = "Narrow the period or the filters."
		for _, c := range f.cuts {
			if c.List == "data" && op.takes("query", "per_page") {
				out.cutAt(&r, int64(c.Kept))
			}
		}
	}
	if text, err := encode(out); err == nil && string(text) != "{}" {
		a.LeftOut = out
	}
}

// questions takes over what the answers to a batch of questions say: the oldest time, and all bots.
func (r *reported) questions() {
	var answers []struct {
		AsOf *string `json:"as_of"`
		Bots *int64  `json:"excluded_bots"`
	}
	if r.AsOf != nil || json.Unmarshal(r.Data, &answers) != nil {
		return
	}
	for _, a := range answers {
		if a.AsOf != nil && (r.AsOf == nil || *a.AsOf < *r.AsOf) {
			r.AsOf = a.AsOf
		}
		if a.Bots != nil {
			sum := *a.Bots
			if r.Bots != nil {
				sum += *r.Bots
			}
			r.Bots = &sum
		}
	}
}

// pages says what is behind a page.
func (o *leftOut) pages(op *operation, r *reported) {
	p := r.Pagination
	if p == nil {
		return
	}
	var items []jsontext.Value
	if json.Unmarshal(r.Data, &items) != nil {
		return
	}
	if p.Page > 0 {
		further := max(0, p.Total-(p.Page-1)*p.PerPage-int64(len(items)))
		if further == 0 {
			return
		}
		o.Further, o.Next = &further, map[string]any{"page": p.Page + 1}
	}
	if p.NextCursor != nil && op.takes("query", "cursor") {
		o.Next = map[string]any{"cursor": *p.NextCursor}
	}
}

// cutAt says how a list goes on of which only the first items of a page are shown. The next page would begin behind what was cut.
func (o *leftOut) cutAt(r *reported, kept int64) {
	o.Further, o.Next = nil, nil
	p := r.Pagination
	if p == nil || p.Page < 1 { // a cursor names the place of the page, whatever its size
		o.Suggestion = fmt.Sprintf("Ask for the same page again with per_page=%d: the list goes on behind what was cut.", max(1, kept))
		return
	}
	seen := (p.Page-1)*p.PerPage + kept
	further := max(0, p.Total-seen)
	page, perPage, again := goOn(seen, kept)
	o.Further, o.Next = &further, map[string]any{"page": page, "per_page": perPage}
	o.Suggestion = fmt.Sprintf("Ask for page=%d with per_page=%d: the list goes on there.", page, perPage)
	if again > 0 {
		o.Suggestion = fmt.Sprintf("Ask for page=%d with per_page=%d: the list goes on there, after %d items that are shown here as well.", page, perPage, again)
	}
}

// goOn returns the page with which a list goes on after the items that were seen, of a size that fits as the kept ones did, and how many of those it has again:
// the fewest, for a size of at least half as many. Pages begin at multiples of their size.
func goOn(seen, kept int64) (page, perPage, again int64) {
	perPage = max(1, kept)
	for size := perPage; size >= (kept+1)/2 && size > 0; size-- {
		if seen%size < seen%perPage {
			perPage = size
		}
	}
	return seen/perPage + 1, perPage, seen % perPage
}

// fitter shortens lists until a value is short enough.
type fitter struct{ cuts []cut }

// fit returns a value of at most size bytes, if lists can be cut so far. Where a single value is longer, it is null.
func (f *fitter) fit(v jsontext.Value, size int, path string) jsontext.Value {
	if len(v) <= size {
		return v
	}
	switch v.Kind() {
	case '{':
		return f.object(v, size, path)
	case '[':
		return f.list(v, size, path)
	default:
		f.cuts = append(f.cuts, cut{List: path, Of: 1})
		return jsontext.Value("null")
	}
}

// object fits the largest members first.
func (f *fitter) object(v jsontext.Value, size int, path string) jsontext.Value {
	var members map[string]jsontext.Value
	if json.Unmarshal(v, &members) != nil {
		return jsontext.Value("null")
	}
	names := make([]string, 0, len(members))
	total := len(v)
	for name := range members {
		names = append(names, name)
	}
	slices.SortFunc(names, func(x, y string) int { return len(members[y]) - len(members[x]) })
	for _, name := range names {
		if total <= size {
			break
		}
		below := name
		if path != "" {
			below = path + "." + name
		}
		before := len(members[name])
		members[name] = f.fit(members[name], max(0, before-(total-size)), below)
		total += len(members[name]) - before
	}
	return written(members)
}

// list keeps the first elements, at least a part of the first one.
func (f *fitter) list(v jsontext.Value, size int, path string) jsontext.Value {
	var elements []jsontext.Value
	if json.Unmarshal(v, &elements) != nil {
		return jsontext.Value("null")
	}
	kept, total := 0, len("[]")
	for kept < len(elements) && total+len(elements[kept])+1 <= size {
		total += len(elements[kept]) + 1
		kept++
	}
	of := len(elements)
	if kept == 0 && of > 0 && size > len("[]") {
		elements[0] = f.fit(elements[0], size-len("[]"), fmt.Sprintf("%s[0]", path))
		kept = 1
	}
	if kept < of {
		f.cuts = append(f.cuts, cut{List: path, Kept: kept, Of: of})
	}
	return written(elements[:kept])
}

func written(value any) jsontext.Value {
	text, err := encode(value)
	if err != nil {
		return jsontext.Value("null")
	}
	return text
}
