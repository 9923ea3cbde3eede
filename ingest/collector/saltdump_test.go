package collector_test

import (
	"bytes"
	"encoding/hex"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"lukechampine.com/blake3"

	"lodestone/ingest/collector"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
)

// Whoever has a dump of Postgres and the hashes that the API shows cannot go back to the addresses.
// Whoever has the salt can, so the attack of this test works.
func TestADumpOfPostgresReversesNoAddress(t *testing.T) {
	t.Parallel()
	ring, err := keys()
	require.NoError(t, err)
	database := enginetest.MigratedPostgres(t)
	salts := newSalts(t, ring, database)
	s := newStack(t, func(_ *collector.Config, d *collector.Deps) { d.Addresses = salts })
	require.Equal(t, 202, s.post(t, s.event()).status)
	stored := s.stored(t)
	require.NotZero(t, stored.IPHash)
	attack := func(dump []byte) (netip.Addr, bool) { return reverse(dump, stored.IPHash, stored.AccountID) }

	dumped := dump(t, database)
	require.Contains(t, string(dumped), now.Format(time.DateOnly), "the row of the day is in the dump")
	_, found := attack(dumped)
	require.False(t, found)

	// The same row as it would be without the encryption.
	var sealed []byte
	require.NoError(t, database.Unscoped().QueryRow(t.Context(),
		"SELECT sealed FROM ip_salts WHERE day = $1", now).Scan(&sealed))
	opened, err := ring.Open("salts of the address hash", sealed, []byte(now.Format(time.DateOnly)))
	require.NoError(t, err)
	_, err = database.Unscoped().Exec(t.Context(), "CREATE TABLE leak AS SELECT $1::bytea AS salt", opened)
	require.NoError(t, err)
	addr, found := attack(dump(t, database))
	require.True(t, found)
	require.Equal(t, "127.0.0.1", addr.String())
}

// dump returns the rows of all tables, as pg_dump writes them.
func dump(t *testing.T, pool *postgres.Pool) []byte {
	t.Helper()
	conn, err := pool.Unscoped().Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	rows, err := conn.Query(t.Context(),
		`SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`)
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

// reverse tries everything in a dump that is as long as a salt on every address of the network
// 127.0.0.0/28.
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
			for last := range 16 {
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
