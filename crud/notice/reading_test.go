package notice_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/mail"
	"lodestone/crud/notice"
)

// visit is a session as the counters leave it.
type visit struct {
	id, link   uuid.UUID
	from, to   time.Time
	pages      int  // 1 to pages were seen
	downloads  int  // by a person, as events tell
	downloaded bool // as the server recorded, whoever it was
}

const documentPages = 3

func (f *fixture) readingNotices(each string) {
	f.t.Helper()
	f.exec("UPDATE accounts SET reading_notices = $2, notify_email = 'owner@example.com', notify_confirmed_at = now() WHERE id = $1", f.account, each)
}

// reader adds an access link of the landing page.
func (f *fixture) reader(address string) uuid.UUID {
	f.t.Helper()
	id := uuid.New()
	f.exec(`INSERT INTO lead_magnet_files (lead_magnet_id, version, account_id, file_name, content_type, file_size, page_count, sha256)
		SELECT lead_magnet_id, 1, account_id, 'g.pdf', 'application/pdf', 1, $2, '' FROM generic_links WHERE id = $1 ON CONFLICT DO NOTHING`, f.link, documentPages)
	f.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, email, email_key, token_hash, token_sealed, token_key)
		SELECT $1, account_id, lead_magnet_id, id, $2, $2, sha256($3::text::bytea), '\x01', 1 FROM generic_links WHERE id = $4`, id, address, id.String(), f.link)
	return id
}

func (f *fixture) add(v visit) {
	f.t.Helper()
	pages := []int32{}
	for p := range v.pages {
		pages = append(pages, int32(p+1))
	}
	f.exec(`INSERT INTO sessions (id, account_id, access_link_id, magnet_version, started_at, last_active_at, pages, duration_ms, downloads)
		VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8)`, v.id, f.account, v.link, v.from, v.to, pages, int64(v.pages)*10_000, v.downloads)
	if v.downloaded {
		f.exec("INSERT INTO downloads (id, account_id, session_id, event_id, completed_at) VALUES (gen_random_uuid(), $1, $2, gen_random_uuid(), $3)", f.account, v.id, v.to)
	}
}

var errKilled = errors.New("the process is killed")

// end ends sessions in one transaction, which commits unless it is killed.
func (f *fixture) end(killed bool, visits ...visit) {
	f.t.Helper()
	ids := make([]uuid.UUID, len(visits))
	for i, v := range visits {
		ids[i] = v.id
	}
	err := f.db.Transaction(f.t.Context(), func(tx pgx.Tx) error {
		if _, err := tx.Exec(f.t.Context(), "UPDATE sessions SET ended_at = last_active_at WHERE id = ANY ($1)",
			ids); err != nil {
			return err
		}
		if err := f.notices.SessionsEnded(f.t.Context(), tx, ids); err != nil || !killed {
			return err
		}
		return errKilled
	})
	if killed {
		require.ErrorIs(f.t, err, errKilled)
		return
	}
	require.NoError(f.t, err)
}

// expected returns the news of the last visit of a link, by the rules of the documentation.
func expected(ended []visit) (news []string) {
	of := func(v visit) (read, finished, downloaded bool) {
		read = v.pages > 0 || v.downloads > 0
		return read, v.pages == documentPages, v.downloads > 0 || v.downloaded && v.pages > 0
	}
	last, before := ended[len(ended)-1], ended[:len(ended)-1]
	read, finished, downloaded := of(last)
	if !read {
		return nil
	}
	first, finishedBefore, downloadedBefore, away := true, false, false, true
	for _, v := range before {
		r, fin, down := of(v)
		if !r {
			continue
		}
		first = false
		finishedBefore, downloadedBefore = finishedBefore || fin, downloadedBefore || down
		away = away && last.from.Sub(v.to) >= 24*time.Hour
	}
	if finished && !finishedBefore {
		news = append(news, "finished")
	}
	if downloaded && !downloadedBefore {
		news = append(news, "downloaded")
	}
	if !first && away {
		news = append(news, "returned")
	}
	if first {
		news = append(news, "opened")
	}
	return news
}

func TestNoticesOfReadersFollowTheirSessions(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.readingNotices(notice.Each)
	random := rand.New(rand.NewPCG(1, 2))
	links := make([]uuid.UUID, 12)
	for i := range links {
		links[i] = f.reader(fmt.Sprintf("reader%d@example.com", i))
	}
	var visits []visit
	for range 60 {
		v := visit{id: uuid.New(), link: links[random.IntN(len(links))],
			from: at("2026-11-01 00:00").Add(time.Duration(random.IntN(240)) * time.Hour)}
		v.to = v.from.Add(time.Duration(random.IntN(90)) * time.Minute)
		v.pages, v.downloads, v.downloaded = random.IntN(documentPages+1), random.IntN(2)*random.IntN(2), random.IntN(3) == 0
		visits = append(visits, v)
		f.add(v)
	}
	slices.SortFunc(visits, func(a, b visit) int {
		if c := a.to.Compare(b.to); c != 0 {
			return c
		}
		return slices.Compare(a.id[:], b.id[:])
	})
	want := map[uuid.UUID][]string{}
	ended := map[uuid.UUID][]visit{}
	for rest := visits; len(rest) > 0; {
		batch := rest[:min(len(rest), 1+random.IntN(9))]
		rest = rest[len(batch):]
		f.end(true, batch...) // what was recorded is gone with the process
		f.end(false, batch...)
		for _, v := range batch {
			ended[v.link] = append(ended[v.link], v)
			if news := expected(ended[v.link]); len(news) > 0 {
				want[v.id] = news
			}
		}
	}
	rows, err := f.db.Unscoped().Query(t.Context(), "SELECT session_id, news FROM reading_notices")
	require.NoError(t, err)
	got := map[uuid.UUID][]string{}
	for rows.Next() {
		var id uuid.UUID
		var news []string
		require.NoError(t, rows.Scan(&id, &news))
		got[id] = news
	}
	require.NoError(t, rows.Err())
	require.Equal(t, want, got)
	require.NotEmpty(t, want)

	// Several processes send them, and one that comes later finds nothing to send.
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := f.notices.SendReadings(t.Context(), f.account); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.NoError(t, f.notices.SendReadings(t.Context(), f.account))
	require.Len(t, f.mails(), len(want))
}

// What the account leaves out is no news, and takes none from the person who comes after it.
func TestSuspectedSessionsThatAreLeftOutAreNoNews(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.readingNotices(notice.Each)
	f.exec("UPDATE accounts SET left_out_suspects = '{delivery}' WHERE id = $1", f.account)
	reader, other := f.reader("ada@example.com"), f.reader("bob@example.com")
	from := at("2026-11-01 10:00")
	scanner := visit{id: uuid.New(), link: reader, from: from, to: from.Add(time.Minute), pages: documentPages}
	person := visit{id: uuid.New(), link: reader, from: from.Add(time.Hour), to: from.Add(2 * time.Hour), pages: 2}
	counted := visit{id: uuid.New(), link: other, from: from, to: from.Add(time.Minute), pages: 1}
	for v, rule := range map[visit]string{scanner: "delivery", person: "", counted: "network"} {
		f.add(v)
		if rule != "" {
			f.exec("INSERT INTO suspects (id, account_id, access_link_id, rule, started_at) VALUES ($1, $2, $3, $4, $5)", v.id,
				f.account, v.link, rule, v.from)
		}
	}
	f.end(false, scanner)
	f.end(false, person, counted)
	var news string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
		"SELECT string_agg(session_id::text || ' ' || array_to_string(news, ','), ' ' ORDER BY started_at DESC) FROM reading_notices JOIN sessions ON id = session_id").Scan(&news))
	require.Equal(t, person.id.String()+" opened "+counted.id.String()+" opened", news)
}

func TestANoticeOfAReader(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.readingNotices(notice.Each)
	f.exec("UPDATE accounts SET timezone = 'Europe/Berlin', language = 'de'")
	link := f.reader("jo@example.com")
	v := visit{id: uuid.New(), link: link, from: at("2026-11-02 09:00"), to: at("2026-11-02 09:10"), pages: 3}
	f.add(v)
	f.end(false, v)
	require.NoError(t, f.notices.SendReadings(t.Context(), f.account))
	mails := f.mails()
	require.Len(t, mails, 1)
	m := mails[0]
	require.Equal(t, mail.KindReading, m.Kind)
	require.Equal(t, "owner@example.com", m.To)
	require.Equal(t, site+"/dashboard/readers/"+link.String(), m.URL)
	require.Equal(t, "Europe/Berlin", m.Timezone)
	require.EqualValues(t, "de", m.Language)
	require.Equal(t, []mail.Reading{{
		Email: "jo@example.com", Title: "The Guide", News: []mail.News{mail.Finished, mail.Opened}, Pages: 3, PageCount: 3,
		Duration: 30 * time.Second, StartedAt: v.from,
	}}, m.Readings.List)

	// The button of a mail program ends mails about readers, of pages with a setting of their own as
	// well, and no others.
	f.exec("UPDATE generic_links SET reading_notices = 'each'")
	status, _ := f.send("POST", strings.TrimPrefix(m.Unsubscribe, site), "List-Unsubscribe=One-Click")
	require.Equal(t, http.StatusOK, status)
	require.Equal(t, notice.Each, f.notify())
	again := visit{id: uuid.New(), link: link, from: at("2026-11-04 09:00"), to: at("2026-11-04 09:10"), pages: 1}
	f.add(again)
	f.end(false, again)
	require.NoError(t, f.notices.SendReadings(t.Context(), f.account))
	require.Len(t, f.mails(), 1)
}

// A page can differ from its account.
func TestNoticesOfReadersByPage(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		account string
		page    any
		each    int
		daily   int
	}{{notice.None, nil, 0, 0}, {notice.None, notice.Each, 1, 0}, {notice.Each, notice.None, 0, 0},
		{notice.Each, notice.Daily, 0, 1}, {notice.Daily, nil, 0, 1}} {
		f := start(t)
		f.readingNotices(test.account)
		f.exec("UPDATE generic_links SET reading_notices = $1", test.page)
		v := visit{id: uuid.New(), link: f.reader("jo@example.com"), from: at("2026-11-03 09:00"),
			to: at("2026-11-03 09:10"), pages: 1}
		f.add(v)
		f.end(false, v)
		require.NoError(t, f.notices.SendReadings(t.Context(), f.account))
		require.Len(t, f.mails(), test.each, test)
		f.now = at("2026-11-04 05:00")
		require.NoError(t, f.notices.SendDigests(t.Context()))
		require.Len(t, f.mails(), test.each+test.daily, test)
	}
}

func TestDailyNoticeOfReaders(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.readingNotices(notice.Daily)
	f.exec("UPDATE accounts SET timezone = 'America/New_York'")
	jo, al := f.reader("jo@example.com"), f.reader("al@example.com")
	f.now = at("2026-11-03 23:00") // 18:00 there
	for _, v := range []visit{
		{id: uuid.New(), link: jo, from: at("2026-11-03 20:00"), to: at("2026-11-03 20:10"), pages: 1},
		{id: uuid.New(), link: al, from: at("2026-11-03 21:00"), to: at("2026-11-03 21:10"), pages: 2},
		{id: uuid.New(), link: jo, from: at("2026-11-03 22:00"), to: at("2026-11-03 22:10"), pages: 3},
	} {
		f.add(v)
		f.end(false, v)
	}
	f.now = at("2026-11-04 09:59") // 04:59 there
	require.NoError(t, f.notices.SendDigests(t.Context()))
	require.Empty(t, f.mails(), "too early")
	f.now = at("2026-11-04 10:00")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if err := f.notices.SendDigests(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	mails := f.mails()
	require.Len(t, mails, 1)
	r := mails[0].Readings
	require.Equal(t, "Tuesday, 3 November 2026", r.Day)
	require.Equal(t, 2, r.Total)
	require.Equal(t, "jo@example.com", r.List[0].Email)
	require.Equal(t, []mail.News{mail.Finished, mail.Opened}, r.List[0].News)
	require.Equal(t, 3, r.List[0].Pages)
	require.Equal(t, 40*time.Second, r.List[0].Duration)
	require.Equal(t, "al@example.com", r.List[1].Email)
}

// What is too much for an hour comes the next day.
func TestManyReadersWithinAnHour(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.readingNotices(notice.Each)
	for i := range notice.HourlyNotices + 5 {
		v := visit{id: uuid.New(), link: f.reader(fmt.Sprintf("r%d@example.com", i)), from: at("2026-11-03 09:00"),
			to: at("2026-11-03 09:10"), pages: 1}
		f.add(v)
		f.end(false, v)
	}
	require.NoError(t, f.notices.SendReadings(t.Context(), f.account))
	mails := f.mails()
	require.Len(t, mails, notice.HourlyNotices)
	require.True(t, mails[len(mails)-1].Readings.Last)
	f.now = at("2026-11-04 05:00")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	mails = f.mails()
	require.Len(t, mails, notice.HourlyNotices+1)
	require.Equal(t, 5, mails[len(mails)-1].Readings.Total)
}
