package clickhouse_test

import (
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/certificate"
	"lodestone/pkg/certificate/certificatetest"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/engine/enginetest"
)

// behindTLS returns the address of a ClickHouse behind a proxy that ends TLS.
func behindTLS(t *testing.T, address string, c certificatetest.Issued, clientCA string) string {
	t.Helper()
	u, err := url.Parse(address)
	require.NoError(t, err)
	u.Host = certificatetest.Proxy(t, u.Host, c, clientCA)
	if u.Scheme == "http" {
		u.Scheme = "https"
	}
	return u.String()
}

// Both clients of the native protocol and that of HTTP connect over TLS, with an authority and a certificate that are read for each connection.
func TestTLS(t *testing.T) {
	t.Parallel()
	a, strangers := certificatetest.NewAuthority(t), certificatetest.NewAuthority(t)
	server, client := a.Issue("server"), a.Issue("client")
	engine := enginetest.Server(t)
	native, http := behindTLS(t, enginetest.MigratedClickHouse(t).URL, server, a.CA), behindTLS(t, engine.SQLURL(), server, a.CA)
	trusted := filepath.Join(a.Dir, "trusted.pem")
	trust := func(file string) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(trusted, text, 0o600))
	}
	trust(a.CA)
	ask := func(files certificate.Client) map[string]error {
		c := clickhouse.Config{URL: native, TLS: files}
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
		canary, err := clickhouse.NewCanary(clickhouse.CanaryConfig{URL: http, TLS: files, Wait: time.Minute},
			clickhouse.CanaryDeps{Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
		require.NoError(t, err)
		errs["http"] = clickhouse.AskCanary(t.Context(), canary)
		return errs
	}
	ours := certificate.Client{CA: trusted, Cert: client.Cert, Key: client.Key}
	for of, err := range ask(ours) {
		require.NoError(t, err, of)
	}
	for of, err := range ask(certificate.Client{CA: trusted}) {
		require.ErrorContains(t, err, "name files with one in --clickhouse-tls-cert and --clickhouse-tls-key", of)
	}
	trust(strangers.CA)
	for of, err := range ask(ours) {
		require.ErrorContains(t, err, "which is not in the file of --clickhouse-tls-ca", of)
	}
}
