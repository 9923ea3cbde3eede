package tracing

import (
	"errors"
	"net/url"

	"lodestone/pkg/config"
)

// Config is the setting of processes that send traces.
type Config struct {
	Endpoint string  `name:"trace-endpoint" placeholder:"URL" help:"OpenTelemetry collector that receives traces, over OTLP and HTTP, as http://host:4318. Default: no traces. OTEL_EXPORTER_OTLP_CERTIFICATE, OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE and OTEL_EXPORTER_OTLP_CLIENT_KEY apply."`
	Headers  string  `name:"trace-headers" placeholder:"NAME=VALUE,..." help:"Headers for logging in to that collector, such as authorization=Bearer%20TOKEN. Special characters of values are percent-encoded, as in OTEL_EXPORTER_OTLP_HEADERS, which applies to other headers. Secret."`
	Share    float64 `name:"trace-share" default:"0.01" help:"Share of traced requests, from 0 to 1."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	if c.Endpoint != "" {
		if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" &&
			u.Scheme != "https" || u.User != nil {
			errs = append(errs, config.Invalid("--trace-endpoint", "is not an address",
				"write http://host:4318; passwords go into --trace-headers"))
		}
	}
	if _, err := parseHeaders(c.Headers); err != nil {
		errs = append(errs, err)
	}
	if !(c.Share >= 0 && c.Share <= 1) { // not a number is neither
		errs = append(errs, config.Invalid("--trace-share", "is out of range", "give a number from 0 to 1"))
	}
	return errors.Join(errs...)
}
