package main

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
)

// An operator's way from a dead letter to all being well, with the built program.
func TestDeadLettersAndVerify(t *testing.T) {
	t.Parallel()
	broker := enginetest.NewKafka(t, t.TempDir())
	enginetest.Run(t, broker)
	env := []string{
		"LODESTONE_KAFKA_BROKERS=" + strings.Join(broker.Brokers(), ","),
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t),
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.MigratedClickHouse(t).URL,
		"LODESTONE_ADMIN_LISTEN=" + net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))),
	}
	lodestone := func(code int, args ...string) string {
		p := launch(t, t.TempDir(), env, args...)
		require.Equal(t, code, p.wait(), "%v: %s", args, p.out)
		return p.out.String()
	}
	lodestone(0, "migrate")
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Brokers()...))
	require.NoError(t, err)
	defer client.Close()
	at := time.Now().UnixMilli()
	good := event.Event{
		AccountID: uuid.New(), LeadMagnetID: uuid.New(), AccessLinkID: uuid.New(),
		EventID: uuid.New(), Type: event.PageViewed,
		UserAgent: []byte("a visitor's browser"), CreatedAt: at, ReceivedAt: at,
	}
	record := good.Append(nil)
	broken := good
	broken.Page = event.MaxPage + 1
	poison := broken.Append(nil)
	require.NoError(t, client.ProduceSync(t.Context(),
		&kgo.Record{Topic: event.Topic, Key: good.AccessLinkID[:], Value: record},
		&kgo.Record{Topic: event.Topic, Key: good.AccessLinkID[:], Value: poison}).FirstErr())
	c := launch(t, t.TempDir(), env, "consumer")
	require.Eventually(t, func() bool {
		return strings.Contains(lodestone(0, "dead-letters", "list"), "invalid")
	}, enginetest.Timeout, seldom)

	var origin string
	for line := range strings.Lines(lodestone(0, "dead-letters", "list", "--since", "1h", "--reason", "invalid")) {
		if strings.Contains(line, "open") {
			origin, _, _ = strings.Cut(line, " ")
		}
	}
	shown := lodestone(0, "dead-letters", "show", origin)
	require.Contains(t, shown, good.EventID.String())
	require.NotContains(t, shown, "visitor's browser")
	require.Contains(t, lodestone(0, "dead-letters", "show", "--raw", origin), "visitor's browser")
	require.Contains(t, lodestone(2, "dead-letters", "replay"), "--all")
	require.Contains(t, lodestone(1, "dead-letters", "replay", "--all"), "still cannot be decoded: 1")
	require.Contains(t, lodestone(1, "dead-letters", "show", origin+"0"), "there is no such dead letter")
	require.Contains(t, lodestone(0, "dead-letters", "discard", origin, "--why", "a test"), "discarded: 1")
	require.NotContains(t, lodestone(0, "dead-letters", "list"), origin)
	require.Contains(t, lodestone(0, "dead-letters", "list", "--state", "discarded"), origin)
	require.Contains(t, lodestone(1, "dead-letters", "replay", origin), "1 requested dead letters were not replayed")
	require.Contains(t, lodestone(0, "dead-letters", "replay", "--all"), "again: 0", "nothing is open, and nothing failed")
	require.Contains(t, lodestone(0, "recount"), "links counted: 0")

	require.Contains(t, lodestone(0, "verify", "--since", "1h"), "differences: 0")
	admin := kadm.NewClient(client)
	_, err = admin.DeleteTopics(t.Context(), event.DeadLetterTopic) // as if the letter had never been written
	require.NoError(t, err)
	lodestone(0, "migrate")
	require.Contains(t, lodestone(1, "verify"), "lost ")
	c.interrupt(enginetest.Timeout)
}

// Scripts tell differences from a check that did not come to its end, and nothing claims that
// nothing differs.
func TestVerifyThatCannotFinish(t *testing.T) {
	t.Parallel()
	env := []string{
		"LODESTONE_KAFKA_BROKERS=" + net.JoinHostPort("127.0.0.1", strconv.Itoa(enginetest.FreePort(t))), // no one listens
		"LODESTONE_POSTGRES_URL=" + enginetest.Postgres(t),
		"LODESTONE_CLICKHOUSE_URL=" + enginetest.ClickHouse(t),
	}
	p := launch(t, t.TempDir(), env, "verify")
	require.Equal(t, 3, p.wait(), "%s", p.out)
	require.NotContains(t, p.out.String(), "differences:")
	require.Contains(t, p.out.String(), "could not be finished")
}
