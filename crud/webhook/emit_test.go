package webhook_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func newAccount(t *testing.T, db *postgres.Pool) uuid.UUID {
	t.Helper()
	id, err := account.New(db).Create(t.Context(), "Test", account.Team)
	require.NoError(t, err)
	return id
}

// endpoint adds an endpoint as its account would.
func endpoint(t *testing.T, db *postgres.Pool, owner uuid.UUID, kinds ...webhook.Kind) uuid.UUID {
	t.Helper()
	id := uuid.New()
	require.NoError(t, db.Account(t.Context(), owner, func(tx pgx.Tx) error {
		_, err := tx.Exec(t.Context(),
			"INSERT INTO webhook_endpoints (id, account_id, format, url, url_sealed, kinds) VALUES ($1, $2, 'json', 'https://example.com/', '', $3)",
			id, owner, kinds)
		return err
	}))
	return id
}

var tokens = func() *token.Ring {
	ring, err := token.NewKeys(1).Ring()
	if err != nil {
		panic(err)
	}
	return ring
}()

type delivery struct {
	ID, Endpoint, Event uuid.UUID
	Kind                string
	Sealed              []byte
}

func (d delivery) body(t *testing.T) string {
	t.Helper()
	text, err := tokens.Open("webhook messages", d.Sealed, d.ID[:])
	require.NoError(t, err)
	return string(text)
}

func deliveries(t *testing.T, db *postgres.Pool, owner uuid.UUID) []delivery {
	t.Helper()
	rows, err := db.Unscoped().Query(t.Context(),
		"SELECT id, endpoint_id, event_id, kind, body_sealed FROM webhook_deliveries WHERE account_id = $1 ORDER BY id",
		owner)
	require.NoError(t, err)
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[delivery])
	require.NoError(t, err)
	return all
}

func someEvent() webhook.FormVerified {
	return webhook.FormVerified{
		SubmissionID: uuid.New(), GenericLinkID: uuid.New(), LeadMagnetID: uuid.New(), Email: "ada@example.com",
		VerifiedAt: api.TimeOf(time.UnixMilli(1_770_000_000_123)),
	}
}

// Every endpoint that asked for a kind gets the same event, from within an account's scope
// and from outside; no one else is.
func TestEmitTellsWhoAsked(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	owner, stranger := newAccount(t, db), newAccount(t, db)
	one := endpoint(t, db, owner, webhook.KindFormVerified)
	both := endpoint(t, db, owner, webhook.KindLinkCreated, webhook.KindFormVerified)
	endpoint(t, db, owner, webhook.KindLinkCreated)
	endpoint(t, db, stranger, webhook.KindFormVerified)
	event := someEvent()
	for _, in := range []func(fn func(tx pgx.Tx) error) error{
		func(fn func(tx pgx.Tx) error) error { return db.Account(t.Context(), owner, fn) },
		func(fn func(tx pgx.Tx) error) error { return db.Transaction(t.Context(), fn) },
	} {
		before := len(deliveries(t, db, owner))
		require.NoError(t, in(func(tx pgx.Tx) error { return webhook.Emit(t.Context(), tx, tokens, owner, event) }))
		made := deliveries(t, db, owner)[before:]
		require.Len(t, made, 2)
		require.ElementsMatch(t, []uuid.UUID{one, both}, []uuid.UUID{made[0].Endpoint, made[1].Endpoint})
		require.Equal(t, made[0].Event, made[1].Event)
		require.Equal(t, made[0].body(t), made[1].body(t))
		require.Contains(t, made[0].body(t), `{"type":"form.verified","timestamp":"`)
		require.Contains(t, made[0].body(t),
			`"email":"ada@example.com","name":null,"answers":{},"bot":false,"suspect":null,"is_bot":false,"verified_at":"2026-02-02T02:40:00.123Z"}}`)
	}
	require.Empty(t, deliveries(t, db, stranger))
}

// What is rolled back is never sent.
func TestRollbackSendsNothing(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	owner := newAccount(t, db)
	endpoint(t, db, owner, webhook.KindFormVerified)
	gone := errors.New("gone")
	err := db.Account(t.Context(), owner, func(tx pgx.Tx) error {
		require.NoError(t, webhook.Emit(t.Context(), tx, tokens, owner, someEvent()))
		return gone
	})
	require.ErrorIs(t, err, gone)
	require.Empty(t, deliveries(t, db, owner))
}

// The role of requests cannot read a secret, whatever statement it is brought to run.
func TestRequestsCannotReadSecrets(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	owner := newAccount(t, db)
	err := db.Account(t.Context(), owner, func(tx pgx.Tx) error {
		_, err := tx.Exec(context.WithoutCancel(t.Context()), "SELECT sealed FROM webhook_secrets")
		return err
	})
	require.ErrorContains(t, err, "permission denied")
}
