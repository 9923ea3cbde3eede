//go:build long

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// Every process works through PgBouncer in transaction mode, whose few connections to Postgres they
// share: events are stored and counted, and two accounts that change and list what they have at the
// same time see their own only.
func TestProcessesBehindPgBouncer(t *testing.T) {
	t.Parallel()
	kafka := enginetest.NewKafka(t, t.TempDir())
	require.NoError(t, kafka.Start(t.Context()))
	defer func() { require.NoError(t, kafka.Stop(context.WithoutCancel(t.Context()))) }()
	database := enginetest.Postgres(t)
	p := processes{t: t, dir: t.TempDir(), env: []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(kafka.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + enginetest.PgBouncer(t, database),
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.MigratedClickHouse(t).URL,
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(9).Keys,
		"LODESTONE_KAFKA_PARTITIONS=2",
	}}
	p.run("migrate")
	keys := []string{p.key(), p.key()}
	site, queries, events := freeAddress(t), freeAddress(t), freeAddress(t)
	p.serve("query", "LODESTONE_LISTEN="+queries)
	p.serve("crud", "LODESTONE_LISTEN="+site, "LODESTONE_QUERY_URL=http://"+queries)
	p.serve("collector", "LODESTONE_COLLECTOR_LISTEN="+events)
	p.serve("consumer")

	l := newLoad(t, client.New(client.Config{URL: "http://" + site, Key: keys[0]}), "http://"+events)
	l.start(4)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			api := client.New(client.Config{URL: "http://" + site, Key: keys[worker%len(keys)]})
			if err := exercise(t.Context(), api, worker%len(keys)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	l.awaitAcked(2_000)
	l.stop()
	l.requireAnswered("http://"+site, keys[0])
	require.Contains(t, p.run("verify"), "differences: 0")
	requireNoSessionState(t, database)
}

// exercise makes, changes, lists and deletes objects of one account, and fails on any object of
// another.
func exercise(ctx context.Context, api *client.Client, account int) error {
	own := fmt.Sprintf("Of account %d", account)
	for i := range 10 {
		magnet, err := api.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: own})
		if err != nil {
			return err
		}
		if _, err := api.CreateAccessLink(ctx, client.NewAccessLink{LeadMagnetID: magnet.ID,
			Email: fmt.Sprintf("%d@example.com", i)}); err != nil {
			return err
		}
		page, err := api.LeadMagnets(ctx, client.Paging{PerPage: 100})
		if err != nil {
			return err
		}
		found := false
		for _, m := range page.Data {
			if m.Title != own && (account != 0 || m.Title != "Load") {
				return errors.New(own + " sees " + m.Title)
			}
			found = found || m.ID == magnet.ID
		}
		if !found {
			return errors.New("a lead magnet is not in the list after it was created")
		}
	}
	return nil
}

// requireNoSessionState asserts that no connection of PgBouncer to Postgres kept what belongs to a
// session.
func requireNoSessionState(t *testing.T, database string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) }()
	var listening, locks, temporary int
	require.Eventually(t,
		func() bool { // the lock of a transaction that ends while Postgres counts may seem to be of an idle one
			require.NoError(t, conn.QueryRow(t.Context(), `SELECT
			(SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query ILIKE 'LISTEN%'),
			(SELECT count(*) FROM pg_locks l JOIN pg_stat_activity a USING (pid) WHERE l.locktype = 'advisory' AND a.datname = current_database() AND a.state = 'idle'),
			(SELECT count(*) FROM pg_class WHERE relpersistence = 't')`).Scan(&listening, &locks, &temporary))
			return listening+locks+temporary == 0
		}, 10*time.Second, interval)
	require.Zero(t, listening, "LISTEN over a pooled connection")
	require.Zero(t, locks, "an advisory lock of a session")
	require.Zero(t, temporary, "a temporary table")
}
