package reader

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/email"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

func address(t testing.TB, text string) email.Address {
	t.Helper()
	a, err := email.Parse(text)
	require.NoError(t, err)
	return a
}

func newAccount(t testing.TB, pool *postgres.Pool) uuid.UUID {
	t.Helper()
	id := querytest.ID(t)
	_, err := pool.Unscoped().Exec(context.Background(),
		"INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", id)
	require.NoError(t, err)
	return id
}

func newMagnet(t *testing.T, pool *postgres.Pool, account uuid.UUID) uuid.UUID {
	t.Helper()
	id := querytest.ID(t)
	_, err := pool.Unscoped().Exec(context.Background(),
		"INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'test')", id, account)
	require.NoError(t, err)
	return id
}

func newLink(t *testing.T, pool *postgres.Pool, account, magnet uuid.UUID, email string, created time.Time) uuid.UUID {
	t.Helper()
	id := querytest.ID(t)
	_, err := pool.Unscoped().Exec(context.Background(),
		"INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, created_at) VALUES ($1, $2, $3, $4, $5, sha256($6::text::bytea), '', 0, $7)",
		id, account, magnet, email, strings.ToLower(email), id.String(), created)
	require.NoError(t, err)
	return id
}

// storeLinks stores what querytest.Fill made events of, each link for the address that email
// returns for its number.
func storeLinks(t testing.TB, pool *postgres.Pool, account uuid.UUID, filled querytest.FillResult,
	email func(link int) string) {
	t.Helper()
	for _, magnet := range filled.Magnets {
		_, err := pool.Unscoped().Exec(context.Background(),
			"INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'test')", magnet, account)
		require.NoError(t, err)
	}
	links, err := pool.Unscoped().CopyFrom(context.Background(), pgx.Identifier{"access_links"},
		[]string{"id", "account_id", "lead_magnet_id", "email", "email_key", "token_hash", "token_sealed", "token_key"},
		pgx.CopyFromSlice(len(filled.Links), func(i int) ([]any, error) {
			hash := sha256.Sum256(fmt.Append(nil, account, i))
			return []any{filled.Links[i], account, filled.Magnets[i%len(filled.Magnets)], email(i),
				email(i), hash[:], []byte{}, 0}, nil
		}))
	require.NoError(t, err)
	require.EqualValues(t, len(filled.Links), links)
}

// history stores events of one access link with readable times.
type history struct {
	t       *testing.T
	account uuid.UUID
	topic   uuid.UUID
	events  []querytest.StoredEvent
}

func minute(n int) time.Time { return time.Date(2026, 3, 1, 12, n, 0, 0, time.UTC) }

func (s *history) add(magnet, link, session uuid.UUID, kind event.Type, at int, bot string) {
	s.events = append(s.events, querytest.StoredEvent{
		Event: event.Event{
			AccountID: s.account, LeadMagnetID: magnet, AccessLinkID: link, SessionID: session, EventID: querytest.ID(s.t),
			Type: kind, Bot: bot, CreatedAt: minute(at).UnixMilli(), ReceivedAt: minute(at).UnixMilli(),
		},
		TopicID: s.topic, Offset: int64(len(s.events)),
	})
}

