//go:build long

package clickhouse_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// Rows from before the column stored_at count as stored when they were received.
func TestRowsOfTheFirstSchemaWereStoredWhenTheyWereReceived(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	server := enginetest.NewMigratedClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, server)
	config := clickhouse.Config{URL: server.URL()}
	o, err := config.Options()
	require.NoError(t, err)
	db := native.OpenDB(o)
	provider, err := goose.NewProvider(goose.DialectClickHouse, db, os.DirFS("migrations"))
	require.NoError(t, err)
	_, err = provider.DownTo(ctx, 1)
	require.NoError(t, err)
	require.NoError(t, db.Close())
	conn := enginetest.Open(t, config)
	account := uuid.New()
	insert := fmt.Sprintf("INSERT INTO lodestone.events (account_id, event_type, kafka_offset, received_at) VALUES ('%s', 'page_viewed', %%d, '2026-03-01 00:00:00.123')", account)
	require.NoError(t, conn.Exec(ctx, fmt.Sprintf(insert, 1)))

	_, err = clickhouse.Migrate(ctx, config)
	require.NoError(t, err)
	require.NoError(t, conn.Exec(ctx, fmt.Sprintf(insert, 2)))
	require.Equal(t, []string{"1 old 1", "2 new 0"}, texts(t, conn, fmt.Sprintf(`SELECT concat(toString(kafka_offset), ' ',
		if(stored_at = received_at, 'old', if(abs(stored_at - now64(3)) < 600, 'new', 'wrong')), ' ', toString(stored_at = received_at))
		FROM lodestone.events WHERE account_id = '%s' ORDER BY kafka_offset`, account)))
}
