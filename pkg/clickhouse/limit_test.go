package clickhouse_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/clickhouse"
)

// Users like the analyst: hurried has threads like everyone's, with which it hits a limit in time
// on a machine on which much else is tested; lowered as well, and has others for limits that take
// hundreds of gigabytes to read, or gigabytes of disk, to hit.
const lowered = `<clickhouse>
  <profiles><hurried><profile>analyst</profile><os_thread_priority>0</os_thread_priority></hurried><lowered>
    <profile>analyst</profile>
    <os_thread_priority>0</os_thread_priority>
    <max_bytes_to_read>1000000</max_bytes_to_read>
    <max_bytes_before_external_group_by>1000000</max_bytes_before_external_group_by>
    <max_temporary_data_on_disk_size_for_query>1000000</max_temporary_data_on_disk_size_for_query>
  </lowered></profiles>
  <users><hurried><password>fast</password><networks><ip>127.0.0.1</ip></networks><profile>hurried</profile><quota>analyst</quota></hurried>
    <lowered><password>low</password><networks><ip>127.0.0.1</ip></networks><profile>lowered</profile><quota>analyst</quota></lowered></users>
</clickhouse>
`

// testTimeout is shorter than the longest time that the analyst's statements may run.
const testTimeout = 100 * time.Second

// hurried takes the lowest priority from the analyst's threads, with which they get next to nothing
// of a machine on which much else is tested.
var hurried = map[string]string{"users.d/hurried.xml": "<clickhouse><profiles><analyst><os_thread_priority>0</os_thread_priority></analyst></profiles></clickhouse>"}

// inLine also gives each analyst half of the memory.
var inLine = map[string]string{"users.d/hurried.xml": `<clickhouse><profiles><analyst>
  <os_thread_priority>0</os_thread_priority><max_memory_usage_for_user>268435456</max_memory_usage_for_user>
</analyst></profiles></clickhouse>`}

// far is a statement that reads few enough rows, but takes minutes.
const far = "SELECT count() FROM numbers(900000000) WHERE NOT ignore(SHA512(toString(number)))"

// Every limit is hit except those that refuse nothing: os_thread_priority, which the system
// enforces, and max_threads, which no user may raise (see escapes). Quotas that take minutes or
// hours to hit are counted like the one that is hit.
func TestLimitsOfTheAnalyst(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, map[string]string{"users.d/lowered.xml": lowered})
	low, fast := a.as("lowered", "low"), a.as("hurried", "fast")
	for _, c := range []struct{ address, sql, code, says string }{
		{a.all, "SELECT number FROM numbers(1000001) FORMAT Null", "396", "max rows"},
		{fast, "SELECT repeat('x', 1000 + number % 2) FROM numbers(300000) FORMAT Null", "396", "max bytes"},
		{a.all, "SELECT count() FROM numbers(1000000001) WHERE NOT ignore(number)", "158", "max_rows_to_read"},
		{a.all, "SELECT count() FROM numbers(1000000) WHERE NOT ignore(number) SETTINGS max_rows_to_read = 10", "158",
			"max_rows_to_read"},
		{low, "SELECT count() FROM numbers(1000000) WHERE NOT ignore(number)", "307", "max bytes"},
		{low, "SELECT SHA512(toString(number)) AS hash, count() FROM numbers(100000) GROUP BY hash FORMAT Null SETTINGS max_block_size = 10000", "396", "temporary"},
		{fast, "SELECT groupArray(number) FROM numbers(900000000) FORMAT Null", "241", "512.00 MiB"},
		{a.all, far + " SETTINGS max_execution_time = 1", "159", "TIMEOUT_EXCEEDED"},
	} {
		status, text := a.ask(c.address+"&wait_end_of_query=1", c.sql)
		require.GreaterOrEqual(t, status, 400, c.sql)
		require.True(t, strings.HasPrefix(text, "Code: "+c.code+"."), "%s: %s", c.sql, text)
		require.Contains(t, text, c.says, c.sql)
	}
	for setting, value := range map[string]string{
		"max_execution_time": "60", "max_bytes_to_read": "200000000000",
		"max_temporary_data_on_disk_size_for_query": "268435456", "os_thread_priority": "19", "max_threads": "1",
		"workload": "analyst", "max_memory_usage_for_user": "536870912",
	} {
		require.Equal(t, value, a.must(a.all, "SELECT toString(getSetting('"+setting+"'))"), setting)
	}
	require.Equal(t, "60 600 0\n3600 10000 20000000000", strings.ReplaceAll(a.must(a.own,
		"SELECT duration, max_queries, ifNull(max_read_rows, 0) FROM system.quota_limits WHERE quota_name = 'analyst' ORDER BY duration"), "\t", " "))
}

// hold runs a statement in the background, at the longest until the test ends. What it was
// answered, if it was, can be received.
func (a *analytics) hold(address, sql string) <-chan string {
	a.t.Helper()
	return a.holdUntil(a.t.Context(), address, sql)
}

