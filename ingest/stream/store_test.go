package stream

import (
	"context"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
)

// A writer that was stopped after its last look at the clock sends its insert late. The token does
// not help once it is forgotten; the server's own clock does.
func TestTheServerRefusesAnInsertThatComesTooLate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	events := r.events(3)
	rows := r.rows(0, 0, events...)
	s := r.store(0)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	deadline, _ := ctx.Deadline()
	before, err := s.bound(ctx, deadline)
	require.NoError(t, err)
	err = s.do(ctx, insertQuery(s.Stream.Table, rows.Input(before.Add(-time.Hour)), "late"+r.token)) // as if the process had been stopped for an hour
	require.ErrorContains(t, err, "the insert came too late")
	require.False(t, clickhouse.IsRefusal(err), "it is tried again")
	r.requireStored(0)
	require.NoError(t, s.Insert(ctx, &s.Connection, rows, "late"+r.token), "the server is asked for its time again")
	r.requireStored(3)
}

// A consumer of another release, whose list of browsers is another, builds a block again: the token
// stands for the offsets alone.
func TestABlockWithOtherNamesIsTheSameBlock(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	events := r.events(3)
	first := r.rows(0, 0, events...)
	for i := range events {
		events[i].UserAgent = []byte("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0")
	}
	again := r.rows(0, 0, events...)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	s := r.store(0)
	for _, rows := range []Table{first, again} {
		require.NoError(t, s.Insert(ctx, &s.Connection, rows, "names"+r.token))
	}
	r.requireStored(3)
	same, err := s.Same(ctx, again, 0)
	require.NoError(t, err)
	require.True(t, same.Has(0) && same.Has(1) && same.Has(2), "nor does the comparison with what is stored look at names")
}

// A full block of what collectors held for a while is looked for in parts, none of which is passed
// over.
func TestRepeatsFromASpoolAreFoundHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	events := r.events(2*maxLookedFor + 1)
	var stored []event.Event
	want := map[Identity]struct{}{}
	all := make([]Record, len(events))
	reads := &eventDecoder{erased: noOne{}}
	for i := range events {
		d, err := reads.Decode(events[i].Append(nil))
		require.NoError(t, err)
		all[i] = d
		switch i {
		case 0, maxLookedFor - 1, maxLookedFor, 2*maxLookedFor - 1, 2 * maxLookedFor:
			stored = append(stored, events[i])
			want[d.Identity] = struct{}{}
		}
	}
	longAgo := *r
	longAgo.topicID = uuid.New()
	longAgo.storeRows(0, 0, "old"+r.token, stored...)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	found, err := r.store(0).StoredBefore(ctx, all, 0, RepeatWithin)
	require.NoError(t, err)
	require.Equal(t, want, found)
}

// keepRunning runs a query for the partition under an id as an insert has, and returns a channel
// that delivers its error when it ends. It is running when this returns.
func (r *rig) keepRunning() <-chan error {
	r.t.Helper()
	s, id := r.store(0), r.store(0).queryPrefix()+"0-9-test"
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var n proto.ColUInt64
		ended <- s.do(ctx, ch.Query{
			QueryID:  id,
			Body:     "SELECT count() AS n FROM numbers(1000000) WHERE NOT ignore(sleepEachRow(0.02))",
			Settings: []ch.Setting{{Key: "max_block_size", Value: "1"}},
			Result:   proto.Results{{Name: "n", Data: &n}},
		})
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	require.Eventually(r.t, func() bool { return r.runs() }, waitLimit, 20*time.Millisecond)
	return ended
}

// runs reports whether such a query runs for the partition that was not ended.
func (r *rig) runs() bool {
	var n proto.ColUInt64
	s := r.store(0)
	require.NoError(r.t, s.do(context.Background(), ch.Query{
		Body:       "SELECT count() AS n FROM system.processes WHERE startsWith(query_id, {prefix:String}) AND NOT is_cancelled",
		Parameters: ch.Parameters(map[string]any{"prefix": s.queryPrefix()}),
		Result:     proto.Results{{Name: "n", Data: &n}},
	}))
	return n.Row(0) == 1
}

func TestAnInsertThatStillRunsIsEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	insert := r.keepRunning()
	require.NoError(t, r.store(0).EndInserts(t.Context()))
	require.Error(t, <-insert)
}
