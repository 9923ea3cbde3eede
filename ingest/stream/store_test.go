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

// A writer that was stopped after its last look at the clock sends its insert late. The server's
// own clock refuses it.
func TestTheServerRefusesAnInsertThatComesTooLate(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	rows := r.rows(0, 0, r.events(3)...)
	s := r.store()
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	before, err := s.Before(ctx, waitLimit)
	require.NoError(t, err)
	// As if the process had been stopped for an hour.
	err = s.Insert(ctx, rows, []int32{0}, before.Add(-time.Hour))
	require.ErrorContains(t, err, "the insert came too late")
	require.False(t, clickhouse.IsRefusal(err), "it is tried again")
	r.requireStored(0)
	r.insert(ctx, s, rows, 0)
	r.requireStored(3)
}

// A consumer of another release, whose list of browsers is another, finds its rows stored: what a
// row says is not compared, but whose it is.
func TestARowIsTheSameWithOtherNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	events := r.events(3)
	r.storeRows(0, 0, events...)
	for i := range events {
		events[i].UserAgent = []byte("Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0")
	}
	events[2].EventID = uuid.New()
	same, err := r.store().Same(t.Context(), r.rows(0, 0, events...), []int{0, 1, 2})
	require.NoError(t, err)
	require.Equal(t, map[int]struct{}{0: {}, 1: {}}, same)
}

// A full batch from spools is looked up in parts. No part is skipped.
func TestRepeatsFromASpoolAreFoundHoweverManyThereAre(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	events := r.events(2*maxLookedFor + 1)
	var stored []event.Event
	want := map[Identity]struct{}{}
	all := make([]Candidate, len(events))
	reads := &eventDecoder{erased: noOne{}}
	for i := range events {
		d, err := reads.Decode(events[i].Append(nil))
		require.NoError(t, err)
		all[i] = Candidate{Record: d}
		switch i {
		case 0, maxLookedFor - 1, maxLookedFor, 2*maxLookedFor - 1, 2 * maxLookedFor:
			stored = append(stored, events[i])
			want[d.Identity] = struct{}{}
		}
	}
	longAgo := *r
	longAgo.topicID = uuid.New()
	longAgo.storeRows(0, 0, stored...)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	found, err := r.store().StoredBefore(ctx, all, RepeatWithin)
	require.NoError(t, err)
	require.Equal(t, want, found)
}

// keepRunning runs a query with an insert's comment for the partitions, and returns a channel that
// delivers its error when it ends. It is running when this returns.
func (r *rig) keepRunning(partitions ...int32) <-chan error {
	r.t.Helper()
	s := r.store()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		var n proto.ColUInt64
		ended <- s.do(ctx, ch.Query{
			Body:     "SELECT count() AS n FROM numbers(1000000) WHERE NOT ignore(sleepEachRow(0.02))",
			Settings: []ch.Setting{{Key: "max_block_size", Value: "1"}, {Key: "log_comment", Value: s.comment(partitions)}},
			Result:   proto.Results{{Name: "n", Data: &n}},
		})
	}()
	r.t.Cleanup(func() {
		cancel()
		<-done
	})
	require.Eventually(r.t, func() bool { return r.runs(s.comment(partitions)) }, waitLimit, 20*time.Millisecond)
	return ended
}

// runs reports whether such a query runs that was not ended.
func (r *rig) runs(comment string) bool {
	var n proto.ColUInt64
	require.NoError(r.t, r.store().do(context.Background(), ch.Query{
		Body:       "SELECT count() AS n FROM system.processes WHERE Settings['log_comment'] = {comment:String} AND NOT is_cancelled",
		Parameters: ch.Parameters(map[string]any{"comment": comment}),
		Result:     proto.Results{{Name: "n", Data: &n}},
	}))
	return n.Row(0) == 1
}

func TestInsertsThatStillRunAreEnded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, second, other := r.keepRunning(1, 2, 30), r.keepRunning(4), r.keepRunning(3, 12)
	require.NoError(t, r.store().EndInserts(t.Context(), []int32{2, 4}))
	require.Error(t, <-first)
	require.Error(t, <-second)
	select {
	case err := <-other:
		require.Fail(t, "an insert of other partitions is ended", "%v", err)
	default:
	}
}

// One statement tells of all partitions what is stored, of more of them than it may name.
func TestWhatIsStoredOfManyPartitions(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const partitions = SpansAtOnce + 2
	var spans []Span
	for p := range int32(partitions) {
		spans = append(spans, Span{p, 10, 20})
	}
	r.storeRows(0, 8, r.events(6)...)             // 8 to 13
	r.storeRows(partitions-1, 15, r.events(8)...) // 15 to 22
	s := r.store()
	found, err := s.Stored(t.Context(), spans)
	require.NoError(t, err)
	require.Len(t, found, partitions)
	for offset := range int64(30) {
		require.Equal(t, offset >= 10 && offset <= 13, found[0].Has(offset), offset)
		require.Equal(t, offset >= 15 && offset <= 20, found[partitions-1].Has(offset), offset)
		require.False(t, found[1].Has(offset))
	}
	last, err := s.Last(t.Context(), spans)
	require.NoError(t, err)
	require.Equal(t, map[int32]int64{0: 13, partitions - 1: 20}, last)
	newest, err := s.Newest(t.Context(), spans)
	require.NoError(t, err)
	require.Len(t, newest, 4+6)
}
