package ratelimit

import (
	"errors"

	"lodestone/pkg/config"
)

// Config is the setting of the limits: requests in a window of 60 seconds.
type Config struct {
	Requests       int `name:"limit-requests-per-minute" default:"1000" help:"API requests per minute for one key, excluding requests with a separate limit."`
	Analytics      int `name:"limit-analytics-per-minute" default:"60" help:"Requests per minute for the list of analytics events, for one account."`
	AnalyticsEmail int `name:"limit-analytics-email-per-minute" default:"60" help:"Requests per minute for email summaries, for one account."`
	AnalyticsQuery int `name:"limit-analytics-query-per-minute" default:"60" help:"Requests per minute for metrics (POST), for one account. A batch is one request."`
}

// maxQuota is far beyond what one row of Postgres can count in a window.
const maxQuota = 10_000_000

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	for _, s := range []struct {
		name  string
		quota int
	}{
		{"--limit-requests-per-minute", c.Requests},
		{"--limit-analytics-per-minute", c.Analytics},
		{"--limit-analytics-email-per-minute", c.AnalyticsEmail},
		{"--limit-analytics-query-per-minute", c.AnalyticsQuery},
	} {
		if s.quota < 1 || s.quota > maxQuota {
			errs = append(errs, config.Invalid(s.name, "is out of range", "give a number from 1 to 10000000"))
		}
	}
	return errors.Join(errs...)
}
