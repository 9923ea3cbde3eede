//go:build long

package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

// The past is written to a running installation, where it is like everything else: the API, SQL and
// the counters have it, and it can be read and deleted. No one is sent anything for it.
func TestDemoOfThePast(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.start()
	site, key := u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]
	api := clienttest.New(client.Config{URL: site, Key: key})
	hook, err := api.CreateWebhook(t.Context(), clienttest.NewWebhook{
		URL: "http://127.0.0.1:9/hook",
		Kinds: []string{"link.created", "link.accessed", "form.submitted", "form.verified",
			"session.ended", "download.completed"},
	})
	require.NoError(t, err)

	run := func(dir string, args ...string) {
		t.Helper()
		p := launch(t, dir, nil, append([]string{"demo"}, args...)...)
		require.Zero(t, p.wait(), "%s", p.out)
		require.Contains(t, p.out.String(), demoAgrees)
		require.NotContains(t, p.out.String(), "✗")
	}
	run(u.dir, "--days", "6", "--seed", "5")
	// adds another past, beside the first
	run(t.TempDir(), "--days", "6", "--seed", "5", "--data", filepath.Join(u.dir, "data"))

	magnets, err := api.LeadMagnets(t.Context(), client.Paging{})
	require.NoError(t, err)
	require.Len(t, magnets.Data, 3, "the sample, and one of each run")
	for _, m := range magnets.Data[1:] {
		require.Less(t, m.CreatedAt, time.Now().Add(-3*24*time.Hour), "lists are in the order of the past")
	}

	// The links of the past open, in the version that there is now.
	links, err := api.AccessLinks(t.Context(), client.AccessLinkFilter{LeadMagnetID: magnets.Data[2].ID})
	require.NoError(t, err)
	require.NotEmpty(t, links.Data)
	status, _ := get(t, links.Data[0].URL, "")
	require.Equal(t, http.StatusOK, status)

	verify := launch(t, u.dir, nil, "verify")
	require.Zero(t, verify.wait(), "%s", verify.out)
	require.Contains(t, verify.out.String(), "differences: 0")

	// Nothing was sent. The mailbox has every mail of the installation.
	_, mails := get(t, site+"/dev/mailbox.json", u.env["LODESTONE_DEV_SECRET"])
	require.JSONEq(t, `{"mails": []}`, mails)
	deliveries, err := api.Deliveries(t.Context(), hook.ID, clienttest.DeliveryFilter{})
	require.NoError(t, err)
	require.Empty(t, deliveries.Data)
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: u.env["LODESTONE_POSTGRES_URL"], MaxConns: 2})
	require.NoError(t, err)
	defer pool.Close()
	var open int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM sessions WHERE ended_at IS NULL").Scan(&open))
	require.Zero(t, open, "a session that is over now would be sent to the webhook")

	// What was written can be deleted like everything else.
	for _, m := range magnets.Data {
		require.NoError(t, api.DeleteLeadMagnet(t.Context(), m.ID, true))
	}
	u.interrupt(enginetest.Timeout)
}

// Made-up readers are not added to an account by mistake, and a refusal changes nothing.
func TestDemoOfThePastIsRefused(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample"}
	u.start()
	pool, err := postgres.Open(t.Context(), postgres.Config{URL: u.env["LODESTONE_POSTGRES_URL"], MaxConns: 2})
	require.NoError(t, err)
	defer pool.Close()
	accounts := account.New(pool)
	id, err := accounts.Create(t.Context(), "Business", account.Team)
	require.NoError(t, err)
	other, err := accounts.CreateKey(t.Context(), id, "test", auth.Scopes()...)
	require.NoError(t, err)

	refused := func(code int, env []string, words string, args ...string) {
		t.Helper()
		p := launch(t, u.dir, env, append([]string{"demo", "--days", "2"}, args...)...)
		require.Equal(t, code, p.wait(), "%s", p.out)
		require.Contains(t, strings.Join(strings.Fields(p.out.String()), " "), words)
	}
	theirs := []string{"LODESTONE_API_KEY=" + other.Text}
	refused(exitSettings, theirs, "--account is missing, and the key's account is no demo account")
	refused(exitSettings, theirs, "is not the account of --api-key", "--account", uuid.NewString())
	refused(exitSettings, []string{"LODESTONE_API_KEY=lsk_unknown"},
		"--api-key (LODESTONE_API_KEY) is not known in this Postgres")
	refused(exitSettings, nil, "--days (LODESTONE_DAYS) is out of range", "--days", "366")
	refused(exitSettings, nil, "--days (LODESTONE_DAYS) is out of range", "--days=-1")
	refused(exitSettings, []string{"LODESTONE_TOKEN_KEYS=1:MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE"},
		"--token-keys (LODESTONE_TOKEN_KEYS) are not those of the API")
	// Without the directory no account is the demo's, although everything else is given.
	keys, err := os.ReadFile(filepath.Join(u.dir, "data", "token-keys"))
	require.NoError(t, err)
	given := []string{"LODESTONE_TOKEN_KEYS=" + strings.TrimSpace(string(keys))}
	for name, value := range u.env {
		given = append(given, name+"="+strings.Trim(value, "'"))
	}
	p := launch(t, t.TempDir(), given, "demo", "--days", "2")
	require.Equal(t, exitSettings, p.wait(), "%s", p.out)
	require.Contains(t, p.out.String(), "the key's account is no demo account of ./data")

	broker := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, broker)
	elsewhere := []string{"LODESTONE_KAFKA_BROKERS=" + strings.Join(broker.Brokers(), ","),
		"LODESTONE_KAFKA_SASL_MECHANISM=none"}
	topics, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers()...))
	require.NoError(t, err)
	defer topics.Close()
	_, err = kafka.CreateTopics(t.Context(), topics, kafka.TopicConfig{Partitions: 1, Replication: 1})
	require.NoError(t, err)
	refused(exitSettings, elsewhere, "--kafka-brokers (LODESTONE_KAFKA_BROKERS) is not the Kafka of this Postgres")

	own := client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	patch := func(change string) {
		_, err := own.Do(t.Context(), http.MethodPatch, "/api/v1/account", http.Header{"Content-Type": {"application/json"}},
			strings.NewReader(change), nil)
		require.NoError(t, err)
	}
	patch(`{"notify": "daily", "notify_email": "owner@example.com"}`)
	refused(exitFailed, nil, "next daily notice would list the demo's leads")
	patch(`{"notify": "none"}`)
	kept := launch(t, u.dir, nil, "retention", "set", "1")
	require.Zero(t, kept.wait(), "%s", kept.out)
	p = launch(t, u.dir, nil, "demo", "--days", "100")
	require.Equal(t, exitSettings, p.wait(), "%s", p.out)
	require.Contains(t, p.out.String(), "goes back further than events are kept")

	for _, key := range []string{u.env["LODESTONE_API_KEY"], other.Text} {
		page, err := client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: key}).LeadMagnets(t.Context(),
			client.Paging{})
		require.NoError(t, err)
		require.Empty(t, page.Data)
	}
	// Named, it is that account.
	p = launch(t, u.dir, theirs, "demo", "--days", "2", "--account", id.String())
	require.Zero(t, p.wait(), "%s", p.out)
	require.Contains(t, p.out.String(), demoAgrees)
	page, err := client.New(client.Config{URL: u.env["LODESTONE_URL"], Key: other.Text}).LeadMagnets(t.Context(),
		client.Paging{})
	require.NoError(t, err)
	require.Len(t, page.Data, 1)
	u.interrupt(enginetest.Timeout)
}
