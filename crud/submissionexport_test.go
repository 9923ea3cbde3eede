package crud_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/problem"
)

// download returns a file of submissions.
func (u *user) download(t *testing.T, link, format string, params ...string) reply {
	t.Helper()
	query := url.Values{"format": {format}}
	for i := 0; i < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	return u.get(t, linksPath+"/"+link+"/submissions/export?"+query.Encode())
}

// submitMany stores submissions, one a second, with awkward names.
func (u *user) submitMany(t *testing.T, link string, n int) {
	t.Helper()
	_, err := u.fixture.db.Unscoped().Exec(t.Context(), `INSERT INTO submissions (id, account_id, generic_link_id, email, email_key, name, submitted_at, utm, consented_at, verified, verification_required)
		SELECT gen_random_uuid(), $1, $2, 'user' || i || '@example.com', 'user' || i || '@example.com', (ARRAY[NULL, 'Jo "J" Doe', '=1+1', E'-\t', 'ünï 😀'])[1 + i % 5], $3::timestamptz + i * interval '1001 ms',
			CASE WHEN i % 2 = 0 THEN '{"utm_source":"@news","utm_id":"7"}'::jsonb END, CASE WHEN i % 3 = 0 THEN $3::timestamptz END, i % 2 = 0, true
		FROM generate_series(1, $4) AS i`, u.account, link, submitted, n)
	require.NoError(t, err)
}

// A file of submissions has those of the list, in its order and with its values, in each format.
func TestExportOfSubmissionsIsTheList(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	for _, named := range []bool{true, false} {
		link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, CollectName: named})
		require.NoError(t, err)
		const n = 2345 // more than are read at once
		u.submitMany(t, link.ID, n)
		u.submitMany(t, u.link(t, m.ID).ID, 3)
		for _, period := range [][]string{nil, {"since", submitted.Add(10 * time.Second).Format(time.RFC3339), "until",
			submitted.Add(200 * time.Second).Format(time.RFC3339)}} {
			var list []any
			query := url.Values{"per_page": {"100"}}
			for i := 0; i < len(period); i += 2 {
				query.Set(period[i], period[i+1])
			}
			for cursor := any(""); cursor != nil; {
				query.Set("cursor", cursor.(string))
				if cursor == "" {
					query.Del("cursor")
				}
				page := u.get(t, linksPath+"/"+link.ID+"/submissions?"+query.Encode()).object(t)
				list = append(list, page["data"].([]any)...)
				cursor = page["pagination"].(map[string]any)["next_cursor"]
			}
			if period == nil {
				require.Len(t, list, n)
			}
			r := u.download(t, link.ID, "ndjson", period...)
			require.Equal(t, http.StatusOK, r.status, r.body)
			var objects []any
			for line := range strings.Lines(r.body) {
				var object any
				require.NoError(t, json.Unmarshal([]byte(line), &object))
				objects = append(objects, object)
			}
			require.Equal(t, list, objects)
			require.Equal(t, "application/x-ndjson", r.header.Get("Content-Type"))
			require.Regexp(t, `^attachment; filename="lodestone-submissions-\d{8}T\d{6}Z\.ndjson"$`,
				r.header.Get("Content-Disposition"))
			rows := cellsOf(t, u.download(t, link.ID, "csv", period...))
			columns := columnsOf(t, u.download(t, link.ID, "parquet", period...))
			require.Len(t, rows, len(list))
			require.Len(t, columns, len(list))
			for i, object := range list {
				requireSame(t, object.(map[string]any), rows[i], columns[i])
			}
		}
	}
}

