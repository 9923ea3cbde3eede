package viewer

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/watermark"
	"lodestone/crud/web"
)

// Who wants a document while there is no room to stamp it is asked to try again, by a page and by
// the answer to a script.
func TestADocumentThatCannotBeStampedNow(t *testing.T) {
	t.Parallel()
	log := slog.New(slog.DiscardHandler)
	pages, err := web.New(web.Deps{Site: "https://links.example.com", Log: log})
	require.NoError(t, err)
	v := &Viewer{deps: Deps{Pages: pages, Log: log}}
	err = busyPage(watermark.ErrBusy)
	require.ErrorIs(t, err, watermark.ErrBusy)
	for _, answer := range []func(http.ResponseWriter, *http.Request){
		func(w http.ResponseWriter, r *http.Request) { pages.WriteBranded(w, r, err, nil) },
		func(w http.ResponseWriter, r *http.Request) { v.refuse(w, r, err) },
	} {
		w := httptest.NewRecorder()
		answer(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a/x/file", http.NoBody))
		require.Equal(t, http.StatusServiceUnavailable, w.Code)
		require.NotEmpty(t, w.Header().Get("Retry-After"))
	}
	other := errors.New("another")
	require.Equal(t, other, busyPage(other))
}
