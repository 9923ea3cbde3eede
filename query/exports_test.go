package query_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/pkg/attachment"
	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query"
	"lodestone/query/querytest"
	"lodestone/query/scope"
)

const exportPath = "/api/v1/analytics/export"

// export returns the file.
func (s site) export(account uuid.UUID, format string, params url.Values) answer {
	s.t.Helper()
	all := url.Values{"format": {format}}
	maps.Copy(all, params)
	return s.get(account, exportPath, all)
}

// lines returns the objects of an NDJSON file, by id.
func (a answer) lines(t require.TestingT) map[string]map[string]any {
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	objects := map[string]map[string]any{}
	for line := range bytes.Lines(a.body) {
		var object map[string]any
		require.NoError(t, json.Unmarshal(line, &object), "%s", line)
		require.True(t, jsontext.Value(line).IsValid(), "also for a strict reader: %s", line)
		objects[object["id"].(string)] = object
	}
	return objects
}

// cells returns the rows of a CSV file, by id.
func (a answer) cells(t require.TestingT) map[string]map[string]string {
	require.Equal(t, http.StatusOK, a.status, "%s", a.body)
	rows, err := csv.NewReader(bytes.NewReader(a.body)).ReadAll()
	require.NoError(t, err)
	byID := map[string]map[string]string{}
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		byID[cells["id"]] = cells
	}
	return byID
}

// everything returns all events of a list, by id.
func (s site) everything(t require.TestingT, account uuid.UUID, params url.Values) map[string]map[string]any {
	all := map[string]map[string]any{}
	cursor := ""
	for {
		query := url.Values{"per_page": {"100"}}
		maps.Copy(query, params)
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		page := s.list(account, query)
		for _, e := range page.Data {
			all[e["id"].(string)] = e
		}
		require.Len(t, all, min(page.Pagination.Total, len(all)))
		if page.Pagination.NextCursor == nil {
			require.Len(t, all, page.Pagination.Total)
			return all
		}
		cursor = *page.Pagination.NextCursor
	}
}

// awkward are texts that a format has to quote, and data that readers of JSON disagree about.
var (
	awkwardText = []string{"", "Mozilla/5.0 (X11; Linux)", `=HYPERLINK("http://x")`, "+1", "-1", "@SUM(A1)", "\tx", "\rx",
		`say "hi", you`, "a\nb", "ünï 😀", `\N`, "NULL", "'quoted'",
		"x;=1+1;y", "＝1+1", "a|-2", "q\t=1", `; "＋1`, "(Bot; +http://x)", "\u00a0=1", "x;\\=1"}
	awkwardData = []string{`{}`, `{"page":3,"duration_ms":8200}`, "{\n  \"a\": [1,\r\n 2]\n}",
		`{"big":12345678901234567890,"x":1.50}`, `{"t":"a,\"b\"\\n","u":"=1"}`,
		`{"s":"\ud800","p":"\ud83d\ude00","b":"\\ud800","l":"\udc00\n"}`, `{"ü":"\u0000"}`,
		"{\"f\":\t\"x;=1+1;|-2\",\"g\":\"\\u003b; ＝1\",\"h\":[1,\t-1]}"}
)

// storeAwkward stores n events of an account.
func storeAwkward(t *testing.T, n int) (account uuid.UUID, links []uuid.UUID, magnets []uuid.UUID) {
	t.Helper()
	account, topic := querytest.ID(t), querytest.ID(t)
	for range 4 {
		links, magnets = append(links, querytest.ID(t)), append(magnets, querytest.ID(t))
	}
	random := rand.New(rand.NewPCG(1, 2))
	events := make([]querytest.StoredEvent, n)
	for i := range events {
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC).UnixMilli() + int64(i)*31_700_123
		e := event.Event{
			AccountID: account, LeadMagnetID: magnets[random.IntN(4)],
			AccessLinkID: links[random.IntN(4)], EventID: querytest.ID(t),
			Type: event.Types()[random.IntN(3)], Data: []byte(awkwardData[random.IntN(len(awkwardData))]),
			UserAgent: []byte(awkwardText[random.IntN(len(awkwardText))]),
			Bot:       []string{"", "", "headless"}[random.IntN(3)], CreatedAt: at, ReceivedAt: at + 1500,
			MagnetVersion: uint32(random.IntN(3)),
			Page:          uint32(random.IntN(4)), DurationMS: uint32(random.IntN(2) * 8200),
		}
		if random.IntN(2) == 0 {
			e.IPHash, e.SessionID, e.GenericLinkID = [16]byte{0x0a, 15: 0xff}, querytest.ID(t), querytest.ID(t)
		}
		events[i] = querytest.StoredEvent{Event: e, TopicID: topic, Offset: int64(i)}
	}
	querytest.Store(t, querytest.Conn(t), events...)
	return account, links, magnets
}

