package reader_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
	"lodestone/query/reader"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// model is an account with its links and submissions in Postgres and copied to ClickHouse, its
// events in ClickHouse, and all of them in memory.
type model struct {
	t       *testing.T
	random  *rand.Rand
	pool    *postgres.Pool
	conn    driver.Conn
	readers *reader.Readers
	account uuid.UUID

	magnets, generics []uuid.UUID
	pages             map[uuid.UUID][]uint32 // of each version from 1 on
	links             []link
	submissions       []submission
	events            []querytest.StoredEvent
	stored            int              // of the events
	rows              map[string][]any // of ClickHouse, by their statement, which store stores
}

// link is an access link. Its address is one of a person's spellings of it.
type link struct {
	id, person, magnet uuid.UUID
	email              string
	origin             string
	source             reader.Source
	created            time.Time
	submission         uuid.UUID
	deleted            bool
}

type submission struct {
	id, person, generic uuid.UUID
	source              reader.Source
	at                  time.Time
	deleted             bool
}

func newModel(t *testing.T, pool *postgres.Pool, seed uint64) *model {
	t.Helper()
	m := &model{
		t: t, random: rand.New(rand.NewPCG(seed, 23)), pool: pool, conn: querytest.Conn(t),
		readers: reader.New(pool, querytest.Scoped(t)),
		account: querytest.ID(t), pages: map[uuid.UUID][]uint32{}, rows: map[string][]any{},
	}
	m.postgres("INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", m.account)
	for i := range 2 {
		magnet, generic := querytest.ID(t), querytest.ID(t)
		m.magnets, m.generics = append(m.magnets, magnet), append(m.generics, generic)
		m.postgres("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, $3)", magnet,
			m.account, fmt.Sprint("Magnet ", i))
		m.postgres("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)", generic,
			m.account, magnet, "slug-"+generic.String())
		m.pages[magnet] = []uint32{uint32(2 + m.random.IntN(3)), 2}
		for version, count := range m.pages[magnet] {
			m.clickhouse("INSERT INTO lodestone.magnet_versions VALUES (?, ?, ?, ?, 1)", m.account, magnet, version+1, count)
		}
	}
	return m
}

func (m *model) postgres(sql string, args ...any) {
	m.t.Helper()
	_, err := m.pool.Unscoped().Exec(context.Background(), sql, args...)
	require.NoError(m.t, err, sql)
}

// clickhouse keeps a row for store, of a statement that ends with the values of one row.
func (m *model) clickhouse(sql string, row ...any) { m.rows[sql] = append(m.rows[sql], row...) }

// ago is a time before now, in whole milliseconds.
func ago(d time.Duration) time.Time { return time.Now().Add(-d).UTC().Truncate(time.Millisecond) }

func (m *model) pick(values ...string) string { return values[m.random.IntN(len(values))] }

func (m *model) moment() time.Time {
	return ago(time.Duration(m.random.Int64N(int64(60 * 24 * time.Hour))))
}

// fill adds links, submissions and events at random.
func (m *model) fill() {
	for range 6 + m.random.IntN(10) {
		m.addRandomLink()
	}
	for range 20 + m.random.IntN(200) {
		m.addRandomEvent()
	}
	m.store()
}

var hosts = map[string]string{"": "", "https://Search.Example/?q=1": "search.example",
	"https://blog.example:8443/a": "blog.example"}

// person is the id of who is behind an address.
func (m *model) person(email string) uuid.UUID {
	return uuid.NewSHA1(m.account, []byte(strings.ToLower(email)))
}

