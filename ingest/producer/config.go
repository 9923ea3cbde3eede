package producer

import (
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/config"
)

// Config holds the settings of a producer.
type Config struct {
	Linger             time.Duration `kong:"-"`
	Compression        string        `name:"producer-compression" default:"snappy" enum:"none,snappy,lz4,zstd" help:"Compression of the batches: none, snappy, lz4 or zstd."`
	RequestTimeout     time.Duration `kong:"-"`
	MaxBufferedRecords int64         `kong:"-"`
	MaxBufferedBytes   int64         `kong:"-"`
}

// BeforeApply implements the hook of kong, before it validates: these are no settings, and tests have others.
func (c *Config) BeforeApply() error {
	c.Linger = 0
	c.RequestTimeout = 5 * time.Second
	c.MaxBufferedRecords = 50_000
	c.MaxBufferedBytes = 64 << 20
	return nil
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if _, ok := codec(c.Compression); !ok {
		return config.Invalid("--producer-compression", "is unknown", "give none, snappy, lz4 or zstd")
	}
	return nil
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
