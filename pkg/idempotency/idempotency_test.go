package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func open(t *testing.T) (*Store, *postgres.Pool) {
	t.Helper()
	pool := enginetest.MigratedPostgres(t)
	tokens, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	return New(Deps{Postgres: pool, Tokens: tokens, Log: slog.New(slog.DiscardHandler)}), pool
}

func account(t *testing.T, pool *postgres.Pool) uuid.UUID {
	t.Helper()
	id := uuid.New()
	_, err := pool.Unscoped().Exec(t.Context(), `INSERT INTO accounts (id, name, plan) VALUES ($1, 'A', 'team')`, id)
	require.NoError(t, err)
	return id
}

// timeout is beyond what a busy machine takes for an operation: claims run out when a test says so.
const timeout = 10 * time.Minute

func request(account uuid.UUID, key, body string) Request {
	return Request{Account: account, Operation: "make", Key: key, Hash: sha256.Sum256([]byte(body)), Timeout: timeout}
}

// effect writes something in the account, as an operation does.
func effect(ctx context.Context, pool *postgres.Pool, account uuid.UUID) error {
	return pool.Account(ctx, account, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'M')`, uuid.New(), account)
		return err
	})
}

func effects(t *testing.T, pool *postgres.Pool, account uuid.UUID) (n int) {
	t.Helper()
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), `SELECT count(*) FROM lead_magnets WHERE account_id = $1`,
		account).Scan(&n))
	return n
}

// lapse makes every claim run out, as when its process died a while ago.
func lapse(t *testing.T, pool *postgres.Pool) {
	t.Helper()
	_, err := pool.Unscoped().Exec(t.Context(), `UPDATE idempotency_keys SET given_up_at = now() - interval '1 second'`)
	require.NoError(t, err)
}

func TestReplay(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)
	claim, before, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	require.Nil(t, before)

	_, _, err = s.Begin(t.Context(), request(id, "k", "a"))
	require.True(t, problem.Is(err, problem.Conflict), "one is at work: %v", err)
	_, _, err = s.Begin(t.Context(), request(id, "k", "b"))
	require.True(t, problem.Is(err, problem.ValidationError), "another request: %v", err)

	answer := Answer{Status: 201, Header: http.Header{"Location": {"/x"}}, Body: []byte(`{"id":"x"}`)}
	claim.Finish(t.Context(), answer)
	_, before, err = s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	require.Equal(t, &answer, before)
	_, _, err = s.Begin(t.Context(), request(id, "k", "b"))
	require.True(t, problem.Is(err, problem.ValidationError))

	// Another account, another operation, another key: nothing to do with it.
	for _, r := range []Request{request(account(t, pool), "k", "b"), {Account: id, Operation: "other", Key: "k",
		Timeout: timeout}, {Account: id, Operation: "make", Caller: "another", Key: "k", Timeout: timeout},
		request(id, "K", "b")} {
		claim, _, err := s.Begin(t.Context(), r)
		require.NoError(t, err)
		claim.Release(t.Context())
	}

	_, err = pool.Unscoped().Exec(t.Context(), `UPDATE idempotency_keys SET claimed_at = now() - interval '25 hours'`)
	require.NoError(t, err)
	claim, before, err = s.Begin(t.Context(), request(id, "k", "c"))
	require.NoError(t, err)
	require.Nil(t, before, "a day is over")
	claim.Release(t.Context())
}

func TestSecretIsNotKept(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)
	claim, _, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	claim.Finish(t.Context(), Answer{Status: 201, Body: []byte("lsk_secret"), Secret: true})
	_, before, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.Nil(t, before)
	require.True(t, problem.Is(err, problem.Conflict))
	var body []byte
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), `SELECT sealed FROM idempotency_keys`).Scan(&body))
	require.Nil(t, body)
}

// The database holds no answer in clear. One that cannot be opened is as good as lost, and its
// request is not run again.
func TestAnswersAreSealed(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)
	claim, _, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	claim.Finish(t.Context(), Answer{Status: 201, Header: http.Header{},
		Body: []byte("https://links.example.com/a/secret")})
	var row string
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), `SELECT k::text FROM idempotency_keys k`).Scan(&row))
	require.NotContains(t, row, hex.EncodeToString([]byte("secret")))

	tokens, err := token.NewKeys(2).Ring()
	require.NoError(t, err)
	_, before, err := New(Deps{Postgres: pool, Tokens: tokens, Log: slog.New(slog.DiscardHandler)}).Begin(t.Context(),
		request(id, "k", "a"))
	require.Nil(t, before)
	require.True(t, problem.Is(err, problem.Conflict), err)
	require.ErrorContains(t, err, "its answer was lost")
}

// A process that dies at any step leaves a claim that tells what to do.
func TestCrash(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)

	// Before the effect: the next one does it.
	_, _, err := s.Begin(t.Context(), request(id, "before", "a"))
	require.NoError(t, err)
	lapse(t, pool)
	claim, before, err := s.Begin(t.Context(), request(id, "before", "a"))
	require.NoError(t, err)
	require.Nil(t, before)
	require.NoError(t, effect(claim.Context(t.Context()), pool, id))
	require.Equal(t, 1, effects(t, pool, id))

	// After the effect: no request runs it again.
	lapse(t, pool)
	_, before, err = s.Begin(t.Context(), request(id, "before", "a"))
	require.Nil(t, before)
	require.True(t, problem.Is(err, problem.Conflict), err)
	require.ErrorContains(t, err, "took effect")

	// An effect that was rolled back is none.
	claim, _, err = s.Begin(t.Context(), request(id, "rolled back", "a"))
	require.NoError(t, err)
	ctx := claim.Context(t.Context())
	require.Error(t, pool.Account(ctx, id, func(pgx.Tx) error { return errors.New("no") }))
	claim.Release(t.Context())
	claim, _, err = s.Begin(t.Context(), request(id, "rolled back", "a"))
	require.NoError(t, err)

	// Released after an effect, because the operation failed then: not free either.
	require.NoError(t, effect(claim.Context(t.Context()), pool, id))
	claim.Release(t.Context())
	_, _, err = s.Begin(t.Context(), request(id, "rolled back", "a"))
	require.ErrorContains(t, err, "took effect")
}

// An owner that comes back after its claim was taken over cannot commit, and cannot answer.
func TestLateOwner(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)
	late, _, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	lapse(t, pool)
	next, _, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	err = effect(late.Context(t.Context()), pool, id)
	require.True(t, problem.Is(err, problem.Conflict), err)
	late.Release(t.Context())
	require.NoError(t, effect(next.Context(t.Context()), pool, id))
	next.Finish(t.Context(), Answer{Status: 201, Body: []byte("next")})
	late.Finish(t.Context(), Answer{Status: 201, Body: []byte("late")})
	_, before, err := s.Begin(t.Context(), request(id, "k", "a"))
	require.NoError(t, err)
	require.Equal(t, "next", string(before.Body))
	require.Equal(t, 1, effects(t, pool, id))
}

// Many at once, over HTTP-like handlers: one effect, and everybody gets its answer or a conflict.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)
	var created, conflicts, replays atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		claim, before, err := s.Begin(r.Context(), request(id, r.Header.Get("Idempotency-Key"), "a"))
		switch {
		case problem.Is(err, problem.Conflict):
			conflicts.Add(1)
		case err != nil:
			t.Error(err)
		case before != nil:
			replays.Add(1)
			_, _ = w.Write(before.Body)
		default:
			if err := effect(claim.Context(r.Context()), pool, id); err != nil {
				t.Error(err)
			}
			created.Add(1)
			claim.Finish(r.Context(), Answer{Status: 201, Body: []byte("created")})
		}
	})
	server := httptest.NewServer(handler)
	defer server.Close()
	for round := range 5 {
		var running sync.WaitGroup
		for range 20 {
			running.Go(func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, http.NoBody)
				if err != nil {
					t.Error(err)
					return
				}
				req.Header.Set("Idempotency-Key", fmt.Sprint(round))
				res, err := server.Client().Do(req)
				if err != nil {
					t.Error(err)
					return
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
			})
		}
		running.Wait()
	}
	require.EqualValues(t, 5, created.Load())
	require.EqualValues(t, 95, conflicts.Load()+replays.Load())
	require.Equal(t, 5, effects(t, pool, id))
}

func TestKeyForm(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"a", strings.Repeat("x", 255), `"quoted"`,
		"0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55", "with space"} {
		require.NoError(t, CheckKey(good))
	}
	for _, bad := range []string{"", strings.Repeat("x", 256), "a\x00", "a\tb", "é", "\x7f"} {
		require.True(t, problem.Is(CheckKey(bad), problem.InvalidParameter), "%q", bad)
	}
}

func FuzzCheckKey(f *testing.F) {
	f.Add("0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55")
	f.Add("a\x00")
	f.Fuzz(func(t *testing.T, key string) {
		if CheckKey(key) != nil {
			return
		}
		if len(key) == 0 || len(key) > MaxKey ||
			strings.ContainsFunc(key, func(r rune) bool { return r < 0x20 || r > 0x7e }) {
			t.Fatalf("%q passed", key)
		}
	})
}
