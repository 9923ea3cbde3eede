package api_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

// keys stands in for the key table: what is tested here is the HTTP side.
type keys map[string]auth.Identity

func (k keys) Verify(_ context.Context, key string) (auth.Identity, error) {
	if i, ok := k[key]; ok {
		return i, nil
	}
	if key == "lost" {
		return auth.Identity{}, context.DeadlineExceeded
	}
	// The only way to an invalid key's error is through the package that owns it.
	_, err := auth.NewVerifier(nil, nil).Verify(context.Background(), key)
	return auth.Identity{}, err
}

type thingBody struct {
	Title  string  `json:"title" minLength:"1" maxLength:"10"`
	Note   *string `json:"note" required:"false" format:"text"`
	Magnet *string `json:"magnet" required:"false" format:"uuid"`
	Count  int     `json:"count" required:"false" minimum:"1" maximum:"10000"`
	On     bool    `json:"on" required:"false"`
	Slug   *string `json:"slug" required:"false" pattern:"^[a-z]+$" patternDescription:"lower-case letters"`
	Tags   []struct {
		Name string `json:"name"`
	} `json:"tags" required:"false" nullable:"false" maxItems:"2"`
}

type thing struct {
	ID        string    `json:"id"`
	Title     string    `json:"title"`
	Note      *string   `json:"note"`
	CreatedAt api.Time  `json:"created_at"`
	UpdatedAt *api.Time `json:"updated_at"`
}

func newServer(t *testing.T, log io.Writer) *httptest.Server {
	t.Helper()
	a := api.New(api.Deps{
		Verifier: keys{
			"both": {AccountID: uuid.New(), KeyID: uuid.New(), Scopes: auth.Scopes()},
			"read": {AccountID: uuid.New(), KeyID: uuid.New(), Scopes: []auth.Scope{auth.Read}},
		},
		Log: slog.New(slog.NewJSONHandler(log, nil)),
	})
	api.Register(a, api.Operation{ID: "make-thing", Method: "POST", Path: "/api/v1/things",
		Scope: auth.Write, Status: 201},
		func(_ context.Context, in *struct{ Body thingBody }) (*api.Answer[thing], error) {
			at := time.Date(2026, 3, 1, 9, 30, 0, 123_456_789, time.FixedZone("", 3600))
			return api.Created("/api/v1/things/1", thing{ID: "1", Title: in.Body.Title, Note: in.Body.Note,
				CreatedAt: api.TimeOf(at)}), nil
		})
	type listing struct {
		api.CursorPaging
		Magnet *uuid.UUID `query:"magnet"`
		Type   *string    `query:"type" enum:"page_viewed,download_started"`
		From   *time.Time `query:"from"`
		Bot    *bool      `query:"bot"`
		Email  string     `query:"email" required:"true"`
	}
	api.Register(a, api.Operation{ID: "list-things", Method: "GET", Path: "/api/v1/things", Scope: auth.Read,
		PerPage: api.PageSize{Default: 20, Max: 100}},
		func(ctx context.Context, in *listing) (*api.Answer[api.CursorPage[string]], error) {
			next := ""
			if in.Page < 3 {
				next = "abc"
			}
			return api.ListCursor(ctx, in.CursorPaging, []string{in.Email}, 57, next), nil
		})
	api.Register(a, api.Operation{ID: "get-thing", Method: "GET", Path: "/api/v1/things/{id}", Scope: auth.Read},
		func(_ context.Context, in *struct {
			ID uuid.UUID `path:"id"`
		}) (*api.Answer[api.Empty], error) {
			switch in.ID.String()[0] {
			case '1':
				panic("the secret reason")
			case '2':
				return nil, errors.New("the secret reason")
			case '3':
				return nil, context.DeadlineExceeded
			case '4':
				return nil, problem.Missing("thing")
			default:
				return &api.Answer[api.Empty]{Status: http.StatusNoContent}, nil
			}
		})
	api.RegisterRaw(a, api.Operation{ID: "break-thing", Method: "GET",
		Path: "/api/v1/things/{id}/broken", Scope: auth.Read},
		func(w http.ResponseWriter, _ *http.Request, _ *struct {
			ID uuid.UUID `path:"id"`
		}) error {
			if _, err := w.Write([]byte("half of it")); err != nil {
				return err
			}
			return errors.New("no more")
		})
	s := httptest.NewServer(a)
	t.Cleanup(s.Close)
	return s
}

