//go:build long

package main

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// The two servers of docs/tls.md, with the certificates that its commands make: crud asks query
// over TLS, and only one whose authority it has.
func TestServersOfTheTLSDocument(t *testing.T) {
	t.Parallel()
	root, err := enginetest.Root()
	require.NoError(t, err)
	kafka := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, kafka)
	p := processes{t: t, dir: t.TempDir(), env: []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(kafka.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t),
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.MigratedClickHouse(t).URL, "LODESTONE_TOKEN_KEYS=" + token.NewKeys(7).Keys,
	}}
	var servers []string
	for _, b := range documentBlocks(t, root) {
		switch {
		case b.page != "docs/tls.md" || b.language != "sh":
		case strings.HasPrefix(b.text, "openssl"):
			cmd := script(t, b.text)
			cmd.Dir = p.dir
			out, err := cmd.CombinedOutput()
			require.NoError(t, err, "%s\n%s", b.text, out)
		default:
			servers = append(servers, strings.Split(strings.TrimSpace(b.text), "\n")...)
		}
	}
	require.Len(t, servers, 2)
	p.run("migrate")
	key := p.key()

	queries, site := freeAddress(t), freeAddress(t)
	command := func(line string) []string {
		_, line, _ = strings.Cut(line, "lodestone ")
		return strings.Fields(strings.NewReplacer("https://query.internal:8443", "https://"+queries,
			":8443", queries).Replace(line))
	}
	serve := func(line string, more ...string) *program {
		return launch(t, p.dir, slices.Concat(p.env, []string{"LODESTONE_ADMIN_LISTEN=" + freeAddress(t)}, more),
			command(line)...)
	}
	status := func() int {
		status, _ := get(t, "http://"+site+"/api/v1/analytics", key)
		return status
	}
	serve(servers[0])
	crud := serve(servers[1], "LODESTONE_LISTEN="+site, strings.Fields(servers[1])[0])
	require.Eventually(t, func() bool { return status() == http.StatusOK }, enginetest.Timeout, interval, "%s", crud.out)
	crud.interrupt(enginetest.Timeout)

	stranger := serve(servers[1], "LODESTONE_LISTEN="+site)
	require.Eventually(t, func() bool { return status() == http.StatusServiceUnavailable }, enginetest.Timeout,
		interval, "%s", stranger.out)
}
