package api

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
)

// someone accepts every key that auth would look up, and no other.
type someone struct{}

func (someone) Verify(_ context.Context, key string) (auth.Identity, error) {
	if key == "good" {
		return auth.Identity{Scopes: auth.Scopes()}, nil
	}
	// never well-formed
	return auth.NewVerifier(nil, nil).Verify(context.Background(), "lsk_"+strings.TrimPrefix(key, "lsk_")+"-")
}

// serveFuzz sends a request through the whole of the API and returns the status.
func serveFuzz(t *testing.T, r *http.Request) int {
	t.Helper()
	a := New(Deps{Verifier: someone{}, Log: slog.New(slog.DiscardHandler)})
	type input struct {
		CursorPaging
		ID    *uuid.UUID `query:"id"`
		From  *time.Time `query:"from"`
		Bot   *bool      `query:"bot"`
		Email string     `query:"email" format:"email"`
	}
	Register(a, Operation{ID: "x", Method: "GET", Path: "/x", Scope: auth.Read, PerPage: PageSize{Default: 20, Max: 100}},
		func(ctx context.Context, in *input) (*Answer[CursorPage[string]], error) {
			if in.Page < 1 || in.PerPage < 1 || in.PerPage > 100 {
				t.Fatalf("%+v passed", in)
			}
			return ListCursor(ctx, in.CursorPaging, []string{in.Email}, 1, ""), nil
		})
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	if w.Code >= 500 {
		t.Fatalf("%s: %d %s", r.URL, w.Code, w.Body)
	}
	for name, values := range w.Header() {
		for _, v := range values {
			if strings.ContainsAny(v, "\r\n\x00") {
				t.Fatalf("%s: %q", name, v)
			}
		}
	}
	return w.Code
}

func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"page=2&per_page=50", "page=0", "per_page=101", "cursor=abc&page=1",
		"from=2026-03-01&bot=true", "x=1&x=2", "%zz", "email=%ff", "page=1;page=2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		r := httptest.NewRequest(http.MethodGet, "/x", http.NoBody)
		r.URL.RawQuery = query
		r.Header.Set("Authorization", "Bearer good")
		serveFuzz(t, r)
	})
}

func FuzzHeaders(f *testing.F) {
	f.Add("Bearer good", "gzip", "abcdefgh")
	f.Add("bearer  good", "gzip;q=0, *;q=1", "\x00")
	f.Add("Basic x", "*;q=x", "")
	f.Fuzz(func(t *testing.T, authorization, accept, id string) {
		r := httptest.NewRequest(http.MethodGet, "/x", http.NoBody)
		r.Header["Authorization"] = []string{authorization}
		r.Header["Accept-Encoding"] = []string{accept}
		r.Header[RequestIDHeader] = []string{id}
		scheme, key, _ := strings.Cut(authorization, " ")
		good := strings.EqualFold(scheme, "Bearer") && strings.TrimLeft(key, " ") == "good"
		if status := serveFuzz(t, r); (status == http.StatusOK) != good {
			t.Fatalf("%q: %d", authorization, status)
		}
	})
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add("eyJhIjoxfQ")
	f.Fuzz(func(t *testing.T, text string) {
		var position struct {
			A int64 `json:"a"`
		}
		if err := DecodeCursor(text, &position); err != nil {
			require.True(t, problem.Is(err, problem.InvalidParameter))
		}
	})
}
