package collector_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"lukechampine.com/blake3"

	"lodestone/ingest/collector"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

// Whoever has a dump of Postgres and the hashes that the API shows cannot go back to the addresses. Whoever has the salt can,
// so the attack of this test works.
func TestADumpOfPostgresReversesNoAddress(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	require.Equal(t, 202, s.post(t, s.event()).status)
	stored := s.stored(t)
	require.NotZero(t, stored.IPHash)
	attack := func(dump []byte) (netip.Addr, bool) { return reverse(dump, stored.IPHash, stored.AccountID) }

	dumped := dump(t, s.database)
	require.Contains(t, string(dumped), now.Format(time.DateOnly), "the row of the day is in the dump")
	_, found := attack(dumped)
	require.False(t, found)

	// The same row as it would be without the encryption.
	var sealed []byte
	require.NoError(t, s.database.Unscoped().QueryRow(t.Context(), "SELECT sealed FROM ip_salts WHERE day = $1", now).Scan(&sealed))
	opened, err := s.ring.Open("salts of the address hash", sealed, []byte(now.Format(time.DateOnly)))
	require.NoError(t, err)
	_, err = s.database.Unscoped().Exec(t.Context(), "CREATE TABLE leak AS SELECT $1::bytea AS salt", opened)
	require.NoError(t, err)
	addr, found := attack(dump(t, s.database))
	require.True(t, found)
	require.Equal(t, "127.0.0.1", addr.String())
}

// dump returns the rows of all tables, as pg_dump writes them.
func dump(t *testing.T, pool *postgres.Pool) []byte {
	t.Helper()
	conn, err := pool.Unscoped().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	rows, err := conn.Query(t.Context(), `SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Contains(t, tables, "public.ip_salts")
	var out bytes.Buffer
	for _, table := range tables {
		_, err := conn.Conn().PgConn().CopyTo(t.Context(), &out, "COPY "+table+" TO STDOUT")
		require.NoError(t, err)
	}
	return out.Bytes()
}

// reverse tries everything in a dump that is as long as a salt on every address of the network 127.0.0.0/24.
func reverse(dump []byte, want [16]byte, account uuid.UUID) (netip.Addr, bool) {
	const saltBytes = 32
	texts := [][]byte{dump}
	for _, field := range bytes.FieldsFunc(dump, func(r rune) bool { return r == '\t' || r == '\n' }) {
		if digits, isBytes := bytes.CutPrefix(field, []byte(`\\x`)); isBytes {
			if decoded, err := hex.DecodeString(string(digits)); err == nil {
				texts = append(texts, decoded)
			}
		}
	}
	tried := map[[saltBytes]byte]bool{}
	for _, text := range texts {
		for i := 0; i+saltBytes <= len(text); i++ {
			salt := [saltBytes]byte(text[i : i+saltBytes])
			if tried[salt] {
				continue
			}
			tried[salt] = true
			for last := range 256 {
				addr := netip.AddrFrom4([4]byte{127, 0, 0, byte(last)})
				full := addr.As16()
				h := blake3.New(len(want), salt[:])
				_, _ = h.Write(account[:])
				_, _ = h.Write(full[:])
				if [16]byte(h.Sum(nil)) == want {
					return addr, true
				}
			}
		}
	}
	return netip.Addr{}, false
}

// A new first token key loses no salt, as long as the key before it is kept.
func TestTokenKeysRotateWithoutLosingTheSalt(t *testing.T) {
	t.Parallel()
	pool := newDatabase(t)
	old, fresh := token.NewKeys(1).Keys, token.NewKeys(2).Keys
	withKeys := func(keys string) (*collector.Salts, *lockedBuffer) {
		ring, err := token.Config{Keys: keys}.Ring()
		require.NoError(t, err)
		log := &lockedBuffer{}
		s, err := collector.NewSalts(pool, ring, newClock(noon).now, slog.New(slog.NewTextHandler(log, nil)), prometheus.NewRegistry())
		require.NoError(t, err)
		require.NoError(t, s.Refresh(t.Context()))
		return s, log
	}
	before, _ := withKeys(old)
	rotated, _ := withKeys(fresh + "," + old)
	require.Equal(t, hash(t, before, oneID, anna, noon), hash(t, rotated, oneID, anna, noon))

	// Without it the salt cannot be decrypted. It stays for the others, and nothing is hashed under another one.
	without, log := withKeys(fresh)
	_, ok := without.Hash(oneID, anna, noon)
	require.False(t, ok)
	require.NoError(t, without.Refresh(t.Context()))
	require.Equal(t, 2, strings.Count(log.String(), "cannot be decrypted"), "once for today and once for tomorrow")
	require.NoError(t, before.Refresh(t.Context()))
	require.Equal(t, hash(t, before, oneID, anna, noon), hash(t, rotated, oneID, anna, noon))

	// A collector that has the salt in memory goes on with it, whoever wrote the row.
	_, err := pool.Unscoped().Exec(t.Context(), "TRUNCATE ip_salts") // as after a crash of Postgres
	require.NoError(t, err)
	require.NoError(t, rotated.Refresh(t.Context()))
	require.NoError(t, before.Refresh(t.Context()), "sealed under a key that it does not have")
	require.Equal(t, hash(t, rotated, oneID, anna, noon), hash(t, before, oneID, anna, noon))
}

// The upgrade leaves no salt in clear behind.
func TestSaltsInClearAreDestroyedByTheUpgrade(t *testing.T) {
	t.Parallel()
	pool := newDatabase(t)
	rows, err := pool.Unscoped().Query(context.Background(), "SELECT column_name::text FROM information_schema.columns WHERE table_name = 'ip_salts' ORDER BY 1")
	require.NoError(t, err)
	columns, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"day", "sealed"}, columns)
	_, err = pool.Unscoped().Exec(context.Background(), "INSERT INTO ip_salts (day, sealed) VALUES ('2026-03-14', $1)", fmt.Appendf(nil, "%032d", 0))
	require.Error(t, err, "what is not encrypted is too short")
}
