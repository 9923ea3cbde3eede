package kafka_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/kafka"
)

// Whether two partitions may have had the same keys is what the hash of many keys says, for all numbers of partitions that both ever had.
func TestPartitionsShareKeys(t *testing.T) {
	t.Parallel()
	hash := kafka.NewHash()
	keys := make([]uuid.UUID, 2_000)
	for i := range keys {
		keys[i] = uuid.New()
	}
	layouts := []kafka.Layout{{Base: 1, Count: 1}, {Base: 2, Count: 8}, {Base: 3, Count: 6}, {Base: 4, Count: 4}, {Base: 6, Count: 12}}
	had := func(l kafka.Layout, partition int32) map[uuid.UUID]bool {
		found := map[uuid.UUID]bool{}
		for n := l.Base; n <= l.Count; n *= 2 {
			for _, key := range keys {
				if hash.Of(key[:], n) == partition {
					found[key] = true
				}
			}
		}
		return found
	}
	for _, a := range layouts {
		for p := range int32(a.Count) {
			of := had(a, p)
			for _, b := range layouts {
				for q := range int32(b.Count) {
					shared := false
					for key := range had(b, q) {
						shared = shared || of[key]
					}
					require.Equal(t, shared, a.Shares(p, b, q), "partition %d of %+v and %d of %+v", p, a, q, b)
				}
			}
		}
	}
	require.True(t, layouts[1].Shares(0, kafka.Layout{}, 1), "not on record")
}