type reply struct {
	status int
	header http.Header
	body   string
}

func (r reply) problem(t *testing.T) problem.Problem {
	t.Helper()
	var p problem.Problem
	require.NoError(t, json.Unmarshal([]byte(r.body), &p), r.body)
	require.Equal(t, problem.ContentType, r.header.Get("Content-Type"))
	require.Equal(t, r.status, p.Status)
	require.Equal(t, problem.TypePath+string(p.Code), p.Type)
	require.NotEmpty(t, p.Title)
	require.NotEmpty(t, p.Detail)
	return p
}

func call(t *testing.T, s *httptest.Server, method, path, body string, header ...string) reply {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer both")
	if method == "POST" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Del(header[i])
		if header[i+1] != "" {
			req.Header.Set(header[i], header[i+1])
		}
	}
	res, err := s.Client().Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NotEmpty(t, res.Header.Get(api.RequestIDHeader))
	return reply{res.StatusCode, res.Header, string(text)}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	r := call(t, s, "POST", "/api/v1/things", `{"title":"Guide","note":"two\nlines","on":false}`)
	require.Equal(t, 201, r.status)
	require.Equal(t, "/api/v1/things/1", r.header.Get("Location"))
	require.JSONEq(t, `{"id":"1","title":"Guide","note":"two\nlines","created_at":"2026-03-01T08:30:00.123Z","updated_at":null}`, r.body)
	require.Equal(t, "application/json", r.header.Get("Content-Type"))

	r = call(t, s, "GET", "/api/v1/things/0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55", "")
	require.Equal(t, 204, r.status)
	require.Empty(t, r.body)
}

