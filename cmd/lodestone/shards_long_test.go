//go:build long

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// An installation of two shards answers every question exactly as one server with the same rows
// does: each report, list and file of the API, and each view of the SQL user. What it stores is
// verified, also with dead letters of partitions of both shards, and a person who is erased is
// blank on both.
func TestTwoShardsAnswerAsOne(t *testing.T) {
	t.Parallel()
	broker := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, broker)
	shards, database := enginetest.NewShards(t, 2), enginetest.Postgres(t)
	common := []string{"LODESTONE_KAFKA_BROKERS=" + strings.Join(broker.Brokers(), ","), "LODESTONE_KAFKA_PARTITIONS=4",
		"LODESTONE_TOKEN_KEYS=" + token.NewKeys(9).Keys}
	p := processes{t: t, dir: t.TempDir(), env: append([]string{
		"LODESTONE_POSTGRES_URL=" + database,
		"LODESTONE_CLICKHOUSE_URL=" + shards.Config.URL,
		"LODESTONE_CLICKHOUSE_SHARDS=" + shards.Config.Shards,
		"LODESTONE_ERASURE_INTERVAL=1s", "LODESTONE_ERASURE_LOG=" + filepath.Join(t.TempDir(), "erasures"),
		"LODESTONE_LIMIT_ANALYTICS_PER_MINUTE=1000", "LODESTONE_LIMIT_ANALYTICS_QUERY_PER_MINUTE=1000",
	}, common...)}
	p.run("migrate")
	account := p.run("account", "create", "--name", "Test", "--plan", "team")
	_, key, _ := strings.Cut(p.run("key", "create", "--account", account, "--scopes",
		"read,write,leads,people,people:privacy"), "key: ")
	site, queries, events := freeAddress(t), freeAddress(t), freeAddress(t)
	twin := p.serve("query", "LODESTONE_LISTEN="+queries, "LODESTONE_CLICKHOUSE_HTTP_URL="+shards.Servers[0].HTTPURL())
	crud := p.serve("crud", "LODESTONE_LISTEN="+site, "LODESTONE_QUERY_URL=http://"+queries)
	consumer := p.serve("consumer")
	collector := p.serve("collector", "LODESTONE_COLLECTOR_LISTEN="+events)

	// The demo compares by itself what it wrote with what the API and SQL answer.
	past := p.run("demo", "--days", "5", "--seed", "11", "--account", account, "--url", "http://"+site, "--collector-url",
		"http://"+events, "--api-key", key, "--sql-url", shards.Servers[1].SQLURL())
	require.Contains(t, past, demoAgrees)
	for i := range shards.Servers {
		require.NotZero(t, rowsOf(t, shards.Conn(t, i), "events"), "shard %d", i+1)
	}
	requireVerified(t, p)

	// The same rows on one server, with a copy of what is in Postgres.
	for _, process := range []*program{twin, crud, consumer, collector} {
		process.interrupt(enginetest.Timeout)
	}
	single := enginetest.NewClickHouse(t, enginetest.Dir(t))
	enginetest.Run(t, single)
	alone := enginetest.Open(t, clickhouse.Config{URL: single.URL()})
	_, err := clickhouse.Migrate(t.Context(), clickhouse.Config{URL: single.URL()})
	require.NoError(t, err)
	copyRows(t, shards, alone)
	copied := enginetest.CopyPostgres(t, database)
	execute(t, copied, "UPDATE partition_placements SET shard = 1")
	one := processes{t: t, dir: t.TempDir(), env: append([]string{
		"LODESTONE_POSTGRES_URL=" + copied, "LODESTONE_CLICKHOUSE_URL=" + single.URL(),
		"LODESTONE_LIMIT_ANALYTICS_PER_MINUTE=1000", "LODESTONE_LIMIT_ANALYTICS_QUERY_PER_MINUTE=1000",
	}, common...)}
	lone := freeAddress(t)
	one.serve("query", "LODESTONE_LISTEN="+lone, "LODESTONE_CLICKHOUSE_HTTP_URL="+single.HTTPURL())
	for i := range shards.Servers { // the file of an export comes from any of them
		queries = freeAddress(t)
		twin = p.serve("query", "LODESTONE_LISTEN="+queries, "LODESTONE_CLICKHOUSE_HTTP_URL="+shards.Servers[i].HTTPURL())
		requireSameAnswers(t, alone, asker{"http://" + queries, key}, asker{"http://" + lone, key})
		if i == 0 {
			twin.interrupt(enginetest.Timeout)
		}
	}
	for _, server := range shards.Servers {
		requireSameViews(t, alone, server.SQLURL(), single.SQLURL())
	}

	site = freeAddress(t)
	p.serve("crud", "LODESTONE_LISTEN="+site, "LODESTONE_QUERY_URL=http://"+queries)
	p.serve("consumer")
	requireDeadLetters(t, p, broker.Brokers(), account)
	requireBlank(t, shards, asker{"http://" + site, key})
	requireVerified(t, p)
}

