package querytest

import (
	"context"
	"encoding/binary"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/scope"
)

// Alone returns a server of the test's own, and an account there that Fill has given so many
// events, beside another one with as many: for tests of what statements read, which depends on
// everything that is stored.
func Alone(t testing.TB, links, events int) (*scope.ClickHouse, uuid.UUID, FillResult) {
	t.Helper()
	server := enginetest.NewMigratedClickHouse(t, t.TempDir())
	enginetest.Run(t, server)
	c := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(context.Background(), c)
	require.NoError(t, err)
	// The same ids each time: which granules a Bloom filter leaves in, though a link has no event
	// there, depends on them.
	var last uint64
	id := func() (id uuid.UUID) {
		last++
		binary.BigEndian.PutUint64(id[8:], last)
		return id
	}
	conn, account := enginetest.Open(t, c), id()
	filled := fill(t, conn, account, links, events, id)
	fill(t, conn, id(), links, events, id)
	return scopedTo(t, c), account, filled
}

// RowsRead runs a statement for an account and returns how many rows the server read for it, of
// tables and projections.
func RowsRead(t testing.TB, ch *scope.ClickHouse, account uuid.UUID, s scope.Statement) (rows uint64) {
	t.Helper()
	ctx := native.Context(context.Background(), native.WithProgress(func(p *native.Progress) { rows += p.Rows }))
	require.NoError(t, ch.Query(ctx, account, s, func(scope.Row) error { return nil }))
	return rows
}
