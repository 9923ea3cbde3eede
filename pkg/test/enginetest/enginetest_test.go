package enginetest_test

import (
	"context"
	"net/url"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestPostgresIsFreshForEachTest(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for range 2 {
		conn, err := pgx.Connect(ctx, enginetest.Postgres(t))
		require.NoError(t, err)
		_, err = conn.Exec(ctx, "CREATE TABLE the_same (a int)")
		require.NoError(t, err)
		require.NoError(t, conn.Close(ctx))
	}
}

func TestClickHouseIsFreshForEachTest(t *testing.T) {
	t.Parallel()
	for range 2 {
		options, err := clickhouse.ParseDSN(enginetest.ClickHouseDatabase(t))
		require.NoError(t, err)
		conn, err := clickhouse.Open(options)
		require.NoError(t, err)
		require.NoError(t, conn.Exec(context.Background(), "CREATE TABLE the_same (a Int8) ENGINE = MergeTree ORDER BY a"))
		require.NoError(t, conn.Close())
	}
}

func TestKafkaMakesTopicsOfFourPartitions(t *testing.T) {
	t.Parallel()
	requireTopic(t, enginetest.Kafka(t))
}

func requireTopic(t *testing.T, brokers []string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...))
	require.NoError(t, err)
	defer client.Close()
	admin, name := kadm.NewClient(client), "topic-"+uuid.NewString()
	_, err = admin.CreateTopic(t.Context(), -1, -1, nil, name)
	require.NoError(t, err)
	require.Eventually(t, func() bool { // the brokers know the topic shortly after
		topics, err := admin.ListTopics(t.Context(), name)
		return err == nil && len(topics[name].Partitions) == 4
	}, enginetest.Timeout, 50*time.Millisecond)
}

// A server that was stopped has its port for itself: no other copy of the same directory takes it.
func TestCopiesHavePortsOfTheirOwn(t *testing.T) {
	t.Parallel()
	_, first, stop := enginetest.RunPostgres(t)
	stop()
	_, second, _ := enginetest.RunPostgres(t)
	host := func(text string) string {
		u, err := url.Parse(text)
		require.NoError(t, err)
		return u.Host
	}
	require.NotEqual(t, host(first), host(second))
}
