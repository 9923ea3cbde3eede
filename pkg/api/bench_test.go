package api

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/auth"
)

// discard is a response writer that keeps only the status and size.
type discard struct {
	header http.Header
	status int
	bytes  int64
}

func (d *discard) Header() http.Header    { return d.header }
func (d *discard) WriteHeader(status int) { d.status = status }

func (d *discard) Write(b []byte) (int, error) {
	d.bytes += int64(len(b))
	return len(b), nil
}

// BenchmarkAnswer is a whole request for a page of events but for the network, the key and the
// stores.
func BenchmarkAnswer(b *testing.B) {
	type item struct {
		ID        uuid.UUID `json:"id"`
		Type      string    `json:"event_type"`
		Page      *int      `json:"page"`
		UserAgent string    `json:"user_agent"`
		CreatedAt Time      `json:"created_at"`
	}
	page := 3
	for _, items := range []int{1, 20, 100} {
		list := make([]item, items)
		for i := range list {
			list[i] = item{uuid.New(), "page_viewed", &page, fmt.Sprintf("Mozilla/5.0 (agent %d)", i),
				TimeOf(time.Unix(1759276800+int64(i), 0))}
		}
		a := New(Deps{Verifier: someone{}, Log: slog.New(slog.DiscardHandler)})
		Register(a, Operation{ID: "x", Method: "GET", Path: "/x", Scope: auth.Read, PerPage: PageSize{Default: 20, Max: 100}},
			func(ctx context.Context, in *CursorPaging) (*Answer[CursorPage[item]], error) {
				return ListCursor(ctx, *in, list, 1000, ""), nil
			})
		for _, encoding := range []string{"identity", "gzip"} {
			b.Run(fmt.Sprintf("items=%d/%s", items, encoding), func(b *testing.B) {
				r := httptest.NewRequestWithContext(b.Context(), http.MethodGet, "/x", nil)
				r.Header.Set("Authorization", "Bearer good")
				r.Header.Set("Accept-Encoding", encoding)
				var w discard
				b.ReportAllocs()
				for b.Loop() {
					w = discard{header: http.Header{}}
					a.ServeHTTP(&w, r)
				}
				if w.status != http.StatusOK {
					b.Fatal(w.status)
				}
				b.ReportMetric(float64(w.bytes), "B/answer")
			})
		}
	}
}
