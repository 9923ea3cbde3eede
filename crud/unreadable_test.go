package crud_test

import (
	"net/http"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/magnet"
	"lodestone/pkg/client"
)

// What a reader's browser cannot show is known to the owner: of several pages the first, and the
// document before all of them.
func TestUnreadablePagesAreReported(t *testing.T) {
	t.Parallel()
	r := newReading(t, 10_000)
	_, path := r.link("")
	_, opened := r.open(path, `{"session_id":"`+uuid.Must(uuid.NewV7()).String()+`"}`)
	first := func() *int32 {
		t.Helper()
		got := r.send(t, "GET", "/api/v1/lead-magnets/"+r.magnet.ID+"/versions", nil)
		var list client.Page[magnet.Version]
		require.NoError(t, json.Unmarshal([]byte(got.body), &list))
		return list.Data[0].Unreadable
	}
	require.Nil(t, first())
	for _, body := range []string{``, `{}`, `{"page":-1}`, `{"page":2000000}`, `{"page":"one"}`, `{"page":1.5}`, `[]`} {
		got, _ := r.ask(http.MethodPost, opened.Failure, body)
		require.Equal(t, http.StatusBadRequest, got.StatusCode, body)
	}
	got, _ := r.ask(http.MethodPost, path+"/failure?s=nothing", `{"page":1}`)
	require.Equal(t, http.StatusGone, got.StatusCode)
	require.Nil(t, first())
	for _, report := range []struct {
		body  string
		known int32
	}{{`{"page":3}`, 3}, {`{"page":7}`, 3}, {`{"page":2}`, 2}, {`{"page":0}`, 0}, {`{"page":1}`, 0}} {
		got, _ := r.ask(http.MethodPost, opened.Failure, report.body)
		require.Equal(t, http.StatusNoContent, got.StatusCode, report.body)
		require.Equal(t, &report.known, first(), report.body)
	}
}
