package consumer

import (
	"errors"
	"time"

	"lodestone/pkg/config"
)

// Config is the setting of the consumer.
type Config struct {
	Group            string        `name:"consumer-group" default:"lodestone" help:"Kafka consumer group. Consumers of one group share the partitions. For copies of the events after the first, -copy- and the number are appended."`
	BatchRows        int           `kong:"-"`
	BatchBytes       int           `kong:"-"`
	BatchAge         time.Duration `name:"consumer-batch-age" default:"500ms" help:"Maximum time that a record waits for its batch to fill. Each batch is one insert into ClickHouse."`
	BufferBytes      int           `kong:"-"`
	QueueBytes       int           `kong:"-"`
	InsertTimeout    time.Duration `name:"consumer-insert-timeout" default:"8s" help:"Maximum duration of an insert. Must be below the session and the rebalance timeout."`
	ReleaseTimeout   time.Duration `kong:"-"`
	SessionTimeout   time.Duration `name:"consumer-session-timeout" default:"10s" help:"Time without a heartbeat after which Kafka gives the partitions to another consumer. A consumer that stops leaves the group at once."`
	RebalanceTimeout time.Duration `kong:"-"`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests
// have others.
func (c *Config) BeforeApply() error {
	c.BatchRows = 100_000
	c.BatchBytes = 24 << 20
	c.BufferBytes = 96 << 20
	c.QueueBytes = 4 << 20
	c.ReleaseTimeout = 3 * time.Second
	c.RebalanceTimeout = 20 * time.Second
	return nil
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	bad := func(wrong bool, setting, why, remedy string) {
		if wrong {
			errs = append(errs, config.Invalid(setting, why, remedy))
		}
	}
	bad(c.Group == "", "--consumer-group", "is empty", "give the group a name")
	bad(c.BatchAge < time.Millisecond || c.BatchAge > time.Minute, "--consumer-batch-age", "is out of range",
		"give a time from 1ms to 1m")
	bad(c.InsertTimeout < time.Second, "--consumer-insert-timeout", "is too short", "give at least 1s")
	bad(c.SessionTimeout < time.Second, "--consumer-session-timeout", "is too short", "give at least 1s")
	bad(c.InsertTimeout >= c.RebalanceTimeout, "--consumer-insert-timeout", "is not below 20s",
		"lower it: a consumer that hands a partition over within 20s finishes its insert first")
	bad(c.InsertTimeout >= c.SessionTimeout, "--consumer-insert-timeout", "is not below --consumer-session-timeout",
		"lower the one or raise the other: an insert has to end before Kafka gives the partition of a lost consumer away")
	return errors.Join(errs...)
}
