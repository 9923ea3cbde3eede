package client_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
	"lodestone/pkg/test/clienttest"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

// serve returns a client of a server that answers with what the function does for the n-th request.
func serve(t *testing.T, answer func(n int32, w http.ResponseWriter, r *http.Request)) (clienttest.Client,
	*atomic.Int32) {
	t.Helper()
	var count atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(count.Add(1), w, r) }))
	t.Cleanup(s.Close)
	return clienttest.New(client.Config{URL: s.URL + "/", Key: "the-key", HTTP: s.Client()}), &count
}

func busy(w http.ResponseWriter) {
	w.Header().Set("Content-Type", problem.ContentType)
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, `{"type":"x","title":"t","status":503,"detail":"d","code":"unavailable"}`)
}

func TestReadingIsTriedAgain(t *testing.T) {
	t.Parallel()
	c, count := serve(t, func(n int32, w http.ResponseWriter, r *http.Request) {
		switch n {
		case 1:
			busy(w)
		case 2:
			panic(http.ErrAbortHandler)
		default:
			if r.Header.Get("Authorization") != "Bearer the-key" || r.URL.String() != "/api/v1/lead-magnets/a%2Fb" {
				w.WriteHeader(http.StatusTeapot)
			}
			_, _ = io.WriteString(w,
				`{"id":"a/b","title":"T","page_count":null,"new_field":1,"created_at":"2026-01-02T03:04:05.678Z"}`)
		}
	})
	m, err := c.LeadMagnet(t.Context(), "a/b")
	require.NoError(t, err)
	require.Equal(t, client.LeadMagnet{ID: "a/b", Title: "T", CreatedAt: time.Date(2026, 1, 2, 3, 4,
		5, 678_000_000, time.UTC)}, m)
	require.EqualValues(t, 3, count.Load())
}

func TestReadingIsGivenUp(t *testing.T) {
	t.Parallel()
	c, count := serve(t, func(_ int32, w http.ResponseWriter, _ *http.Request) { busy(w) })
	_, err := c.GenericLinks(t.Context(), client.GenericLinkFilter{})
	require.True(t, problem.Is(err, problem.Unavailable))
	require.EqualValues(t, 4, count.Load())
}

func TestChangesAreSentOnce(t *testing.T) {
	t.Parallel()
	c, count := serve(t, func(_ int32, w http.ResponseWriter, _ *http.Request) { busy(w) })
	_, err := c.UpdateAccessLink(t.Context(), "x", clienttest.AccessLinkChanges{})
	require.True(t, problem.Is(err, problem.Unavailable))
	require.True(t, problem.Is(c.DeleteGenericLink(t.Context(), "x"), problem.Unavailable))
	_, err = c.UploadFile(t.Context(), "x", "a.pdf", strings.NewReader("%PDF"))
	require.True(t, problem.Is(err, problem.Unavailable))
	require.EqualValues(t, 3, count.Load())
}

// A request that makes something is sent again as the same one.
func TestCreatingIsTriedAgain(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 8)
	c, count := serve(t, func(n int32, w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("Idempotency-Key")
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil || string(body) != `{"title":"T"}`:
			w.WriteHeader(http.StatusTeapot)
		case n == 1:
			panic(http.ErrAbortHandler)
		case n == 2: // the first one is still being answered
			w.Header().Set("Content-Type", problem.ContentType)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusConflict)
			_, _ = io.WriteString(w, `{"type":"x","title":"t","status":409,"detail":"d","code":"conflict"}`)
		default:
			w.Header().Set("ETag", `"1-a"`)
			_, _ = io.WriteString(w, `{"id":"a"}`)
		}
	})
	m, err := c.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "T"})
	require.NoError(t, err)
	require.Equal(t, client.LeadMagnet{ID: "a", ETag: `"1-a"`}, m)
	require.EqualValues(t, 3, count.Load())
	first := <-keys
	require.Len(t, first, 36)
	require.Equal(t, first, <-keys)
	require.Equal(t, first, <-keys)
	_, err = c.CreateLeadMagnet(t.Context(), client.NewLeadMagnet{Title: "T"})
	require.NoError(t, err)
	require.NotEqual(t, first, <-keys)
}

// A conflict that waiting does not resolve is returned at once.
func TestConflict(t *testing.T) {
	t.Parallel()
	c, count := serve(t, func(_ int32, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", problem.ContentType)
		w.WriteHeader(http.StatusConflict)
		_, _ = io.WriteString(w, `{"type":"x","title":"t","status":409,"detail":"d","code":"conflict"}`)
	})
	_, err := c.CreateAccessLinks(t.Context(), "m", clienttest.NewAccessLinks{Emails: []string{"a"}})
	require.True(t, problem.Is(err, problem.Conflict))
	require.EqualValues(t, 1, count.Load())
}