func TestBadBody(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	deep := strings.Repeat(`{"title":`, 40) + `1` + strings.Repeat("}", 40)
	for name, test := range map[string]struct {
		body    string
		code    problem.Code
		field   string
		message string
	}{
		"empty":              {``, problem.InvalidJSON, "", ""},
		"no JSON":            {`title=x`, problem.InvalidJSON, "", ""},
		"cut off":            {`{"title":"x"`, problem.InvalidJSON, "", ""},
		"two values":         {`{"title":"x"} {}`, problem.InvalidJSON, "", ""},
		"trailing comma":     {`{"title":"x",}`, problem.InvalidJSON, "", ""},
		"comment":            {`{"title":"x"} // y`, problem.InvalidJSON, "", ""},
		"NaN":                {`{"title":NaN}`, problem.InvalidJSON, "", ""},
		"duplicate name":     {`{"title":"x","title":"y"}`, problem.InvalidJSON, "", ""},
		"hidden duplicate":   {`{"title":"x","t\u0069tle":"y"}`, problem.InvalidJSON, "", ""},
		"invalid UTF-8":      {"{\"title\":\"\xff\"}", problem.InvalidJSON, "", ""},
		"lone surrogate":     {`{"title":"\ud800"}`, problem.InvalidJSON, "", ""},
		"byte order marks":   {"\ufeff\ufeff" + `{"title":"x"}`, problem.InvalidJSON, "", ""},
		"a mark and no more": {"\ufeff", problem.InvalidJSON, "", ""},
		"behind a mark":      {"\ufeff" + `{"title":5}`, problem.ValidationError, "title", "must be a string, not a number"},
		"deep":               {deep, problem.InvalidJSON, "", ""},
		"very deep":          {strings.Repeat("[", 500_000), problem.InvalidJSON, "", ""},
		"list":               {`[]`, problem.ValidationError, "body", "must be an object, not a list"},
		"null":               {`null`, problem.ValidationError, "body", "must not be null: must be an object"},
		"missing":            {`{}`, problem.ValidationError, "title", "is required: must be a string"},
		"null title":         {`{"title":null}`, problem.ValidationError, "title", "must not be null: must be a string"},
		"number for string":  {`{"title":5}`, problem.ValidationError, "title", "must be a string, not a number"},
		"string for number": {`{"title":"x","count":"5"}`, problem.ValidationError, "count",
			"must be a whole number from 1 to 10000, not a string"},
		"string for bool": {`{"title":"x","on":"true"}`, problem.ValidationError, "on",
			"must be true or false, not a string"},
		"null for bool": {`{"title":"x","on":null}`, problem.ValidationError, "on",
			"must not be null: must be true or false"},
		"fraction": {`{"title":"x","count":1.5}`, problem.ValidationError, "count",
			"must be a whole number from 1 to 10000"},
		"huge number": {`{"title":"x","count":1e400}`, problem.ValidationError, "count",
			"must be a whole number from 1 to 10000"},
		"out of range": {`{"title":"x","count":10001}`, problem.ValidationError, "count",
			"must be a whole number from 1 to 10000"},
		"too short": {`{"title":""}`, problem.ValidationError, "title", "must have 1 to 10 characters, and has 0"},
		"too long": {`{"title":"ééééééééééé"}`, problem.ValidationError, "title",
			"must have 1 to 10 characters, and has 11"},
		"control": {`{"title":"a\u0000"}`, problem.ValidationError, "title",
			"must not contain the character U+0000"},
		"line break": {`{"title":"a\nb"}`, problem.ValidationError, "title", "must not contain the character U+000A"},
		"control in text": {`{"title":"a","note":"\u0007"}`, problem.ValidationError, "note",
			"must not contain the character U+0007"},
		"direction": {`{"title":"a\u202e"}`, problem.ValidationError, "title",
			"must not contain the character U+202E"},
		"no UUID": {`{"title":"a","magnet":"x"}`, problem.ValidationError, "magnet",
			"must be a UUID, such as 0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55"},
		"pattern": {`{"title":"a","slug":"A"}`, problem.ValidationError, "slug", "must be lower-case letters"},
		"unknown": {`{"title":"a","colour":"red"}`, problem.ValidationError, "colour",
			"is not a field of this request; its fields are count, magnet, note, on, slug, tags, title"},
		"other case": {`{"title":"a","Note":"b"}`, problem.ValidationError, "Note",
			"is not a field of this request; its fields are count, magnet, note, on, slug, tags, title"},
		"read-only": {`{"title":"a","id":"1"}`, problem.ValidationError, "id", "is read-only and cannot be set"},
		"in a list": {`{"title":"a","tags":[{"name":"x"},{"name":1}]}`, problem.ValidationError, "tags[1].name",
			"must be a string, not a number"},
		"long list": {`{"title":"a","tags":[{"name":"x"},{"name":"x"},{"name":"x"}]}`, problem.ValidationError,
			"tags", "must have at most 2 elements, and has 3"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := call(t, s, "POST", "/api/v1/things", test.body).problem(t)
			require.Equal(t, test.code, p.Code, p.Detail)
			if test.field == "" {
				require.Empty(t, p.Errors)
				return
			}
			require.Equal(t, []problem.Field{{Field: test.field, Message: test.message}}, p.Errors)
		})
	}
	p := call(t, s, "POST", "/api/v1/things", `{"title":"`+strings.Repeat("x", 1<<20)+`"}`).problem(t)
	require.Equal(t, problem.PayloadTooLarge, p.Code)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded",
		"application/json; charset=latin1", ";;", "application/jsonx"} {
		p := call(t, s, "POST", "/api/v1/things", `{"title":"x"}`, "Content-Type", kind).problem(t)
		require.Equal(t, problem.UnsupportedMediaType, p.Code, kind)
	}
	p = call(t, s, "POST", "/api/v1/things", `{"title":"x"}`, "Content-Encoding", "gzip").problem(t)
	require.Equal(t, problem.UnsupportedMediaType, p.Code)
	require.Equal(t, 201, call(t, s, "POST", "/api/v1/things", `{"title":"x"}`, "Content-Type",
		"application/json; charset=UTF-8").status)
}

