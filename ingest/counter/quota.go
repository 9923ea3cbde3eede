package counter

import (
	"time"

	"lodestone/pkg/config"
	"lodestone/pkg/plan"
)

// QuotaConfig holds the settings of the QuotaMeter.
type QuotaConfig struct {
	Interval time.Duration `name:"quota-interval" default:"30s" help:"Interval at which the events of each account in the current month are counted and compared with the plan's limit."`
	Plans    plan.Plans    `kong:"-"`
}

// Validate returns every problem of the settings.
func (c QuotaConfig) Validate() error {
	if c.Interval < 10*time.Millisecond || c.Interval > time.Hour {
		return config.Invalid("--quota-interval", "is out of range", "give a time from 10ms to 1h")
	}
	return nil
}