func (m *model) addRandomLink() {
	email := m.pick("ann", "Ann", "bob", "cara%_", "d'an") + "@" + m.pick("example.com", "Acme.test")
	n := m.random.IntN(2)
	referrer := m.pick("", "https://Search.Example/?q=1", "https://blog.example:8443/a")
	l := link{
		id: querytest.ID(m.t), person: m.person(email), magnet: m.magnets[n], email: email,
		origin: m.pick("api", "mail", "form"), created: m.moment(),
		source: reader.Source{UTMSource: m.pick("", "newsletter", `ends in \`, `\tab\0`, "'\t\n"),
			UTMCampaign: m.pick("", "it's"), UTMTerm: m.pick("", `back\slash`), ReferrerHost: hosts[referrer]},
		deleted: m.random.IntN(6) == 0,
	}
	if l.origin == "api" {
		l.source, referrer = reader.Source{}, ""
	} else {
		l.submission = m.submit(l, n, referrer)
	}
	m.addLink(l, m.generics[n], referrer)
}

// submit adds the submission that a link is created for. Some are deleted. An address submits a
// form once.
func (m *model) submit(l link, n int, referrer string) uuid.UUID {
	s := submission{
		id: querytest.ID(m.t), person: l.person, generic: m.generics[n], source: l.source, deleted: m.random.IntN(3) == 0,
		at: l.created.Add(-time.Duration(m.random.IntN(80)) * time.Hour),
	}
	for _, other := range m.submissions {
		s.deleted = s.deleted || other.generic == s.generic && other.person == s.person
	}
	m.submissions = append(m.submissions, s)
	if s.deleted {
		return uuid.Nil
	}
	m.postgres(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, submitted_at, consented_at, consent_text) VALUES ($1, $2, $3, $4, $5, $6, $6, 'I agree')`,
		s.id, m.account, s.generic, l.email, strings.ToLower(l.email), s.at)
	m.clickhouse(`INSERT INTO lodestone.submissions (id, account_id, lead_magnet_id, generic_link_id, person_id, utm_source, utm_campaign, utm_term, referrer, submitted_at, version)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, fromUnixTimestamp64Milli(toInt64(?), 'UTC'), 1)`,
		s.id, m.account, l.magnet, s.generic, s.person, s.source.UTMSource, s.source.UTMCampaign,
		s.source.UTMTerm, referrer, s.at.UnixMilli())
	return s.id
}

// addLink adds an access link. One that is deleted is in neither database any more.
func (m *model) addLink(l link, generic uuid.UUID, referrer string) {
	m.links = append(m.links, l)
	var submission *uuid.UUID
	if l.submission != uuid.Nil {
		submission = &l.submission
	}
	m.clickhouse(`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, person_id, source, utm_source, utm_campaign, utm_term, referrer, created_at, version)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, fromUnixTimestamp64Milli(toInt64(?), 'UTC'), 1)`,
		l.id, m.account, l.magnet, generic, l.person, l.origin, l.source.UTMSource, l.source.UTMCampaign, l.source.UTMTerm,
		referrer, l.created.UnixMilli())
	if l.deleted {
		m.clickhouse("INSERT INTO lodestone.access_links (id, account_id, version, deleted) VALUES (?, ?, 2, 1)", l.id,
			m.account)
		return
	}
	m.postgres(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key, source, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7, sha256($8::text::bytea), '', 0, $9, $10)`,
		l.id, m.account, l.magnet, generic, submission, l.email, strings.ToLower(l.email), l.id.String(),
		strings.Replace(l.origin, "mail", "api", 1), l.created)
}

func (m *model) addRandomEvent() {
	l := m.links[m.random.IntN(len(m.links))]
	e := event.Event{
		LeadMagnetID: l.magnet, AccessLinkID: l.id, SessionID: uuid.NewSHA1(l.id, []byte(m.pick("1", "2", "3", "4"))),
		Type:          event.PageViewed,
		MagnetVersion: uint32(m.random.IntN(4)), Page: uint32(m.random.IntN(6)),
		DurationMS: uint32(m.random.IntN(2) * m.random.IntN(200_000)),
		UserAgent:  []byte(m.pick("", "Mozilla/5.0 (Windows NT 10.0) Chrome/120", "Mozilla/5.0 (iPhone; CPU iPhone OS 17)")),
		Bot:        m.pick("", "", "", "", "scanner"),
		CreatedAt:  m.moment().UnixMilli(),
	}
	if m.random.IntN(8) == 0 {
		e.SessionID = uuid.Nil
	}
	if m.random.IntN(3) > 0 {
		e.GenericLinkID = m.generics[m.random.IntN(2)]
	}
	if m.random.IntN(4) == 0 {
		e.Type, e.Page, e.DurationMS = event.Types()[1+m.random.IntN(2)], 0, 0
	}
	if m.random.IntN(10) == 0 && len(m.events) > 0 { // at the same time as another
		e.CreatedAt = m.events[m.random.IntN(len(m.events))].CreatedAt
	}
	m.add(e)
}

// add adds an event, which store stores.
func (m *model) add(e event.Event) {
	e.AccountID, e.EventID, e.ReceivedAt = m.account, querytest.ID(m.t), e.CreatedAt
	m.events = append(m.events, querytest.StoredEvent{Event: e, TopicID: m.account, Offset: int64(len(m.events))})
}

func (m *model) store() {
	m.t.Helper()
	ctx := native.Context(context.Background(), native.WithSettings(native.Settings{"async_insert": 0}))
	for sql, args := range m.rows {
		values := sql[strings.LastIndex(sql, "VALUES")+len("VALUES"):]
		require.NoError(m.t, m.conn.Exec(ctx, sql+strings.Repeat(","+values, len(args)/strings.Count(values, "?")-1),
			args...))
	}
	clear(m.rows)
	if m.stored < len(m.events) {
		querytest.Store(m.t, m.conn, m.events[m.stored:]...)
	}
	m.stored = len(m.events)
}
