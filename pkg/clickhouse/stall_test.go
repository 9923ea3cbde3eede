package clickhouse_test

import (
	"io"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

// stalls are statements with parts that ClickHouse runs in separate threads or pipelines, or
// evaluates before the rest.
var stalls = map[string]string{
	"recursive":                     "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t",
	"recursive, twice":              "WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3), u AS (SELECT count() AS n FROM t UNION ALL SELECT n + 1 FROM u WHERE n < (SELECT max(n) + 3 FROM t)) SELECT count() FROM u",
	"recursive, in a scalar":        "SELECT (WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT count() FROM t)",
	"recursive, explained":          "EXPLAIN PIPELINE WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT * FROM t",
	"recursive, past the line":      "KILL QUERY WHERE (WITH RECURSIVE t AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM t WHERE n < 3) SELECT count() FROM t) > 0 SYNC",
	"recursive, not executed":       "WITH RECURSIVE t AS (SELECT 1 AS n) SELECT * FROM t",
	"union all":                     "SELECT number FROM numbers(1000) UNION ALL SELECT number FROM numbers(1000) UNION ALL SELECT count() FROM events FORMAT Null",
	"union distinct":                "SELECT number FROM numbers(1000) UNION DISTINCT SELECT number FROM numbers(1000) FORMAT Null",
	"intersect, except":             "SELECT number FROM numbers(1000) INTERSECT SELECT number FROM numbers(500) EXCEPT SELECT 1 FORMAT Null",
	"join":                          "SELECT count() FROM numbers(100000) a JOIN numbers(100000) b USING (number)",
	"joins":                         "SELECT count() FROM (SELECT number FROM numbers(1000)) a FULL JOIN (SELECT number FROM numbers(1000)) b ON a.number = b.number JOIN (SELECT number FROM numbers(10)) c ON c.number = a.number",
	"cross join":                    "SELECT count() FROM numbers(1000) a, numbers(1000) b",
	"asof join":                     "SELECT count() FROM (SELECT number k, number t FROM numbers(100)) a ASOF JOIN (SELECT number k, number t FROM numbers(100)) b ON a.k = b.k AND a.t >= b.t",
	"in":                            "SELECT count() FROM numbers(100000) WHERE number IN (SELECT number FROM numbers(1000)) AND number NOT IN (SELECT number FROM numbers(10))",
	"in, by the key":                "SELECT count() FROM events WHERE account_id IN (SELECT account_id FROM lead_magnets)",
	"scalar":                        "SELECT (SELECT count() FROM numbers(100000)), (SELECT max(number) FROM numbers(10)), (SELECT (SELECT 1))",
	"scalar in a lambda":            "SELECT arrayMap(x -> x + (SELECT 1), [1])",
	"scalar in a limit":             "SELECT number FROM numbers(10) LIMIT (SELECT 1)",
	"exists":                        "SELECT count() FROM numbers(10) WHERE EXISTS (SELECT 1 FROM numbers(10))",
	"correlated":                    "SELECT count() FROM numbers(10) a WHERE EXISTS (SELECT 1 FROM numbers(10) b WHERE a.number = b.number)",
	"common table expression":       "WITH a AS (SELECT number FROM numbers(10)), b AS (SELECT (SELECT count() FROM a) c) SELECT * FROM a, b FORMAT Null",
	"materialised":                  "WITH a AS MATERIALIZED (SELECT number FROM numbers(10)) SELECT * FROM a x JOIN a y USING number",
	"distinct":                      "SELECT DISTINCT number % 100 FROM numbers_mt(200000) FORMAT Null",
	"group by":                      "SELECT number AS k, count(), uniqExact(number) FROM numbers_mt(100000) GROUP BY k FORMAT Null",
	"totals":                        "SELECT number % 10 k, count() FROM numbers(1000) GROUP BY k WITH TOTALS FORMAT JSON",
	"cube":                          "SELECT number % 10 k, number % 3 l, count() FROM numbers(1000) GROUP BY CUBE(k, l) FORMAT Null",
	"grouping sets":                 "SELECT number % 10 k, number % 3 l, count() FROM numbers(1000) GROUP BY GROUPING SETS ((k), (l)) FORMAT Null",
	"states":                        "SELECT uniqMerge(s) FROM (SELECT uniqState(number) s FROM numbers(1000) GROUP BY number % 10)",
	"window":                        "SELECT number, sum(number) OVER (PARTITION BY number % 10 ORDER BY number ROWS 5 PRECEDING), row_number() OVER w FROM numbers(10000) WINDOW w AS (ORDER BY number) FORMAT Null",
	"qualify":                       "SELECT number FROM numbers(100) QUALIFY row_number() OVER () = 1",
	"order by":                      "SELECT number FROM numbers_mt(200000) ORDER BY rand() LIMIT 10 FORMAT Null",
	"fill":                          "SELECT number * 3 n FROM numbers(10) ORDER BY n WITH FILL FORMAT Null",
	"limit by":                      "SELECT number FROM numbers(1000) LIMIT 1 BY number % 10 FORMAT Null",
	"array join":                    "SELECT arrayJoin(range(1000)) FROM numbers(100) FORMAT Null",
	"numbers_mt":                    "SELECT sum(number) FROM numbers_mt(1000000)",
	"zeros_mt":                      "SELECT count() FROM zeros_mt(1000000)",
	"generateRandom":                "SELECT count() FROM (SELECT * FROM generateRandom('a UInt8, s String') LIMIT 10000)",
	"fuzzJSON":                      "SELECT * FROM fuzzJSON('{}') LIMIT 1",
	"primes":                        "SELECT count() FROM (SELECT * FROM primes(1000))",
	"values":                        "SELECT * FROM values('a UInt8', 1, 2)",
	"view()":                        "SELECT * FROM view(SELECT count() FROM numbers(1000))",
	"viewExplain":                   "SELECT * FROM viewExplain('EXPLAIN', '', (SELECT 1))",
	"viewIfPermitted":               "SELECT * FROM viewIfPermitted(SELECT toUInt8(1) AS x ELSE null('x UInt8'))",
	"format()":                      "SELECT * FROM format(JSONEachRow, '{\"a\":1}')",
	"merge()":                       "SELECT count() FROM merge('analytics', '.*s$')",
	"loop()":                        "SELECT * FROM loop(analytics.lead_magnets) LIMIT 3",
	"null()":                        "SELECT * FROM null('a UInt8')",
	"eval()":                        "SELECT * FROM eval('SELECT 1')",
	"input()":                       "SELECT * FROM input('a UInt8')",
	"dictionary":                    "SELECT dictGet('x', 'y', 1)",
	"joinGet":                       "SELECT joinGet('x', 'y', 1)",
	"sessions":                      "SELECT count() FROM sessions JOIN lead_magnets USING (lead_magnet_id)",
	"views":                         "SELECT count() FROM lead_magnets l JOIN generic_links g USING (lead_magnet_id) JOIN access_links a ON a.lead_magnet_id = l.lead_magnet_id",
	"sample":                        "SELECT count() FROM events SAMPLE 0.1",
	"explain":                       "EXPLAIN SELECT (SELECT count() FROM numbers(100000))",
	"explain pipeline":              "EXPLAIN PIPELINE SELECT number FROM numbers_mt(1000) GROUP BY number",
	"explain estimate":              "EXPLAIN ESTIMATE SELECT count() FROM events",
	"explain analyze":               "EXPLAIN ANALYZE SELECT count() FROM numbers(100000)",
	"explain query tree":            "EXPLAIN QUERY TREE SELECT (SELECT 1)",
	"explain in a subquery":         "SELECT * FROM (EXPLAIN SELECT (SELECT 1))",
	"parquet":                       "SELECT number, toString(number) FROM numbers(100000) FORMAT Parquet",
	"arrow":                         "SELECT number FROM numbers(100000) FORMAT Arrow",
	"orc":                           "SELECT number FROM numbers(100000) FORMAT ORC",
	"avro":                          "SELECT number FROM numbers(3000) FORMAT Avro",
	"native":                        "SELECT number FROM numbers(100000) FORMAT Native",
	"json":                          "SELECT number FROM numbers(100000) FORMAT JSON",
	"progress":                      "SELECT number FROM numbers(300) FORMAT JSONEachRowWithProgress",
	"csv":                           "SELECT number FROM numbers(100000) FORMAT CSV",
	"extremes":                      "SELECT number FROM numbers(3000) FORMAT TSV SETTINGS extremes = 1",
	"pretty":                        "SELECT number FROM numbers(300) FORMAT PrettyCompactMonoBlock",
	"show tables":                   "SHOW TABLES",
	"show columns":                  "SHOW COLUMNS FROM analytics.events",
	"show functions":                "SHOW FUNCTIONS LIKE 'plus'",
	"show processes":                "SHOW PROCESSLIST",
	"describe":                      "DESCRIBE (SELECT (SELECT 1))",
	"system tables":                 "SELECT count() FROM system.columns",
	"processes":                     "SELECT (SELECT count() FROM numbers(100000)) FROM system.processes",
	"kill query":                    "KILL QUERY WHERE (SELECT count() FROM numbers(100000)) > 0 SYNC",
	"kill mutation":                 "KILL MUTATION WHERE (SELECT 1) = 1",
	"parallel with":                 "SELECT 1 PARALLEL WITH SELECT 2",
	"insert":                        "INSERT INTO FUNCTION null('a UInt8') SELECT (SELECT 1)",
	"create as":                     "CREATE TABLE analytics.x ENGINE = Memory AS SELECT (SELECT 1)",
	"sleep":                         "SELECT sleepEachRow(0.1) FROM numbers(3)",
	"an answer that is not read":    "SELECT repeat('x', 1000) FROM numbers(200000)",
	"an error while it is answered": "SELECT throwIf(number = 100000) FROM numbers(200000)",
}

// generous lifts the quota, which counts queries by the minute.
var generous = map[string]string{
	"users.d/hurried.xml":  hurried["users.d/hurried.xml"],
	"users.d/generous.xml": `<clickhouse><quotas><analyst replace="replace"><interval><duration>3600</duration></interval></analyst></quotas></clickhouse>`,
}

// No statement keeps other SQL users waiting for good, however many of it run, as many as have
// their turn at once and more: some ends, by an answer or a clear error, and another user's query
// is answered.
func TestNoStatementStopsSQLUsers(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, generous)
	requireNoStop(a, clickhouse.Workload(1, 2), 1, maps.Keys(stalls)) // as the embedded server has it
	requireNoStop(a, clickhouse.Workload(1, 0), 1, slices.Values(holding))
}

