package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/webhook"
)

// seen adds a session that is over, with what the counters saw of it.
func (r *rig) seen(began time.Time, pages []int32, duration int64, touched bool, client any) uuid.UUID {
	r.t.Helper()
	id, _ := r.session(began.Add(time.Minute), pages, duration)
	r.exec("UPDATE sessions SET touched = $2, client = $3 WHERE id = $1", id, touched, client)
	return id
}

// rules are the rules that suspect sessions of the rig's account.
func (r *rig) rules() map[uuid.UUID]string {
	r.t.Helper()
	rows, err := r.db.Unscoped().Query(r.t.Context(), "SELECT id, rule FROM suspects WHERE account_id = $1", r.owner)
	require.NoError(r.t, err)
	found := map[uuid.UUID]string{}
	for rows.Next() {
		var id uuid.UUID
		var rule string
		require.NoError(r.t, rows.Scan(&id, &rule))
		found[id] = rule
	}
	require.NoError(r.t, rows.Err())
	return found
}

// A session is judged by what was seen in it when it is over, and its message names the rule.
func TestSessionsWithoutInputAreSuspected(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.create("http://127.0.0.1:9/", webhook.KindSessionEnded)
	r.exec("INSERT INTO rounds (service, finished_at) VALUES ('counters', now())")
	began := time.Now().UTC().Add(-time.Hour)
	scanner := r.seen(began, []int32{1, 2, 3}, 5_999, false, nil)
	bot := r.seen(began, []int32{1, 2, 3, 4}, 2_000, false, nil)
	r.exec("UPDATE sessions SET bot = true WHERE id = $1", bot)
	r.seen(began, []int32{1, 2, 3}, 6_000, false, nil) // someone whose program reads aloud
	r.seen(began, []int32{1, 2, 3, 4}, 2_000, true, nil)
	r.seen(began, []int32{1, 2}, 1_200, false, nil)
	r.seen(began, []int32{1}, 600, false, nil) // looked, and closed the page
	require.NoError(t, r.closer().Close(t.Context()))
	require.Equal(t, map[uuid.UUID]string{scanner: "no-input"}, r.rules())
	var all strings.Builder
	for _, d := range deliveries(t, r.db, r.owner) {
		text, err := r.tokens.Open("webhook messages", d.Sealed, d.ID[:])
		require.NoError(t, err)
		all.Write(append(text, '\n'))
	}
	messages := all.String()
	require.Equal(t, 1, strings.Count(messages, `"bot":false,"suspect":"no-input","is_bot":false`))
	require.Equal(t, 1, strings.Count(messages, `"bot":true,"suspect":null,"is_bot":true`))
	require.Equal(t, 4, strings.Count(messages, `"bot":false,"suspect":null,"is_bot":false`))
}

// One browser that sees the same in 40 links within ten minutes is suspected in all of them,
// also those that are not over. People of one office, whose address and browser are the same, read
// each in their own way.
func TestTheSamePathInManyLinksIsSuspected(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.exec("INSERT INTO rounds (service, finished_at) VALUES ('counters', now())")
	began := time.Now().UTC().Add(-32 * time.Minute)
	const gateway, office, few, slow = 1, 2, 3, 4
	scanned := map[uuid.UUID]string{}
	for i := range 40 {
		at := began.Add(time.Duration(i) * 10 * time.Second) // the first are over, the others not yet
		scanned[r.seen(at, []int32{1}, 5_000+int64(i%5)*50, true, gateway)] = "same-path"
		r.seen(at, []int32{1}, 3_000+int64(i)*700, true, office)
		r.seen(at.Add(time.Duration(i)*time.Minute), []int32{1}, 5_000, true, slow)
		r.seen(at, []int32{1}, 5_000, true, nil) // addresses are withheld
		if i < 39 {
			r.seen(at, []int32{1, 2}, 5_000, true, few)
		}
	}
	require.NoError(t, r.closer().Close(t.Context()))
	require.Equal(t, scanned, r.rules())

	// Who a session was of is forgotten with its end: no rule compares it with others again.
	var over, known int
	require.NoError(t, r.db.Unscoped().QueryRow(t.Context(), `SELECT count(*), count(client) FROM sessions
		WHERE account_id = $1 AND ended_at IS NOT NULL`, r.owner).Scan(&over, &known))
	require.Positive(t, over)
	require.Zero(t, known)
}
