package consumer

import (
	"errors"
	"time"

	"lodestone/pkg/config"
)

// Config is the setting of the consumer.
type Config struct {
	Group            string        `name:"consumer-group" default:"lodestone" help:"Kafka consumer group. Consumers of one group share the partitions."`
	BlockRows        int           `name:"consumer-block-rows" default:"100000" help:"Maximum rows of an insert into ClickHouse. An insert also ends after 100,000 offsets of its partition."`
	BlockBytes       int           `name:"consumer-block-bytes" default:"33554432" help:"Maximum total size of the records of an insert, in bytes."`
	BlockAge         time.Duration `name:"consumer-block-age" default:"500ms" help:"Maximum time that a record waits for its block to fill. With many partitions it is as long as an insert for each of them takes, two at a time, up to 8s."`
	BufferBytes      int           `name:"consumer-buffer-bytes" default:"100663296" help:"Approximate memory for records that are not stored yet, over all partitions of this consumer, in bytes. When memory runs short, blocks get smaller and fetching pauses."`
	QueueBytes       int           `name:"consumer-queue-bytes" default:"4194304" help:"Total size of waiting records of a partition above which its fetching pauses, in bytes."`
	InsertTimeout    time.Duration `name:"consumer-insert-timeout" default:"8s" help:"Maximum duration of an insert. Must be below the session and the rebalance timeout."`
	ReleaseTimeout   time.Duration `name:"consumer-release-timeout" default:"3s" help:"How long a consumer that stops or hands over a partition waits for a running insert. The next owner of the partition checks the outcome of an unfinished insert."`
	SessionTimeout   time.Duration `name:"consumer-session-timeout" default:"10s" help:"Time without a heartbeat after which Kafka gives the partitions to another consumer. One that stops says so, and needs none of it."`
	RebalanceTimeout time.Duration `name:"consumer-rebalance-timeout" default:"20s" help:"Maximum time for a consumer to hand over a partition."`
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
	bad(c.BlockRows < 1 || c.BlockRows > 1_000_000, "--consumer-block-rows", "is out of range", "give a number from 1 to 1000000")
	bad(c.BlockBytes < 1<<16 || c.BlockBytes > 256<<20, "--consumer-block-bytes", "is out of range", "give a number from 65536 to 268435456")
	bad(c.BlockAge < time.Millisecond || c.BlockAge > time.Minute, "--consumer-block-age", "is out of range", "give a time from 1ms to 1m")
	bad(c.BufferBytes < 1<<20, "--consumer-buffer-bytes", "is too small", "give at least 1048576")
	bad(c.QueueBytes < 1<<16, "--consumer-queue-bytes", "is too small", "give at least 65536")
	bad(c.InsertTimeout < time.Second, "--consumer-insert-timeout", "is too short", "give at least 1s")
	bad(c.ReleaseTimeout < 0 || c.ReleaseTimeout >= c.RebalanceTimeout, "--consumer-release-timeout", "is out of range", "give a time from 0s to below --consumer-rebalance-timeout")
	bad(c.SessionTimeout < time.Second, "--consumer-session-timeout", "is too short", "give at least 1s")
	bad(c.InsertTimeout >= c.RebalanceTimeout, "--consumer-insert-timeout", "is not below --consumer-rebalance-timeout",
		"lower the one or raise the other: a consumer that hands a partition over finishes its insert first")
	bad(c.InsertTimeout >= c.SessionTimeout, "--consumer-insert-timeout", "is not below --consumer-session-timeout",
		"lower the one or raise the other: an insert has to end before Kafka gives the partition of a lost consumer away")
	return errors.Join(errs...)
}
