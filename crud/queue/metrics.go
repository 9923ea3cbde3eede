package queue

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river/rivertype"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
)

// metrics counts what this process works on, and asks Postgres at each scrape what there is to do.
type metrics struct {
	pool  *postgres.Pool
	names []string // of the queues; set before the first scrape
	jobs  *prometheus.CounterVec
	took  *prometheus.HistogramVec
	depth *prometheus.Desc
	age   *prometheus.Desc
}

// scrapeTimeout bounds the look at the queue: without Postgres there is nothing to show.
const scrapeTimeout = time.Second

func newMetrics(pool *postgres.Pool, r prometheus.Registerer) *metrics {
	m := &metrics{
		pool: pool,
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lodestone_queue_attempts_total",
			Help: "Attempts at jobs, by kind and outcome: completed, retried, snoozed, interrupted (by a stop), cancelled (will never succeed), discarded (attempts used up).",
		}, []string{"kind", "outcome"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "lodestone_queue_attempt_seconds", Help: "Time of an attempt at a job.",
			Buckets: prometheus.ExponentialBuckets(0.005, 4, 8),
		}, []string{"kind"}),
		depth: prometheus.NewDesc("lodestone_queue_jobs",
			"Jobs of all processes that share the database, by queue and state; cancelled and discarded ones are kept for seven days.", []string{"queue", "state"}, nil),
		age: prometheus.NewDesc("lodestone_queue_oldest_seconds", "How long the longest-waiting job has been due.",
			[]string{"queue"}, nil),
	}
	r.MustRegister(m.jobs, m.took, m)
	return m
}

// begin shows the series of a kind of job, so that an alarm sees the first attempt.
func (m *metrics) begin(kind string) {
	m.took.WithLabelValues(kind)
	for _, o := range []string{"completed", "snoozed", "cancelled", "interrupted", "discarded", "retried"} {
		m.jobs.WithLabelValues(kind, o)
	}
}

// work counts an attempt.
func (m *metrics) work(ctx context.Context, job *rivertype.JobRow, do func(context.Context) error) error {
	begin := time.Now()
	err := do(ctx)
	m.took.WithLabelValues(job.Kind).Observe(time.Since(begin).Seconds())
	m.jobs.WithLabelValues(job.Kind, outcome(ctx, job, err)).Inc()
	return err
}

func outcome(ctx context.Context, job *rivertype.JobRow, err error) string {
	var cancelled *rivertype.JobCancelError
	var snoozed *rivertype.JobSnoozeError
	switch {
	case err == nil:
		return "completed"
	case errors.As(err, &snoozed):
		return "snoozed"
	case errors.As(err, &cancelled):
		return "cancelled"
	case errors.Is(ctx.Err(), context.Canceled):
		return "interrupted"
	case job.Attempt >= job.MaxAttempts:
		return "discarded"
	default:
		return "retried"
	}
}

// Describe implements prometheus.Collector.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	to <- m.depth
	to <- m.age
}

// Collect implements prometheus.Collector.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	depths, err := store.New(m.pool.Unscoped()).QueueDepths(ctx)
	if err != nil {
		return
	}
	oldest := map[string]float64{}  // an empty queue is shown as one without age
	discarded := map[string]int64{} // and without work that was given up, so that an alarm sees the first
	for _, name := range m.names {
		oldest[name], discarded[name] = 0, 0
	}
	for _, d := range depths {
		state := rivertype.JobState(d.State)
		if state == rivertype.JobStateDiscarded {
			discarded[d.Queue] = d.Jobs
			continue
		}
		to <- prometheus.MustNewConstMetric(m.depth, prometheus.GaugeValue, float64(d.Jobs), d.Queue, d.State)
		switch state {
		case rivertype.JobStateAvailable, rivertype.JobStateRetryable, rivertype.JobStateScheduled, rivertype.JobStatePending:
			oldest[d.Queue] = max(oldest[d.Queue], d.Age)
		default:
		}
	}
	for queue, count := range discarded {
		to <- prometheus.MustNewConstMetric(m.depth, prometheus.GaugeValue, float64(count), queue,
			string(rivertype.JobStateDiscarded))
	}
	for queue, age := range oldest {
		to <- prometheus.MustNewConstMetric(m.age, prometheus.GaugeValue, age, queue)
	}
}