func serveExports(t *testing.T) site {
	t.Helper()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	return s
}

// An export has the events of the list with the same filters, no others, and with the same values.
func TestExportIsTheList(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	account, links, magnets := storeAwkward(t, 300)
	storeAwkward(t, 20)
	rapid.Check(t, func(r *rapid.T) {
		params := url.Values{}
		draw := func(name string, values ...string) {
			if v := rapid.SampledFrom(append(values, "", "")).Draw(r, name); v != "" {
				params.Set(name, v)
			}
		}
		draw("access_link_id", links[0].String(), links[1].String())
		draw("lead_magnet_id", magnets[0].String(), querytest.ID(t).String())
		draw("event_type", "page_viewed", "download_completed")
		draw("from", "2026-04-01T10:00:00Z")
		draw("to", "2026-05-10")
		draw("received_after", "2026-01-01", "2149-01-01")
		draw("bot", "true", "false")
		list := s.everything(r, account, params)
		objects := s.export(account, "ndjson", params).lines(r)
		cells := s.export(account, "csv", params).cells(r)
		require.Len(r, objects, len(list))
		require.Len(r, cells, len(list))
		for id, e := range list {
			for field, value := range e {
				require.Equal(r, value, objects[id][field], "%s of %s", field, id)
			}
			require.Equal(r, e["created_at"], cells[id]["created_at"])
			require.Equal(r, e["event_type"], cells[id]["event_type"])
		}
	})
}

func TestFieldsOfAnExport(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	full := querytest.StoredEvent{
		Event: event.Event{
			AccountID: querytest.ID(t), LeadMagnetID: querytest.ID(t), GenericLinkID: querytest.ID(t),
			AccessLinkID: querytest.ID(t), SessionID: querytest.ID(t), EventID: querytest.ID(t),
			Type: event.PageViewed, Data: []byte(`{"page":3,"duration_ms":8200}`), Page: 3, DurationMS: 8200, MagnetVersion: 2,
			IPHash:    [16]byte{0x0a, 15: 0xff},
			UserAgent: []byte("curl/8"), Bot: "headless", CreatedAt: 1772323200120, ReceivedAt: 1772323200456,
		},
		TopicID: querytest.ID(t), Offset: 1,
	}
	bare := querytest.StoredEvent{
		Event: event.Event{
			AccountID: full.AccountID, LeadMagnetID: full.LeadMagnetID, AccessLinkID: full.AccessLinkID,
			EventID: querytest.ID(t), Type: event.DownloadStarted,
			CreatedAt: 1772323199000, ReceivedAt: 1772323199000,
		},
		TopicID: full.TopicID, Offset: 2,
	}
	querytest.Store(t, querytest.Conn(t), full, bare)
	line := func(e querytest.StoredEvent, rest string) string {
		return fmt.Sprintf(`{"id":"%s","access_link_id":"%s",`+rest+"\n", e.EventID, e.AccessLinkID)
	}
	got := s.export(full.AccountID, "ndjson", nil)
	require.Equal(t, line(bare,
		`"event_type":"download_started","event_data":{},"ip_hash":null,"user_agent":null,"created_at":"2026-02-28T23:59:59.000Z",`+
			`"lead_magnet_id":"`+bare.LeadMagnetID.String()+
			`","generic_link_id":null,"session_id":null,"page":null,"duration_ms":null,"magnet_version":0,"bot":null,`+
			`"received_at":"2026-02-28T23:59:59.000Z"}`)+
		line(full, `"event_type":"page_viewed","event_data":{"page":3,"duration_ms":8200},"ip_hash":"0a0000000000000000000000000000ff","user_agent":"curl/8",`+
			`"created_at":"2026-03-01T00:00:00.120Z","lead_magnet_id":"`+full.LeadMagnetID.String()+`","generic_link_id":"`+
			full.GenericLinkID.String()+`",`+
			`"session_id":"`+full.SessionID.String()+
			`","page":3,"duration_ms":8200,"magnet_version":2,"bot":"headless","received_at":"2026-03-01T00:00:00.456Z"}`),
		sorted(string(got.body)))
	require.Equal(t, "application/x-ndjson", got.header.Get("Content-Type"))
	require.Equal(t, "no-store", got.header.Get("Cache-Control"))
	require.Regexp(t, `^attachment; filename="lodestone-events-\d{8}T\d{6}Z\.ndjson"$`,
		got.header.Get("Content-Disposition"))

	got = s.export(full.AccountID, "csv", nil)
	require.Equal(t, "text/csv; charset=utf-8; header=present", got.header.Get("Content-Type"))
	cells := got.cells(t)
	require.Equal(t, map[string]string{
		"id": bare.EventID.String(), "access_link_id": bare.AccessLinkID.String(), "event_type": "download_started",
		"event_data": "{}", "ip_hash": "", "user_agent": "",
		"created_at": "2026-02-28T23:59:59.000Z", "lead_magnet_id": bare.LeadMagnetID.String(), "generic_link_id": "",
		"session_id": "", "page": "", "duration_ms": "",
		"magnet_version": "0", "bot": "", "received_at": "2026-02-28T23:59:59.000Z",
	}, cells[bare.EventID.String()])
	require.JSONEq(t, string(full.Data), cells[full.EventID.String()]["event_data"])

	got = s.export(querytest.ID(t), "csv", nil)
	require.Equal(t, http.StatusOK, got.status)
	require.Equal(t, 1, strings.Count(string(got.body), "\n"), "names alone")
	got = s.export(querytest.ID(t), "ndjson", nil)
	require.Equal(t, http.StatusOK, got.status)
	require.Empty(t, got.body)
	head := s.do(http.MethodHead, "Bearer read:"+full.AccountID.String(), exportPath+"?format=parquet")
	require.Equal(t, http.StatusOK, head.status)
	require.Equal(t, "application/vnd.apache.parquet", head.header.Get("Content-Type"))
}

