package api

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
)

// MaxPage is the highest page number that is taken.
const MaxPage = math.MaxInt32

// Paging is embedded in the input of an operation that lists; Operation.PerPage sets its sizes.
type Paging struct {
	Page    int `query:"page" default:"1" minimum:"1" maximum:"2147483647" doc:"Page to return, from 1."`
	PerPage int `query:"per_page" minimum:"1" doc:"Elements per page."`
}

// PageSize is the size of pages of an operation.
type PageSize struct{ Default, Max int }

// Offset returns how many elements the pages before take.
func (p Paging) Offset() int64 { return int64(p.Page-1) * int64(p.PerPage) }

// Limit returns how many elements the page takes.
func (p Paging) Limit() int64 { return int64(p.PerPage) }

// CursorPaging is embedded instead of Paging where a list can also be read on from a cursor. A
// request with both page and cursor is refused before the operation runs.
type CursorPaging struct {
	Paging
	Cursor string `query:"cursor" maxLength:"512" pattern:"^[A-Za-z0-9_-]*$" patternDescription:"a cursor that this list returned" doc:"Where to continue: the next_cursor of the previous answer. Cannot be combined with page."`
}

// Pagination tells where a page lies in its list.
type Pagination struct {
	Page       int   `json:"page" doc:"Number of this page, from 1."`
	PerPage    int   `json:"per_page" doc:"Elements per page."`
	Total      int64 `json:"total" doc:"Elements on all pages."`
	TotalPages int64 `json:"total_pages" doc:"Number of pages."`
}

// CursorPagination is the Pagination of a list that also takes cursors.
type CursorPagination struct {
	Page       *int    `json:"page" minimum:"1" doc:"Number of this page, from 1. Null for pages requested by cursor."`
	PerPage    int     `json:"per_page" doc:"Elements per page."`
	Total      int64   `json:"total" doc:"Elements on all pages."`
	TotalPages int64   `json:"total_pages" doc:"Number of pages."`
	NextCursor *string `json:"next_cursor" doc:"Cursor of the next page; null on the last page."`
}

// Page is one page of a list.
type Page[T any] struct {
	Data       []T        `json:"data" nullable:"false"`
	Pagination Pagination `json:"pagination"`
}

// CursorPage is one page of a list that also takes cursors.
type CursorPage[T any] struct {
	Data       []T              `json:"data" nullable:"false"`
	Pagination CursorPagination `json:"pagination"`
}

// List returns the answer with one page, and the Link header to the others.
func List[T any](ctx context.Context, p Paging, data []T, total int64) *Answer[Page[T]] {
	pages := (total + p.Limit() - 1) / p.Limit()
	if data == nil {
		data = []T{}
	}
	body := Page[T]{data, Pagination{Page: p.Page, PerPage: p.PerPage, Total: total, TotalPages: pages}}
	links := newLinks(ctx)
	links.page("first", 1, p.PerPage)
	if p.Page > 1 {
		links.page("prev", min(int64(p.Page)-1, max(pages, 1)), p.PerPage)
	}
	if int64(p.Page) < pages {
		links.page("next", int64(p.Page)+1, p.PerPage)
	}
	links.page("last", max(pages, 1), p.PerPage)
	return &Answer[Page[T]]{Body: body, Header: http.Header{"Link": {links.String()}}}
}

// ListCursor is List for a list with cursors: next is the cursor of the next page, "" at the end.
// If the request had a cursor, pages have no numbers, and the Link header has first and next only.
func ListCursor[T any](ctx context.Context, p CursorPaging, data []T, total int64, next string) *Answer[CursorPage[T]] {
	plain := List(ctx, p.Paging, data, total)
	a := &Answer[CursorPage[T]]{Header: plain.Header}
	at := plain.Body.Pagination
	a.Body = CursorPage[T]{plain.Body.Data, CursorPagination{Page: &at.Page, PerPage: at.PerPage,
		Total: at.Total, TotalPages: at.TotalPages}}
	if next != "" {
		a.Body.Pagination.NextCursor = &next
	}
	if p.Cursor != "" {
		a.Body.Pagination.Page = nil
		links := newLinks(ctx)
		links.page("first", 1, p.PerPage)
		if next != "" {
			links.cursor("next", next, p.PerPage)
		}
		a.Header.Set("Link", links.String())
	}
	return a
}

