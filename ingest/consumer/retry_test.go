package consumer

import (
	"testing"
	"testing/synctest"

	"github.com/ClickHouse/ch-go"
	"github.com/ClickHouse/ch-go/proto"
	"github.com/stretchr/testify/require"
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
				given.given.Store(true)
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
	p.given.Store(true)
	require.False(t, retrier{log: quiet}.retry(t.Context(), []*partition{p}, "try", func() error {
		t.Error("it is tried")
		return nil
	}))
	require.False(t, p.blocked.Load())
}