// requireVerified waits until the check finds nothing: counters follow the rows.
func requireVerified(t *testing.T, p processes) {
	t.Helper()
	require.Eventually(t, func() bool {
		verify := launch(t, p.dir, p.env, "verify")
		return verify.wait() == 0 && strings.Contains(verify.out.String(), "differences: 0")
	}, enginetest.Timeout, interval)
}

func rowsOf(t *testing.T, conn driver.Conn, table string) (n uint64) {
	t.Helper()
	require.NoError(t, conn.QueryRow(t.Context(), "SELECT count() FROM lodestone."+table).Scan(&n))
	return n
}

// copyRows copies the rows of all shards into one server: of tables with the same rows on every
// shard, those of the first.
func copyRows(t *testing.T, shards *enginetest.Shards, to driver.Conn) {
	t.Helper()
	var tables []string
	require.NoError(t, to.QueryRow(t.Context(), `SELECT groupArray(name) FROM system.tables
		WHERE database = 'lodestone' AND engine LIKE '%MergeTree' AND name NOT IN ('shard', 'schema_migrations')`).Scan(&tables))
	require.Contains(t, tables, "magnet_versions")
	for _, table := range tables {
		var columns []string
		require.NoError(t, to.QueryRow(t.Context(), `SELECT groupArray(name) FROM system.columns WHERE database = 'lodestone' AND table = '`+table+`'
			AND default_kind NOT IN ('ALIAS', 'EPHEMERAL') AND name != 'in_time'`).Scan(&columns))
		list := strings.Join(columns, ", ")
		require.NoError(t, to.Exec(t.Context(), "TRUNCATE TABLE lodestone."+table)) // what a copy of another table put there
		for i, server := range shards.Servers {
			if i > 0 && !slices.Contains([]string{"events", "link_views", "expired_views"}, table) {
				break
			}
			u, err := url.Parse(server.URL())
			require.NoError(t, err)
			password, _ := u.User.Password()
			require.NoError(t, to.Exec(t.Context(), fmt.Sprintf(`INSERT INTO lodestone.%s (%s) SELECT %s FROM remote('%s', 'lodestone.%s', '%s', '%s')
				SETTINGS insert_allow_materialized_columns = 1`, table, list, list, u.Host, table, u.User.Username(), password)), table)
		}
	}
}

// untilNow matches the fields of answers that depend on the time of the request.
var untilNow = regexp.MustCompile(`"(as_of|next_cursor|next_received_after)":"[^"]*"`)

