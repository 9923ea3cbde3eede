package logbook

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/service"
)

// watchInterval is the time between two reads of the records.
const watchInterval = 10 * time.Second

// Watch exports the unacknowledged lost records as a metric, in every process that runs one. It is a service.Service.
type Watch struct {
	*service.Loop
	book *Book
	log  *slog.Logger
	lost prometheus.Gauge
}

// WatchDeps is what a watch works with; all of it is required.
type WatchDeps struct {
	Book       *Book
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// NewWatch returns the watch of a logbook.
func NewWatch(d WatchDeps) *Watch {
	w := &Watch{book: d.Book, log: d.Log, lost: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lodestone_consumer_lost_records",
		Help: "Records that Kafka deleted before they were stored, until `lodestone losses acknowledge`. The same number in every consumer.",
	})}
	d.Registerer.MustRegister(w.lost)
	w.Loop = service.NewLoop("watch of lost records", w.run)
	return w
}

func (w *Watch) run(ctx context.Context, ready func()) error {
	for failed := false; ; {
		n, err := w.book.Unacknowledged(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil:
			w.lost.Set(float64(n))
		case !failed: // once an outage
			w.log.Warn("cannot read which records were lost, will try again", "error", err)
		}
		failed = err != nil
		ready()
		if err := service.Sleep(ctx, watchInterval); err != nil {
			return err
		}
	}
}
