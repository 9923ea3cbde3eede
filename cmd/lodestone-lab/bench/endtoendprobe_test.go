package bench

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// However long a probe took, it is seen once it is there; while all come at once, one page is asked for.
func TestProbesAreSeenHoweverLateTheyCome(t *testing.T) {
	t.Parallel()
	var stored []uuid.UUID // the newest first
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		at, _ := strconv.Atoi(r.FormValue("cursor"))
		end := min(at+probePage, len(stored))
		var answer listAnswer
		for _, id := range stored[at:end] {
			answer.Data = append(answer.Data, struct {
				ID uuid.UUID `json:"id"`
			}{id})
		}
		if end < len(stored) {
			next := strconv.Itoa(end)
			answer.Pagination.NextCursor = &next
		}
		_ = json.NewEncoder(w).Encode(answer)
	}))
	defer server.Close()
	p := newProbes("", newListClient(strings.TrimPrefix(server.URL, "http://"), "k"), nil, uuid.New())
	p.sent = map[uuid.UUID]*probe{}
	begin := time.Now()
	add := func(number int) { // as the next one
		id := uuid.New()
		p.sent[id] = &probe{made: begin.Add(time.Duration(number) * probeInterval)}
		stored = append([]uuid.UUID{id}, stored...)
	}
	const many = 3*probePage - 1
	for i := range many {
		add(i)
	}
	require.NoError(t, p.look(t.Context()))
	require.Zero(t, p.left())
	require.Equal(t, 3, asked)

	add(many)
	require.NoError(t, p.look(t.Context()))
	require.Zero(t, p.left())
	require.Equal(t, 4, asked, "it is on the first page")

	late := &probe{made: begin}
	lost := uuid.New()
	p.sent[lost] = late
	require.NoError(t, p.look(t.Context()))
	require.Equal(t, 1, p.left())
	require.Equal(t, 7, asked, "to the end")

	stored = append(stored, lost)
	p.sent = map[uuid.UUID]*probe{stored[0]: {made: begin}} // of the next run, which knows no more of them
	require.NoError(t, p.look(t.Context()))
	require.Equal(t, 8, asked)
}