func (a *analytics) holdUntil(ctx context.Context, address, sql string) <-chan string {
	a.t.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"&max_execution_time=120", strings.NewReader(sql))
	require.NoError(a.t, err)
	answer := make(chan string, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil { // the test's end is one
			return
		}
		text, err := io.ReadAll(resp.Body)
		if err := errors.Join(err, resp.Body.Close()); err == nil {
			answer <- string(text)
		}
	}()
	a.t.Cleanup(func() { <-done })
	return answer
}

// awaits waits until a condition on the analyst's running queries holds.
func (a *analytics) awaits(condition string) {
	a.t.Helper()
	require.Eventually(a.t, func() bool {
		return a.must(a.own, "SELECT "+condition+" FROM system.processes WHERE user = 'analyst'") == "1"
	}, testTimeout, 10*time.Millisecond)
}

// queue makes the workload in which so many of SQL users' queries run at a time, as the embedded
// server has it.
func (a *analytics) queue(places int) {
	a.t.Helper()
	for _, statement := range clickhouse.Workload(places, places+1) {
		a.must(a.own, statement)
	}
}

// awaitsWaiting waits until so many queries wait in it.
func (a *analytics) awaitsWaiting(n string) {
	a.t.Helper()
	a.awaitsWaitingFor("query", n)
}

// awaitsWaitingFor waits until so many queries wait for a resource.
func (a *analytics) awaitsWaitingFor(resource, n string) {
	a.t.Helper()
	require.Eventually(a.t, func() bool {
		return a.must(a.own, "SELECT queue_length FROM system.scheduler WHERE type = 'fifo' AND resource = '"+resource+
			"'") == n
	}, testTimeout, 10*time.Millisecond)
}

// The tests of the line have one server, in turn.
func TestTheLine(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, inLine)
	a.next("QueriesOfAnalystsWaitTheirTurn", queriesWaitTheirTurn)
	a.next("NothingPassesTheLine", nothingPassesTheLine)
	a.next("TimeInLineCounts", timeInLineCounts)
	a.next("QueryEndsWhenItsClientHasGone", queryEndsWhenItsClientHasGone)
	a.next("WorkloadIsMadeAgainWithOtherNumbers", workloadIsMadeAgainWithOtherNumbers)
	a.next("MemoryOfAnAnalystIsThatOfAllItsQueries", memoryOfAnAnalystIsThatOfAllItsQueries)
}

// next runs a test when the queries that the one before it left have ended.
func (a *analytics) next(name string, test func(t *testing.T, a *analytics)) {
	a.t.Helper()
	a.t.Run(name, func(t *testing.T) {
		own := *a
		own.t = t
		own.must(a.own, "KILL QUERY WHERE startsWith(user, 'analyst') SYNC")
		test(t, &own)
	})
}

func queriesWaitTheirTurn(t *testing.T, a *analytics) {
	t.Helper()
	a.queue(2)
	for range 2 {
		a.hold(a.all, far)
	}
	a.awaits("count() = 2")
	third := a.hold(a.scoped, "SELECT 'it is my turn'") // the line is one for all users
	a.awaitsWaiting("1")
	for range 31 {
		a.hold(a.all, "SELECT 1")
	}
	a.awaitsWaiting("32")
	_, text := a.ask(a.all, "SELECT 1")
	require.True(t, strings.HasPrefix(text, "Code: 745."), text)
	require.Contains(t, text, "max_waiting_queries")
	a.must(a.own, "SELECT 1") // is not in line
	a.awaits("count() = 2")

	a.must(a.own, "KILL QUERY WHERE user = 'analyst' SYNC")
	require.Equal(t, "it is my turn\n", <-third)
	a.awaitsWaiting("0")
}

func TestWhereThereIsNoLineAnAnalystRunsEightQueriesAtATime(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, map[string]string{"users.d/free.xml": `<clickhouse>
  <profiles><free><profile>analyst</profile><workload>nowhere</workload></free></profiles>
  <users><analyst><profile>free</profile></analyst></users>
</clickhouse>`})
	for range 8 {
		a.hold(a.all, far)
	}
	a.awaits("count() = 8")
	_, text := a.ask(a.all, "SELECT 1")
	require.True(t, strings.HasPrefix(text, "Code: 202."), text)
	a.must(a.scoped, "SELECT 1") // another user's
}

