package reader_test

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

// end is when a visit ended.
func end(e querytest.StoredEvent) int64 {
	return min(e.CreatedAt+min(int64(e.DurationMS), 600_000), e.ReceivedAt)
}

// sessionOf returns what an event's session is known by.
func sessionOf(e querytest.StoredEvent) uuid.UUID {
	if e.SessionID == uuid.Nil {
		return e.EventID
	}
	return e.SessionID
}

// expected is who reads, found slowly. A link that is in persons is of that person, another one is
// a person.
func expected(events []querytest.StoredEvent, persons map[uuid.UUID]uuid.UUID, since time.Time) (p reader.Presence) {
	last := map[uuid.UUID]querytest.StoredEvent{}
	for _, e := range events {
		person, given := persons[e.AccessLinkID]
		if !given {
			person = e.AccessLinkID
		}
		switch known, found := last[person]; {
		case e.Type != event.PageViewed || end(e) < since.UnixMilli():
		case e.Bot != "":
			p.ExcludedBots++
		case !found || end(e) > end(known) || end(e) == end(known) && e.Offset > known.Offset:
			last[person] = e
		}
	}
	for _, e := range last {
		first := e.CreatedAt
		for _, other := range events {
			if other.AccessLinkID == e.AccessLinkID && other.Bot == "" && sessionOf(other) == sessionOf(e) {
				first = min(first, other.CreatedAt)
			}
		}
		p.Readers = append(p.Readers, reader.PresentReader{
			AccessLinkID: e.AccessLinkID, LeadMagnetID: e.LeadMagnetID, Version: int(e.MagnetVersion), Page: int(e.Page),
			Since: time.UnixMilli(first).UTC(), LastSeen: time.UnixMilli(end(e)).UTC(),
		})
	}
	p.Total = int64(len(p.Readers))
	slices.SortFunc(p.Readers, func(a, b reader.PresentReader) int {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), slices.Compare(a.AccessLinkID[:], b.AccessLinkID[:]))
	})
	return p
}

// Who reads is who the reference finds, with two links of a person, bots, visits that began long
// before, sessions of hours, events without a session, and another account.
func TestReadersAgainstTheReference(t *testing.T) {
	t.Parallel()
	w := reader.NewWatcher(nil, querytest.Scoped(t))
	for seed := range uint64(12) {
		random := rand.New(rand.NewPCG(seed, 41))
		now := time.Date(2026, 3, 1, 0, 10, 0, 0, time.UTC)
		accounts := []uuid.UUID{querytest.ID(t), querytest.ID(t)}
		links := []uuid.UUID{querytest.ID(t), querytest.ID(t), querytest.ID(t), querytest.ID(t)}
		magnet, person := querytest.ID(t), querytest.ID(t)
		persons := map[uuid.UUID]uuid.UUID{links[0]: person, links[1]: person}
		stored := map[uuid.UUID][]querytest.StoredEvent{}
		for i := range random.IntN(120) {
			account, link := accounts[random.IntN(2)], links[random.IntN(len(links))]
			ago := random.Int64N(20 * 60_000)
			switch random.IntN(4) {
			case 0:
				ago = random.Int64N(5 * 3600_000)
			case 1:
				ago = 5*60_000 + random.Int64N(3) - 1 // at the edge
			}
			e := event.Event{
				AccountID: account, LeadMagnetID: magnet, AccessLinkID: link,
				SessionID: uuid.NewSHA1(link, []byte{byte(random.IntN(3))}), EventID: querytest.ID(t),
				Type: event.Types()[random.IntN(3)], MagnetVersion: uint32(random.IntN(3)), Page: uint32(random.IntN(4)),
				DurationMS: uint32(random.IntN(2) * random.IntN(1_200_000)), CreatedAt: now.UnixMilli() - ago,
				ReceivedAt: now.UnixMilli() - random.Int64N(ago+1),
			}
			if random.IntN(5) == 0 {
				e.Bot = "scanner"
			}
			if random.IntN(5) == 0 {
				e.SessionID = uuid.Nil
			}
			stored[account] = append(stored[account], querytest.StoredEvent{Event: e, TopicID: account, Offset: int64(i)})
		}
		for _, account := range accounts {
			querytest.Store(t, querytest.Conn(t), stored[account]...)
			for link := range persons {
				require.NoError(t, querytest.Conn(t).Exec(t.Context(),
					"INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, person_id, version) VALUES (?, ?, ?, ?, 1)",
					link, account, magnet, person))
			}
			since := now.Add(-5 * time.Minute)
			got, err := w.Read(t.Context(), account, since, false)
			require.NoError(t, err)
			require.Equal(t, expected(stored[account], persons, since), got, "seed %d", seed)
		}
	}
}

