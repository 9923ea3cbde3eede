package tracing

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/net/http/httpguts"

	"lodestone/pkg/config"
)

// parseHeaders reads --trace-headers. Its error repeats nothing of the text, which holds a password.
func parseHeaders(text string) (http.Header, error) {
	headers := http.Header{}
	if text == "" {
		return headers, nil
	}
	for pair := range strings.SplitSeq(text, ",") {
		name, encoded, found := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		value, err := url.PathUnescape(strings.TrimSpace(encoded))
		if !found || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value) {
			return nil, config.Invalid("--trace-headers", "cannot be used", "write NAME=VALUE, with commas between several, and with special characters of a value percent-encoded: authorization=Bearer%20TOKEN")
		}
		headers.Set(name, value)
	}
	return headers, nil
}

// login sends the headers of --trace-headers to the collector. They replace those of the same names in OpenTelemetry's variables.
type login struct {
	config Config
	target *url.URL
	over   http.RoundTripper
}

var errRefused = errors.New("the collector of traces refuses the headers")

// RoundTrip implements http.RoundTripper.
func (l *login) RoundTrip(r *http.Request) (answer *http.Response, err error) {
	if r.URL.Scheme != l.target.Scheme || r.URL.Host != l.target.Host {
		return l.over.RoundTrip(r) //nolint:wrapcheck // of a redirect to another server, which must not get them
	}
	if r.Body != nil {
		defer func() { _ = r.Body.Close() }() // each try has a body of its own
	}
	err = l.config.Secret.Try(l.config.Headers, func(err error) bool { return errors.Is(err, errRefused) }, func(text string) error {
		if answer != nil {
			_ = answer.Body.Close() // it was refused
		}
		try, err := l.with(text, r)
		if err != nil {
			return err
		}
		answer, err = l.over.RoundTrip(try) //nolint:bodyclose // the caller closes that of the last try
		if err == nil && (answer.StatusCode == http.StatusUnauthorized || answer.StatusCode == http.StatusForbidden) {
			return errRefused
		}
		return err //nolint:wrapcheck // a transport's error is passed on as it is
	})
	if errors.Is(err, errRefused) {
		return answer, nil
	}
	return answer, err //nolint:wrapcheck // as above
}

// with returns a copy of a request that has the headers.
func (l *login) with(text string, r *http.Request) (*http.Request, error) {
	headers, err := parseHeaders(text)
	if err != nil {
		return nil, err
	}
	try := r.Clone(r.Context())
	maps.Copy(try.Header, headers)
	if r.GetBody != nil {
		if try.Body, err = r.GetBody(); err != nil {
			return nil, fmt.Errorf("read traces again: %w", err)
		}
	}
	return try, nil
}
