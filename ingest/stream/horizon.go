package stream

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

var horizonTopics = []string{event.Topic, event.LinkViewTopic}

const (
	horizonPause   = time.Second
	horizonTimeout = 10 * time.Second // of one look
)

// HorizonDeps are the dependencies of the service; all are required.
type HorizonDeps struct {
	Group      string // the consumer group that fills the copy
	Copy       int32
	Kafka      kafka.Config
	Postgres   *postgres.Pool
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Horizon records in Postgres until when a copy of the events has everything that was in Kafka.
// Those who read choose a copy by it. An installation that never had a second copy has nothing to
// choose, and records nothing. A copy that is left alone goes on: those who read may not know yet
// that the other was removed. It is a service.Service. Any number may run: the latest record
// counts.
type Horizon struct {
	*service.Loop
	deps HorizonDeps
	mark *horizonMark // nil: none

	lag   *prometheus.GaugeVec
	shown int // copies that have a lag
}

// horizonMark is a time, by the clock of Postgres, and where the logs ended then. Once everything
// below these ends is stored, the copy has everything of before that time.
type horizonMark struct {
	at   time.Time
	ids  map[string]uuid.UUID // of the topics, by their names
	ends kadm.ListedOffsets
}

// NewHorizon returns the service that records the horizon of a copy.
func NewHorizon(d HorizonDeps) *Horizon {
	h := &Horizon{deps: d, lag: prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "lodestone_copy_lag_seconds",
		Help: "Upper bound of each copy's delay behind Kafka, as recorded in Postgres; 0 with one copy, +Inf for a copy that has not caught up yet.",
	}, []string{"copy"})}
	d.Registerer.MustRegister(h.lag)
	h.show([]store.CopyLagsRow{{Copy: d.Copy}})
	h.Loop = service.NewLoop("horizon", h.run)
	return h
}

func (h *Horizon) run(ctx context.Context, ready func()) error {
	client, err := kgo.NewClient(h.deps.Kafka.Options(h.deps.Log)...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	ready()
	failing := false
	for {
		err := h.look(ctx, client)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil && !failing { // once an outage
			h.deps.Log.Warn("cannot record how far this copy of the events is complete, will try again",
				"copy", h.deps.Copy, "error", err)
		}
		failing = err != nil
		if service.Sleep(ctx, horizonPause) != nil {
			return nil
		}
	}
}

// look records the time of the mark if it is reached, and then sets the next one.
func (h *Horizon) look(ctx context.Context, client *kgo.Client) error {
	ctx, cancel := context.WithTimeout(ctx, horizonTimeout)
	defer cancel()
	q := store.New(h.deps.Postgres.Unscoped())
	lags, err := q.CopyLags(ctx)
	if err != nil {
		return fmt.Errorf("read until when copies have everything: %w", err)
	}
	h.show(lags)
	if len(lags) == 0 || len(lags) == 1 && math.IsInf(lags[0].Seconds, 1) {
		h.mark = nil
		return nil
	}
	now, err := q.Now(ctx)
	if err != nil {
		return fmt.Errorf("read Postgres' clock: %w", err)
	}
	// as the column has it, which would round up
	next := horizonMark{at: now.Truncate(time.Millisecond), ids: map[string]uuid.UUID{}}
	for _, topic := range horizonTopics {
		if next.ids[topic], _, err = kafka.Topic(ctx, client, topic); err != nil {
			return err
		}
	}
	admin := kadm.NewClient(client)
	if h.mark != nil && maps.Equal(h.mark.ids, next.ids) { // else a topic was created again since
		reached, err := h.reached(ctx, admin)
		if err != nil {
			return err
		}
		if !reached {
			return nil
		}
		if err := q.SetStoredUntil(ctx, store.SetStoredUntilParams{Copy: h.deps.Copy, StoredUntil: h.mark.at}); err != nil {
			return fmt.Errorf("record until when copy %d has everything: %w", h.deps.Copy, err)
		}
	}
	h.mark = nil
	next.ends, err = admin.ListEndOffsets(ctx, horizonTopics...)
	if err = errors.Join(err, next.ends.Error()); err != nil {
		return fmt.Errorf("read the ends of the logs: %w", err)
	}
	h.mark = &next
	return nil
}

// reached reports whether the group has stored everything below the mark. A commit for an earlier
// topic of the name says nothing.
func (h *Horizon) reached(ctx context.Context, admin *kadm.Client) (bool, error) {
	committed, err := admin.FetchOffsets(ctx, h.deps.Group)
	if err != nil && !errors.Is(err, kerr.GroupIDNotFound) { // without a group there are no commits
		return false, fmt.Errorf("read committed offsets: %w", err)
	}
	done := true
	h.mark.ends.Each(func(end kadm.ListedOffset) {
		at, _ := committed.Lookup(end.Topic, end.Partition)
		done = done && at.Err == nil && (end.Offset == 0 || at.At >= end.Offset &&
			IsCommitFor(at.Metadata, h.mark.ids[end.Topic]))
	})
	return done, nil
}

// show shows the lags of all copies: those of one without consumers are reported by the others.
func (h *Horizon) show(lags []store.CopyLagsRow) {
	if len(lags) != h.shown {
		h.lag.Reset()
		h.shown = len(lags)
	}
	for _, l := range lags {
		if len(lags) == 1 {
			l.Seconds = 0
		}
		h.lag.WithLabelValues(fmt.Sprint(l.Copy)).Set(l.Seconds)
	}
}