// requireSameAnswers asks two services everything, and fails where they differ.
func requireSameAnswers(t *testing.T, conn driver.Conn, two, one asker) {
	t.Helper()
	var magnetID, linkID uuid.UUID
	require.NoError(t, conn.QueryRow(t.Context(),
		"SELECT lead_magnet_id, access_link_id FROM lodestone.events ORDER BY event_id LIMIT 1").Scan(&magnetID, &linkID))
	magnet, link := magnetID.String(), linkID.String()
	paths := []string{
		"?per_page=100", "?per_page=100&page=3", "?per_page=50&event_type=download_completed",
		"?per_page=100&bot=true", "?access_link_id=" + link,
		"?lead_magnet_id=" + magnet + "&page=2", "/email?email=no.one@example.com", "/schema", "/now?minutes=60",
		"/readers?per_page=100&sort=-score", "/readers?per_page=100&sort=reading_ms&lead_magnet_id=" + magnet,
		"/readers/" + link,
		"/readers/export?format=csv&sort=-last_seen_at", "/readers/export?format=ndjson",
		"/pages?lead_magnet_id=" + magnet, "/funnel?lead_magnet_id=" + magnet, "/funnel?utm_source=newsletter",
		"/export?format=ndjson", "/export?format=csv&lead_magnet_id=" + magnet, "/export?format=csv&bot=true",
	}
	for _, by := range []string{"day", "week", "month"} {
		paths = append(paths, "/retention?timezone=Europe/Berlin&by="+by+"&lead_magnet_id="+magnet)
	}
	for _, path := range paths {
		requireSameAnswer(t, two, one, "GET", "/api/v1/analytics"+path, "")
	}
	for _, body := range questionsOf(t, one) {
		requireSameAnswer(t, two, one, "POST", "/api/v1/analytics/query", body)
	}
}

// questionsOf returns a question for each metric by itself, by day and compared, and by each
// dimension that it has.
func questionsOf(t *testing.T, a asker) (bodies []string) {
	t.Helper()
	var schema struct {
		Metrics []struct {
			Name string `json:"name"`
		} `json:"metrics"`
		Dimensions []struct {
			Name     string   `json:"name"`
			Metrics  []string `json:"metrics"`
			Requires *string  `json:"requires"`
		} `json:"dimensions"`
	}
	_, _, text := a.send(t, "GET", "/api/v1/analytics/schema", "")
	require.NoError(t, json.Unmarshal([]byte(text), &schema))
	require.NotEmpty(t, schema.Metrics)
	for _, m := range schema.Metrics {
		bodies = append(bodies,
			fmt.Sprintf(`{"metrics":[%q],"interval":"day","timezone":"Europe/Berlin","compare":"previous"}`, m.Name),
			fmt.Sprintf(`{"metrics":[%q],"include_bots":true}`, m.Name))
	}
	for _, d := range schema.Dimensions {
		metrics, err := json.Marshal(d.Metrics[:min(4, len(d.Metrics))])
		require.NoError(t, err)
		bodies = append(bodies, fmt.Sprintf(`{"metrics":%s,"dimensions":[%q]}`, metrics, d.Name))
	}
	return bodies
}

// requireSameAnswer asks both once, and again where the time of the question may have passed a
// border between the two.
func requireSameAnswer(t *testing.T, two, one asker, method, path, body string) {
	t.Helper()
	ask := func(a asker) (status int, text, tag string) {
		status, header, text := a.send(t, method, path, body)
		text = untilNow.ReplaceAllString(text, "")
		if strings.Contains(path, "/export") &&
			!strings.Contains(path, "sort=") { // the order of rows in a file is not promised
			lines := strings.SplitAfter(text, "\n")
			slices.Sort(lines)
			text = strings.Join(lines, "")
		}
		return status, text, header.Get("ETag")
	}
	var want, got [3]any
	for range 3 {
		want[0], want[1], want[2] = spread(ask(one))
		got[0], got[1], got[2] = spread(ask(two))
		if got == want {
			break
		}
	}
	require.Equal(t, want, got, "%s %s %s", method, path, body)
	if method == http.MethodGet || !strings.Contains(fmt.Sprint(want[1]),
		"validation_error") { // not every metric has days
		require.EqualValues(t, http.StatusOK, want[0], "%s %s %s: %v", method, path, body, want[1])
	}
}