// What else is stored of visitors is in a file on request alone, in each format, behind the other
// columns.
func TestAnExportWithVisitors(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	known := querytest.StoredEvent{
		Event: event.Event{
			AccountID: querytest.ID(t), LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t),
			EventID: querytest.ID(t), Type: event.PageViewed,
			Origin:    event.Origin{Language: event.Language{'d', 'e'}, Country: event.Country{'C', 'H'}},
			CreatedAt: 1772323200120, ReceivedAt: 1772323200456,
		},
		AgentNames: "Chrome/macOS", TopicID: querytest.ID(t), Offset: 1,
	}
	unknown := known
	unknown.EventID, unknown.AgentNames, unknown.Origin, unknown.Offset = querytest.ID(t), "", event.Origin{}, 2
	querytest.Store(t, querytest.Conn(t), known, unknown)
	require.NotContains(t, string(s.export(known.AccountID, "csv", nil).body), "browser")
	with := url.Values{"visitor": {"true"}}
	lines := s.export(known.AccountID, "ndjson", with).lines(t)
	cells := s.export(known.AccountID, "csv", with).cells(t)
	for name, value := range map[string]string{"browser": "Chrome", "os": "macOS", "country": "CH", "language": "de"} {
		require.Equal(t, value, lines[known.EventID.String()][name])
		require.Contains(t, lines[unknown.EventID.String()], name)
		require.Nil(t, lines[unknown.EventID.String()][name])
		require.Equal(t, value, cells[known.EventID.String()][name])
		require.Empty(t, cells[unknown.EventID.String()][name])
	}
	head, _, _ := strings.Cut(string(s.export(known.AccountID, "csv", with).body), "\n")
	require.True(t, strings.HasSuffix(strings.ReplaceAll(head, `"`, ""), ",received_at,browser,os,country,language"), head)
	require.Equal(t, http.StatusOK, s.export(known.AccountID, "parquet", with).status)
}

// sorted returns the lines in the order of their times.
func sorted(text string) string {
	lines := strings.SplitAfter(text, "\n")
	if len(lines) == 3 && strings.Contains(lines[0], "2026-03-01") {
		lines[0], lines[1] = lines[1], lines[0]
	}
	return strings.Join(lines, "")
}

