package query_test

import (
	"encoding/json"
	"maps"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// next returns the text of pagination.next_received_after.
func (a answer) next(t *testing.T) string {
	t.Helper()
	var p struct {
		Pagination struct {
			Next string `json:"next_received_after"`
		} `json:"pagination"`
	}
	require.NoError(t, json.Unmarshal(a.body, &p))
	require.Regexp(t, `^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`, p.Pagination.Next)
	return p.Pagination.Next
}

// pull reads everything that is new, and returns it with where the next pull goes on.
func (s site) pull(account uuid.UUID, after string) (ids map[string]bool, next string) {
	s.t.Helper()
	params := values("per_page", "5")
	if after != "" {
		params.Set("received_after", after)
	}
	ids = map[string]bool{}
	for {
		got := s.get(account, "/api/v1/analytics", params)
		require.Equal(s.t, 200, got.status, "%s", got.body)
		if next == "" {
			next = got.next(s.t)
		}
		require.Equal(s.t, next, got.next(s.t), "one walk, one time")
		var p page
		require.NoError(s.t, json.Unmarshal(got.body, &p))
		for _, id := range p.ids() {
			ids[id] = true
		}
		if p.Pagination.NextCursor == nil {
			return ids, next
		}
		params.Set("cursor", *p.Pagination.NextCursor)
	}
}

// Who pulls what is new, and goes on from the last cursor, misses nothing: neither an event
// that waited in a spool for an hour, nor one whose insert was under way when the pull was made.
func TestPullsMissNothing(t *testing.T) {
	t.Parallel()
	conn := querytest.Conn(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account, newest := play(t, 7)
	seen, next := s.pull(account, "")
	require.Len(t, seen, len(newest))

	hourAgo := time.Now().Add(-time.Hour).UnixMilli()
	late := querytest.StoredEvent{
		Event: event.Event{
			AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
			Type: event.PageViewed, CreatedAt: hourAgo, ReceivedAt: hourAgo,
		},
		TopicID: querytest.ID(t),
	}
	querytest.Store(t, conn, late)
	got, next := s.pull(account, next)
	require.Contains(t, got, late.EventID.String(), "it waited in a spool")

	// An insert begins, and ends only after others that began later.
	slow := querytest.ID(t)
	batch, elapsed := querytest.BeginInsert(t, conn,
		"INSERT INTO lodestone.events (account_id, access_link_id, event_id, event_type, event_data, kafka_topic_id, created_at, received_at)")
	require.NoError(t, batch.Append(account, querytest.ID(t), slow, "page_viewed", "{}", querytest.ID(t),
		time.UnixMilli(hourAgo), time.UnixMilli(hourAgo)))
	require.Eventually(t, func() bool {
		late.EventID, late.Offset = querytest.ID(t), late.Offset+1
		querytest.Store(t, conn, late)
		maps.Copy(seen, got)
		got, next = s.pull(account, next)
		require.Contains(t, got, late.EventID.String())
		require.NotContains(t, got, slow.String())
		at, err := time.Parse(time.RFC3339, next)
		require.NoError(t, err)
		running := elapsed()
		require.Greater(t, time.Since(at).Seconds()+1, running, "never past the beginning of an insert that runs")
		return running > 1
	}, 3*time.Minute, 100*time.Millisecond)
	require.NoError(t, batch.Send())
	got, _ = s.pull(account, next)
	require.Contains(t, got, slow.String(), "its insert was under way")
}