func TestSummary(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool, conn := enginetest.SharedPostgres(t), querytest.Conn(t)
	reader := NewSummaries(pool, querytest.Scoped(t))
	account, stranger := newAccount(t, pool), newAccount(t, pool)
	guide, report, unread := newMagnet(t, pool, account), newMagnet(t, pool, account), newMagnet(t, pool, account)
	theirs := newMagnet(t, pool, stranger)

	ann1 := newLink(t, pool, account, guide, "Ann@Example.com", minute(1))
	ann2 := newLink(t, pool, account, guide, "ann@example.com", minute(2))
	ann3 := newLink(t, pool, account, report, "ANN@example.com", minute(3))
	newLink(t, pool, account, unread, "ann@example.com", minute(4))
	bob := newLink(t, pool, account, guide, "bob@example.com", minute(5))
	annElsewhere := newLink(t, pool, stranger, theirs, "ann@example.com", minute(6))
	gone := querytest.ID(t) // an access link that was deleted: its events stay

	s := &history{t: t, account: account, topic: uuid.New()}
	one, two, three := uuid.New(), uuid.New(), uuid.New()
	// A session of three pages and a download is one view.
	s.add(guide, ann1, one, event.PageViewed, 20, "")
	s.add(guide, ann1, one, event.PageViewed, 21, "")
	s.add(guide, ann1, one, event.PageViewed, 22, "")
	s.add(guide, ann1, one, event.DownloadStarted, 50, "")
	// The same session id on another link is another session.
	s.add(guide, ann2, one, event.PageViewed, 25, "")
	// A download without a page is no view.
	s.add(guide, ann2, two, event.DownloadCompleted, 10, "")
	// A bot's session is no view, and a session that a bot's event lies in is one.
	s.add(report, ann3, two, event.PageViewed, 9, "scanner")
	s.add(report, ann3, three, event.PageViewed, 8, "scanner")
	s.add(report, ann3, three, event.PageViewed, 30, "")
	// Events without a session are one view each.
	s.add(report, ann3, uuid.Nil, event.PageViewed, 31, "")
	s.add(report, ann3, uuid.Nil, event.PageViewed, 32, "")
	s.add(guide, bob, uuid.New(), event.PageViewed, 5, "")
	s.add(guide, gone, uuid.New(), event.PageViewed, 4, "")
	querytest.Store(t, conn, s.events[:6]...)
	querytest.Store(t, conn, s.events[6:]...)
	other := &history{t: t, account: stranger, topic: uuid.New()}
	other.add(theirs, annElsewhere, uuid.New(), event.PageViewed, 1, "")
	// Events of another account that carry ids of this one count for no one here.
	other.add(guide, ann1, uuid.New(), event.PageViewed, 2, "")
	querytest.Store(t, conn, other.events...)

	all := Summary{
		TotalLinks: 4, TotalViews: 5, UniqueLeadMagnets: 2,
		FirstLinkCreated: new(minute(1)), LastLinkCreated: new(minute(4)),
		FirstAccess: new(minute(20)), LastAccess: new(minute(32)),
	}
	for _, text := range []string{"ann@example.com", "ANN@EXAMPLE.COM", "Ann@Example.com"} {
		got, err := reader.Read(ctx, account, address(t, text), nil)
		require.NoError(t, err)
		require.Equal(t, all, got, text)
	}
	got, err := reader.Read(ctx, account, address(t, "ann@example.com"), &guide)
	require.NoError(t, err)
	require.Equal(t, Summary{
		TotalLinks: 2, TotalViews: 2, UniqueLeadMagnets: 1,
		FirstLinkCreated: new(minute(1)), LastLinkCreated: new(minute(2)),
		FirstAccess: new(minute(20)), LastAccess: new(minute(25)),
	}, got)
	got, err = reader.Read(ctx, account, address(t, "ann@example.com"), &unread)
	require.NoError(t, err)
	require.Equal(t, Summary{TotalLinks: 1, FirstLinkCreated: new(minute(4)), LastLinkCreated: new(minute(4))}, got)

	// The two links of a form count as one, and so do their times.
	newLink(t, pool, account, guide, "carl@example.com", minute(7))
	shown := newLink(t, pool, account, guide, "carl@example.com", minute(8))
	_, err = pool.Unscoped().Exec(ctx,
		"UPDATE access_links SET source = 'form', additional = id = $2 WHERE account_id = $1 AND email_key = 'carl@example.com'", account, shown)
	require.NoError(t, err)
	got, err = reader.Read(ctx, account, address(t, "carl@example.com"), nil)
	require.NoError(t, err)
	require.Equal(t, Summary{TotalLinks: 1, FirstLinkCreated: new(minute(7)), LastLinkCreated: new(minute(7))}, got)

	for name, magnet := range map[string]*uuid.UUID{"unknown": new(uuid.New()), "of another account": &theirs} {
		got, err = reader.Read(ctx, account, address(t, "ann@example.com"), magnet)
		require.NoError(t, err, name)
		require.Equal(t, Summary{}, got, name)
	}
	got, err = reader.Read(ctx, account, address(t, "unknown@example.com"), nil)
	require.NoError(t, err)
	require.Equal(t, Summary{}, got)
	got, err = reader.Read(ctx, stranger, address(t, "ann@example.com"), nil)
	require.NoError(t, err)
	require.EqualValues(t, 1, got.TotalLinks)
	require.EqualValues(t, 1, got.TotalViews)
}

// Whoever types an address into a form without verification may be anyone. What was read with the
// link that the form gave counts as long as no recipient has verified the address, and raises no
// number of links.
func TestLinksOfForms(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool, conn := enginetest.SharedPostgres(t), querytest.Conn(t)
	reader := NewSummaries(pool, querytest.Scoped(t))
	account := newAccount(t, pool)
	guide := newMagnet(t, pool, account)
	mailed := newLink(t, pool, account, guide, "ann@example.com", minute(1))
	shown := newLink(t, pool, account, guide, "ann@example.com", minute(2))
	set := func(link uuid.UUID, columns string) {
		_, err := pool.Unscoped().Exec(ctx, "UPDATE access_links SET "+columns+" WHERE id = $1", link)
		require.NoError(t, err)
	}
	set(mailed, "source = 'mail'")
	set(shown, "source = 'form', additional = true")
	s := &history{t: t, account: account, topic: uuid.New()}
	s.add(guide, shown, uuid.New(), event.PageViewed, 20, "")
	s.add(guide, mailed, uuid.New(), event.PageViewed, 30, "")
	querytest.Store(t, conn, s.events...)
	read := func() []int64 {
		got, err := reader.Read(ctx, account, address(t, "ann@example.com"), nil)
		require.NoError(t, err)
		require.Equal(t, new(minute(1)), got.FirstLinkCreated, "the time is of a link that is counted")
		require.Equal(t, new(minute(1)), got.LastLinkCreated, "the time is of a link that is counted")
		return []int64{got.TotalLinks, got.TotalViews, got.UniqueLeadMagnets}
	}
	require.Equal(t, []int64{1, 2, 1}, read())
	for _, at := range []time.Time{minute(0), minute(3)} { // before and behind the mail's
		_, err := pool.Unscoped().Exec(ctx, "UPDATE access_links SET created_at = $1 WHERE id = $2", at, shown)
		require.NoError(t, err)
		require.Equal(t, []int64{1, 2, 1}, read())
	}
	set(mailed, "verified = true")
	require.Equal(t, []int64{1, 1, 1}, read())
}