// No cell that a visitor chose is a formula in a spreadsheet. Other formats have it as it is.
func TestCellsAreNoFormulas(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	account, _, _ := storeAwkward(t, 200)
	objects := s.export(account, "ndjson", nil).lines(t)
	guarded := 0
	for id, cells := range s.export(account, "csv", nil).cells(t) {
		agent, _ := objects[id]["user_agent"].(string)
		if attachment.Cell(agent) != agent {
			guarded++
		}
		require.Equal(t, attachment.Cell(agent), cells["user_agent"])
		require.NotRegexp(t, `[;|\t][ "]*[-=+@＝]`, cells["event_data"])
		data, err := json.Marshal(objects[id]["event_data"])
		require.NoError(t, err)
		require.JSONEq(t, string(data), cells["event_data"])
	}
	require.Greater(t, guarded, 20)
}

func TestParametersOfAnExport(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	for query, field := range map[string]string{
		"format=xlsx": "format", "format=csv&page=2": "page", "format=csv&from=2026-02-01&to=2026-01-01": "from",
		"format=csv&event_type=x": "event_type",
	} {
		got := s.do(http.MethodGet, "Bearer read:"+querytest.ID(t).String(), exportPath+"?"+query)
		require.Equal(t, http.StatusBadRequest, got.status, query)
		code, fields := got.problem(t)
		require.Equal(t, "invalid_parameter", code)
		require.Equal(t, []string{field}, fields)
		require.Empty(t, got.header.Get("Content-Disposition"))
	}
}

// many events are several groups of rows of a Parquet file.
const many = 140_000

// storeLong stores events for an account with so many random bytes each: of enough of them, a
// client that does not read holds up the export.
func storeLong(t *testing.T, account uuid.UUID, events, size int) {
	t.Helper()
	ctx := native.Context(t.Context(),
		native.WithSettings(native.Settings{"max_block_size": 65_536, "min_insert_block_size_rows": 65_536}),
		native.WithParameters(native.Parameters{"account": account.String()}))
	require.NoError(t, querytest.Conn(t).Exec(ctx, fmt.Sprintf(`INSERT INTO lodestone.events (account_id, lead_magnet_id, access_link_id, session_id, event_id, event_type,
			event_data, created_at, received_at)
		SELECT {account:UUID}, {account:UUID}, {account:UUID}, {account:UUID}, generateUUIDv4(), 'page_viewed', concat('{"x":"', hex(randomString(%d)), '"}'), now64(3), now64(3)
		FROM numbers(%d)`, size, events)))
}

// stalled begins an export that does not go on until its body is read.
func (s site) stalled(account uuid.UUID, format string) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+exportPath+"?format="+format, nil)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer read:"+account.String())
	got, err := http.DefaultClient.Do(r)
	require.NoError(s.t, err)
	require.Equal(s.t, http.StatusOK, got.StatusCode)
	s.t.Cleanup(func() { _ = got.Body.Close() })
	return got
}

func TestExportsAtATime(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	one, two, three := querytest.ID(t), querytest.ID(t), querytest.ID(t)
	const events = 40_000
	for _, account := range []uuid.UUID{one, two} {
		storeLong(t, account, events, 1000)
	}
	running := []*http.Response{s.stalled(one, "csv"), s.stalled(one, "csv")}
	got := s.export(one, "csv", nil)
	require.Equal(t, http.StatusTooManyRequests, got.status)
	require.Equal(t, "10", got.header.Get("Retry-After"))
	running = append(running, s.stalled(two, "csv"), s.stalled(two, "ndjson"))
	got = s.export(three, "csv", nil)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Equal(t, "10", got.header.Get("Retry-After"))
	for _, r := range running[1:] {
		require.NoError(t, r.Body.Close())
	}
	rows, err := csv.NewReader(running[0].Body).ReadAll()
	require.NoError(t, err)
	require.Len(t, rows, events+1, "the one that goes on is complete")
	require.Eventually(t, func() bool { return s.export(three, "csv", nil).status == http.StatusOK },
		enginetest.Timeout, 50*time.Millisecond)
}

// kill ends the export of an account on the server.
func kill(t *testing.T, account uuid.UUID) {
	t.Helper()
	require.NoError(t, querytest.Conn(t).Exec(context.Background(), fmt.Sprintf(
		"KILL QUERY WHERE query_kind = 'Select' AND Settings['additional_table_filters'] LIKE '%%%s%%' SYNC", account)))
}

