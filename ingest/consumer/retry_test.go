package consumer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/service"
)

// While the only server is away every partition waits, which other checks tell. A partition is the
// one to look at if ClickHouse refuses something for it, or if its shard is one of several.
func TestWhatFailsBlocksAPartition(t *testing.T) {
	t.Parallel()
	refusal := &ch.Exception{Code: proto.ErrViolatedConstraint}
	for _, c := range []struct {
		name    string
		several bool
		err     error
		blocked bool
	}{
		{"the only server is away", false, errAway, false},
		{"a shard of several is away", true, errAway, true},
		{"the only server refuses", false, refusal, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p, given := &partition{}, &partition{}
				given.givenBack.Store(true)
				failed := false
				require.True(t, retrier{quiet, c.several}.retry(t.Context(), []*partition{p, given}, "try", func() error {
					if failed {
						return nil
					}
					failed = true
					return c.err
				}))
				require.Equal(t, c.blocked, p.blocked.Load())
				require.False(t, given.blocked.Load())
			})
		})
	}
}

// What is tried for a partition that is given back could end an insert of its next owner.
func TestNothingIsTriedForPartitionsThatAreGivenBack(t *testing.T) {
	t.Parallel()
	p := &partition{}
	p.givenBack.Store(true)
	require.False(t, retrier{log: quiet}.retry(t.Context(), []*partition{p}, "try", func() error {
		t.Error("it is tried")
		return nil
	}))
	require.False(t, p.blocked.Load())
}

// A server with much to do answers a look after half a minute. If each batch began with a short
// limit, it would do the same work several times for each.
func TestALookHasTheTimeThatTheLastOneTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &batcher{retrier: retrier{log: quiet}, cfg: Config{InsertTimeout: 5 * time.Second}}
		one := &batch{spans: []*span{{of: &partition{}}}}
		tries := func() (n int) {
			require.True(t, b.retryLook(t.Context(), one, "look", func(ctx context.Context) error {
				n++
				return service.Sleep(ctx, 30*time.Second)
			}))
			return n
		}
		require.Equal(t, 3, tries(), "after 5 and 20 seconds")
		require.Equal(t, 1, tries())
	})
}
