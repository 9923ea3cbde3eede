package query_test

import (
	"bufio"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/event"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/query"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestConfig(t *testing.T) {
	t.Parallel()
	require.NoError(t, config().Validate())
	err := query.Config{}.Validate()
	require.ErrorContains(t, err, "--query-timeout")
	require.ErrorContains(t, err, "--query-max-memory-bytes")
	require.ErrorContains(t, err, "--query-export-timeout")
	require.ErrorContains(t, err, "--query-processor-seconds-per-minute")
}

func config() query.Config {
	return query.Config{MaxConns: 8, Timeout: time.Minute, MaxMemoryBytes: 256 << 20, ProcessorSeconds: 1000,
		MaxExports: 4, ExportTimeout: 10 * time.Minute, LiveStreams: 1000, LivePerAccount: 20}
}

// keys lets a test be an account: the key is its id, with scopes in front, separated by commas.
// Postgres gets the account, since exports are written to its audit log.
type keys struct{ db *postgres.Pool }

func (k keys) Verify(ctx context.Context, key string) (auth.Identity, error) {
	scopes, account, _ := strings.Cut(key, ":")
	id, err := uuid.Parse(account)
	if err != nil {
		return auth.Identity{}, fmt.Errorf("not a key of this test: %w", err)
	}
	// Where a test takes Postgres away, the request fails instead.
	_, _ = k.db.Unscoped().Exec(ctx,
		"INSERT INTO accounts (id, name, plan) VALUES ($1, 'x', 'free') ON CONFLICT DO NOTHING", id)
	identity := auth.Identity{AccountID: id}
	for s := range strings.SplitSeq(scopes, ",") {
		identity.Scopes = append(identity.Scopes, auth.Scope(s))
	}
	return identity, nil
}

// site is a running service.
type site struct {
	t   *testing.T
	url string
}

func serve(t *testing.T, c query.Config, ch clickhouse.Config, pool *postgres.Pool) (site, *query.Query) {
	t.Helper()
	return serveWith(t, c, query.Deps{Copies: scope.One(ch), ClickHouseHTTP: querytest.HTTP(t), Postgres: pool,
		Log: querytest.Log(), Registerer: prometheus.NewRegistry()})
}

func serveWith(t *testing.T, c query.Config, d query.Deps) (site, *query.Query) {
	t.Helper()
	service, err := query.New(c, d)
	require.NoError(t, err)
	require.NoError(t, service.Live().Start(t.Context()))
	a := api.New(api.Deps{Verifier: keys{d.Postgres}, Log: querytest.Log(),
		Unavailable: []func(error) bool{query.IsUnavailable}})
	service.Register(a)
	server := httptest.NewServer(a)
	t.Cleanup(func() {
		a.EndStreams()
		server.Close()
		http.DefaultClient.CloseIdleConnections()
		require.NoError(t, service.Live().Stop(context.Background()))
		require.NoError(t, service.Close())
	})
	return site{t, server.URL}, service
}

// answer is an HTTP answer.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (s site) get(account uuid.UUID, path string, params url.Values) answer {
	s.t.Helper()
	return s.do(http.MethodGet, "Bearer read,leads:"+account.String(), path+"?"+params.Encode())
}

func (s site) do(method, authorization, path string) answer {
	s.t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, nil)
	require.NoError(s.t, err)
	if authorization != "" {
		r.Header.Set("Authorization", authorization)
	}
	got, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	body, err := io.ReadAll(got.Body)
	require.NoError(s.t, err)
	require.NoError(s.t, got.Body.Close())
	return answer{got.StatusCode, got.Header, body}
}

type page struct {
	Data       []map[string]any `json:"data"`
	Pagination struct {
		Page       *int    `json:"page"`
		PerPage    int     `json:"per_page"`
		Total      int     `json:"total"`
		TotalPages int     `json:"total_pages"`
		NextCursor *string `json:"next_cursor"`
	} `json:"pagination"`
}

func (s site) list(account uuid.UUID, params url.Values) page {
	s.t.Helper()
	got := s.get(account, "/api/v1/analytics", params)
	require.Equal(s.t, http.StatusOK, got.status, "%s", got.body)
	var p page
	require.NoError(s.t, json.Unmarshal(got.body, &p))
	return p
}

