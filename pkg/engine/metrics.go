package engine

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/engine/child"
)

// Observer registers a counter of events of the engines' processes and returns the function for Runtime.Observe.
func Observer(r prometheus.Registerer) (func(Event), error) {
	events := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lodestone_engine_events_total",
		Help: "What happened to the processes of embedded engines: started, died, restarted, unwell (runs without answering), well (answers again).",
	}, []string{"engine", "event"})
	if err := r.Register(events); err != nil {
		return nil, fmt.Errorf("register the engines' metrics: %w", err)
	}
	for _, name := range []string{"clickhouse", "postgres"} {
		for _, kind := range []child.Kind{child.Started, child.Died, child.Restarted, child.Unwell, child.Well} {
			events.WithLabelValues(name, string(kind))
		}
	}
	return func(e Event) { events.WithLabelValues(e.Name, string(e.Kind)).Inc() }, nil
}
