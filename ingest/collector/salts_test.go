package collector_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// clock is a time that the test sets.
type clock struct{ at atomic.Pointer[time.Time] }

func newClock(at time.Time) *clock {
	c := &clock{}
	c.set(at)
	return c
}

func (c *clock) set(at time.Time) { c.at.Store(&at) }
func (c *clock) now() time.Time   { return *c.at.Load() }

var (
	anna  = netip.MustParseAddr("203.0.113.1")
	bert  = netip.MustParseAddr("203.0.113.2")
	noon  = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	oneID = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")
)

func hashOf(t testing.TB, s *collector.Salts, account uuid.UUID, addr netip.Addr, at time.Time) [16]byte {
	t.Helper()
	h, ok := s.Hash(account, addr, at)
	require.True(t, ok)
	require.NotZero(t, h)
	return h
}

func saltDays(t testing.TB, pool *postgres.Pool) []string {
	t.Helper()
	rows, err := pool.Unscoped().Query(context.Background(), "SELECT day::text FROM ip_salts ORDER BY day")
	require.NoError(t, err)
	defer rows.Close()
	var list []string
	for rows.Next() {
		var day string
		require.NoError(t, rows.Scan(&day))
		list = append(list, day)
	}
	require.NoError(t, rows.Err())
	return list
}

func TestHash(t *testing.T) {
	t.Parallel()
	s := newSaltsAt(t, enginetest.MigratedPostgres(t), newClock(noon).now)
	runSalts(t, s, noon)
	h := hashOf(t, s, oneID, anna, noon)
	require.Equal(t, h, hashOf(t, s, oneID, anna, noon.Add(11*time.Hour)), "the same within a day")
	require.Equal(t, h, hashOf(t, s, oneID, netip.MustParseAddr("::ffff:203.0.113.1"), noon), "the same in IPv6 form")
	require.Equal(t, h, hashOf(t, s, oneID, anna, noon.In(time.FixedZone("", 14*3600))), "days are UTC's")
	require.NotEqual(t, h, hashOf(t, s, oneID, bert, noon), "another visitor")
	require.NotEqual(t, h, hashOf(t, s, uuid.New(), anna, noon), "another account")
	require.NotEqual(t, h, hashOf(t, s, oneID, anna, noon.Add(12*time.Hour)), "another day")
	_, ok := s.Hash(oneID, anna, noon.Add(36*time.Hour))
	require.False(t, ok)
}

func TestCollectorsShareSalts(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	a, b := newSaltsAt(t, pool, newClock(noon).now), newSaltsAt(t, pool, newClock(noon).now)
	runSalts(t, a, noon)
	runSalts(t, b, noon)
	require.Equal(t, hashOf(t, a, oneID, anna, noon), hashOf(t, b, oneID, anna, noon))
	other := newSaltsAt(t, enginetest.MigratedPostgres(t), newClock(noon).now)
	runSalts(t, other, noon)
	require.NotEqual(t, hashOf(t, a, oneID, anna, noon), hashOf(t, other, oneID, anna, noon), "salts are random")
}

func TestSaltsRotateAndAreDestroyed(t *testing.T) {
	t.Parallel()
	pool, c := enginetest.MigratedPostgres(t), newClock(noon)
	s := newSaltsAt(t, pool, c.now)
	refresh := func(at time.Time) {
		c.set(at)
		require.NoError(t, s.Refresh(context.Background()))
	}
	refresh(noon)
	require.Equal(t, []string{"2026-03-14", "2026-03-15"}, saltDays(t, pool))
	first := hashOf(t, s, oneID, anna, noon)
	second := hashOf(t, s, oneID, anna, noon.Add(24*time.Hour))

	refresh(noon.Add(12 * time.Hour)) // midnight: tomorrow's salt, fetched before, is today's
	require.Equal(t, []string{"2026-03-14", "2026-03-15", "2026-03-16"}, saltDays(t, pool))
	require.Equal(t, first, hashOf(t, s, oneID, anna, noon))
	require.Equal(t, second, hashOf(t, s, oneID, anna, noon.Add(24*time.Hour)))

	refresh(noon.Add(36*time.Hour - time.Millisecond)) // just before 48 h after the day began
	require.Contains(t, saltDays(t, pool), "2026-03-14")
	refresh(noon.Add(36 * time.Hour))
	require.Equal(t, []string{"2026-03-15", "2026-03-16", "2026-03-17"}, saltDays(t, pool))
	_, ok := s.Hash(oneID, anna, noon)
	require.False(t, ok, "forgotten in memory, too")
}

func TestFastClockDestroysNothingOfOthers(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	real := time.Now()
	good, fast := newSaltsAt(t, pool, newClock(real).now), newSaltsAt(t, pool, newClock(real.AddDate(1, 0, 0)).now)
	require.NoError(t, good.Refresh(context.Background()))
	h := hashOf(t, good, oneID, anna, real)
	require.NoError(t, fast.Refresh(context.Background()))
	require.NoError(t, good.Refresh(context.Background()))
	require.Equal(t, h, hashOf(t, good, oneID, anna, real))
}

