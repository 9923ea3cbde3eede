// Package consumertest lets tests of other packages have stored what they produce.
package consumertest

import (
	"log/slog"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/ingest/consumer"
	"lodestone/pkg/test/enginetest"
)

// New returns a consumer of a stack, in the group "g" or that of its copy of the events, that is
// not started. It stores at once, and stays in its group on a busy machine.
func New(t testing.TB, s *enginetest.Stack) *consumer.Consumer {
	t.Helper()
	c, err := consumer.New(consumer.Config{
		Group: s.ClickHouse.Group("g"), BatchRows: 1000, BatchBytes: 1 << 20, BatchAge: 10 * time.Millisecond,
		QueueBytes: 1 << 20, BufferBytes: 64 << 20,
		InsertTimeout: 50 * time.Second, ReleaseTimeout: time.Second, SessionTimeout: time.Minute,
		RebalanceTimeout: time.Minute,
	}, consumer.Deps{Kafka: s.Kafka, ClickHouse: s.ClickHouse, Postgres: s.Postgres, Log: slog.New(slog.DiscardHandler),
		Registerer: prometheus.NewRegistry()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
