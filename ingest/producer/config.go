package producer

import "time"

// Config is how a producer works. These are no settings, and tests have others.
type Config struct {
	Linger             time.Duration `kong:"-"`
	RequestTimeout     time.Duration `kong:"-"`
	MaxBufferedRecords int64         `kong:"-"`
	MaxBufferedBytes   int64         `kong:"-"`
}

// BeforeApply implements the hook of kong, before it validates.
func (c *Config) BeforeApply() error {
	c.Linger = 0
	c.RequestTimeout = 5 * time.Second
	c.MaxBufferedRecords = 50_000
	c.MaxBufferedBytes = 64 << 20
	return nil
}