// EncodeCursor returns an opaque cursor that holds a position: a small struct.
func EncodeCursor(position any) (string, error) {
	text, err := json.Marshal(position)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// DecodeCursor reads the text of EncodeCursor. The error is the problem to answer with. What it
// returns came from outside: it is well-formed, not trustworthy.
func DecodeCursor(cursor string, position any) error {
	text, err := base64.RawURLEncoding.Strict().DecodeString(cursor)
	if err == nil {
		err = json.Unmarshal(text, position, json.RejectUnknownMembers(true))
	}
	if err != nil {
		return problem.Parameter(problem.Field{Field: "cursor", Message: "is not a cursor that this list returned"})
	}
	return nil
}

// place is where a list by time goes on: the row that its page ended with, and which list it was.
// It comes back from the client, so it is a place and never a permission.
type place struct {
	List string    `json:"l"`
	At   int64     `json:"c"` // Unix milliseconds
	ID   uuid.UUID `json:"i"`
}

// NextPlace returns the cursor that continues a list by time after a row. The list is identified by
// its filters and its owner.
func NextPlace(at time.Time, id uuid.UUID, list ...any) (string, error) {
	name, err := digest(list)
	if err != nil {
		return "", err
	}
	return EncodeCursor(place{name, at.UnixMilli(), id})
}

// Place returns where a request for a list by time goes on, or nil at the beginning.
func (p CursorPaging) Place(list ...any) (at *time.Time, id *uuid.UUID, err error) {
	if p.Cursor == "" {
		return nil, nil, nil
	}
	var c place
	if err := DecodeCursor(p.Cursor, &c); err != nil {
		return nil, nil, err
	}
	name, err := digest(list)
	if err != nil {
		return nil, nil, err
	}
	t := time.UnixMilli(c.At).UTC()
	if c.List != name || t.Year() < 1 || t.Year() > 9999 { // what a column and an answer can both hold
		return nil, nil, problem.Parameter(problem.Field{Field: "cursor",
			Message: "belongs to another list: send the filters that it came with, or start without a cursor"})
	}
	return &t, &c.ID, nil
}

func digest(list []any) (string, error) {
	text, err := json.Marshal(list)
	if err != nil {
		return "", fmt.Errorf("encode cursor: %w", err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8]), nil
}

// links builds a Link header (RFC 8288) of references relative to the host.
type links struct {
	path  string
	query url.Values
	parts []string
}

func newLinks(ctx context.Context) *links {
	u, err := url.ParseRequestURI(requestOf(ctx).url)
	if err != nil {
		u = &url.URL{} // outside a request there is nothing to link to
	}
	return &links{path: u.EscapedPath(), query: u.Query()}
}

func (l *links) page(rel string, page int64, perPage int) {
	l.query.Del("cursor")
	l.query.Set("page", strconv.FormatInt(page, 10))
	l.add(rel, perPage)
}

func (l *links) cursor(rel, cursor string, perPage int) {
	l.query.Del("page")
	l.query.Set("cursor", cursor)
	l.add(rel, perPage)
}

func (l *links) add(rel string, perPage int) {
	l.query.Set("per_page", strconv.Itoa(perPage))
	l.parts = append(l.parts, fmt.Sprintf(`<%s?%s>; rel="%s"`, l.path, l.query.Encode(), rel))
}

func (l *links) String() string { return strings.Join(l.parts, ", ") }

const timeLayout = "2006-01-02T15:04:05.000Z"

// Time is a time as the API writes it: RFC 3339 in UTC with milliseconds.
type Time struct{ time.Time }

// TimeOf returns t for a field that is never null.
func TimeOf(t time.Time) Time { return Time{t} }

// OptionalTime returns t for a field that is null when there is no time.
func OptionalTime(t *time.Time) *Time {
	if t == nil {
		return nil
	}
	return &Time{*t}
}

// PlainTime returns a time in UTC, nil for none.
func PlainTime(t *Time) *time.Time {
	if t == nil {
		return nil
	}
	return new(t.UTC())
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	return []byte(`"` + t.UTC().Format(timeLayout) + `"`), nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.UTC().Format(timeLayout)), nil }

// JSONSchema implements jsonschema.Provider.
func (Time) JSONSchema(*jsonschema.Set) *jsonschema.Schema {
	return &jsonschema.Schema{Type: jsonschema.String, Format: jsonschema.DateTime}
}

// Change is a field of a body that changes something which may be null: a field that is left out
// changes nothing, null clears, anything else sets. Tag it `required:"false"`. What cannot be null
// is a pointer tagged `required:"false" nullable:"false"` instead.
type Change[T any] struct {
	Given bool // whether the body has the field
	Value *T
}

// UnmarshalJSONFrom implements json.UnmarshalerFrom. It is called only for a field that is there.
func (c *Change[T]) UnmarshalJSONFrom(from *jsontext.Decoder) error {
	c.Given = true
	return json.UnmarshalDecode(from, &c.Value)
}

// JSONSchema implements jsonschema.Provider: the schema of the value, or null.
func (Change[T]) JSONSchema(set *jsonschema.Set) *jsonschema.Schema {
	return set.Of(reflect.TypeFor[*T](), "")
}
