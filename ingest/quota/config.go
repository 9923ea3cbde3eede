// Package quota limits the events that an account may send in a calendar month of UTC, by its plan.
// A Meter, in the consumer's process, counts stored events and writes the counts to Postgres; an
// Exceeded, in the collector's, knows which accounts are beyond their plan.
//
// Counting comes after storing, so an account may exceed its limit by the events that it sends
// between two counts.
package quota

import (
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/plan"
)

// Config holds the settings of the Meter.
type Config struct {
	Interval time.Duration `name:"quota-interval" default:"30s" help:"Interval at which the events of each account in the current month are counted and compared with the plan's limit."`
	Plans    plan.Plans    `kong:"-"`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Interval < 10*time.Millisecond || c.Interval > time.Hour {
		return config.Invalid("--quota-interval", "is out of range", "give a time from 10ms to 1h")
	}
	return nil
}
