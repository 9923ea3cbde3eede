package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"lodestone/pkg/engine/flush"
	"lodestone/pkg/service"
)

// KafkaOptions say how to run the broker within this process.
type KafkaOptions struct {
	Runtime
	// Dir holds the log. It is taken for this process alone.
	Dir string
	// Port is taken if it is free; 0 means any.
	Port int
	// Partitions of a topic that is made without a number. Default 4.
	Partitions int
	// SegmentBytes is the size of one file of the log. Default 64 MiB.
	SegmentBytes int64
	// RetentionBytes is what a partition keeps at most, oldest records first to go. Default 2 GiB.
	RetentionBytes int64
	// Retention is how long a record is kept at most. Default 7 days.
	Retention time.Duration
	// RetentionInterval is how often retention is applied. Default one minute.
	RetentionInterval time.Duration
	// NoSync trades the safety of acknowledged records on a power loss for speed: for tests.
	NoSync bool
}

func (o *KafkaOptions) defaults() {
	if o.Partitions == 0 {
		o.Partitions = 4
	}
	if o.SegmentBytes == 0 {
		o.SegmentBytes = 64 << 20
	}
	if o.RetentionBytes == 0 {
		o.RetentionBytes = 2 << 30
	}
	if o.Retention == 0 {
		o.Retention = 7 * 24 * time.Hour
	}
	if o.RetentionInterval == 0 {
		o.RetentionInterval = time.Minute
	}
}

// Kafka is a single broker that speaks Kafka's protocol and keeps its log on disk; it implements
// service.Service. It has no replication: what it promises after an acknowledgement is what this
// machine's disk promises. The address is known after Start.
type Kafka struct {
	*service.Loop
	o       KafkaOptions
	port    int
	cluster *kfake.Cluster
	flusher *flush.Flusher // nil: without syncs
}

// NewKafka returns a broker that is not started yet.
func NewKafka(o KafkaOptions) *Kafka {
	o.defaults()
	k := &Kafka{o: o}
	k.Loop = service.NewLoop("Kafka", k.run)
	return k
}

// Brokers is the list of addresses to give to a client: one.
func (k *Kafka) Brokers() []string { return []string{address(k.port)} }

// Cluster is the broker itself, with which tests provoke its errors.
func (k *Kafka) Cluster() *kfake.Cluster { return k.cluster }

func (k *Kafka) run(ctx context.Context, ready func()) (err error) {
	dir, err := filepath.Abs(k.o.Dir)
	if err != nil {
		return err
	}
	k.o.Dir = dir
	lock, err := lockDir(dir, 0o700)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	if err := k.open(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, k.close()) }()
	ready()
	var broken <-chan error
	if k.flusher != nil {
		broken = k.flusher.Broken()
	}
	// The broker's own timer for this does not come back after a restart.
	tick := time.NewTicker(k.o.RetentionInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case err := <-broken:
			return err
		case <-tick.C:
			k.cluster.ApplyRetention()
		}
	}
}

func (k *Kafka) close() error {
	k.cluster.Close()
	if k.flusher == nil {
		return nil
	}
	return k.flusher.Close()
}

func (k *Kafka) open() error {
	for attempt := 1; ; attempt++ {
		ports, err := choosePorts(k.o.Dir, map[string]int{"tcp": k.o.Port})
		if err != nil {
			return err
		}
		logDir := filepath.Join(k.o.Dir, "log")
		options := []kfake.Opt{
			kfake.NumBrokers(1),
			kfake.Ports(ports["tcp"]),
			kfake.ClusterID("lodestone"),
			kfake.DefaultNumPartitions(k.o.Partitions),
			kfake.DataDir(logDir),
			kfake.WithLogger(kafkaLogger{k.o.Log}),
			kfake.BrokerConfigs(map[string]string{
				"log.segment.bytes":   strconv.FormatInt(k.o.SegmentBytes, 10),
				"log.retention.bytes": strconv.FormatInt(k.o.RetentionBytes, 10),
				"log.retention.ms":    strconv.FormatInt(k.o.Retention.Milliseconds(), 10),
			}),
		}
		if !k.o.NoSync {
			// Instead of kfake.SyncWrites, which syncs two files for each batch, one after another, while all else waits.
			k.flusher = flush.New(logDir)
			options = append(options, kfake.ListenFn(k.flusher.Listen))
		}
		cluster, err := kfake.NewCluster(options...)
		if err == nil {
			k.port, k.cluster = ports["tcp"], cluster
			return nil
		}
		if !isPortTaken(err) || attempt == portAttempts {
			return fmt.Errorf("open the log in %s: %w", k.o.Dir, explainFile(err))
		}
	}
}

// kafkaLogger passes the broker's warnings on.
type kafkaLogger struct{ log *slog.Logger }

// Logf implements kfake.Logger.
func (l kafkaLogger) Logf(level kfake.LogLevel, format string, args ...any) {
	switch level {
	case kfake.LogLevelError:
		l.log.Error("kafka: " + fmt.Sprintf(format, args...))
	case kfake.LogLevelWarn:
		l.log.Warn("kafka: " + fmt.Sprintf(format, args...))
	default: // each request, to begin with
	}
}