func TestBadQuery(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	for query, want := range map[string]problem.Field{
		"":                                    {Field: "email", Message: "is required: must be a string"},
		"email=":                              {Field: "email", Message: "must not be empty: leave it out, or give a value"},
		"email=a&email=b":                     {Field: "email", Message: "must be given only once"},
		"email=a%00":                          {Field: "email", Message: "must not contain the character U+0000"},
		"email=%ff":                           {Field: "email", Message: "must be valid UTF-8"},
		"email=a&page=0":                      {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&page=-1":                     {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&page=1.0":                    {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&page=%2B1":                   {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&page=01":                     {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&page=99999999999999":         {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&page=9223372036854775808000": {Field: "page", Message: "must be a whole number from 1 to 2147483647"},
		"email=a&per_page=101":                {Field: "per_page", Message: "must be a whole number from 1 to 100"},
		"email=a&per_page=": {Field: "per_page",
			Message: "must not be empty: leave it out, or give a value"},
		"email=a&magnet=7": {Field: "magnet",
			Message: "must be a UUID, such as 0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55"},
		"email=a&type=clicked": {Field: "type", Message: "must be one of page_viewed, download_started"},
		"email=a&from=yesterday": {Field: "from",
			Message: "must be a date or a time with its zone (ISO 8601, as RFC 3339 has it), such as 2026-03-01 or 2026-03-01T09:30:00.250+01:00"},
		"email=a&bot=1": {Field: "bot", Message: "must be true or false"},
		"email=a&colour=red": {Field: "colour",
			Message: "is not a parameter here: the known ones are bot, cursor, email, from, magnet, page, per_page, type"},
		"email=a&page=2&cursor=x": {Field: "page", Message: "must not be given together with cursor"},
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			p := call(t, s, "GET", "/api/v1/things?"+query, "").problem(t)
			require.Equal(t, problem.InvalidParameter, p.Code)
			require.Equal(t, []problem.Field{want}, p.Errors)
		})
	}
	for _, query := range []string{"email=%zz", "email=a;page=2"} {
		require.Equal(t, problem.InvalidParameter, call(t, s, "GET", "/api/v1/things?"+query, "").problem(t).Code)
	}
}

func TestPages(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	r := call(t, s, "GET", "/api/v1/things?email=a%2Bb&page=2", "")
	require.Equal(t, 200, r.status)
	require.JSONEq(t, `{"data":["a+b"],"pagination":{"page":2,"per_page":20,"total":57,"total_pages":3,"next_cursor":"abc"}}`, r.body)
	require.Equal(t, `</api/v1/things?email=a%2Bb&page=1&per_page=20>; rel="first", </api/v1/things?email=a%2Bb&page=1&per_page=20>; rel="prev", `+
		`</api/v1/things?email=a%2Bb&page=3&per_page=20>; rel="next", </api/v1/things?email=a%2Bb&page=3&per_page=20>; rel="last"`, r.header.Get("Link"))
	r = call(t, s, "GET", "/api/v1/things?email=a&page=3&per_page=20", "")
	require.Contains(t, r.body, `"next_cursor":null`)
	require.NotContains(t, r.header.Get("Link"), `rel="next"`)
	r = call(t, s, "GET", "/api/v1/things?email=a&cursor=xyz", "")
	require.Equal(t, `</api/v1/things?email=a&page=1&per_page=20>; rel="first", </api/v1/things?cursor=abc&email=a&per_page=20>; rel="next"`, r.header.Get("Link"))
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	for _, header := range []string{"", "both", "Basic Ym90aA==", "Bearer", "Bearer ", "Bearer wrong",
		"Bearer " + strings.Repeat("x", 5000)} {
		r := call(t, s, "GET", "/api/v1/things?email=a", "", "Authorization", header)
		require.Equal(t, problem.Unauthorized, r.problem(t).Code, header)
		require.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
	}
	require.Equal(t, 200, call(t, s, "GET", "/api/v1/things?email=a", "", "Authorization", "bearer both").status)
	p := call(t, s, "POST", "/api/v1/things", `{"title":"x"}`, "Authorization", "Bearer read").problem(t)
	require.Equal(t, problem.Forbidden, p.Code)
	r := call(t, s, "GET", "/api/v1/things?email=a", "", "Authorization", "Bearer lost")
	require.Equal(t, problem.Unavailable, r.problem(t).Code)
	require.Equal(t, "1", r.header.Get("Retry-After"))
}

func TestRouting(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	for _, path := range []string{"/", "/api/v1/nothing", "/api/v1/things/", "/api/v1//things", "/api/v1/x/../things",
		"/api/v1/things/7", "/api/v1/things/%2e%2e",
		"/api/v1/things/urn:uuid:0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55", "/api/v1/things/40000000-8a4e-7c1f-9b1d-3f2f6f0a7e55",
		"/api/v1/problems/none"} {
		require.Equal(t, problem.NotFound, call(t, s, "GET", path, "").problem(t).Code, path)
	}
	r := call(t, s, "DELETE", "/api/v1/things", "")
	require.Equal(t, problem.MethodNotAllowed, r.problem(t).Code)
	require.Equal(t, "GET, HEAD, POST, OPTIONS", r.header.Get("Allow"))
	require.Equal(t, 200, call(t, s, "HEAD", "/api/v1/things?email=a", "").status)
	require.Equal(t, 200, call(t, s, "GET", "/api/v1/problems/slug_taken", "").status)
}

func TestFailures(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	s := newServer(t, &log)
	for digit, code := range map[string]problem.Code{"1": problem.Internal,
		"2": problem.Internal, "3": problem.Unavailable} {
		r := call(t, s, "GET", "/api/v1/things/"+digit+"191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55", "",
			api.RequestIDHeader, "request-"+digit)
		require.Equal(t, code, r.problem(t).Code)
		require.NotContains(t, r.body, "secret")
		require.Equal(t, "request-"+digit, r.header.Get(api.RequestIDHeader))
	}
	// An answer that breaks off must not look whole.
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		s.URL+"/api/v1/things/0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55/broken", http.NoBody)
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer both")
	res, err := s.Client().Do(req)
	if err == nil {
		_, err = io.ReadAll(res.Body)
		_ = res.Body.Close()
	}
	require.Error(t, err)

	call(t, s, "GET", "/api/v1/things?email=jo@example.com&colour=jo@example.com", "")
	s.Close()
	require.Contains(t, log.String(), `"request_id":"request-2"`)
	require.Contains(t, log.String(), "the secret reason")
	require.Contains(t, log.String(), `"route":"/api/v1/things/{id}"`)
	require.NotContains(t, log.String(), "example.com")
	require.NotContains(t, log.String(), "Bearer")
	require.NotContains(t, log.String(), "3f2f6f0a7e55")
}

func TestRequestID(t *testing.T) {
	t.Parallel()
	s := newServer(t, io.Discard)
	for _, id := range []string{"with space in it", strings.Repeat("x", 129), "quote\"in-here"} {
		r := call(t, s, "GET", "/", "", api.RequestIDHeader, id)
		require.NotEqual(t, id, r.header.Get(api.RequestIDHeader))
	}
	for _, id := range []string{"1", "short", "abc-1.2_3", strings.Repeat("x", 128)} {
		r := call(t, s, "GET", "/", "", api.RequestIDHeader, id)
		require.Equal(t, id, r.header.Get(api.RequestIDHeader))
	}
}