// What a change leaves out is not sent; what it clears is null.
func TestChanges(t *testing.T) {
	t.Parallel()
	var sent []string
	c, _ := serve(t, func(_ int32, w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		sent = append(sent, strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("If-Match"), string(body)}, " "))
		if r.Method == http.MethodDelete {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = io.WriteString(w, `{}`)
	})
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	_, err := c.UpdateGenericLink(t.Context(), "a/b", clienttest.GenericLinkChanges{Title: clienttest.Clear[string](),
		Description: clienttest.Set("D"), Active: new(false)}, `"1-a"`, `"2-b"`)
	require.NoError(t, err)
	_, err = c.UpdateLeadMagnet(t.Context(), "m", clienttest.LeadMagnetChanges{})
	require.NoError(t, err)
	_, err = c.UpdateAccessLink(t.Context(), "l", clienttest.AccessLinkChanges{MaxViews: clienttest.Set(3),
		ExpiresAt: clienttest.Set(at)})
	require.NoError(t, err)
	require.NoError(t, c.DeleteLeadMagnet(t.Context(), "m", true, `"1-a"`))
	require.NoError(t, c.RevokeKey(t.Context(), "k"))
	_, err = c.Submissions(t.Context(), "g", client.SubmissionFilter{Cursor: "c", Since: at,
		Paging: client.Paging{PerPage: 7}})
	require.NoError(t, err)
	require.Equal(t, []string{
		`PATCH /api/v1/generic-links/a%2Fb "1-a", "2-b" {"title":null,"description":"D","active":false}`,
		`PATCH /api/v1/lead-magnets/m  {}`,
		`PATCH /api/v1/access-links/l  {"max_views":3,"expires_at":"2026-01-02T03:04:05Z"}`,
		`DELETE /api/v1/lead-magnets/m?cascade=true "1-a" `,
		`DELETE /api/v1/keys/k  `,
		`GET /api/v1/generic-links/g/submissions?cursor=c&per_page=7&since=2026-01-02T03%3A04%3A05Z  `,
	}, sent)
}

func TestRefusalIsNotTriedAgain(t *testing.T) {
	t.Parallel()
	c, count := serve(t, func(_ int32, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", problem.ContentType+"; charset=utf-8")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w,
			`{"type":"x","title":"t","status":400,"detail":"d","code":"invalid_parameter","errors":[{"field":"email","message":"m"}]}`)
	})
	_, err := c.EmailSummary(t.Context(), "jo", "")
	var p *problem.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, []problem.Field{{Field: "email", Message: "m"}}, p.Errors)
	require.EqualValues(t, 1, count.Load())
}

func TestAnswerOfAnother(t *testing.T) {
	t.Parallel()
	c, _ := serve(t, func(_ int32, w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "<html>Bad gateway</html>", http.StatusBadGateway)
	})
	_, err := c.LeadMagnets(t.Context(), client.Paging{})
	var p *problem.Problem
	require.ErrorAs(t, err, &p)
	require.Equal(t, http.StatusBadGateway, p.Status)
	c, _ = serve(t, func(_ int32, w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })
	_, err = c.LeadMagnets(t.Context(), client.Paging{})
	require.ErrorContains(t, err, "decode answer")
}

func TestErrorHoldsNoQuery(t *testing.T) {
	t.Parallel()
	_, err := clienttest.New(client.Config{URL: "http://127.0.0.1:1", Key: "the-key"}).EmailSummary(t.Context(),
		"jo@example.com", "")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "example.com")
	require.NotContains(t, err.Error(), "the-key")
}

func TestFilters(t *testing.T) {
	t.Parallel()
	var queries []string
	c, _ := serve(t, func(_ int32, w http.ResponseWriter, r *http.Request) {
		queries = append(queries, r.URL.String())
		_, _ = io.WriteString(w,
			`{"data":[{"id":"e","event_data":{"page":3}}],"pagination":{"page":1,"total":1,"next_cursor":"abc"}}`)
	})
	yes := true
	at := time.Date(2026, 1, 2, 3, 4, 5, 600_000_000, time.FixedZone("", 3600))
	page, err := c.Events(t.Context(), client.EventFilter{
		Paging: client.Paging{PerPage: 5}, Cursor: "c", AccessLinkID: "a", LeadMagnetID: "l", EventType: "page_viewed",
		From: at, To: at, ReceivedAfter: at, Bot: &yes,
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"page":3}`, string(page.Data[0].EventData))
	require.Equal(t, "abc", *page.Pagination.NextCursor)
	_, err = c.AccessLinks(t.Context(), client.AccessLinkFilter{Email: "a+b@example.com", IsActive: &yes,
		SubmissionID: "s", LeadMagnetID: "l"})
	require.NoError(t, err)
	_, err = c.Events(t.Context(), client.EventFilter{})
	require.NoError(t, err)
	require.Equal(t, []string{
		"/api/v1/analytics?access_link_id=a&bot=true&cursor=c&event_type=page_viewed&from=2026-01-02T02%3A04%3A05.6Z&lead_magnet_id=l&per_page=5&received_after=2026-01-02T02%3A04%3A05.6Z&to=2026-01-02T02%3A04%3A05.6Z",
		"/api/v1/access-links?email=a%2Bb%40example.com&is_active=true&lead_magnet_id=l&submission_id=s",
		"/api/v1/analytics",
	}, queries)
}
