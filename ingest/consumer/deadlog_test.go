package consumer

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/stream"
)

// A flood of records that cannot become rows does not flood the log.
func TestDeadLettersAreLoggedOnceAnInterval(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	p := &partition{log: slog.New(slog.NewTextHandler(&out, nil))}
	s := &span{of: p}
	for i := range 100 {
		s.dead = append(s.dead, newDeadLetter(&kgo.Record{Offset: int64(i)}, errors.New("garbage")))
	}
	for range 50 {
		s.warnDead()
	}
	require.Equal(t, 1, strings.Count(out.String(), "\n"))
	require.Contains(t, out.String(), "records=100")
	p.deadLogged = time.Now().Add(-deadLogEvery)
	s.warnDead()
	require.Contains(t, out.String(), "records=5000", "those in between are in the next line")
	require.Equal(t, 2, strings.Count(out.String(), "\n"))
}

// An alarm on the increase misses the first value of a series that was not there.
func TestEveryReasonCountsFromZero(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	newMetrics(registry, func() status { return status{} })
	families, err := registry.Gather()
	require.NoError(t, err)
	reasons := map[string][]string{}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			for _, l := range m.GetLabel() {
				reasons[f.GetName()] = append(reasons[f.GetName()], l.GetValue())
				require.Zero(t, m.GetCounter().GetValue()+m.GetGauge().GetValue())
			}
		}
	}
	require.Equal(t, map[string][]string{
		"lodestone_consumer_dead_letters_total": {stream.ReasonInvalid, stream.ReasonMalformed},
		"lodestone_consumer_halted_partitions":  {haltedLog, haltedNewer},
	}, reasons)
}