func (a answer) problem(t *testing.T) (code string, fields []string) {
	t.Helper()
	require.Equal(t, "application/problem+json", a.header.Get("Content-Type"), "%s", a.body)
	var p struct {
		Code   string
		Errors []struct{ Field, Message string }
	}
	require.NoError(t, json.Unmarshal(a.body, &p))
	for _, f := range p.Errors {
		fields = append(fields, f.Field)
	}
	return p.Code, fields
}

func values(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		v.Add(pairs[i], pairs[i+1])
	}
	return v
}

func TestEventFields(t *testing.T) {
	t.Parallel()
	conn := querytest.Conn(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	stored := querytest.StoredEvent{
		Event: event.Event{
			AccountID: querytest.ID(t), LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
			Type: event.PageViewed, Data: []byte(`{"page":3,"big":12345678901234567890}`), Page: 3,
			IPHash: [16]byte{0x0a, 15: 0xff}, UserAgent: []byte("Mozilla/5.0"),
			CreatedAt: 1772323200120, ReceivedAt: 1772323200456,
		},
		TopicID: querytest.ID(t), Offset: 1,
	}
	bare := stored
	bare.EventID, bare.Data, bare.IPHash, bare.UserAgent, bare.CreatedAt, bare.Offset = querytest.ID(t), nil,
		[16]byte{}, nil, 1772323199000, 2
	odd := stored // valid JSON, though not what every reader takes
	odd.EventID, odd.Data, odd.CreatedAt, odd.Offset = querytest.ID(t),
		[]byte(`{"a":1,"a":2,"b":"\ud800"}`), 1772323198000, 3
	querytest.Store(t, conn, stored, bare, odd)

	got := s.get(stored.AccountID, "/api/v1/analytics", nil)
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, "application/json", got.header.Get("Content-Type"))
	want := fmt.Sprintf(`{"data":[`+
		`{"id":"%s","access_link_id":"%s","event_type":"page_viewed","event_data":{"page":3,"big":12345678901234567890},`+
		`"ip_hash":"0a0000000000000000000000000000ff","user_agent":"Mozilla/5.0","created_at":"2026-03-01T00:00:00.120Z"},`+
		`{"id":"%s","access_link_id":"%s","event_type":"page_viewed","event_data":{},`+
		`"ip_hash":null,"user_agent":null,"created_at":"2026-02-28T23:59:59.000Z"},`+
		`{"id":"%s","access_link_id":"%s","event_type":"page_viewed","event_data":{"a":2,"b":"`+"\ufffd"+`"},`+
		`"ip_hash":"0a0000000000000000000000000000ff","user_agent":"Mozilla/5.0","created_at":"2026-02-28T23:59:58.000Z"}`+
		`],"pagination":{"page":1,"per_page":20,"total":3,"total_pages":1,"next_cursor":null,"next_received_after":"%s"}}`,
		stored.EventID, stored.AccessLinkID, bare.EventID, bare.AccessLinkID, odd.EventID, odd.AccessLinkID, got.next(t))
	require.Equal(t, want, strings.TrimSpace(string(got.body)), "to the letter: numbers are not rounded")
}

// play stores n events of a fresh account, several at each of their times, and returns their ids,
// newest first.
func play(t *testing.T, n int) (account uuid.UUID, newest []string) {
	t.Helper()
	account = querytest.ID(t)
	events := make([]querytest.StoredEvent, n)
	newest = make([]string, n)
	topic, link, magnet := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	for i := range events {
		at := int64(1772323200000 + i/3*1000)
		events[i] = querytest.StoredEvent{
			Event: event.Event{
				AccountID: account, LeadMagnetID: magnet, AccessLinkID: link, EventID: querytest.ID(t),
				Type: event.PageViewed, CreatedAt: at, ReceivedAt: at,
			},
			TopicID: topic, Offset: int64(i),
		}
		newest[n-1-i] = events[i].EventID.String()
	}
	querytest.Store(t, querytest.Conn(t), events...)
	return account, newest
}

func (p page) ids() []string {
	list := []string{}
	for _, e := range p.Data {
		list = append(list, e["id"].(string))
	}
	return list
}

