package engine

import (
	"context"
	"log/slog"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Whatever answers on a broker's port while its Java machine is still starting is not ready for it.
func TestAnotherKafkaIsNotTakenForOurs(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	other := NewKafka(KafkaOptions{Runtime: Runtime{Log: slog.New(slog.DiscardHandler)}, Dir: t.TempDir()})
	require.NoError(t, other.Start(ctx))
	defer func() { require.NoError(t, other.Stop(ctx)) }()
	_, text, err := net.SplitHostPort(other.Brokers()[0])
	require.NoError(t, err)
	port, err := strconv.Atoi(text)
	require.NoError(t, err)
	ours := NewApacheKafka(ApacheKafkaOptions{Dir: t.TempDir()})
	require.ErrorContains(t, ours.probe(ctx, &kafkaNode{broker: port}), "another Kafka")
}
