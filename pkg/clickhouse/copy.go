package clickhouse

import (
	"fmt"

	"lodestone/pkg/config"
)

// An installation may keep several copies of the events. A copy is a complete store of its own: one
// server, or a set of shards, which a consumer group of its own fills from Kafka. The ids of the
// shards of a copy are those of its thousand, so that a server tells which copy it is of.

const (
	copySetting   = "--clickhouse-copy"
	maxCopy       = 65
	shardsOfACopy = 1000
)

// Number returns the number of the copy, from 1 on.
func (c Config) Number() int32 { return max(1, c.Copy) }

// CopyOf returns the number of the copy that a shard is of.
func CopyOf(shard uint16) int32 { return int32(shard-1)/shardsOfACopy + 1 }

// firstShard returns the id of the first shard of the copy.
func (c Config) firstShard() uint16 { return uint16((c.Number()-1)*shardsOfACopy + 1) }

// requireCopy returns an error if a server's shard is of another copy.
func (c Config) requireCopy(shard uint16) error {
	if is := CopyOf(shard); is != c.Number() {
		return config.Invalid(copySetting, fmt.Sprintf("is %d, and the server is shard %d of copy %d", c.Number(), shard, is),
			"give the number of the copy that the addresses are of")
	}
	return nil
}

// Group returns the consumer group of the copy: that of the setting for the first one.
func (c Config) Group(setting string) string {
	if c.Number() == 1 {
		return setting
	}
	return fmt.Sprintf("%s-copy-%d", setting, c.Number())
}
