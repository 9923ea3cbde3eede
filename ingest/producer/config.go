package producer

import (
	"errors"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
)

// Config holds the settings of a producer.
type Config struct {
	Linger             time.Duration `name:"producer-linger" default:"0s" help:"How long a record waits for others to share its batch. With 0, records that arrive during a request to Kafka are still batched. 0 was the fastest with 64 concurrent requests."`
	Compression        string        `name:"producer-compression" default:"snappy" enum:"none,snappy,lz4,zstd" help:"Compression of the batches: none, snappy, lz4 or zstd."`
	RequestTimeout     time.Duration `name:"producer-request-timeout" default:"5s" help:"Maximum time for Kafka to replicate a batch before it returns an error."`
	MaxBufferedRecords int64         `name:"producer-max-buffered-records" default:"50000" help:"Maximum number of records that wait for Kafka; further records are refused immediately."`
	MaxBufferedBytes   int64         `name:"producer-max-buffered-bytes" default:"67108864" help:"Maximum total size of records that wait for Kafka, in bytes; further records are refused immediately."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Linger < 0 || c.Linger > time.Second {
		errs = append(errs, config.Invalid("--producer-linger", "is out of range", "give a time from 0s to 1s"))
	}
	if _, ok := codec(c.Compression); !ok {
		errs = append(errs, config.Invalid("--producer-compression", "is unknown", "give none, snappy, lz4 or zstd"))
	}
	if c.RequestTimeout < 100*time.Millisecond || c.RequestTimeout > time.Minute {
		errs = append(errs, config.Invalid("--producer-request-timeout", "is out of range", "give a time from 100ms to 1m"))
	}
	if c.MaxBufferedRecords < 500 || c.MaxBufferedRecords > 10_000_000 {
		errs = append(errs, config.Invalid("--producer-max-buffered-records", "is out of range", "give a number from 500, which is one full request, to 10000000"))
	}
	if c.MaxBufferedBytes < 4<<20 || c.MaxBufferedBytes > 16<<30 {
		errs = append(errs, config.Invalid("--producer-max-buffered-bytes", "is out of range", "give a number from 4194304, which holds one full request, to 17179869184"))
	}
	return errors.Join(errs...)
}

func codec(name string) (kgo.CompressionCodec, bool) {
	switch name {
	case "none":
		return kgo.NoCompression(), true
	case "snappy":
		return kgo.SnappyCompression(), true
	case "lz4":
		return kgo.Lz4Compression(), true
	case "zstd":
		return kgo.ZstdCompression(), true
	default:
		return kgo.CompressionCodec{}, false
	}
}
