package tracing

import (
	"cmp"
	"maps"
	"net/url"
	"os"
	"strings"

	"golang.org/x/net/http/httpguts"

	"lodestone/pkg/config"
)

// parseHeaders reads --trace-headers, whose form is that of OpenTelemetry's variables. Its error
// repeats nothing of the text, which holds a password.
func parseHeaders(text string) (map[string]string, error) {
	headers := map[string]string{}
	if text == "" {
		return headers, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, encoded, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, config.Invalid("--trace-headers", "cannot be used",
				"write NAME=VALUE, with commas between several, and with special characters of a value percent-encoded: authorization=Bearer%20TOKEN")
		}
		headers[strings.ToLower(name)] = value
	}
	return headers, nil
}

// withVariables returns the headers of --trace-headers, and others of OpenTelemetry's variables,
// which the exporter's option would replace.
func withVariables(text string) (map[string]string, error) {
	headers, err := parseHeaders(text)
	if err != nil {
		return nil, err
	}
	others, err := parseHeaders(cmp.Or(os.Getenv("OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
		os.Getenv("OTEL_EXPORTER_OTLP_HEADERS")))
	if err != nil {
		return headers, nil //nolint:nilerr // OpenTelemetry ignores a variable that it cannot read
	}
	maps.Copy(others, headers)
	return others, nil
}
