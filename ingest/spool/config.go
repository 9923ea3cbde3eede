package spool

import (
	"errors"
	"fmt"
	"time"

	"lodestone/pkg/config"
)

// Age is how long the spool keeps a record. The consumer states it in receipts of erasures, so both
// take the setting.
type Age struct {
	MaxAge time.Duration `name:"spool-max-age" default:"168h" help:"How long a collector's spool keeps events that Kafka does not accept. Older events are dropped, counted and logged, and files in its folder damaged are deleted, so set it far above any outage. Use the same value for consumers and collectors, since receipts of erasures state it. 0: forever."`
}

const (
	minAge = 24 * time.Hour
	maxAge = 90 * 24 * time.Hour
)

// Validate returns every problem of the setting.
func (a Age) Validate() error {
	if a.MaxAge != 0 && (a.MaxAge < minAge || a.MaxAge > maxAge) {
		return config.Invalid("--spool-max-age", "is out of range", "give a time from 24h to 2160h, or 0")
	}
	return nil
}

// isOver reports whether a record that was spooled at a time, in Unix milliseconds, is older than
// that. A clock that was set back keeps it.
func (a Age) isOver(spooledAt int64, now time.Time) bool {
	return a.MaxAge > 0 && spooledAt > 0 && now.Sub(time.UnixMilli(spooledAt)) > a.MaxAge
}

// Config holds the settings of the spool. Without a directory there is no spool.
type Config struct {
	Dir          string        `name:"spool-dir" placeholder:"DIR" help:"Directory for events that Kafka does not acknowledge in time. Each collector needs its own. If empty, such events get 503; lodestone up uses the folder spool in its data directory."`
	MaxBytes     int64         `name:"spool-max-bytes" default:"1073741824" help:"Maximum size of the spool on disk, in bytes. When it is full, events get 503."`
	SegmentBytes int64         `name:"spool-segment-bytes" default:"16777216" help:"Size of a file of the spool. Disk space is freed one file at a time."`
	After        time.Duration `name:"spool-after" default:"1500ms" help:"How long a request waits for Kafka before its events go to the spool. Must be below --collector-ack-timeout."`
	DrainBytes   int64         `name:"spool-drain-bytes-per-second" default:"16777216" help:"Maximum rate at which the spool sends to Kafka while live events are also sent, in bytes per second."`
	SendTimeout  time.Duration `name:"spool-send-timeout" default:"10s" help:"How long a stopping collector sends its spool to Kafka before it exits. It logs how many records are left; the next collector on the directory sends them. lodestone up takes at most a second."`
	Age
}

// Enabled reports whether there is a spool.
func (c Config) Enabled() bool { return c.Dir != "" }

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	bytes := func(setting string, value, low, high int64) {
		if value < low || value > high {
			errs = append(errs, config.Invalid(setting, "is out of range",
				fmt.Sprintf("give a number from %d to %d", low, high)))
		}
	}
	errs = append(errs, c.Age.Validate())
	bytes("--spool-max-bytes", c.MaxBytes, 4<<20, 1<<44)
	bytes("--spool-segment-bytes", c.SegmentBytes, 1<<20, 1<<30)
	bytes("--spool-drain-bytes-per-second", c.DrainBytes, 64<<10, 1<<34)
	if c.SegmentBytes > c.MaxBytes/4 {
		errs = append(errs, config.Invalid("--spool-segment-bytes", "is more than a quarter of --spool-max-bytes",
			"make it smaller: space is freed a file at a time"))
	}
	if c.After < 10*time.Millisecond || c.After > time.Minute {
		errs = append(errs, config.Invalid("--spool-after", "is out of range", "give a time from 10ms to 1m"))
	}
	if c.SendTimeout < 0 || c.SendTimeout > 10*time.Minute {
		errs = append(errs, config.Invalid("--spool-send-timeout", "is out of range", "give a time from 0s to 10m"))
	}
	return errors.Join(errs...)
}
