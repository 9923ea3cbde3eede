package consumer

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/stream"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/test/enginetest"
)

// Two shards: each partition is stored on one. While a shard is away, its partitions wait and those
// of the other go on, and what reads fails. After it is back, every event is stored once, and SQL
// users of either server see all of them.
func TestPartitionsOfAShardThatIsAwayWait(t *testing.T) {
	t.Parallel()
	const partitions, each = 4, 100
	shards := enginetest.NewShards(t, 2)
	r := newRigOn(t, newStackOf(t, enginetest.StackConfig{Partitions: partitions, Shards: shards}))
	stop := r.consume(r.config())
	for p := range int32(partitions) {
		r.produce(p, r.events(each)...)
		r.awaitCommit(p, each)
	}
	where := r.placements()
	require.Len(t, where, partitions)
	of := map[int32][]int32{} // partitions by shard
	for p, shard := range where {
		of[shard] = append(of[shard], p)
	}
	require.Len(t, of[1], partitions/2)
	require.Len(t, of[2], partitions/2)
	for i := range shards.Servers {
		var rows uint64
		require.NoError(t, shards.Conn(t, i).QueryRow(t.Context(), "SELECT count() FROM lodestone.events").Scan(&rows))
		require.EqualValues(t, each*partitions/2, rows, "shard %d", i+1)
	}

	require.NoError(t, shards.Servers[1].Stop(t.Context()))
	for p := range int32(partitions) {
		r.produce(p, r.events(each)...)
	}
	for _, p := range of[1] {
		r.awaitCommit(p, 2*each)
	}
	conn := enginetest.Open(t, r.ClickHouse)
	var rows uint64
	err := conn.QueryRow(t.Context(), "SELECT count() FROM lodestone.events").Scan(&rows)
	require.Error(t, err, "a smaller answer")
	for _, p := range of[2] {
		next, _ := r.committed(p)
		require.LessOrEqual(t, next, int64(each))
	}
	// A consumer that starts meanwhile serves the shard that is there.
	stop()
	stop = r.consume(r.config())
	r.produce(of[1][0], r.events(each)...)
	r.awaitCommit(of[1][0], 3*each)

	require.NoError(t, shards.Servers[1].Start(t.Context()))
	for _, p := range of[2] {
		r.awaitCommit(p, 2*each)
	}
	r.requireStored((2*partitions + 1) * each)
	for _, server := range shards.Servers {
		require.Equal(t, fmt.Sprint((2*partitions+1)*each), r.ask(server.SQLURL(), "SELECT count() FROM events"))
	}
	require.Equal(t, where, r.placements())

	// The order of the setting has no meaning, and one shard alone is refused.
	stop()
	first, second, _ := strings.Cut(r.ClickHouse.Shards, ";")
	r.ClickHouse.Shards = second + ";" + first
	stop = r.consume(r.config())
	for p := range int32(partitions) {
		r.produce(p, r.events(each)...)
	}
	for p := range int32(partitions) {
		next := int64(3 * each)
		if p == of[1][0] {
			next += each
		}
		r.awaitCommit(p, next)
	}
	r.requireStored((3*partitions + 1) * each)
	stop()
	require.NoError(t, stream.CheckPlacements(t.Context(), r.Postgres, r.ClickHouse))
	require.True(t, config.IsInvalid(stream.CheckPlacements(t.Context(), r.Postgres,
		clickhouse.Config{URL: r.ClickHouse.URL})))
}

// placements returns the shard of each partition of events.
func (r *rig) placements() map[int32]int32 {
	r.t.Helper()
	rows, err := r.Postgres.Unscoped().Query(r.t.Context(),
		"SELECT partition, shard FROM partition_placements WHERE topic_id = $1 AND copy = $2",
		r.TopicID, r.ClickHouse.Number())
	require.NoError(r.t, err)
	defer rows.Close()
	found := map[int32]int32{}
	for rows.Next() {
		var partition, shard int32
		require.NoError(r.t, rows.Scan(&partition, &shard))
		found[partition] = shard
	}
	require.NoError(r.t, rows.Err())
	return found
}

// ask runs a statement over HTTP.
func (r *rig) ask(address, sql string) string {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), http.MethodPost, address, strings.NewReader(sql))
	require.NoError(r.t, err)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
	require.NoError(r.t, err)
	defer func() { require.NoError(r.t, resp.Body.Close()) }()
	text, err := io.ReadAll(resp.Body)
	require.NoError(r.t, err)
	require.Equal(r.t, http.StatusOK, resp.StatusCode, string(text))
	return strings.TrimSpace(string(text))
}
