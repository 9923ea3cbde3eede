package erasure_test

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/erasure"
)

// What an erasure has left is found, also where only the ids of links tell whose it is: messages to webhooks with a body, and downloads that wait to be reported.
func TestFindWhatAnErasureLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, endpoint, key := uuid.New(), uuid.New(), uuid.NewString()+"@example.com" // other tests store copies in the same database
	r.Exec(`INSERT INTO accounts (id, name, plan) VALUES ($1, 'Test', 'team')`, r.account)
	id := r.erase(link)
	r.Exec(`UPDATE erasures SET person_id = person_id(account_id, $2) WHERE id = $1`, id, key)
	find := func() []erasure.Found {
		t.Helper()
		found, err := erasure.Find(t.Context(), r.Postgres, r.Conn, key)
		require.NoError(t, err)
		return found
	}
	const report = `INSERT INTO river_job (kind, args, max_attempts) VALUES ('report', jsonb_build_object('access_link_id', $1::text, 'user_agent', $2::text), 1)`
	const request = `INSERT INTO idempotency_keys (account_id, operation, key, request, claim, claimed_at, given_up_at) VALUES ($1, 'create-access-link', $2, '', gen_random_uuid(), now(), now())`
	r.Exec(report, link.String(), "")
	r.Exec(report, uuid.NewString(), "Browser")
	r.Exec(request, r.account, "invite-bob@example.com")
	require.Empty(t, find())

	r.Exec(report, link.String(), "Browser")
	r.Exec(request, r.account, "invite-"+strings.ToUpper(key))
	r.Exec(`INSERT INTO webhook_endpoints (id, account_id, url, url_sealed, kinds) VALUES ($1, $2, 'https://example.com/', '', '{link.created}')`, endpoint, r.account)
	r.Exec(`INSERT INTO webhook_deliveries (id, account_id, endpoint_id, event_id, kind, body_sealed, access_link_id)
		VALUES (gen_random_uuid(), $1, $2, gen_random_uuid(), 'link.created', 'sealed', $3)`, r.account, endpoint, link)
	r.store(link, 0)
	require.ElementsMatch(t, []erasure.Found{
		{Where: "Postgres keys of repeated requests", Rows: 1},
		{Where: "Postgres messages to webhooks about deleted links and submissions", Rows: 1},
		{Where: "Postgres downloads of deleted links that wait to be reported", Rows: 1},
		{Where: "ClickHouse events of deleted access links", Rows: 4},
	}, find())
}
