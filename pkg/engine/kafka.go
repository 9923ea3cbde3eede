package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"lodestone/pkg/engine/flush"
	"lodestone/pkg/kafka"
	"lodestone/pkg/service"
)

// KafkaConfig configure the broker within this process.
type KafkaConfig struct {
	Runtime
	// Dir holds the log. It is locked for this process.
	Dir string
	// Port is taken if it is free; 0 means any.
	Port int
	// Partitions of a topic that is created without a number. Default 4.
	Partitions int
	// SegmentBytes is the size of one file of the log. Default 64 MiB.
	SegmentBytes int64
	// RetentionBytes is the maximum size of a partition; the oldest records are deleted first. Default
	// 2 GiB.
	RetentionBytes int64
	// Retention is how long a record is stored at most. Default 7 days.
	Retention time.Duration
	// RetentionInterval is how often retention is applied. Default one minute.
	RetentionInterval time.Duration
	// Login makes clients log in as KafkaUser, with a password that is stored in Dir.
	Login bool
	// NoSync trades the safety of acknowledged records on a power loss for speed: for tests.
	NoSync bool
}

func (c *KafkaConfig) defaults() {
	if c.Partitions == 0 {
		c.Partitions = 4
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = 64 << 20
	}
	if c.RetentionBytes == 0 {
		c.RetentionBytes = 2 << 30
	}
	if c.Retention == 0 {
		c.Retention = 7 * 24 * time.Hour
	}
	if c.RetentionInterval == 0 {
		c.RetentionInterval = time.Minute
	}
}

// Kafka is a single broker that speaks Kafka's protocol and stores its log on disk; it implements
// service.Service. It has no replication: an acknowledged record is as durable as this machine's
// disk. The address is known after Start.
type Kafka struct {
	*service.Loop
	config   KafkaConfig
	port     int
	password string // "": clients need not log in
	cluster  *kfake.Cluster
	flusher  *flush.Flusher // nil: without syncs
}

// NewKafka returns a broker that is not started yet.
func NewKafka(c KafkaConfig) *Kafka {
	c.defaults()
	k := &Kafka{config: c}
	k.Loop = service.NewLoop("Kafka", k.run)
	return k
}

// kafkaUser is the user that clients of a broker with Login log in as.
const kafkaUser = "lodestone"

// Config returns the settings to reach the broker, with the password if one is needed.
func (k *Kafka) Config() kafka.Config {
	if k.password == "" {
		return kafka.Config{Brokers: k.Brokers(), Login: kafka.Login{Mechanism: "none"}}
	}
	return kafka.Config{Brokers: k.Brokers(), Login: kafka.Login{Mechanism: "scram-sha-256",
		User: kafkaUser, Password: k.password}}
}

// Brokers returns the addresses to give to a client: one.
func (k *Kafka) Brokers() []string { return []string{address(k.port)} }

// Cluster returns the broker itself, for tests that provoke its errors.
func (k *Kafka) Cluster() *kfake.Cluster { return k.cluster }

func (k *Kafka) run(ctx context.Context, ready func()) (err error) {
	dir, err := filepath.Abs(k.config.Dir)
	if err != nil {
		return err
	}
	k.config.Dir = dir
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
	tick := time.NewTicker(k.config.RetentionInterval)
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

// login returns the options that make clients log in, if required.
func (k *Kafka) login(logDir string) ([]kfake.Opt, error) {
	if !k.config.Login {
		return nil, nil
	}
	known, err := passwords(k.config.Dir, kafkaUser)
	if err != nil {
		return nil, err
	}
	// Passwords that a client changed over Kafka's protocol would replace ours.
	if err := os.Remove(filepath.Join(logDir, "sasl.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("remove changed passwords: %w", err)
	}
	k.password = known[kafkaUser]
	return []kfake.Opt{kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", kafkaUser, k.password)}, nil
}

// versions are the requests of Kafka's protocol that the broker offers: all that kfake knows except
// those whose answer lacks a list that Kafka's own tools need. Instead of DescribeTopicPartitions
// they use Metadata.
func versions() *kversion.Versions {
	v := kversion.Stable() // the features that kfake offers by itself
	for key := range int16(kmsg.MaxKey + 1) {
		v.SetMaxKeyVersion(key, math.MaxInt16)
	}
	v.SetMaxKeyVersion(kmsg.DescribeTopicPartitions.Int16(), -1)
	v.SetMaxKeyVersion(kmsg.DescribeClientQuotas.Int16(), -1)
	v.SetMaxKeyVersion(kmsg.CreateTopics.Int16(), 4)
	return v
}

func (k *Kafka) open() error {
	logDir := filepath.Join(k.config.Dir, "log")
	login, err := k.login(logDir)
	if err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		ports, err := choosePorts(k.config.Dir, map[string]int{"tcp": k.config.Port})
		if err != nil {
			return err
		}
		options := []kfake.Opt{
			kfake.NumBrokers(1),
			kfake.Ports(ports["tcp"]),
			kfake.ClusterID("lodestone"),
			kfake.MaxVersions(versions()),
			kfake.DefaultNumPartitions(k.config.Partitions),
			kfake.DataDir(logDir),
			kfake.WithLogger(kafkaLogger{k.config.Log}),
			kfake.BrokerConfigs(map[string]string{
				"log.segment.bytes":   strconv.FormatInt(k.config.SegmentBytes, 10),
				"log.retention.bytes": strconv.FormatInt(k.config.RetentionBytes, 10),
				"log.retention.ms":    strconv.FormatInt(k.config.Retention.Milliseconds(), 10),
			}),
		}
		options = append(options, login...)
		if !k.config.NoSync {
			// Not kfake.SyncWrites: it syncs two files for each batch, one after another, while all other
			// requests wait, which has a quarter of the rate (flush.BenchmarkProduce), and it acknowledges a
			// batch whose sync failed.
			k.flusher = flush.New(logDir)
			options = append(options, kfake.ListenFn(k.flusher.Listen))
		}
		cluster, err := kfake.NewCluster(options...)
		if err == nil {
			k.port, k.cluster = ports["tcp"], cluster
			return nil
		}
		if !isPortTaken(err) || attempt == portAttempts {
			return fmt.Errorf("open the log in %s: %w", k.config.Dir, explainFile(err))
		}
	}
}

// kafkaLogger forwards the broker's warnings.
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
