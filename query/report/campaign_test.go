package report_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/query/querytest"
)

// campaign is an account whose landing pages were viewed and whose documents were read: in
// ClickHouse, and in memory as what happened.
type campaign struct {
	t       *testing.T
	random  *rand.Rand
	account uuid.UUID
	magnets []uuid.UUID
	pages   map[uuid.UUID][]int // of each version from 1 on; 0: not known
	forms   []form
	visits  []visit
	leads   []lead
	readers []reader
	stored  []querytest.StoredEvent
}

// form is a generic link, possibly deleted.
type form struct {
	id, magnet uuid.UUID
	deleted    bool
}

// visit is a view of a landing page.
type visit struct {
	form
	source, campaign string
	bot              bool
	at               time.Time
}

// lead is a submission.
type lead struct {
	form
	id                  uuid.UUID
	source, campaign    string
	submitted           time.Time
	confirmed           time.Time // zero: not confirmed
	required, isDeleted bool
}

// reader is an access link: of a submission, of a form whose submission is gone, or of the API.
type reader struct {
	form
	id, submission   uuid.UUID
	made             string // api, form or mail
	source, campaign string
	isDeleted        bool
	reads            []read
}

// read is an event of a reader.
type read struct {
	kind       event.Type
	at         time.Time
	isLastPage bool
	bot        bool
}

const day = 24 * time.Hour

// begin is when the campaign begins. It lasts four weeks.
var begin = time.Date(2026, 3, 16, 0, 0, 0, 0, time.UTC)

func newCampaign(t *testing.T, random *rand.Rand) *campaign {
	t.Helper()
	c := &campaign{t: t, random: random, account: querytest.ID(t), pages: map[uuid.UUID][]int{}}
	var versions [][]any
	for range 2 {
		magnet := querytest.ID(t)
		c.magnets, c.pages[magnet] = append(c.magnets, magnet), []int{2 + random.IntN(2), 1, 0}
		for version, count := range c.pages[magnet] {
			if count > 0 {
				versions = append(versions, []any{c.account, magnet, uint32(version + 1), uint32(count), uint64(1)})
			}
		}
		for range 2 {
			c.forms = append(c.forms, form{querytest.ID(t), magnet, random.IntN(6) == 0})
		}
	}
	c.insert("magnet_versions (account_id, lead_magnet_id, magnet_version, page_count, version)", versions)
	c.addVisits(random.IntN(60))
	c.addLeads(random.IntN(30))
	for range random.IntN(8) { // by the API
		c.readers = append(c.readers, reader{form: form{magnet: c.magnets[random.IntN(2)]}, id: querytest.ID(t), made: "api",
			isDeleted: random.IntN(6) == 0})
	}
	c.addReads()
	c.storeReaders()
	querytest.Store(t, querytest.Conn(t), c.stored...)
	return c
}

// insert stores rows of a table, whose columns are named.
func (c *campaign) insert(columns string, rows [][]any) {
	c.t.Helper()
	if len(rows) == 0 {
		return
	}
	ctx := native.Context(context.Background(), native.WithSettings(native.Settings{"async_insert": 0}))
	batch, err := querytest.Conn(c.t).PrepareBatch(ctx, "INSERT INTO lodestone."+columns)
	require.NoError(c.t, err)
	for _, row := range rows {
		require.NoError(c.t, batch.Append(row...))
	}
	require.NoError(c.t, batch.Send())
}

// moment returns a time of the campaign, often at the edge of a day.
func (c *campaign) moment() time.Time {
	at := begin.Add(time.Duration(c.random.Int64N((28 * day).Milliseconds())) * time.Millisecond)
	switch c.random.IntN(6) {
	case 0:
		at = at.Truncate(day)
	case 1:
		at = at.Truncate(day).Add(-time.Millisecond)
	}
	return at
}

func (c *campaign) pick(values ...string) string { return values[c.random.IntN(len(values))] }

// origin returns a UTM source and campaign.
func (c *campaign) origin() (source, name string) {
	return c.pick("", "newsletter", `it's \ "odd"`), c.pick("", "spring")
}