func TestPagesAndCursors(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account, newest := play(t, 57)

	first := s.list(account, nil)
	require.Equal(t, newest[:20], first.ids())
	require.Equal(t, 57, first.Pagination.Total)
	require.Equal(t, 3, first.Pagination.TotalPages)
	require.Equal(t, newest[40:], s.list(account, values("page", "3")).ids())
	beyond := s.list(account, values("page", "2147483647", "per_page", "100"))
	require.Empty(t, beyond.Data)
	require.NotNil(t, beyond.Data)
	require.Equal(t, 57, beyond.Pagination.Total)
	require.Nil(t, beyond.Pagination.NextCursor)

	for _, size := range []int{1, 7, 19, 57, 100} {
		params := values("per_page", strconv.Itoa(size))
		var walked []string
		for {
			p := s.list(account, params)
			walked = append(walked, p.ids()...)
			require.Equal(t, 57, p.Pagination.Total)
			require.Equal(t, params.Has("cursor"), p.Pagination.Page == nil, "a page by cursor has no number")
			if p.Pagination.NextCursor == nil {
				break
			}
			require.Len(t, p.Data, size)
			params.Set("cursor", *p.Pagination.NextCursor)
		}
		require.Equal(t, newest, walked, "pages of %d", size)
	}

	got := s.get(account, "/api/v1/analytics", values("page", "2"))
	require.Contains(t, got.header.Get("Link"), `page=3&per_page=20>; rel="next"`)
	cursor := *first.Pagination.NextCursor
	got = s.get(account, "/api/v1/analytics", values("cursor", cursor))
	require.Contains(t, got.header.Get("Link"), `rel="next"`)
	require.Contains(t, got.header.Get("Link"), "cursor=")
}

func TestCursorIsRefused(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account, _ := play(t, 30)
	cursor := *s.list(account, values("event_type", "page_viewed")).Pagination.NextCursor
	require.Len(t, s.list(account, values("event_type", "page_viewed", "cursor", cursor)).Data, 10)
	raw, err := base64.RawURLEncoding.DecodeString(cursor)
	require.NoError(t, err)
	require.False(t, utf8.Valid(raw), "it tells no numbers of the log: %q", raw)
	require.Len(t, s.list(account, values("event_type", "page_viewed", "cursor", cursor, "per_page", "3")).Data, 3,
		"the size may change")

	for name, c := range map[string]struct {
		account uuid.UUID
		params  url.Values
	}{
		"no filter":       {account, values("cursor", cursor)},
		"another filter":  {account, values("cursor", cursor, "event_type", "download_started")},
		"one filter more": {account, values("cursor", cursor, "event_type", "page_viewed", "bot", "false")},
		"another account": {querytest.ID(t), values("cursor", cursor, "event_type", "page_viewed")},
		"with a page":     {account, values("cursor", cursor, "event_type", "page_viewed", "page", "1")},
		"cut":             {account, values("cursor", cursor[:len(cursor)-3], "event_type", "page_viewed")},
		"in clear": {account,
			values("cursor", base64.RawURLEncoding.EncodeToString(
				[]byte(`{"l":"0123456789abcdef","c":1772000000000,"t":"01890a5d-ac96-774b-bcce-b302099a8057","p":0,"o":1,"s":1772000000000}`)), "event_type", "page_viewed")},
		"no base64": {account, values("cursor", "!!!", "event_type", "page_viewed")},
		"empty":     {account, values("cursor", "", "event_type", "page_viewed")},
		"an object": {account, values("cursor", "e30", "event_type", "page_viewed")},
		"long":      {account, values("cursor", strings.Repeat("A", 4096), "event_type", "page_viewed")},
		"null":      {account, values("cursor", "bnVsbA", "event_type", "page_viewed")},
	} {
		got := s.get(c.account, "/api/v1/analytics", c.params)
		code, _ := got.problem(t)
		require.Equal(t, http.StatusBadRequest, got.status, name)
		require.Equal(t, "invalid_parameter", code, name)
	}
}

