package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/pkg/event"
	"lodestone/pkg/test/clienttest"
)

// size is how large the installation of a drill is before it is backed up: DRILL_EVENTS events of
// DRILL_LINKS links. docs/backup.md has measurements.
func size(t *testing.T) (events, links int) {
	t.Helper()
	read := func(name string) int {
		text := os.Getenv(name)
		if text == "" {
			return 0
		}
		n, err := strconv.Atoi(text)
		require.NoError(t, err, name)
		return n
	}
	return read("DRILL_EVENTS"), max(1, read("DRILL_LINKS"))
}

// grow lets an installation grow to that size: links by the API, and events of the last 90 days
// through Kafka, as the collector writes them. The returned function requires that they are there,
// once.
func (u *up) grow(c clienttest.Client) (requireThere func()) {
	t := u.t
	t.Helper()
	events, links := size(t)
	if events == 0 {
		return func() {}
	}
	m := u.newGuide("Large")
	var ids []uuid.UUID
	for len(ids) < links {
		var emails []string
		for range min(1000, links-len(ids)) {
			emails = append(emails, fmt.Sprintf("reader-%d-%d@example.com", len(ids), len(emails)))
		}
		created, err := c.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: emails})
		require.NoError(t, err)
		for _, l := range created {
			ids = append(ids, uuid.MustParse(l.ID))
		}
	}
	plain := func(name string) string { return strings.Trim(u.env[name], "'") }
	kc, err := kgo.NewClient(append(u.kafka().Options(slog.New(slog.DiscardHandler)),
		kgo.RecordPartitioner(kgo.StickyKeyPartitioner(nil)))...)
	require.NoError(t, err)
	defer kc.Close()
	var account uuid.UUID
	pg, err := pgx.Connect(t.Context(), plain("LODESTONE_POSTGRES_URL"))
	require.NoError(t, err)
	err = pg.QueryRow(t.Context(), "SELECT account_id FROM lead_magnets WHERE id = $1", m.ID).Scan(&account)
	require.NoError(t, errors.Join(err, pg.Close(t.Context())))
	random := rand.New(rand.NewPCG(1, 2))
	source := rand.NewChaCha8([32]byte{1})
	newID := func() uuid.UUID {
		id, err := uuid.NewRandomFromReader(source)
		require.NoError(t, err)
		return id
	}
	now, magnet := time.Now().UnixMilli(), uuid.MustParse(m.ID)
	sessions := make([]uuid.UUID, links)
	var results kgo.FirstErrPromise
	for i := range events {
		link := random.IntN(links)
		page := uint32(i%9) + 1
		if page == 1 || sessions[link] == uuid.Nil {
			sessions[link] = newID()
		}
		at := now - int64(90*24*time.Hour/time.Millisecond) + int64(i)*int64(90*24*time.Hour/time.Millisecond)/int64(events)
		e := event.Event{
			AccountID: account, LeadMagnetID: magnet, AccessLinkID: ids[link], SessionID: sessions[link],
			EventID: newID(), MagnetVersion: 1,
			Type: event.PageViewed, Page: page, DurationMS: uint32(random.IntN(60_000)),
			Data:      fmt.Appendf(nil, `{"page":%d}`, page),
			UserAgent: []byte("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"), CreatedAt: at, ReceivedAt: at,
		}
		key := e.AccessLinkID
		kc.Produce(t.Context(), &kgo.Record{Topic: event.Topic, Key: key[:], Value: e.Append(nil)}, results.Promise())
	}
	require.NoError(t, kc.Flush(t.Context()))
	require.NoError(t, results.Err())
	l := &load{t: t, magnet: m.ID}
	total := func() int64 { return l.total(u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]) }
	require.Eventually(t, func() bool { return total() == int64(events) }, time.Hour, time.Second)
	require.Eventually(t, func() bool { // the counters of links are slower
		_, metrics := get(t, plain("LODESTONE_ADMIN_URL")+"/metrics", "")
		return strings.Contains(metrics, "\nlodestone_counter_lag_records 0\n")
	}, time.Hour, time.Second)
	return func() {
		t.Helper()
		require.Equal(t, int64(events), total())
	}
}
