package main

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/test/countrytest"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// finer lists texts that must be stored nowhere: the address, its place in the database, and the
// rest of the Accept-Language header.
var finer = []string{"203.0.113", "Heidelberg", "69117", "Germany", "49.4", "de-AT", "tlh", "\xcb\x00\x71\x4d"}

// changing are ids, times and durations: by chance they have digits of a latitude or of a postcode.
var changing = regexp.MustCompile(anID.String() + `|\d\d:\d\d:\d\d\.\d+|(?:\d[\d.]*(?:h|ms?|s|µs|ns))+\b|\d{10,}`)

func requireNothingFiner(t *testing.T, where string, content []byte) {
	t.Helper()
	content = changing.ReplaceAll(content, []byte("-"))
	for _, text := range finer {
		require.False(t, bytes.Contains(content, []byte(text)), "%s has %q", where, text)
	}
}

// files returns what is in the files of a directory.
func files(t *testing.T, dir string) (content []byte) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // renamed meanwhile
			return nil
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		content = append(content, text...)
		return err
	}))
	return content
}

// dump returns the account's rows of a table, with every column as text.
func dump(t *testing.T, conn driver.Conn, table string, account uuid.UUID) string {
	t.Helper()
	rows, err := conn.Query(context.Background(), "SELECT formatRow('TSVRaw', *) FROM lodestone."+table+
		" WHERE account_id = ?", account)
	require.NoError(t, err)
	var all strings.Builder
	for rows.Next() {
		var text string
		require.NoError(t, rows.Scan(&text))
		all.WriteString(text)
	}
	require.NoError(t, rows.Err())
	require.NoError(t, rows.Close())
	return all.String()
}

// Of where a visitor is, two letters of the country are stored, and of the languages one: on the
// disk of the collector, in Kafka and in ClickHouse.
func TestNothingFinerThanTheCountryIsStored(t *testing.T) {
	t.Parallel()
	s := newStation(t)
	ring, err := s.keys.Ring()
	require.NoError(t, err)
	claims := token.Claims{AccountID: uuid.New(), LeadMagnetID: uuid.New(),
		GenericLinkID: uuid.New(), AccessLinkID: uuid.New()}
	signed := ring.Sign(claims)
	p := s.collector("LODESTONE_COUNTRY_DATABASE="+countrytest.Germany(t, "203.0.113.0/24"),
		"LODESTONE_COLLECTOR_TRUSTED_PROXIES=127.0.0.1",
		"LODESTONE_SPOOL_AFTER=300ms", "LODESTONE_LOG_LEVEL=DEBUG")
	for path, body := range map[string]string{"events": `{"token":"` + signed + `","event_type":"page_viewed"}`,
		"link-views": `{"token":"` + signed + `"}`} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
			"http://"+s.events+"/v1/"+path, strings.NewReader(body))
		require.NoError(t, err)
		for name, value := range map[string]string{
			"Content-Type": "application/json", "X-Forwarded-For": "203.0.113.77", "Accept-Language": "de-AT,tlh;q=0.5",
			"User-Agent": "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
		} {
			req.Header.Set(name, value)
		}
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.Equal(t, http.StatusAccepted, res.StatusCode)
	}
	spooled := files(t, filepath.Join(s.dir, "spool"))
	require.Equal(t, 2, bytes.Count(spooled, []byte("\xaa\x01\x02de\xb2\x01\x02DE")), "the fields of the two records")
	requireNothingFiner(t, "the spool", spooled)

	cluster := s.kafka()
	s.await("the spool is empty", func() bool { return metric(t, s.admin, "lodestone_spool_records") == 0 })
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...),
		kgo.ConsumeTopics(event.Topic, event.LinkViewTopic))
	require.NoError(t, err)
	t.Cleanup(client.Close)
	for left := 2; left > 0; {
		fetches := client.PollFetches(t.Context())
		require.NoError(t, fetches.Err())
		for _, r := range fetches.Records() {
			require.Contains(t, string(r.Value), "DE")
			requireNothingFiner(t, "a record", append(append(r.Key, r.Value...), r.Topic...))
			require.Empty(t, r.Headers)
			left--
		}
	}
	requireNothingFiner(t, "Kafka's disk", files(t, s.data))
	requireNothingFiner(t, "the log", []byte(p.out.String()))

	config := enginetest.MigratedClickHouse(t)
	conn, err := clickhouse.Open(config, 1)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close()) })
	c := launch(t, t.TempDir(), append(s.environment(), "LODESTONE_CLICKHOUSE_URL="+config.URL,
		"LODESTONE_ADMIN_LISTEN=127.0.0.1:0"), "consumer")
	for _, table := range []string{"events", "link_views"} {
		s.await(table+" are stored", func() bool { return dump(t, conn, table, claims.AccountID) != "" })
		rows := dump(t, conn, table, claims.AccountID)
		require.Contains(t, rows, "\tFirefox/Linux\tDE/de\t", table)
		requireNothingFiner(t, table, []byte(rows))
	}
	requireNothingFiner(t, "the log", []byte(c.out.String()))
}

// A file that is none stops the process before it serves anyone.
func TestAWrongCountryDatabaseIsAConfigurationError(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"collector", "up"} {
		dir := t.TempDir()
		p := launch(t, dir, []string{
			"LODESTONE_COUNTRY_DATABASE=" + filepath.Join(dir, "missing.mmdb"), "LODESTONE_KAFKA_BROKERS=127.0.0.1:1",
			"LODESTONE_POSTGRES_URL=postgres://127.0.0.1:1/x",
			"LODESTONE_TOKEN_KEYS=" + token.NewKeys(1).Keys,
		}, command)
		require.Equal(t, 2, p.wait(), command)
		require.Contains(t, p.out.String(), "--country-database (LODESTONE_COUNTRY_DATABASE) cannot be read", command)
	}
}
