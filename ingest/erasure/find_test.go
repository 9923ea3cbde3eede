package erasure_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/erasure"
)

// Events that an erasure has left are found, though only the ids of links tell whose they are.
func TestFindWhatAnErasureLeft(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	link, key := uuid.New(), uuid.NewString()+"@example.com" // other tests store copies in the same database
	r.Exec(`INSERT INTO accounts (id, name, plan) VALUES ($1, 'Test', 'team')`, r.account)
	id := r.erase(link)
	r.Exec(`UPDATE erasures SET person_id = person_id(account_id, $2) WHERE id = $1`, id, key)
	find := func() []erasure.Finding {
		t.Helper()
		found, err := erasure.Find(t.Context(), r.Postgres, r.Conn, key)
		require.NoError(t, err)
		return found
	}
	require.Empty(t, find())

	r.store(link, 0)
	require.Equal(t, []erasure.Finding{{Where: "ClickHouse events of deleted access links", Rows: 4}}, find())
}