// More readers than are listed are counted.
func TestManyReaders(t *testing.T) {
	t.Parallel()
	account, now := querytest.ID(t), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var stored []querytest.StoredEvent
	for i := range reader.MaxPresent + 5 {
		stored = append(stored, querytest.StoredEvent{Event: event.Event{
			AccountID: account, AccessLinkID: querytest.ID(t), EventID: querytest.ID(t), Type: event.PageViewed, Page: 1,
			CreatedAt: now.UnixMilli() + int64(i), ReceivedAt: now.UnixMilli() + int64(i),
		}, TopicID: account, Offset: int64(i)})
	}
	querytest.Store(t, querytest.Conn(t), stored...)
	got, err := reader.NewWatcher(nil, querytest.Scoped(t)).Read(t.Context(), account, now, false)
	require.NoError(t, err)
	require.Len(t, got.Readers, reader.MaxPresent)
	require.EqualValues(t, reader.MaxPresent+5, got.Total)
	require.Equal(t, stored[len(stored)-1].AccessLinkID, got.Readers[0].AccessLinkID)
}

// Addresses are those of the account's own links that still exist.
func TestEmailsOfReaders(t *testing.T) {
	t.Parallel()
	pool, now := enginetest.SharedPostgres(t), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	account, stranger := newAccount(t, pool), newAccount(t, pool)
	ann, theirs, deleted := newLink(t, pool, account, "ann@example.com"),
		newLink(t, pool, stranger, "bob@example.com"), querytest.ID(t)
	var stored []querytest.StoredEvent
	for i, link := range []uuid.UUID{ann, theirs, deleted} {
		stored = append(stored, querytest.StoredEvent{Event: event.Event{
			AccountID: account, AccessLinkID: link, EventID: querytest.ID(t), Type: event.PageViewed, Page: 1,
			CreatedAt: now.UnixMilli(), ReceivedAt: now.UnixMilli(),
		}, TopicID: account, Offset: int64(i)})
	}
	querytest.Store(t, querytest.Conn(t), stored...)
	w := reader.NewWatcher(pool, querytest.Scoped(t))
	for _, emails := range []bool{true, false} {
		got, err := w.Read(t.Context(), account, now, emails)
		require.NoError(t, err)
		require.Len(t, got.Readers, 3)
		for _, r := range got.Readers {
			if emails && r.AccessLinkID == ann {
				require.Equal(t, new("ann@example.com"), r.Email)
			} else {
				require.Nil(t, r.Email)
			}
		}
	}
}

func newAccount(t *testing.T, pool *postgres.Pool) uuid.UUID {
	t.Helper()
	id := querytest.ID(t)
	_, err := pool.Unscoped().Exec(context.Background(),
		"INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", id)
	require.NoError(t, err)
	return id
}

func newLink(t *testing.T, pool *postgres.Pool, account uuid.UUID, email string) uuid.UUID {
	t.Helper()
	id, magnet := querytest.ID(t), querytest.ID(t)
	_, err := pool.Unscoped().Exec(context.Background(),
		"INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'test')", magnet, account)
	require.NoError(t, err)
	_, err = pool.Unscoped().Exec(context.Background(),
		"INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key) VALUES ($1, $2, $3, $4, $4, sha256($5::text::bytea), '', 0)", id, account, magnet, email, id.String())
	require.NoError(t, err)
	return id
}
