package stream

import (
	"context"
	"errors"
	"testing"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// A statement may be given up at any moment. What it leaves of its connection must not reach the
// next one.
func TestAStatementThatWasGivenUpLeavesNothingToTheNext(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s := r.store()
	r.storeRows(1, 0, r.events(3)...)
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	defer cancel()
	for round := range 60 {
		rows := []string{"200000", "1", "200000"}[round%3]
		attempt, stop := context.WithCancel(ctx)
		var n proto.ColUInt64
		_ = s.do(attempt, ch.Query{
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
		last, err := s.Last(ctx, []Span{{1, 0, 10}})
		require.NoError(t, err, "round %d", round)
		require.Equal(t, int64(2), last[1], "round %d", round)
	}
}

// A consumer opens stores again and again, each time that it gets partitions.
func TestAStoreClosesAllOfItsConnections(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	s, other := r.store(), r.store()
	s.Others = []*Connection{&other.Connection}
	sought := []Candidate{{Record: Record{Identity: Identity{Link: uuid.New(), Event: uuid.New()}, Account: r.account}}}
	_, err := s.StoredBefore(t.Context(), sought, AnyTime)
	require.NoError(t, err)
	opened := []*ch.Client{s.conn, other.conn}
	s.Close()
	for _, conn := range opened {
		require.NotNil(t, conn, "it was needed")
		require.True(t, conn.IsClosed())
	}
}