func TestSaltsSurviveThatTheTableIsEmptied(t *testing.T) {
	t.Parallel()
	pool, c := enginetest.MigratedPostgres(t), newClock(noon)
	s := newSaltsAt(t, pool, c.now)
	require.NoError(t, s.Refresh(context.Background()))
	c.set(noon.Add(24 * time.Hour))
	require.NoError(t, s.Refresh(context.Background()))
	before := [][16]byte{hashOf(t, s, oneID, anna, noon), hashOf(t, s, oneID, anna, noon.Add(24*time.Hour)),
		hashOf(t, s, oneID, anna, noon.Add(48*time.Hour))}
	_, err := pool.Unscoped().Exec(context.Background(), "TRUNCATE ip_salts") // what a crash of Postgres does
	require.NoError(t, err)
	require.NoError(t, s.Refresh(context.Background()))
	other := newSaltsAt(t, pool, c.now)
	require.NoError(t, other.Refresh(context.Background()))
	for i, want := range before {
		at := noon.Add(time.Duration(i) * 24 * time.Hour)
		require.Equal(t, want, hashOf(t, s, oneID, anna, at))
		require.Equal(t, want, hashOf(t, other, oneID, anna, at))
	}
}

func TestSaltsGoOnWithoutPostgres(t *testing.T) {
	t.Parallel()
	server := enginetest.NewPostgres(t, enginetest.Dir(t))
	ctx := context.Background()
	stop := enginetest.Run(t, server)
	pool := enginetest.PostgresPool(t, server.URL())
	_, err := pool.Migrate(ctx)
	require.NoError(t, err)
	c := newClock(noon)
	s := newSaltsAt(t, pool, c.now)
	require.NoError(t, s.Refresh(ctx))
	first, second := hashOf(t, s, oneID, anna, noon), hashOf(t, s, oneID, anna, noon.Add(24*time.Hour))
	stop()
	require.Error(t, s.Refresh(ctx))
	require.Equal(t, first, hashOf(t, s, oneID, anna, noon))
	c.set(noon.Add(24 * time.Hour))
	require.Error(t, s.Refresh(ctx))
	require.Equal(t, second, hashOf(t, s, oneID, anna, noon.Add(24*time.Hour)))
	c.set(noon.Add(48 * time.Hour))
	require.Error(t, s.Refresh(ctx))
	_, ok := s.Hash(oneID, anna, noon)
	require.False(t, ok, "destroyed in time, also without Postgres")
}

// A collector that is started while Postgres is away does its work, and has a salt soon after it is
// back.
func TestSaltsStartWithoutPostgres(t *testing.T) {
	t.Parallel()
	address, err := url.Parse(enginetest.MigratedPostgresURL(t))
	require.NoError(t, err)
	network := newCuttable(t, address.Host)
	network.set(true)
	address.Host = network.Addr().String()
	pool := enginetest.PostgresPool(t, address.String())
	var log enginetest.Log
	keys, err := saltKeys()
	require.NoError(t, err)
	s, err := collector.NewSalts(collector.SaltsDeps{Postgres: pool, Tokens: keys, Now: time.Now,
		Log: slog.New(slog.NewTextHandler(&log, nil)), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	enginetest.Run(t, s)
	_, ok := s.Hash(oneID, anna, time.Now())
	require.False(t, ok)
	require.Contains(t, log.String(), "cannot refresh the salts")
	require.Contains(t, log.String(), "starting without a salt")
	password, _ := address.User.Password()
	require.NotContains(t, log.String(), password)
	network.set(false)
	require.Eventually(t, func() bool {
		_, ok := s.Hash(oneID, anna, time.Now())
		return ok
	}, waitLimit, 20*time.Millisecond)
}

// cuttable is a network between a collector and Postgres that a test can cut.
type cuttable struct {
	net.Listener
	mu    sync.Mutex
	to    string
	cut   bool
	conns []net.Conn
}

func newCuttable(t *testing.T, to string) *cuttable {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	n := &cuttable{Listener: l, to: to}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			in, err := n.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", n.to)
			n.mu.Lock()
			if err != nil || n.cut {
				_ = in.Close()
				if err == nil {
					_ = out.Close()
				}
				n.mu.Unlock()
				continue
			}
			n.conns = append(n.conns, in, out)
			n.mu.Unlock()
			wait.Go(func() { _, _ = io.Copy(out, in); _ = out.Close() })
			wait.Go(func() { _, _ = io.Copy(in, out); _ = in.Close() })
		}
	})
	t.Cleanup(func() {
		_ = n.Close()
		n.set(true)
		wait.Wait()
	})
	return n
}

