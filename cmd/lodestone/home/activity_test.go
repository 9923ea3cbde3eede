package home

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/query/eventlist"
)

func TestWhatIsReportedOfEvents(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ kind, data, want string }{
		{"page_viewed", `{"page": 3, "duration_ms": 8210}`, "read page 3 for 8.2 s"},
		{"page_viewed", `{"page": 3, "duration_ms": 9990}`, "read page 3 for 10 s"},
		{"page_viewed", `{"page": 3, "duration_ms": 12900}`, "read page 3 for 12 s"},
		{"page_viewed", `{"page": 3, "duration_ms": 83000}`, "read page 3 for 1 min 23 s"},
		{"page_viewed", `{"page": 3, "duration_ms": 3725000}`, "read page 3 for 1 h 2 min"},
		{"page_viewed", `{"page": 3, "duration_ms": 0}`, "read page 3"},
		{"page_viewed", `{"page": "<b>"}`, "read a page"},
		{"page_viewed", `{}`, "read a page"},
		{"download_started", `{}`, "clicked on download"},
		{"download_completed", `{}`, "downloaded the complete file"},
	} {
		_, got := describe(&eventlist.Event{Type: c.kind, Data: []byte(c.data)})
		require.Equal(t, c.want, got, c.data)
	}
}