// holding are the kinds of stalls that hold their turn while they ask for more of what others have.
// TestNoStatementStopsAnyServer has all of them.
var holding = []string{
	"recursive", "recursive, twice", "recursive, in a scalar", "recursive, past the line", "scalar", "in",
	"materialised", "processes", "kill query",
	"insert", "an answer that is not read", "an error while it is answered",
}

// requireNoStop runs the statements in a workload of so many places.
func requireNoStop(a *analytics, workload []string, places int, kinds iter.Seq[string]) {
	a.t.Helper()
	for _, statement := range workload {
		a.must(a.own, statement)
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: testTimeout}
	for kind := range kinds {
		var running sync.WaitGroup
		for i := range 2*places + 1 {
			running.Go(func() {
				response, err := client.Post(a.all+[]string{"", "&enable_http_compression=1"}[i%2], "text/plain",
					strings.NewReader(stalls[kind]))
				if err != nil {
					a.t.Errorf("%s: %v", kind, err)
					return
				}
				if kind != "an answer that is not read" {
					_, _ = io.Copy(io.Discard, response.Body) // an error in the middle of it is an end as well
				}
				_ = response.Body.Close() // the client has gone
			})
		}
		running.Wait()
		status, text := a.ask(a.scoped, "SELECT 1")
		require.Equal(a.t, "1", text, "after %s: status %d", kind, status)
	}
	_, text := a.ask(a.all, stalls["recursive"])
	require.Regexp(a.t, `^Code: 62\.`, text, "a clear error")
}