// requireSame compares an object of the list with its row in each format.
func requireSame(t *testing.T, object map[string]any, cells map[string]string, columns map[string]any) {
	t.Helper()
	if utm, ok := object["utm"].(map[string]any); ok {
		maps.Copy(object, utm)
	}
	for name, column := range columns {
		if name == "answers" {
			require.Equal(t, object[name], column)
			continue
		}
		value := object[name] // null, if the list leaves it out
		text := ""
		if value != nil {
			text = fmt.Sprint(value)
		}
		want := value
		switch v := column.(type) {
		case time.Time:
			column = v.UTC().Format("2006-01-02T15:04:05.000Z")
		case []byte:
			id, err := uuid.FromBytes(v)
			require.NoError(t, err)
			column = id.String()
		case int64:
			column = float64(v)
			if strings.HasSuffix(name, "_at") {
				column = time.UnixMilli(v).UTC().Format("2006-01-02T15:04:05.000Z")
			}
		}
		require.Equal(t, want, column, name)
		if text != "" && strings.IndexByte("=+-@\t\r", text[0]) >= 0 {
			text = "'" + text
		}
		require.Equal(t, text, cells[name], name)
	}
}

func cellsOf(t *testing.T, r reply) (list []map[string]string) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.status, r.body)
	rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
	require.NoError(t, err)
	for _, row := range rows[1:] {
		cells := map[string]string{}
		for i, name := range rows[0] {
			cells[name] = row[i]
		}
		list = append(list, cells)
	}
	return list
}

// columnsOf reads a Parquet file without knowing its columns.
func columnsOf(t *testing.T, r reply) (list []map[string]any) {
	t.Helper()
	require.Equal(t, http.StatusOK, r.status, r.body)
	file, err := parquet.OpenFile(bytes.NewReader([]byte(r.body)), int64(len(r.body)))
	require.NoError(t, err)
	reader := parquet.NewGenericReader[map[string]any](file, file.Schema())
	list = make([]map[string]any, reader.NumRows())
	for i := range list {
		list[i] = map[string]any{}
	}
	if len(list) > 0 {
		n, err := reader.Read(list)
		require.True(t, err == nil || err == io.EOF, "%v", err) //nolint:errorlint // a reader returns it as it is
		require.Len(t, list, n)
	}
	return list
}

func TestExportOfSubmissionsIsGuarded(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	require.Equal(t, problem.NotFound, f.user(t, account.Team).download(t, link.ID, "csv").problem(t).Code)
	require.Equal(t, problem.Forbidden, f.userOf(t, u.account, auth.Read).download(t, link.ID, "csv").problem(t).Code)
	require.Equal(t, problem.InvalidParameter, u.download(t, link.ID, "xml").problem(t).Code)
	require.Equal(t, problem.InvalidParameter, u.download(t, link.ID, "csv", "since", "2026-03-02", "until",
		"2026-03-01").problem(t).Code)
	require.Equal(t, problem.InvalidParameter, u.download(t, link.ID, "csv", "page", "2").problem(t).Code)
	require.Empty(t, cellsOf(t, u.download(t, link.ID, "csv")))
	require.Empty(t, columnsOf(t, u.download(t, link.ID, "parquet")))
	empty := u.download(t, link.ID, "ndjson")
	require.Equal(t, http.StatusOK, empty.status)
	require.Empty(t, empty.body)
}

// A file of submissions that breaks off looks broken, and so many are written at a time.
func TestExportOfSubmissionsThatIsCutOff(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	const submissions = 5000 // of three kilobytes: more than the sockets of both sides take
	u.submitMany(t, link.ID, submissions)
	_, err := f.db.Unscoped().Exec(t.Context(),
		"UPDATE submissions SET utm = jsonb_build_object('utm_source', repeat('x', 3000))")
	require.NoError(t, err)
	open := func(u *user) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			f.url+linksPath+"/"+link.ID+"/submissions/export?format=ndjson", http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer "+u.key)
		got, err := f.http.Do(r)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, got.StatusCode)
		return got
	}
	one, two := open(u), open(u)
	refused := u.download(t, link.ID, "csv")
	require.Equal(t, problem.RateLimited, refused.problem(t).Code)
	require.Equal(t, "10", refused.header.Get("Retry-After"))
	_, err = f.db.Unscoped().Exec(context.Background(),
		"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND xact_start IS NOT NULL AND pid <> pg_backend_pid()")
	require.NoError(t, err)
	for _, got := range []*http.Response{one, two} {
		_, err := io.ReadAll(got.Body)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.NoError(t, got.Body.Close())
	}
	require.Len(t, cellsOf(t, u.download(t, link.ID, "csv")), submissions)
}
