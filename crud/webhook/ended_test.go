package webhook_test

import (
	"context"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/session"
	"lodestone/crud/webhook"
	"lodestone/pkg/test/enginetest"
)

func (r *rig) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.db.Unscoped().Exec(context.Background(), sql, args...)
	require.NoError(r.t, err)
}

// session adds a session of a link whose last activity was at a time.
func (r *rig) session(last time.Time, pages []int32, duration int64) (session, link uuid.UUID) {
	r.t.Helper()
	magnet := uuid.New()
	session, link = uuid.New(), uuid.New()
	r.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'm')", magnet, r.owner)
	r.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
		VALUES ($1, $2, $3, 'ada@example.com', 'ada@example.com', sha256($1::uuid::text::bytea), '', 0)`, link, r.owner, magnet)
	r.exec(`INSERT INTO sessions (id, account_id, access_link_id, magnet_version, started_at, last_active_at, pages, duration_ms)
		VALUES ($1, $2, $3, 1, $4, $5, $6, $7)`, session, r.owner, link, last.Add(-time.Minute), last, pages, duration)
	return session, link
}

func (r *rig) closer() *session.Closer {
	return session.NewCloser(settings().SessionIdle, session.CloserDeps{Postgres: r.db, Tokens: r.tokens, Log: r.logger(),
		Registerer: prometheus.NewRegistry(), Now: r.clock.now})
}

// A session that had no activity for a while is over, and that is sent once, by however many
// processes.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	to := newReceiver(t, nil)
	r.create(to.url, webhook.KindSessionEnded)
	last := time.Now().UTC().Truncate(time.Millisecond).Add(-31 * time.Minute)
	over, link := r.session(last, []int32{1, 2, 7}, 61_500)
	open, _ := r.session(time.Now().Add(-15*time.Minute), []int32{}, 0)

	// No one knows what happened since the counters stopped.
	r.exec("INSERT INTO rounds (service, finished_at) VALUES ('counters', now() - interval '2 minutes')")
	require.NoError(t, r.closer().Close(t.Context()))
	require.Empty(t, deliveries(t, r.db, r.owner))

	r.exec("UPDATE rounds SET finished_at = now() WHERE service = 'counters'")
	for range 3 {
		e := r.closer()
		enginetest.Run(t, e)
	}
	var message struct {
		Type string `json:"type"`
		Data object `json:"data"`
	}
	require.NoError(t, json.Unmarshal(to.next(t).body, &message))
	require.Equal(t, "session.ended", message.Type)
	require.Equal(t, over.String(), message.Data["session_id"])
	require.Equal(t, link.String(), message.Data["access_link_id"])
	require.Equal(t, "ada@example.com", message.Data["email"])
	require.Equal(t, []any{1.0, 2.0, 7.0}, message.Data["pages"])
	require.EqualValues(t, 61_500, message.Data["duration_ms"])
	require.Equal(t, last.Format("2006-01-02T15:04:05.000Z"), message.Data["ended_at"])
	require.NoError(t, r.closer().Close(t.Context()))
	require.Len(t, deliveries(t, r.db, r.owner), 1)
	var still int
	require.NoError(t, r.db.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM sessions WHERE id = $1 AND ended_at IS NULL", open).Scan(&still))
	require.Equal(t, 1, still)
}