func spread(status int, text, tag string) (any, any, any) { return status, text, tag }

// requireSameViews reads all of each view as the SQL user of two servers.
func requireSameViews(t *testing.T, conn driver.Conn, two, one string) {
	t.Helper()
	var views []string
	require.NoError(t, conn.QueryRow(t.Context(),
		"SELECT groupArray(name) FROM system.tables WHERE database = 'analytics' AND engine = 'View'").Scan(&views))
	require.Contains(t, views, "events")
	for _, view := range views {
		query := "SELECT count() AS n, sum(cityHash64(toString(tuple(*)))) AS hash FROM analytics." + view
		read := func(address string) string {
			sql, err := newSQLClient(address)
			require.NoError(t, err)
			rows, err := sql.rows(t.Context(), query)
			require.NoError(t, err, view)
			return fmt.Sprint(rows)
		}
		require.Equal(t, read(one), read(two), view)
	}
}

// requireDeadLetters writes records that cannot be stored to partitions of both shards, and
// discards the letters.
func requireDeadLetters(t *testing.T, p processes, brokers []string, account string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	require.NoError(t, err)
	defer client.Close()
	for partition := range int32(4) {
		e := event.Event{
			AccountID: uuid.MustParse(account), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(), EventID: uuid.New(),
			Type: event.PageViewed, Page: event.MaxPage + 1,
		}
		require.NoError(t, client.ProduceSync(t.Context(), &kgo.Record{Topic: event.Topic, Partition: partition,
			Key: e.AccessLinkID[:], Value: e.Append(nil)}).FirstErr())
	}
	require.Eventually(t, func() bool { // once the consumers have written all of them
		replay := launch(t, p.dir, p.env, "dead-letters", "replay", "--all")
		replay.wait()
		return strings.Contains(replay.out.String(), "still cannot be decoded: 4")
	}, enginetest.Timeout, interval)
	for line := range strings.Lines(p.run("dead-letters", "list")) {
		if origin, _, _ := strings.Cut(line, " "); strings.Contains(line, "open") {
			p.run("dead-letters", "discard", origin, "--why", "a test")
		}
	}
}

// requireBlank erases a reader of each shard, and looks for what they left on both.
func requireBlank(t *testing.T, shards *enginetest.Shards, owner asker) {
	t.Helper()
	for i := range shards.Servers {
		conn := shards.Conn(t, i)
		var link uuid.UUID
		require.NoError(t, conn.QueryRow(t.Context(),
			"SELECT any(access_link_id) FROM lodestone.events WHERE user_agent != ''").Scan(&link))
		links := owner.must(t, "GET", "/api/v1/access-links/"+link.String(), "")
		email := links["email"].(string)
		done := owner.must(t, "POST", "/api/v1/people/erase", fmt.Sprintf(`{"email":%q}`, email))
		require.Eventually(t, func() bool {
			return owner.must(t, "GET", "/api/v1/erasures/"+done["id"].(string), "")["events_blanked"] == true
		}, enginetest.Timeout, interval)
		for j := range shards.Servers {
			var left uint64
			conn := shards.Conn(t, j)
			require.NoError(t, conn.QueryRow(t.Context(),
				"SELECT count() FROM lodestone.events WHERE user_agent != '' AND access_link_id = '"+link.String()+"'").Scan(&left))
			require.Zero(t, left, "events on shard %d", j+1)
			// The mirror may have left a row that only says that the link is gone. A copy that it read
			// before the erasure is removed later.
			require.Eventually(t, func() bool {
				require.NoError(t, conn.QueryRow(t.Context(),
					"SELECT count() FROM lodestone.access_links WHERE deleted = 0 AND id = '"+link.String()+"'").Scan(&left))
				return left == 0
			}, enginetest.Timeout, interval, "links on shard %d", j+1)
		}
	}
}