func TestEventFilters(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account, magnet, link := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	e := func(offset int64, change func(*event.Event)) querytest.StoredEvent {
		made := querytest.StoredEvent{
			Event: event.Event{
				AccountID: account, LeadMagnetID: magnet, AccessLinkID: link, EventID: uuid.UUID{15: byte(offset)},
				Type: event.PageViewed, CreatedAt: at.UnixMilli(), ReceivedAt: at.UnixMilli(),
			},
			TopicID: magnet, Offset: offset,
		}
		change(&made.Event)
		made.StoredAt = time.UnixMilli(made.ReceivedAt)
		return made
	}
	querytest.Store(t, querytest.Conn(t),
		e(1, func(*event.Event) {}),
		e(2, func(e *event.Event) { e.Type = event.DownloadStarted }),
		e(3, func(e *event.Event) { e.Bot = "a rule" }),
		e(4, func(e *event.Event) { e.AccessLinkID = querytest.ID(t) }),
		e(5, func(e *event.Event) { e.LeadMagnetID, e.AccessLinkID = querytest.ID(t), querytest.ID(t) }),
		e(6, func(e *event.Event) { e.CreatedAt += 86_400_000; e.ReceivedAt = e.CreatedAt }),
		e(7, func(e *event.Event) { e.ReceivedAt += 5000 }), // late
	)
	for _, c := range []struct {
		params url.Values
		want   string
	}{
		{nil, "6 7 5 4 3 2 1"},
		{values("access_link_id", link.String()), "6 7 3 2 1"},
		{values("access_link_id", strings.ToUpper(link.String())), "6 7 3 2 1"},
		{values("lead_magnet_id", magnet.String()), "6 7 4 3 2 1"},
		{values("access_link_id", uuid.NewString()), ""},
		{values("lead_magnet_id", uuid.NewString()), ""},
		{values("event_type", "download_started"), "2"},
		{values("event_type", "download_completed"), ""},
		{values("bot", "true"), "3"},
		{values("bot", "false"), "6 7 5 4 2 1"},
		{values("from", "2026-03-02"), "6"},
		{values("from", "2026-03-02T00:00:00.001Z"), ""},
		{values("to", "2026-03-02"), "7 5 4 3 2 1"},
		{values("to", "2026-03-02T01:00:00+01:00"), "7 5 4 3 2 1"},
		{values("from", "2026-03-01", "to", "2026-03-01"), ""},
		{values("from", "0001-01-01", "to", "9999-12-31"), "6 7 5 4 3 2 1"},
		{values("from", "9999-12-31"), ""},
		{values("to", "0001-01-01"), ""},
		{values("received_after", "2026-03-01"), "6 7"},
		{values("received_after", "2026-03-01T00:00:05Z"), "6"},
		{values("received_after", "2026-03-01T00:00:04.999Z", "to", "2026-03-02"), "7"},
		{values("received_after", "9999-12-31"), ""},
		{values("lead_magnet_id", magnet.String(), "access_link_id", link.String(), "event_type", "page_viewed",
			"bot", "false", "from", "2026-03-01", "to", "2026-03-02"), "7 1"},
	} {
		p := s.list(account, c.params)
		var got []string
		for _, id := range p.ids() {
			got = append(got, id[len(id)-1:])
		}
		require.Equal(t, c.want, strings.Join(got, " "), "%v", c.params)
		require.Equal(t, len(got), p.Pagination.Total, "%v", c.params)
		require.Empty(t, s.list(querytest.ID(t), c.params).Data, "another account sees nothing: %v", c.params)
	}
}

