//go:build long

package consumer

import (
	"testing"

	"lodestone/pkg/test/enginetest"
)

func TestAConsumerThatStopsHandsOverOnApacheKafka(t *testing.T) {
	t.Parallel()
	broker := enginetest.NewApacheKafka(t, t.TempDir(), 1) // its own: offsets begin at 0
	enginetest.Run(t, broker)
	requireHandOver(t, broker.Brokers())
}