func TestAddressWithThousandsOfLinks(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool, conn := enginetest.SharedPostgres(t), querytest.Conn(t)
	account := newAccount(t, pool)
	filled := querytest.Fill(t, conn, account, 5000, 50_000)
	storeLinks(t, pool, account, filled, func(int) string { return "ann@example.com" })
	got, err := NewSummaries(pool, querytest.Scoped(t)).Read(ctx, account, address(t, "ann@example.com"), nil)
	require.NoError(t, err)
	require.EqualValues(t, 5000, got.TotalLinks)

	var views, magnets uint64
	require.NoError(t, conn.QueryRow(ctx, `SELECT uniqExact(access_link_id, session_id), uniqExact(lead_magnet_id) FROM lodestone.events
		WHERE account_id = toUUID(?) AND event_type = 'page_viewed' AND bot = ''`, account.String()).Scan(&views, &magnets))
	require.EqualValues(t, magnets, got.UniqueLeadMagnets)
	require.EqualValues(t, views, got.TotalViews)
	require.Greater(t, got.TotalViews, int64(5000))
}

// The views are read from projection quarters, and of that only the links asked for.
func TestSummaryPlan(t *testing.T) {
	t.Parallel()
	conn := querytest.Conn(t)
	account := querytest.ID(t)
	filled := querytest.Fill(t, conn, account, 2000, 150_000)
	views := viewsOfLinks(filled.Links[100:103])
	params := native.Parameters{"account": account.String()}
	maps.Copy(params, views.Params)
	forced := native.Context(context.Background(), native.WithParameters(params),
		native.WithSettings(native.Settings{"force_optimize_projection": 1}))
	require.NoError(t, conn.Exec(forced, views.SQL), "a query that uses no projection is refused here")
	whole := explain(t, account, views)
	require.Regexp(t, `PrimaryKey\n[^:]*Keys:\s+account_id\s+access_link_id`, whole)
	// Three links, which may each span two granules, and one granule of each part that other tests
	// made.
	parts, granules := partsRead(t, whole)
	require.LessOrEqual(t, granules, parts+6, "the account has some fifteen: %s", whole)
	require.Positive(t, parts)
}

// explain returns how a statement is answered.
func explain(t *testing.T, account uuid.UUID, s scope.Statement) string {
	t.Helper()
	var plan []string
	s.SQL = "EXPLAIN indexes = 1, projections = 1 " + s.SQL
	require.NoError(t, querytest.Scoped(t).Query(context.Background(), account, s, func(row scope.Row) error {
		var line string
		err := row.Scan(&line)
		plan = append(plan, line)
		return err
	}))
	return strings.NewReplacer("│", " ", "└", " ", "─", " ").Replace(strings.Join(plan, "\n"))
}

func partsRead(t *testing.T, plan string) (parts, granules int) {
	t.Helper()
	require.Contains(t, plan, "ReadFromMergeTree (quarters)")
	found := regexp.MustCompile(`Parts: (\d+) \| Granules: (\d+)\n`).FindStringSubmatch(plan)
	require.Len(t, found, 3, plan)
	parts, err := strconv.Atoi(found[1])
	require.NoError(t, err)
	granules, err = strconv.Atoi(found[2])
	require.NoError(t, err)
	return parts, granules
}

// The number of links that one query can name has no limit near what an address can have.
func TestManyLinksInOneQuery(t *testing.T) {
	t.Parallel()
	links := make([]uuid.UUID, 50_000)
	for i := range links {
		links[i] = uuid.New()
	}
	var views uint64
	err := querytest.Scoped(t).Query(context.Background(), querytest.ID(t),
		viewsOfLinks(links), func(row scope.Row) error {
			var unique uint64
			var first, last time.Time
			return row.Scan(&views, &unique, &first, &last)
		})
	require.NoError(t, err)
	require.Zero(t, views)
}