// An export that is cut off is an error for its reader, whatever the format.
func TestExportThatIsCutOffLooksBroken(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	account := querytest.ID(t)
	storeLong(t, account, many, 250)
	for _, format := range []string{"csv", "ndjson", "parquet"} {
		got := s.stalled(account, format)
		begun, err := io.ReadAll(io.LimitReader(got.Body, 1<<20))
		require.NoError(t, err)
		kill(t, account)
		rest, err := io.ReadAll(got.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF, format)
		file := slices.Concat(begun, rest)
		require.NotContains(t, string(file), "__exception__")
		if format == "parquet" {
			conn := querytest.Conn(t)
			require.NoError(t, conn.Exec(t.Context(),
				"CREATE TABLE IF NOT EXISTS default.parquet_of_tests (id UUID) ENGINE = Memory"))
			status, text := insertParquet(t, "default.parquet_of_tests", file)
			require.NotEqual(t, http.StatusOK, status)
			require.Contains(t, text, "Not a Parquet file")
		}
	}
	s.curlFails(account)
}

// curlFails breaks off an export that is read by curl, which scripts use: it fails with the code of
// a transfer that is not complete.
func (s site) curlFails(account uuid.UUID) {
	t := s.t
	t.Helper()
	file := filepath.Join(t.TempDir(), "events.csv")
	cmd := exec.CommandContext(t.Context(), "curl", "-sS", "--limit-rate", "4M", "-o", file, "-H",
		"Authorization: Bearer read:"+account.String(), s.url+exportPath+"?format=csv")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	require.NoError(t, cmd.Start())
	require.Eventually(t, func() bool {
		info, err := os.Stat(file)
		return err == nil && info.Size() > 1<<20
	}, enginetest.Timeout, 20*time.Millisecond)
	kill(t, account)
	var exit *exec.ExitError
	require.ErrorAs(t, cmd.Wait(), &exit)
	require.Equal(t, 18, exit.ExitCode(), stderr.String())
}

// insertParquet sends a file to a table.
func insertParquet(t *testing.T, table string, file []byte) (status int, text string) {
	t.Helper()
	u, err := url.Parse(querytest.HTTP(t))
	require.NoError(t, err)
	u.RawQuery = url.Values{"query": {"INSERT INTO " + table + " FORMAT Parquet"}}.Encode()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, u.String(), bytes.NewReader(file))
	require.NoError(t, err)
	got, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	return got.StatusCode, string(body)
}

// ClickHouse reads the Parquet file that it wrote into columns of the same types.
func TestClickHouseReadsTheParquetFile(t *testing.T) {
	t.Parallel()
	s := serveExports(t)
	account, _, _ := storeAwkward(t, 300)
	conn, ctx := querytest.Conn(t), context.Background()
	table := "default.parquet_" + strings.ReplaceAll(uuid.NewString(), "-", "")
	require.NoError(t, conn.Exec(ctx, "CREATE TABLE "+table+` (id UUID, access_link_id UUID, event_type String, event_data String, ip_hash Nullable(String), user_agent Nullable(String),
		created_at DateTime64(3, 'UTC'), lead_magnet_id UUID, generic_link_id Nullable(UUID), session_id Nullable(UUID), page Nullable(UInt32), duration_ms Nullable(UInt32),
		magnet_version UInt32, bot Nullable(String), received_at DateTime64(3, 'UTC')) ENGINE = Memory`))
	file := s.export(account, "parquet", nil)
	require.Equal(t, http.StatusOK, file.status)
	status, text := insertParquet(t, table, file.body)
	require.Equal(t, http.StatusOK, status, text)
	var n, same uint64
	require.NoError(t, conn.QueryRow(ctx,
		"SELECT count(), countIf(e.event_id = t.id AND e.user_agent = ifNull(t.user_agent, '') AND e.created_at = t.created_at AND e.received_at = t.received_at"+
			" AND e.bot = ifNull(t.bot, '') AND e.page = ifNull(t.page, 0) AND lower(hex(e.ip_hash)) = ifNull(t.ip_hash, repeat('0', 32)) AND e.access_link_id = t.access_link_id AND e.magnet_version = t.magnet_version)"+
			" FROM "+table+" AS t INNER JOIN lodestone.events AS e ON e.event_id = t.id").Scan(&n, &same))
	require.EqualValues(t, 300, n)
	require.Equal(t, n, same)
}

func TestExportWithoutAnAddress(t *testing.T) {
	t.Parallel()
	s, _ := serveWith(t, config(), query.Deps{Copies: scope.One(enginetest.MigratedClickHouse(t)),
		Postgres: enginetest.SharedPostgres(t), Log: querytest.Log(), Registerer: prometheus.NewRegistry()})
	got := s.export(querytest.ID(t), "csv", nil)
	require.Equal(t, http.StatusServiceUnavailable, got.status)
	require.Contains(t, string(got.body), "--clickhouse-http-url")
}
