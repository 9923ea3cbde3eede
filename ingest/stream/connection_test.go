package stream

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

// share makes the stores use n connections, which the test's end closes.
func share(t *testing.T, n int, stores ...*Store) {
	t.Helper()
	shared := NewShared(n, stores[0].Connection)
	for _, s := range stores {
		s.Connection = Connection{Log: s.Log, Shared: shared}
	}
	t.Cleanup(shared.Close)
}

// Many partitions store and look at the same time over fewer connections: no answer goes to
// another's statement.
func TestPartitionsShareConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const partitions, blocks, rows = 8, 2, 5
	stores := make([]*Store, partitions)
	for p := range stores {
		stores[p] = r.store(int32(p))
	}
	share(t, 3, stores...)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	var all errgroup.Group
	for p, s := range stores {
		events := r.events(blocks * rows)
		tables := make([]Table, blocks)
		for b := range tables {
			tables[b] = r.rows(int32(p), int64(b*rows), events[b*rows:][:rows]...)
		}
		all.Go(func() error {
			for b, table := range tables {
				if err := s.Insert(ctx, &s.Connection, table, fmt.Sprintf("%s%d:%d", r.token, p, b)); err != nil {
					return err
				}
				last, err := s.Last(ctx, 0)
				if err != nil {
					return err
				}
				if want := int64((b+1)*rows - 1); last != want {
					t.Errorf("partition %d: last offset %d, want %d", p, last, want)
				}
			}
			return nil
		})
	}
	require.NoError(t, all.Wait())
	r.requireStored(partitions * blocks * rows)
}

// A worker may be stopped at any moment of a statement. What it leaves of its connection must not
// reach the next statement, which is another partition's.
func TestAStatementThatWasGivenUpLeavesNothingToTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	stopped, other := r.store(0), r.store(1)
	share(t, 1, stopped, other)
	r.storeRows(1, 0, "other"+r.token, r.events(3)...)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for round := range 60 {
		rows := []string{"200000", "1", "200000"}[round%3]
		attempt, stop := context.WithCancel(ctx)
		var n proto.ColUInt64
		_ = stopped.do(attempt, ch.Query{
			Body:   "SELECT number AS n FROM numbers(" + rows + ")",
			Result: proto.Results{{Name: "n", Data: &n}},
			OnResult: func(context.Context, proto.Block) error {
				switch round % 3 {
				case 0: // in the middle
					stop()
				case 1: // at the end, beside the answer
					go stop()
				case 2: // before the answer to what was sent was read
					return errors.New("given up")
				}
				return nil
			},
		})
		stop()
		last, err := other.Last(ctx, 0)
		require.NoError(t, err, "round %d", round)
		require.Equal(t, int64(2), last, "round %d", round)
	}
}

// A statement that waits for a connection ends with its worker.
func TestAStatementDoesNotWaitForAConnectionForEver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.store(0)
	share(t, 1, s)
	_, giveBack, err := s.borrow(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = s.Last(ctx, 0)
	require.ErrorIs(t, err, context.Canceled)
	giveBack()
	_, err = s.Last(t.Context(), 0)
	require.NoError(t, err)
}

// A server that was away has ended every connection of the pool. One statement finds that out, and
// the next one is answered.
func TestAServerThatIsBackIsAskedByNewConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.store(0)
	r.storeRows(0, 0, r.token, r.events(3)...)
	options := r.options()
	var opened []net.Conn
	shared := NewShared(8, Connection{Log: s.Log, Dial: func(ctx context.Context) (*ch.Client, error) {
		conn, err := new(net.Dialer).DialContext(ctx, "tcp", options.Address)
		if err != nil {
			return nil, err
		}
		opened = append(opened, conn)
		return ch.Connect(ctx, conn, options)
	}})
	t.Cleanup(shared.Close)
	s.Connection = Connection{Log: s.Log, Shared: shared}
	for range cap(shared) { // each in turn
		_, err := s.Last(t.Context(), 0)
		require.NoError(t, err)
	}
	require.Len(t, opened, cap(shared))
	for _, conn := range opened {
		require.NoError(t, conn.Close())
	}
	_, err := s.Last(t.Context(), 0)
	require.Error(t, err)
	for range cap(shared) {
		last, err := s.Last(t.Context(), 0)
		require.NoError(t, err)
		require.Equal(t, int64(2), last)
	}
}

// What a connection has encoded and compressed for an insert stays with it. A large block that lost
// its slot goes over any of the shared connections.
func TestLargeInsertsLeaveNoMemoryWithAPool(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.store(0)
	share(t, 1, s)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	isOpen := func() bool {
		c := <-s.Shared
		defer func() { s.Shared <- c }()
		return c.conn != nil
	}
	require.NoError(t, s.Insert(ctx, &s.Connection, r.rows(0, 0, r.events(10)...), r.token+"small"))
	require.True(t, isOpen())
	require.NoError(t, s.Insert(ctx, &s.Connection, r.rows(0, 10, r.events(largeInsert)...), r.token+"large"))
	require.False(t, isOpen())
	r.requireStored(10 + largeInsert)
}
