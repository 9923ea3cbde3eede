package query_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/query/querytest"
)

// No report claims to have a submission whose copy is still on the way to ClickHouse.
func TestReportsAreAsOfTheirCopies(t *testing.T) {
	t.Parallel()
	r := newReporting(t)
	exec := func(sql string, args ...any) {
		_, err := r.pool.Unscoped().Exec(context.Background(), sql, args...)
		require.NoError(t, err, sql)
	}
	exec("DELETE FROM entity_changes") // what newReporting added is copied
	link, submission := querytest.ID(t), querytest.ID(t)
	submitted := time.Now().Add(-time.Hour)
	exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", link,
		r.account, r.magnet, link.String())
	exec(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, submitted_at) VALUES ($1, $2, $3, 'bob@example.com', 'bob@example.com', $4)`,
		submission, r.account, link, submitted)
	exec("UPDATE entity_changes SET changed_at = $1", submitted) // the consumer's process has been down for an hour

	magnet := "lead_magnet_id=" + r.magnet.String()
	for _, path := range []string{"funnel", "now", "pages?" + magnet, "retention?" + magnet, "readers",
		"readers/" + r.link.String()} {
		got := r.do(http.MethodGet, r.key("read,leads"), "/api/v1/analytics/"+path)
		require.Equal(t, http.StatusOK, got.status, "%s %s", path, got.body)
		require.True(t, asOf(t, got.body).Before(submitted), "%s %s", path, got.body)
	}
	got := r.send(http.MethodPost, "query", "", `{"metrics":["submissions"]}`)
	require.Equal(t, http.StatusOK, got.status, "%s", got.body)
	var batch struct{ Data []json.RawMessage }
	require.NoError(t, json.Unmarshal(got.body, &batch))
	require.True(t, asOf(t, batch.Data[0]).Before(submitted), "%s", got.body)
}

func asOf(t *testing.T, body []byte) time.Time {
	t.Helper()
	var answer struct {
		AsOf time.Time `json:"as_of"`
	}
	require.NoError(t, json.Unmarshal(body, &answer))
	require.False(t, answer.AsOf.IsZero(), strings.TrimSpace(string(body)))
	return answer.AsOf
}
