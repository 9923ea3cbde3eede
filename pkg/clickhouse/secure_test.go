package clickhouse_test

import (
	"log/slog"
	"net/url"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

// behindTLS returns the address of a ClickHouse behind a proxy that ends TLS.
func behindTLS(t *testing.T, address string, c test.CertificateFiles) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Host = test.Proxy(t, u.Host, c)
	if u.Scheme == "http" {
		u.Scheme = "https"
		return u.String()
	}
	q := u.Query()
	q.Set("secure", "true")
	u.RawQuery = q.Encode()
	return u.String()
}

// Both clients of the native protocol and that of HTTP connect over TLS to a server whose authority
// the system trusts, and to no other.
func TestTLS(t *testing.T) {
	t.Parallel()
	engine := enginetest.Server(t)
	ask := func(a *test.Authority) map[string]error {
		native, http := behindTLS(t, enginetest.MigratedClickHouse(t).URL, a.Issue("server")),
			behindTLS(t, engine.SQLURL(), a.Issue("server"))
		c := clickhouse.Config{URL: native}
		require.NoError(t, c.Validate())
		errs := map[string]error{}
		conn, err := clickhouse.Open(c, 1)
		require.NoError(t, err)
		errs["native"] = conn.Ping(t.Context())
		require.NoError(t, conn.Close())
		options, err := c.BlockOptions()
		require.NoError(t, err)
		block, err := ch.Dial(t.Context(), options)
		if errs["blocks"] = err; err == nil {
			require.NoError(t, block.Close())
		}
		canary, err := clickhouse.NewCanary(clickhouse.CanaryConfig{URL: http, Wait: time.Minute},
			clickhouse.CanaryDeps{Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
		require.NoError(t, err)
		errs["http"] = clickhouse.AskCanary(t.Context(), canary)
		return errs
	}
	for of, err := range ask(test.Trusted(t)) {
		require.NoError(t, err, of)
	}
	for of, err := range ask(test.NewAuthority(t)) {
		require.ErrorContains(t, err, "SSL_CERT_FILE", of)
	}
}
