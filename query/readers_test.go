package query_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

const readersPath = "/api/v1/analytics/readers"

// readersAccount is an account with a lead magnet, and a submission of ada@example.com with its
// access link.
type readersAccount struct {
	t                                               *testing.T
	pool                                            *postgres.Pool
	account, magnet, generic, submission, link, ada uuid.UUID
	offset                                          int64
}

func newReadersAccount(t *testing.T) *readersAccount {
	t.Helper()
	a := &readersAccount{
		t: t, pool: enginetest.SharedPostgres(t), account: querytest.ID(t), magnet: querytest.ID(t), generic: querytest.ID(t),
		submission: querytest.ID(t), link: querytest.ID(t), ada: uuid.New(),
	}
	a.exec("INSERT INTO accounts (id, name, plan) VALUES ($1, 'test', 'team')", a.account)
	a.exec("INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')", a.magnet, a.account)
	a.exec("INSERT INTO generic_links (id, account_id, lead_magnet_id, slug, collect_name, fields) VALUES ($1, $2, $3, $4, true, $5)",
		a.generic, a.account, a.magnet, "s-"+a.generic.String(),
		`[{"key":"team","label":"Your team"},{"key":"company","label":"Company"}]`)
	a.exec(`INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, name, utm, referrer, consent_text, privacy_url, consented_at, submitted_at, answers)
		VALUES ($1, $2, $3, 'Ada@Example.com', 'ada@example.com', 'Ada', '{"utm_source":"news"}', 'https://search.example/x', 'I agree', 'https://example.com/p',
			'2026-03-01T10:00:00Z', '2026-03-01T10:00:00Z', '{"company":"Acme","former":"x"}')`, a.submission, a.account, a.generic)
	a.exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email, email_key, token_hash, token_sealed, token_key, source, created_at)
		VALUES ($1, $2, $3, $4, $5, 'Ada@Example.com', 'ada@example.com', sha256($6::text::bytea), '', 0, 'mail', '2026-03-01T10:00:01Z')`,
		a.link, a.account, a.magnet, a.generic, a.submission, a.link.String())
	conn := querytest.Conn(t)
	require.NoError(t, conn.Exec(context.Background(), fmt.Sprintf(`INSERT INTO lodestone.submissions
		(id, account_id, lead_magnet_id, generic_link_id, person_id, utm_source, referrer, submitted_at, version)
		VALUES ('%s', '%s', '%s', '%s', '%s', 'news', 'https://search.example/x', '2026-03-01 10:00:00', 1)`, a.submission, a.account, a.magnet, a.generic, a.ada)))
	require.NoError(t, conn.Exec(context.Background(), fmt.Sprintf(`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, person_id, source, created_at, version)
		VALUES ('%s', '%s', '%s', '%s', 'mail', '2026-03-01 10:00:01', 1)`, a.link, a.account, a.magnet, a.ada)))
	require.NoError(t, conn.Exec(context.Background(),
		fmt.Sprintf("INSERT INTO lodestone.magnet_versions VALUES ('%s', '%s', 1, 2, 1)", a.account, a.magnet)))
	return a
}

func (a *readersAccount) exec(sql string, args ...any) {
	a.t.Helper()
	_, err := a.pool.Unscoped().Exec(context.Background(), sql, args...)
	require.NoError(a.t, err)
}

// store stores an event of a link, in a session that has the link's id.
func (a *readersAccount) store(link uuid.UUID, kind event.Type, page uint32, at time.Time, bot string) {
	a.t.Helper()
	querytest.Store(a.t, querytest.Conn(a.t), a.row(link, kind, page, at, bot))
}

func (a *readersAccount) row(link uuid.UUID, kind event.Type, page uint32, at time.Time,
	bot string) querytest.StoredEvent {
	a.t.Helper()
	a.offset++
	return querytest.StoredEvent{Event: event.Event{
		AccountID: a.account, LeadMagnetID: a.magnet, GenericLinkID: a.generic, AccessLinkID: link,
		SessionID: link, EventID: querytest.ID(a.t),
		Type: kind, MagnetVersion: 1, Page: page, DurationMS: page * 30_000,
		UserAgent: []byte("Mozilla/5.0 (iPhone)"), Bot: bot,
		CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
	}, TopicID: a.account, Offset: a.offset}
}

// ask returns the object of an answer without the time of it.
func (s site) ask(account uuid.UUID, path string, params url.Values) (answer, map[string]any) {
	s.t.Helper()
	got := s.get(account, path, params)
	require.Equal(s.t, http.StatusOK, got.status, "%s", got.body)
	var body map[string]any
	require.NoError(s.t, json.Unmarshal(got.body, &body))
	require.NotEmpty(s.t, body["as_of"])
	delete(body, "as_of")
	return got, body
}

func TestReaders(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a.store(a.link, event.PageViewed, 1, at, "")
	a.store(a.link, event.PageViewed, 2, at.Add(time.Minute), "")
	a.store(a.link, event.DownloadStarted, 0, at.Add(2*time.Minute), "")
	a.store(a.link, event.DownloadCompleted, 0, at.Add(3*time.Minute), "")
	a.store(a.link, event.PageViewed, 1, at.Add(4*time.Minute), "scanner")

	_, body := s.ask(a.account, readersPath, nil)
	recency := body["data"].([]any)[0].(map[string]any)["score_parts"].(map[string]any)["recency"].(float64)
	totals := fmt.Sprintf(`"magnets":["%s"],"sessions":1,"pages":2,"page_views":2,"reading_ms":90000,"finished":true,"downloads":1,
		"first_seen_at":"2026-03-01T12:00:00.000Z","last_seen_at":"2026-03-01T12:03:00.000Z",
		"score":%v,"score_parts":{"finished":40,"attention":3,"returns":0,"downloads":10,"recency":%v}`, a.magnet, 53+recency, recency)
	source := `"source":{"utm_source":"news","utm_medium":null,"utm_campaign":null,"utm_content":null,"utm_term":null,"referrer_host":"search.example"}`
	labels := fmt.Sprintf(`"labels":{"%s":"Guide"}`, a.magnet)
	text, err := json.Marshal(body)
	require.NoError(t, err)
	require.JSONEq(t, fmt.Sprintf(`{"data":[{"person_id":"%s","email":"Ada@Example.com","name":"Ada","status":"New","access_links":["%s"],%s,%s}],
		"pagination":{"page":1,"per_page":20,"total":1,"total_pages":1,"next_cursor":null},"excluded_bots":1,%s}`, a.ada, a.link, source, totals, labels), string(text))

	_, body = s.ask(a.account, readersPath+"/"+a.link.String(), nil)
	text, err = json.Marshal(body)
	require.NoError(t, err)
	submission := fmt.Sprintf(`{"id":"%s","generic_link_id":"%s","lead_magnet_id":"%s","email":"Ada@Example.com","name":"Ada","state":"ready","verified":false,
		"answers":[{"key":"company","label":"Company","answer":"Acme"},{"key":"former","label":"former","answer":"x"}],
		"verified_at":null,"submitted_at":"2026-03-01T10:00:00.000Z","utm":{"utm_source":"news"},"referrer":"https://search.example/x",
		"consented_at":"2026-03-01T10:00:00.000Z","consent_text":"I agree","privacy_url":"https://example.com/p"}`, a.submission, a.generic, a.magnet)
	require.JSONEq(t, fmt.Sprintf(`{"access_link_id":"%[1]s","person_id":"%[2]s","email":"Ada@Example.com","name":"Ada","status":"New",%[3]s,"totals":{%[4]s},
		"access_links":[{"id":"%[1]s","lead_magnet_id":"%[5]s","generic_link_id":"%[6]s","submission_id":"%[7]s","source":"mail","is_active":true,
			"max_views":null,"expires_at":null,"created_at":"2026-03-01T10:00:01.000Z"}],
		"submission":%[8]s,"submissions":[%[8]s],
		"sessions":[{"session_id":"%[1]s","access_link_id":"%[1]s","lead_magnet_id":"%[5]s","started_at":"2026-03-01T12:00:00.000Z",
			"last_event_at":"2026-03-01T12:03:00.000Z","device":"mobile","user_agent":"Mozilla/5.0 (iPhone)","page_views":2,"pages":2,"reading_ms":90000,
			"visits":[{"page":1,"magnet_version":1,"start":"2026-03-01T12:00:00.000Z","ms":30000},{"page":2,"magnet_version":1,"start":"2026-03-01T12:01:00.000Z","ms":60000}],
			"downloads":[{"event_type":"download_started","created_at":"2026-03-01T12:02:00.000Z"},{"event_type":"download_completed","created_at":"2026-03-01T12:03:00.000Z"}]}],
		"truncated":false,"excluded_bots":1,%[9]s}`, a.link, a.ada, source, totals, a.magnet, a.generic, a.submission, submission, labels), string(text))

	// Another account sees none of it.
	stranger := querytest.ID(t)
	for _, params := range []url.Values{nil, {"q": {"ada"}}, {"lead_magnet_id": {a.magnet.String()}},
		{"generic_link_id": {a.generic.String()}}} {
		_, body = s.ask(stranger, readersPath, params)
		require.Equal(t, []any{}, body["data"])
		require.Zero(t, body["excluded_bots"])
	}
	for _, account := range []uuid.UUID{stranger, a.account} {
		got := s.get(account, readersPath+"/"+map[bool]uuid.UUID{true: a.link,
			false: querytest.ID(t)}[account == stranger].String(), nil)
		require.Equal(t, http.StatusNotFound, got.status)
		code, _ := got.problem(t)
		require.Equal(t, "not_found", code)
	}
	require.Equal(t, http.StatusNotFound, s.get(a.account, readersPath+"/ada", nil).status)
}

// Filters that Postgres answers, and who opened nothing, in the list and its file.
func TestReadersByWhatIsKnownOfThem(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	found := func(name, value string) (total int) {
		params := url.Values{name: {value}, "from": {"2026-03-01T00:00:00Z"}}
		_, body := s.ask(a.account, readersPath, params)
		total = int(body["pagination"].(map[string]any)["total"].(float64))
		params.Set("format", "ndjson")
		file := s.get(a.account, readersPath+"/export", params)
		require.Equal(t, total, bytes.Count(file.body, []byte("\n")), name)
		return total
	}
	require.Equal(t, 1, found("opened", "false"))
	_, body := s.ask(a.account, readersPath, values("opened", "false"))
	row := body["data"].([]any)[0].(map[string]any)
	require.Equal(t, "Ada@Example.com", row["email"])
	require.Equal(t, []any{a.link.String()}, row["access_links"])
	require.Nil(t, row["last_seen_at"])
	a.store(a.link, event.PageViewed, 1, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "")
	for _, f := range []struct {
		name, value string
		total       int
	}{{"opened", "false", 0}, {"opened", "true", 1}, {"field", "company:acme", 1}, {"field", "company:other", 0},
		{"status", "New", 1}, {"status", "Won", 0}, {"country", "DE", 0}} {
		require.Equal(t, f.total, found(f.name, f.value), f.name+"="+f.value)
	}
	for field, params := range map[string]url.Values{
		"device": values("opened", "false", "device", "mobile"), "country": values("opened", "false", "country", "DE"),
		"field": values("field", "company"), "without": values("without", "device"),
	} {
		got := s.get(a.account, readersPath, params)
		require.Equal(t, http.StatusBadRequest, got.status, field)
		_, fields := got.problem(t)
		require.Equal(t, []string{field}, fields)
	}
}

// Addresses are personal data.
func TestReadersTakeTheScopeLeads(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	for _, path := range []string{readersPath, readersPath + "/" + a.link.String()} {
		require.Equal(t, http.StatusForbidden,
			s.do("GET", "Bearer read,write,webhooks,keys:"+a.account.String(), path).status)
		require.Equal(t, http.StatusOK, s.do("GET", "Bearer leads:"+a.account.String(), path).status)
	}
}

// A deleted access link has no address, and its events stay.
func TestTheStoryOfADeletedLink(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	gone := querytest.ID(t)
	a.store(gone, event.PageViewed, 1, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "")
	_, body := s.ask(a.account, readersPath+"/"+gone.String(), nil)
	require.Equal(t, gone.String(), body["person_id"])
	require.Nil(t, body["email"])
	require.Nil(t, body["submission"])
	require.Equal(t, []any{}, body["access_links"])
	require.Len(t, body["sessions"], 1)
	_, body = s.ask(a.account, readersPath, nil)
	require.Len(t, body["data"], 1)
	require.Nil(t, body["data"].([]any)[0].(map[string]any)["email"])
}

func TestReadersByCursor(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var want []any
	for n := range 7 {
		link := querytest.ID(t)
		a.store(link, event.PageViewed, 1, at.Add(time.Duration(-n)*time.Minute), "")
		want = append(want, link.String())
	}
	var got []any
	params := values("per_page", "3", "sort", "-last_seen_at", "min_pages", "1")
	for {
		answer, body := s.ask(a.account, readersPath, params)
		for _, person := range body["data"].([]any) {
			got = append(got, person.(map[string]any)["person_id"])
		}
		pagination := body["pagination"].(map[string]any)
		require.EqualValues(t, 7, pagination["total"])
		if pagination["next_cursor"] == nil {
			break
		}
		require.Contains(t, answer.header.Get("Link"), `rel="next"`)
		params.Set("cursor", pagination["next_cursor"].(string))
	}
	require.Equal(t, want, got)
	_, second := s.ask(a.account, readersPath, values("per_page", "3", "page", "2"))
	require.Equal(t, want[3], second["data"].([]any)[0].(map[string]any)["person_id"])

	cursor := params.Get("cursor")
	for field, wrong := range map[string]url.Values{
		"sort":            {"sort": {"email"}},
		"q":               {"q": {strings.Repeat("a", 255)}},
		"min_pages":       {"min_pages": {"0"}},
		"finished":        {"finished": {"yes"}},
		"lead_magnet_id":  {"lead_magnet_id": {"1"}},
		"generic_link_id": {"generic_link_id": {"1"}},
		"from":            {"from": {"2026-03-02T00:00:01Z"}, "to": {"2026-03-02T00:00:00Z"}},
		"to":              {"to": {"yesterday"}},
		"per_page":        {"per_page": {"101"}},
		"page":            {"page": {"1"}, "cursor": {cursor}},
		"email":           {"email": {"ada@example.com"}},
		"cursor":          {"cursor": {cursor}}, // of another list
	} {
		got := s.get(a.account, readersPath, wrong)
		require.Equal(t, http.StatusBadRequest, got.status, field)
		code, fields := got.problem(t)
		require.Equal(t, "invalid_parameter", code)
		require.Equal(t, []string{field}, fields)
	}
	for _, bad := range []string{cursor[:len(cursor)-3], "e30", "bnVsbA"} {
		require.Equal(t, http.StatusBadRequest, s.get(a.account, readersPath, values("cursor", bad)).status, bad)
	}
}

// The tag is of the list, and not of the time of the answer.
func TestReadersAreNotSentAgain(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	a.store(querytest.ID(t), event.PageViewed, 1, at, "")
	a.store(a.link, event.PageViewed, 1, at, "")
	for _, path := range []string{readersPath + "?per_page=1", readersPath + "/" + a.link.String()} {
		tag := s.get(a.account, strings.TrimSuffix(path, "?per_page=1"),
			map[bool]url.Values{true: {"per_page": {"1"}}}[strings.Contains(path, "?")]).header.Get("ETag")
		require.Regexp(t, `^W/"[0-9a-f]{16}"$`, tag)
		again := func() int {
			r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.url+path, nil)
			require.NoError(t, err)
			r.Header.Set("Authorization", "Bearer leads:"+a.account.String())
			r.Header.Set("If-None-Match", tag)
			res, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			require.NoError(t, res.Body.Close())
			return res.StatusCode
		}
		require.Equal(t, http.StatusNotModified, again(), path)
		a.store(a.link, event.PageViewed, 2, at.Add(time.Hour), "")
		require.Equal(t, http.StatusOK, again(), path)
	}
}

// A file of people has those of the list, in its order, in every format.
func TestExportOfReadersIsTheList(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	rows := []querytest.StoredEvent{a.row(a.link, event.PageViewed, 2, at, "")}
	for n := range 1200 { // more than are completed at once
		rows = append(rows, a.row(querytest.ID(t), event.PageViewed, 1, at.Add(time.Duration(-n)*time.Minute), ""))
	}
	querytest.Store(t, querytest.Conn(t), rows...)
	_, list := s.ask(a.account, readersPath, values("per_page", "100", "sort", "-score"))
	require.EqualValues(t, 1201, list["pagination"].(map[string]any)["total"])
	want := list["data"].([]any)

	path := readersPath + "/export"
	file := s.get(a.account, path, values("format", "ndjson", "sort", "-score"))
	require.Equal(t, http.StatusOK, file.status, "%s", file.body)
	require.Regexp(t, `^attachment; filename="lodestone-readers-.*\.ndjson"$`, file.header.Get("Content-Disposition"))
	var lines []any
	for line := range bytes.Lines(file.body) {
		var object map[string]any
		require.NoError(t, json.Unmarshal(line, &object))
		lines = append(lines, object)
	}
	require.Len(t, lines, 1201)
	require.Equal(t, want, lines[:100])

	cells, err := csv.NewReader(bytes.NewReader(s.get(a.account, path, values("sort", "-score")).body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, cells, 1202)
	require.Equal(t, []string{"person_id", "email", "access_links", "utm_source"}, cells[0][:4])
	require.Equal(t, []string{a.ada.String(), "Ada@Example.com", a.link.String(), "news"}, cells[1][:4])

	parquetFile := s.get(a.account, path, values("format", "parquet", "sort", "-score", "q", "ada@")).body
	read, err := parquet.Read[struct {
		Email       *string  `parquet:"email,optional"`
		AccessLinks []string `parquet:"access_links,list"`
		Finished    bool     `parquet:"finished"`
	}](bytes.NewReader(parquetFile), int64(len(parquetFile)))
	require.NoError(t, err)
	require.Len(t, read, 1)
	require.Equal(t, "Ada@Example.com", *read[0].Email)
	require.Equal(t, []string{a.link.String()}, read[0].AccessLinks)
	require.True(t, read[0].Finished)

	stranger := s.get(querytest.ID(t), path, values("format", "csv"))
	require.Equal(t, 1, bytes.Count(stranger.body, []byte("\n")), "only the names of the columns")
	require.Equal(t, http.StatusForbidden, s.do(http.MethodGet, "Bearer read:"+a.account.String(), path).status)
}