func TestBadParameters(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account := querytest.ID(t)
	const events, email = "/api/v1/analytics", "/api/v1/analytics/email"
	for _, c := range []struct {
		path, field string
		params      url.Values
	}{
		{events, "page", values("page", "0")},
		{events, "page", values("page", "-1")},
		{events, "page", values("page", "1.5")},
		{events, "page", values("page", "x")},
		{events, "page", values("page", "")},
		{events, "page", values("page", "99999999999999999999")},
		{events, "page", values("page", "1", "page", "2")},
		{events, "per_page", values("per_page", "0")},
		{events, "per_page", values("per_page", "101")},
		{events, "access_link_id", values("access_link_id", "1")},
		{events, "access_link_id", values("access_link_id", "")},
		{events, "access_link_id", values("access_link_id", "' OR 1 --")},
		{events, "lead_magnet_id", values("lead_magnet_id", "urn:uuid:0197a1b2-0000-7000-8000-000000000001")},
		{events, "lead_magnet_id", values("lead_magnet_id", "0197a1b2000070008000000000000001")},
		{events, "event_type", values("event_type", "page_view")},
		{events, "event_type", values("event_type", "PAGE_VIEWED")},
		{events, "event_type", values("event_type", "")},
		{events, "event_type", values("event_type", "page_viewed\x00")},
		{events, "from", values("from", "yesterday")},
		{events, "from", values("from", "2026-02-30")},
		{events, "from", values("from", "1772323200")},
		{events, "from", values("from", "2026-03-02", "to", "2026-03-01")},
		{events, "to", values("to", "2026-13-01")},
		{events, "to", values("to", "2026-03-01 00:00:00")},
		{events, "received_after", values("received_after", "2026-03-01T25:00:00Z")},
		{events, "bot", values("bot", "1")},
		{events, "bot", values("bot", "TRUE")},
		{events, "bots", values("bots", "true")},
		{events, "account_id", values("account_id", account.String())},
		{events, "event_type", values("event_type", "\xff")},
		{email, "email", nil},
		{email, "email", values("email", "")},
		{email, "email", values("email", "ann")},
		{email, "email", values("email", "@example.com")},
		{email, "email", values("email", "ann@")},
		{email, "email", values("email", "ann@localhost")},
		{email, "email", values("email", "Ann ann@example.com")},
		{email, "email", values("email", "ann @example.com")},
		{email, "email", values("email", "ann@example.com\n")},
		{email, "email", values("email", "ann\x00@example.com")},
		{email, "email", values("email", "\xff@example.com")},
		{email, "email", values("email", strings.Repeat("a", 250)+"@b.de")},
		{email, "email", values("email", "a@b.de", "email", "c@d.de")},
		{email, "page", values("email", "a@b.de", "page", "1")},
	} {
		got := s.get(account, c.path, c.params)
		require.Equal(t, http.StatusBadRequest, got.status, "%s %v: %s", c.path, c.params, got.body)
		code, fields := got.problem(t)
		require.Equal(t, "invalid_parameter", code, "%v", c.params)
		require.Equal(t, []string{c.field}, fields, "%v", c.params)
	}
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account := querytest.ID(t)
	for path, scope := range map[string]string{"/api/v1/analytics": "read",
		"/api/v1/analytics/email?email=a@b.de": "leads"} {
		key := "Bearer " + scope + ":" + account.String()
		others := strings.ReplaceAll("Bearer read,write,leads,webhooks,keys:"+account.String(), scope+",", "")
		require.Equal(t, http.StatusUnauthorized, s.do("GET", "", path).status)
		require.Equal(t, http.StatusForbidden, s.do("GET", others, path).status)
		require.Equal(t, http.StatusOK, s.do("GET", key, path).status)
		require.Equal(t, http.StatusOK, s.do("HEAD", key, path).status)
		for _, method := range []string{"POST", "PUT", "PATCH", "DELETE"} {
			got := s.do(method, key, path)
			require.Equal(t, http.StatusMethodNotAllowed, got.status)
			require.Contains(t, got.header.Get("Allow"), "GET")
		}
	}
	require.Equal(t, http.StatusNotFound, s.do("GET", "Bearer read:"+account.String(), "/api/v1/analytics/").status)
}

