package clickhouse

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

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

// CopiesConfig is the setting of those who read: which copies of the events they may use besides
// that of --clickhouse-url, which they prefer.
type CopiesConfig struct {
	Others string        `name:"clickhouse-other-copies" placeholder:"N=HOST:PORT,…" help:"Further copies of the events to read from when the first one is down or behind, in order of preference, separated by commas: the number of each, and its servers as in --clickhouse-shards. User, password, TLS and settings are those of the ClickHouse URL: docs/copies.md."`
	MaxLag time.Duration `name:"clickhouse-max-lag" default:"1m" help:"How far a copy of the events may be behind before the next one is read."`
}

const copiesSetting = "--clickhouse-other-copies"

// Validate returns every problem of the settings but that of their addresses (Copies).
func (c CopiesConfig) Validate() error {
	if c.MaxLag < time.Second || c.MaxLag > 24*time.Hour {
		return config.Invalid("--clickhouse-max-lag", "is out of range", "give a time from 1s to 24h")
	}
	return nil
}

// Copies returns the settings of all copies that may be read, in order of preference. The first one
// is own.
func (c CopiesConfig) Copies(own Config) ([]Config, error) {
	all := []Config{own}
	if c.Others == "" {
		return all, nil
	}
	for text := range strings.SplitSeq(c.Others, ",") {
		name, addresses, found := strings.Cut(strings.TrimSpace(text), "=")
		number, err := strconv.ParseInt(name, 10, 32)
		if !found || err != nil || number < 1 || number > maxCopy {
			return nil, config.Invalid(copiesSetting, fmt.Sprintf("has %q, which is no copy", text),
				"write 2=host:port;host:port,3=host:port")
		}
		other := Config{URL: own.URL, Copy: int32(number)}
		if slices.ContainsFunc(all, func(c Config) bool { return c.Number() == other.Number() }) {
			return nil, config.Invalid(copiesSetting, fmt.Sprintf("has copy %d twice, or it is that of the ClickHouse URL",
				number), "give each copy once")
		}
		first, more, _ := strings.Cut(addresses, ";")
		server, err := other.at(strings.TrimSpace(first))
		if err != nil {
			return nil, err
		}
		if more != "" {
			server.Shards = addresses
		}
		if err := server.Validate(); err != nil {
			return nil, err
		}
		all = append(all, server)
	}
	return all, nil
}
