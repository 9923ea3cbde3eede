// Package quota limits the events that an account may send in a calendar month of UTC, by its plan. A Meter, in the
// consumer's process, counts stored events and writes the counts to Postgres; an Exceeded, in the collector's, knows
// which accounts are beyond their plan.
//
// Counting comes after storing, so an account may exceed its limit by the events that it sends between two counts.
package quota

import (
	"errors"
	"time"

	"lodestone/pkg/config"
)

// Config holds the settings of the Meter.
type Config struct {
	Interval time.Duration `name:"quota-interval" default:"30s" help:"Interval at which the events of each account in the current month are counted and compared with the plan's limit."`
	Free     int64         `name:"plan-free-events-per-month" default:"100000" help:"Events per calendar month for an account on the plan free; 0 means no limit."`
	Pro      int64         `name:"plan-pro-events-per-month" default:"10000000" help:"Events per calendar month for an account on the plan pro; 0 means no limit."`
	Team     int64         `name:"plan-team-events-per-month" default:"0" help:"Events per calendar month for an account on the plan team; 0 means no limit."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Interval < 10*time.Millisecond || c.Interval > time.Hour {
		errs = append(errs, config.Invalid("--quota-interval", "is out of range", "give a time from 10ms to 1h"))
	}
	for _, p := range []struct {
		plan  string
		limit int64
	}{{"free", c.Free}, {"pro", c.Pro}, {"team", c.Team}} {
		if p.limit < 0 {
			errs = append(errs, config.Invalid("--plan-"+p.plan+"-events-per-month", "is negative", "give a number, 0 for no limit"))
		}
	}
	return errors.Join(errs...)
}