func TestEmailSummary(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	pool := enginetest.SharedPostgres(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), pool)
	account, magnet, link := querytest.ID(t), querytest.ID(t), querytest.ID(t)

	got := s.get(account, "/api/v1/analytics/email", values("email", "unknown@example.com"))
	require.Equal(t, http.StatusOK, got.status)
	require.JSONEq(t, `{"total_links":0,"total_views":0,"unique_lead_magnets":0,"first_link_created":null,
		"last_link_created":null,"first_access":null,"last_access":null}`, string(got.body))

	for _, sql := range []string{
		"INSERT INTO lead_magnets (id, account_id, title) SELECT $2, $1, 'test'",
		`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key, created_at)
			SELECT $3, $1, $2, 'Ann+x@Example.com', 'ann+x@example.com', sha256('token'::bytea), '', 0, '2026-03-01T00:00:00.5Z'`,
	} {
		arguments := []any{account, magnet, link}[:strings.Count(sql, "$")]
		_, err := pool.Unscoped().Exec(ctx, sql, arguments...)
		require.NoError(t, err)
	}
	querytest.Store(t, querytest.Conn(t), querytest.StoredEvent{
		Event: event.Event{
			AccountID: account, LeadMagnetID: magnet, AccessLinkID: link, EventID: querytest.ID(t), SessionID: querytest.ID(t),
			Type: event.PageViewed, CreatedAt: 1772323260000, ReceivedAt: 1772323260000,
		},
		TopicID: magnet,
	})
	got = s.get(account, "/api/v1/analytics/email", values("email", "ANN+X@example.com",
		"lead_magnet_id", magnet.String()))
	require.Equal(t, http.StatusOK, got.status)
	require.JSONEq(t, `{"total_links":1,"total_views":1,"unique_lead_magnets":1,
		"first_link_created":"2026-03-01T00:00:00.500Z","last_link_created":"2026-03-01T00:00:00.500Z",
		"first_access":"2026-03-01T00:01:00.000Z","last_access":"2026-03-01T00:01:00.000Z"}`, string(got.body))
	require.Contains(t, string(s.get(querytest.ID(t), "/api/v1/analytics/email",
		values("email", "ann+x@example.com")).body), `"total_links":0`)
	got = s.get(account, "/api/v1/analytics/email", values("email", "ANN+X@example.com", "lead_magnet_id", "abc"))
	require.Equal(t, 200, got.status, "there is no such lead magnet")
	require.Contains(t, string(got.body), `"total_links":0`)
}

// Without ClickHouse, what needs it says so. The header of a stream does not wait for it, and a
// stream that began while it was down goes on when it is back.
func TestClickHouseGone(t *testing.T) {
	t.Parallel()
	ctx, dir := context.Background(), enginetest.Dir(t)
	server := enginetest.NewMigratedClickHouse(t, dir)
	require.NoError(t, server.Start(ctx))
	ch := clickhouse.Config{URL: server.URL()}
	_, err := clickhouse.Migrate(ctx, ch)
	require.NoError(t, err)
	s, service := serve(t, config(), ch, enginetest.SharedPostgres(t))
	account := querytest.ID(t)
	require.NoError(t, service.Ready(ctx))
	require.Equal(t, http.StatusOK, s.get(account, "/api/v1/analytics", nil).status)

	require.NoError(t, server.Stop(ctx))
	require.Error(t, service.Ready(ctx))
	got := s.get(account, "/api/v1/analytics", nil)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	code, _ := got.problem(t)
	require.Equal(t, "unavailable", code)
	require.Equal(t, http.StatusOK, s.get(account, "/api/v1/analytics/email", values("email", "a@b.de")).status,
		"needs no views")

	waiting, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
	defer cancel()
	res := s.connect(waiting, account, "", nil)
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Equal(t, "text/event-stream", res.Header.Get("Content-Type"))

	again := enginetest.NewClickHouse(t, dir)
	enginetest.Run(t, again)
	require.Equal(t, server.URL(), again.URL(), "it keeps its address")
	e := viewed(t, account, querytest.ID(t), 0)
	querytest.Store(t, enginetest.Open(t, clickhouse.Config{URL: again.URL()}), e)
	st := &stream{t: t, body: bufio.NewReader(res.Body)}
	require.NotEmpty(t, st.next().id)
	require.Contains(t, st.next().data, e.EventID.String())
}

func TestPostgresGone(t *testing.T) {
	t.Parallel()
	pool, err := postgres.Open(context.Background(),
		postgres.Config{URL: "postgres://unknown@127.0.0.1:1/none", MaxConns: 1})
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), pool)
	got := s.get(querytest.ID(t), "/api/v1/analytics/email", values("email", "a@b.de"))
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.NotEmpty(t, got.header.Get("Retry-After"))
	require.Equal(t, http.StatusOK, s.get(querytest.ID(t), "/api/v1/analytics", nil).status)
}

func TestNewRefusesSettings(t *testing.T) {
	t.Parallel()
	_, err := query.New(query.Config{}, query.Deps{})
	require.Error(t, err)
	_, err = query.New(config(), query.Deps{Copies: scope.One(clickhouse.Config{URL: "http://x"})})
	require.Error(t, err)
	require.False(t, query.IsUnavailable(errors.New("any other")))
}