func (n *cuttable) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cut = cut
	for _, c := range n.conns {
		_ = c.Close()
	}
	n.conns = nil
}

// Postgres is away for hours over midnight: the day's salt was fetched before. When it is back, the
// collectors still agree, and what became too old meanwhile is destroyed there as well.
func TestSaltsThroughAnOutageOverMidnight(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	address, err := url.Parse(enginetest.MigratedPostgresURL(t))
	require.NoError(t, err)
	direct := enginetest.PostgresPool(t, address.String())
	network := newCuttable(t, address.Host)
	address.Host = network.Addr().String()
	pool := enginetest.PostgresPool(t, address.String())

	c := newClock(noon)
	cutOff, other := newSaltsAt(t, pool, c.now), newSaltsAt(t, direct, c.now)
	require.NoError(t, cutOff.Refresh(ctx))
	require.NoError(t, other.Refresh(ctx))
	network.set(true)
	c.set(noon.Add(18 * time.Hour))
	require.Error(t, cutOff.Refresh(ctx))
	require.NoError(t, other.Refresh(ctx))
	require.Equal(t, hashOf(t, other, oneID, anna, c.now()), hashOf(t, cutOff, oneID, anna, c.now()),
		"both knew the salt before midnight")
	network.set(false)
	require.NoError(t, cutOff.Refresh(ctx))
	tomorrow := c.now().Add(24 * time.Hour)
	require.Equal(t, hashOf(t, other, oneID, anna, tomorrow), hashOf(t, cutOff, oneID, anna, tomorrow))

	network.set(true)
	c.set(noon.Add(36 * time.Hour)) // 48 h after the first day began
	require.Error(t, cutOff.Refresh(ctx))
	_, ok := cutOff.Hash(oneID, anna, noon)
	require.False(t, ok, "destroyed here, with Postgres away")
	require.Contains(t, saltDays(t, direct), "2026-03-14", "it could not be destroyed there yet")
	network.set(false)
	require.NoError(t, cutOff.Refresh(ctx))
	require.Equal(t, []string{"2026-03-15", "2026-03-16", "2026-03-17"}, saltDays(t, direct))
}

// A new first token key loses no salt, as long as the key before it is kept.
func TestTokenKeysRotateWithoutLosingTheSalt(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	old, fresh := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	withKeys := func(keys string) (*collector.Salts, *enginetest.Log) {
		ring, err := token.Config{Keys: keys}.Ring()
		require.NoError(t, err)
		log := &enginetest.Log{}
		s, err := collector.NewSalts(collector.SaltsDeps{Postgres: pool, Tokens: ring, Now: newClock(noon).now,
			Log: slog.New(slog.NewTextHandler(log, nil)), Registerer: prometheus.NewRegistry()})
		require.NoError(t, err)
		require.NoError(t, s.Refresh(t.Context()))
		return s, log
	}
	before, _ := withKeys(old)
	rotated, _ := withKeys(fresh + "," + old)
	require.Equal(t, hashOf(t, before, oneID, anna, noon), hashOf(t, rotated, oneID, anna, noon))

	// Without it the salt cannot be decrypted. It stays for the others, and nothing is hashed under
	// another one.
	without, log := withKeys(fresh)
	_, ok := without.Hash(oneID, anna, noon)
	require.False(t, ok)
	require.NoError(t, without.Refresh(t.Context()))
	require.Equal(t, 2, strings.Count(log.String(), "cannot be decrypted"), "once for today and once for tomorrow")
	require.NoError(t, before.Refresh(t.Context()))
	require.Equal(t, hashOf(t, before, oneID, anna, noon), hashOf(t, rotated, oneID, anna, noon))

	// A collector that has the salt in memory goes on with it, whoever wrote the row.
	_, err := pool.Unscoped().Exec(t.Context(), "TRUNCATE ip_salts") // as after a crash of Postgres
	require.NoError(t, err)
	require.NoError(t, rotated.Refresh(t.Context()))
	require.NoError(t, before.Refresh(t.Context()), "sealed under a key that it does not have")
	require.Equal(t, hashOf(t, rotated, oneID, anna, noon), hashOf(t, before, oneID, anna, noon))
}

// The upgrade leaves no salt in clear behind.
func TestSaltsInClearAreDestroyedByTheUpgrade(t *testing.T) {
	t.Parallel()
	pool := enginetest.MigratedPostgres(t)
	rows, err := pool.Unscoped().Query(context.Background(),
		"SELECT column_name::text FROM information_schema.columns WHERE table_name = 'ip_salts' ORDER BY 1")
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"day", "sealed"}, columns)
	_, err = pool.Unscoped().Exec(context.Background(), "INSERT INTO ip_salts (day, sealed) VALUES ('2026-03-14', $1)",
		fmt.Appendf(nil, "%032d", 0))
	require.Error(t, err, "what is not encrypted is too short")
}
