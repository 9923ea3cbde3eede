package auth

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestKeyForm(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for range 1000 {
		k := NewKey()
		require.Regexp(t, `^lsk_[0-9A-Za-z]{32}[0-9A-Za-z]{6}$`, k.Text)
		require.True(t, strings.HasPrefix(k.Text, k.Prefix))
		require.Len(t, k.Prefix, 12)
		require.True(t, wellFormed(k.Text))
		require.False(t, seen[k.Text])
		seen[k.Text] = true
	}
	// Fixed for ever: keys that were given out have to go on working.
	require.True(t, wellFormed("lsk_0123456789ABCDEFGHIJKLMNOPQRSTUV"+checksum("0123456789ABCDEFGHIJKLMNOPQRSTUV")))
	require.Equal(t, "1ggZdL", checksum("0123456789ABCDEFGHIJKLMNOPQRSTUV"))
}

func TestMistypedKey(t *testing.T) {
	t.Parallel()
	text := NewKey().Text
	for i := range text {
		for _, c := range []byte("0aZ-_ \x00\xff") {
			wrong := []byte(text)
			if wrong[i] == c {
				continue
			}
			wrong[i] = c
			require.False(t, wellFormed(string(wrong)), "%q", wrong)
		}
	}
	for _, wrong := range []string{"", "lsk_", text[4:], text + "0", text[:len(text)-1], strings.ToLower(text),
		" " + text, "lsk_" + text} {
		require.False(t, wellFormed(wrong), wrong)
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add(NewKey().Text)
	f.Fuzz(func(_ *testing.T, text string) { wellFormed(text) })
}

// clock is a time that stands still until it is moved.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func open(t testing.TB) (*Verifier, *postgres.Pool, *clock) {
	t.Helper()
	db := enginetest.MigratedPostgres(t)
	v := NewVerifier(db, slog.New(slog.DiscardHandler))
	c := &clock{at: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	v.now = c.now
	return v, db, c
}

func makeKey(t testing.TB, db *postgres.Pool, scopes ...string) (Key, Identity) {
	t.Helper()
	i := Identity{AccountID: uuid.New(), KeyID: uuid.New()}
	for _, s := range scopes {
		i.Scopes = append(i.Scopes, Scope(s))
	}
	k := NewKey()
	_, err := db.Unscoped().Exec(t.Context(), "INSERT INTO accounts (id, name, plan) VALUES ($1, 'x', 'free')",
		i.AccountID)
	require.NoError(t, err)
	_, err = db.Unscoped().Exec(t.Context(),
		"INSERT INTO api_keys (id, account_id, name, prefix, hash, scopes) VALUES ($1, $2, 'x', $3, $4, $5)",
		i.KeyID, i.AccountID, k.Prefix, k.Hash[:], scopes)
	require.NoError(t, err)
	return k, i
}

func TestVerify(t *testing.T) {
	t.Parallel()
	v, db, _ := open(t)
	k, want := makeKey(t, db, "read", "write")
	for range 2 { // from Postgres, then from memory
		got, err := v.Verify(t.Context(), k.Text)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	require.True(t, want.Has(Read) && want.Has(Write))
	_, reader := makeKey(t, db, "read")
	require.False(t, reader.Has(Write))
	for _, bad := range []string{"", "x", NewKey().Text, k.Text + "0"} {
		_, err := v.Verify(t.Context(), bad)
		require.True(t, IsInvalid(err))
	}
}

// A key that was just used is refused at the latest a second after it was revoked.
func TestRevocationTakesEffect(t *testing.T) {
	t.Parallel()
	v, db, c := open(t)
	k, i := makeKey(t, db, "read")
	_, err := v.Verify(t.Context(), k.Text)
	require.NoError(t, err)
	_, err = db.Unscoped().Exec(t.Context(), "UPDATE api_keys SET revoked_at = now() WHERE id = $1", i.KeyID)
	require.NoError(t, err)
	c.move(time.Second)
	_, err = v.Verify(t.Context(), k.Text)
	require.True(t, IsInvalid(err))
}

func TestLookUpFails(t *testing.T) {
	t.Parallel()
	v, db, c := open(t)
	k, _ := makeKey(t, db, "read")
	_, err := v.Verify(t.Context(), k.Text)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c.move(time.Second)
	_, err = v.Verify(ctx, k.Text)
	require.Error(t, err)
	require.False(t, IsInvalid(err))
}

// Uses are written down together, and once more at the end.
func TestLastUse(t *testing.T) {
	t.Parallel()
	v, db, c := open(t)
	first, a := makeKey(t, db, "read")
	second, b := makeKey(t, db, "read")
	v.every, v.last = time.Hour, time.Minute // a busy machine takes its time
	require.NoError(t, v.Start(t.Context()))
	for range 3 {
		for _, k := range []Key{first, second} {
			_, err := v.Verify(t.Context(), k.Text)
			require.NoError(t, err)
		}
		c.move(200 * time.Millisecond)
	}
	var noted int
	require.NoError(t, db.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM api_keys WHERE last_used_at IS NOT NULL").Scan(&noted))
	require.Zero(t, noted, "no request waits for such a write")
	require.NoError(t, v.Stop(t.Context()))
	for _, id := range []uuid.UUID{a.KeyID, b.KeyID} {
		var at time.Time
		require.NoError(t, db.Unscoped().QueryRow(t.Context(), "SELECT last_used_at FROM api_keys WHERE id = $1",
			id).Scan(&at))
		require.Equal(t, "2026-01-02T03:04:05.4Z", at.UTC().Format(time.RFC3339Nano))
	}
}

func TestCacheIsBounded(t *testing.T) {
	t.Parallel()
	v, db, _ := open(t)
	for n := range cacheSize {
		v.cache[[32]byte{byte(n), byte(n >> 8)}] = cacheEntry{}
	}
	k, _ := makeKey(t, db, "read")
	_, err := v.Verify(t.Context(), k.Text)
	require.NoError(t, err)
	require.LessOrEqual(t, len(v.cache), cacheSize)
}

func TestContext(t *testing.T) {
	t.Parallel()
	i := Identity{AccountID: uuid.New()}
	require.Equal(t, i, From(NewContext(t.Context(), i)))
	require.Panics(t, func() { From(t.Context()) })
}

// Who presents keys that do not exist over and over has to wait, without Postgres being asked; keys
// that worked before go on working from there, and other addresses are not touched.
func TestUnknownKeysAreCounted(t *testing.T) {
	t.Parallel()
	v, db, c := open(t)
	good, identity := makeKey(t, db, "read")
	fresh, _ := makeKey(t, db, "read")
	guesser := NewClientContext(t.Context(), netip.MustParseAddr("2001:db8::1"))
	neighbour := NewClientContext(t.Context(), netip.MustParseAddr("2001:db8::2"))
	other := NewClientContext(t.Context(), netip.MustParseAddr("203.0.113.1"))
	_, err := v.Verify(guesser, good.Text)
	require.NoError(t, err)
	unseen := NewKey().Text
	for range 2 * maxUnknown { // the same over and over counts once
		_, err = v.Verify(guesser, unseen)
		require.True(t, IsInvalid(err))
	}
	for range maxUnknown - 1 {
		_, err = v.Verify(guesser, NewKey().Text)
		require.True(t, IsInvalid(err))
	}
	for _, ctx := range []context.Context{guesser, neighbour} {
		_, err = v.Verify(ctx, NewKey().Text)
		require.True(t, problem.Is(err, problem.RateLimited), "%v", err)
		require.Equal(t, "1", problem.From(err).Header().Get("Retry-After"))
	}
	_, err = v.Verify(guesser, fresh.Text)
	require.True(t, problem.Is(err, problem.RateLimited), "it is not known here yet")
	got, err := v.Verify(guesser, good.Text)
	require.NoError(t, err)
	require.Equal(t, identity, got)
	_, err = v.Verify(other, NewKey().Text)
	require.True(t, IsInvalid(err))
	_, err = v.Verify(other, fresh.Text)
	require.NoError(t, err)
	c.move(time.Minute)
	_, err = v.Verify(guesser, NewKey().Text)
	require.True(t, IsInvalid(err))
	_, err = v.Verify(t.Context(), NewKey().Text)
	require.True(t, IsInvalid(err), "an address that is not known is not counted")
}

// The memory of unknown keys is bounded.
func TestUnknownKeysAreForgotten(t *testing.T) {
	t.Parallel()
	v, _, c := open(t)
	for range cacheSize + 10 {
		v.forget(hashKey(NewKey().Text), c.now())
	}
	require.LessOrEqual(t, len(v.unknown), cacheSize)
}

// A key is refused as soon as it expires, even if it was looked up just before.
func TestExpiry(t *testing.T) {
	t.Parallel()
	v, db, c := open(t)
	k, i := makeKey(t, db, "read")
	expire := func(sql string) {
		_, err := db.Unscoped().Exec(t.Context(),
			"UPDATE api_keys SET expires_at = clock_timestamp() + $2::interval WHERE id = $1", i.KeyID, sql)
		require.NoError(t, err)
	}
	expire("1 hour")
	_, err := v.Verify(t.Context(), k.Text)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // on a busy machine the key may have expired before it is looked up
		c.move(unknownFor)
		expire("0.4 seconds")
		_, err := v.Verify(t.Context(), k.Text)
		return err == nil
	}, enginetest.Timeout, time.Millisecond)
	require.LessOrEqual(t, v.cache[hashKey(k.Text)].until.Sub(c.now()), 401*time.Millisecond)
	expire("-1 second")
	c.move(401 * time.Millisecond)
	_, err = v.Verify(t.Context(), k.Text)
	require.True(t, IsInvalid(err))
}