// ClickHouse lets these pass the line, and refuses them when it has run their subqueries: for those
// they wait for a thread.
func nothingPassesTheLine(t *testing.T, a *analytics) {
	t.Helper()
	a.queue(1)
	a.hold(a.all, far)
	a.awaits("count() = 1")
	a.hold(a.all, "SELECT ("+far+") FROM system.processes") // has the thread that there is beside the queries'
	a.awaits("countIf(read_rows > 0) = 2")                  // a query is there before it has a thread
	for i, sql := range []string{
		"SELECT (SELECT count() FROM numbers(100000) WHERE NOT ignore(number)) FROM system.processes",
		"KILL QUERY WHERE (SELECT count() FROM numbers(100000) WHERE NOT ignore(number)) > 0 SYNC",
	} {
		a.hold(a.all, sql)
		a.awaitsWaitingFor("cpu", strconv.Itoa(i+1))
	}
}

func timeInLineCounts(t *testing.T, a *analytics) {
	t.Helper()
	a.queue(1)
	first := a.hold(a.all, far)
	a.awaits("count() = 1")
	late := a.hold(a.scoped,
		"SELECT count() FROM numbers(1000000) WHERE NOT ignore(number) SETTINGS max_execution_time = 1")
	a.awaitsWaiting("1")
	running := a.must(a.own, "SELECT max(elapsed) FROM system.processes WHERE user = 'analyst'")
	a.awaits("max(elapsed) > " + running + " + 2")
	a.must(a.own, "KILL QUERY WHERE user = 'analyst' SYNC")
	<-first
	require.Regexp(t, "^Code: 159.", <-late)
}

func queryEndsWhenItsClientHasGone(t *testing.T, a *analytics) {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	a.queue(1)
	a.holdUntil(ctx, a.all, far)
	a.awaits("count() = 1")
	a.holdUntil(ctx, a.all, far)
	a.awaitsWaiting("1")
	leave()
	a.awaits("count() = 0")
	a.awaitsWaiting("0") // it had its turn, and ended
}

func workloadIsMadeAgainWithOtherNumbers(t *testing.T, a *analytics) {
	t.Helper()
	a.queue(1)
	a.hold(a.all, far) // what is asked goes on meanwhile
	a.awaits("count() = 1")
	waiting := a.hold(a.all, "SELECT 1")
	a.awaitsWaiting("1")
	u, err := url.Parse(a.own)
	require.NoError(t, err)
	u.Scheme, u.Host, u.Path = "clickhouse", a.native, "/"+clickhouse.Database
	for _, places := range []int{3, 1, 2} {
		for range 2 {
			require.NoError(t, clickhouse.MakeWorkload(t.Context(), clickhouse.Config{URL: u.String()}, places))
		}
		// Queries are limited, their threads are not: see workload.go.
		require.Equal(t, strconv.Itoa(places),
			a.must(a.own, "SELECT max_requests FROM system.scheduler WHERE type = 'inflight_limit'"))
	}
	require.Equal(t, "1\n", <-waiting)
}

func memoryOfAnAnalystIsThatOfAllItsQueries(t *testing.T, a *analytics) {
	t.Helper()
	a.queue(2)
	// 64 MiB, and 128 more when the array has grown last
	const half = "SELECT length(groupArray(number)) FROM numbers(8000000)"
	a.must(a.all, half)
	// its set stays as long as it runs
	held := a.hold(a.all, far+" AND number NOT IN (SELECT number + 1000000000 FROM numbers(2500000))")
	// Only that statement: the one before it may be listed as running shortly after its answer.
	a.awaits("countIf(position(query, 'SHA512') > 0 AND memory_usage > 125000000 AND read_rows > 2500000) = 1")
	_, text := a.ask(a.all, half)
	if text == "8000000" { // ClickHouse stops the one of the two that has more
		text = <-held
	}
	require.True(t, strings.HasPrefix(text, "Code: 241."), text)
	require.Contains(t, text, "User memory limit exceeded")
	a.must(a.scoped, half)
}

func TestQuotaOfTheAnalyst(t *testing.T) {
	t.Parallel()
	a := newAnalytics(t, hurried)
	const askers = 4 // together they ask enough in a minute on a busy machine
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: askers}}
	defer client.CloseIdleConnections()
	ask := func() (string, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, a.all,
			strings.NewReader("SELECT count() FROM numbers(1) FORMAT Null"))
		if err != nil {
			return "", err
		}
		resp, err := client.Do(req)
		if err != nil {
			return "", err
		}
		body, err := io.ReadAll(resp.Body)
		return string(body), errors.Join(err, resp.Body.Close())
	}
	var answered atomic.Int64
	var all errgroup.Group
	for range askers {
		all.Go(func() error {
			for answered.Load() <= 1200 { // a minute may end meanwhile, and another quota begin
				text, err := ask()
				if err != nil || text != "" {
					return errors.Join(err, errors.New(text))
				}
				answered.Add(1)
			}
			return nil
		})
	}
	err := all.Wait()
	require.GreaterOrEqual(t, answered.Load(), int64(600))
	require.Error(t, err)
	require.True(t, strings.HasPrefix(err.Error(), "Code: 201."), err)
	require.Equal(t, "1", a.must(a.scoped, "SELECT 1"), "another user has a quota of its own")
}
