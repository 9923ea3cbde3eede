package kafka_test

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/kafka"
)

// Whether partitions of two topics may have the same keys is what the hash of many keys says.
func TestPartitionsShareKeys(t *testing.T) {
	t.Parallel()
	hash := kafka.NewHash()
	keys := make([]uuid.UUID, 2_000)
	for i := range keys {
		keys[i] = uuid.New()
	}
	numbers := []int{1, 2, 3, 4, 6, 8, 12}
	for _, n := range numbers {
		for _, m := range numbers {
			shared := map[[2]int32]bool{}
			for _, key := range keys {
				shared[[2]int32{hash.Of(key[:], n), hash.Of(key[:], m)}] = true
			}
			for a := range int32(n) {
				for b := range int32(m) {
					require.Equal(t, shared[[2]int32{a, b}], kafka.ShareKeys(a, n, b, m), "partition %d of %d and %d of %d", a, n, b, m)
				}
			}
		}
	}
	require.True(t, kafka.ShareKeys(0, 8, 1, 0), "not on record")
	require.True(t, kafka.ShareKeys(9, 8, 1, 4), "not used")
}