func (c *campaign) addVisits(n int) {
	var rows [][]any
	for range n {
		v := visit{form: c.forms[c.random.IntN(len(c.forms))], bot: c.random.IntN(5) == 0, at: c.moment()}
		v.source, v.campaign = c.origin()
		c.visits = append(c.visits, v)
		url := "https://pages.example/l/x?utm_campaign=" + v.campaign
		if v.source != "" {
			url += "&utm_source=" + map[bool]string{true: "newsletter", false: "it%27s+%5C+%22odd%22"}[v.source == "newsletter"]
		}
		rows = append(rows, []any{c.account, v.magnet, v.id, querytest.ID(c.t), url, botName(v.bot), v.at})
	}
	c.insert("link_views (account_id, lead_magnet_id, generic_link_id, event_id, url, bot, created_at)", rows)
}

func botName(bot bool) string {
	if bot {
		return "scanner"
	}
	return ""
}

// addLeads adds submissions, each with the access links that its form gave.
func (c *campaign) addLeads(n int) {
	var rows, gone [][]any
	for range n {
		l := lead{form: c.forms[c.random.IntN(len(c.forms))], id: querytest.ID(c.t), submitted: c.moment(),
			required: c.random.IntN(2) == 0}
		l.source, l.campaign = c.origin()
		l.isDeleted = l.deleted || c.random.IntN(8) == 0
		var verifiedAt *time.Time
		switch {
		case !l.required:
			l.confirmed = l.submitted
		case c.random.IntN(2) == 0:
			l.confirmed = l.submitted.Add(time.Duration(c.random.IntN(100_000_000)) * time.Millisecond)
			verifiedAt = &l.confirmed
		}
		rows = append(rows, []any{l.id, c.account, l.magnet, l.form.id, l.required, verifiedAt != nil, l.source, l.campaign,
			l.submitted, verifiedAt, uint64(1), uint8(0)})
		if l.isDeleted {
			gone = append(gone, []any{l.id, c.account, uint64(2), uint8(1)})
		}
		c.leads = append(c.leads, l)
		if l.confirmed.IsZero() {
			continue
		}
		made := []string{"mail"}
		if !l.required {
			made = []string{"mail", "form"}
		}
		for _, how := range made {
			r := reader{form: l.form, id: querytest.ID(c.t), submission: l.id, made: how, source: l.source, campaign: l.campaign}
			r.isDeleted = c.random.IntN(10) == 0
			if l.isDeleted || how == "form" && c.random.IntN(4) == 0 { // the link is another one's than the mailbox's
				r.submission = uuid.Nil
			}
			c.readers = append(c.readers, r)
		}
	}
	c.insert("submissions (id, account_id, lead_magnet_id, generic_link_id, verification_required, verified, utm_source, utm_campaign, submitted_at, verified_at, version, deleted)", rows)
	c.insert("submissions (id, account_id, version, deleted)", gone)
}

// addReads lets readers read, at any time of the campaign and in any order.
func (c *campaign) addReads() {
	for i := range c.readers {
		r := &c.readers[i]
		for range c.random.IntN(3) * c.random.IntN(5) {
			version := c.random.IntN(4)
			pages := 0
			if version > 0 {
				pages = c.pages[r.magnet][version-1]
			}
			page := c.random.IntN(4)
			e := read{kind: event.Types()[c.random.IntN(3)], at: c.moment(), bot: c.random.IntN(6) == 0}
			if e.kind != event.PageViewed {
				page = 0
			}
			e.isLastPage = page > 0 && page == pages
			r.reads = append(r.reads, e)
			c.stored = append(c.stored, querytest.StoredEvent{Event: event.Event{
				AccountID: c.account, LeadMagnetID: r.magnet, GenericLinkID: r.form.id, AccessLinkID: r.id,
				SessionID: r.id, EventID: querytest.ID(c.t),
				Type: e.kind, MagnetVersion: uint32(version), Page: uint32(page), Bot: botName(e.bot), CreatedAt: e.at.UnixMilli(),
				ReceivedAt: e.at.UnixMilli(),
			}, TopicID: c.account, Offset: int64(len(c.stored))})
		}
	}
}

func (c *campaign) storeReaders() {
	var rows, gone [][]any
	for _, r := range c.readers {
		rows = append(rows, []any{r.id, c.account, r.magnet, orNone(r.form.id, r.deleted), orNone(r.submission, false),
			r.made, r.source, r.campaign, uint64(1), uint8(0)})
		if r.isDeleted {
			gone = append(gone, []any{r.id, c.account, uint64(2), uint8(1)})
		}
	}
	c.insert("access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, source, utm_source, utm_campaign, version, deleted)", rows)
	c.insert("access_links (id, account_id, version, deleted)", gone)
}

func orNone(id uuid.UUID, isGone bool) *uuid.UUID {
	if isGone || id == uuid.Nil {
		return nil
	}
	return &id
}
