//go:build long

package deadletter

import (
	"testing"

	"lodestone/pkg/engine/enginetest"
)

func TestAReplayOnApacheKafka(t *testing.T) {
	t.Parallel()
	requireReplay(t, newRigOn(t, enginetest.NewStack(t, enginetest.StackConfig{Brokers: enginetest.ApacheKafka(t), Partitions: 2})))
}
