//go:build long

package main

import (
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// toolOperation is an operation that a tool calls, as the API describes it.
type toolOperation struct {
	method, path string

	ID         string `json:"operationId"`
	Parameters []struct {
		Name     string `json:"name"`
		In       string `json:"in"`
		Required bool   `json:"required"`
	} `json:"parameters"`
	Responses map[string]struct {
		Content map[string]any `json:"content"`
	} `json:"responses"`
}

// Every tool that reads has the body of the API in its answer. The reports
// have the numbers of the questions of docs/sql.md.
func TestToolsAnswerAsTheAPIAndSQL(t *testing.T) {
	t.Parallel()
	u := newUp(t)
	u.more = []string{"--no-sample", "--sql-copy-interval=50ms"}
	u.start()
	data := filepath.Join(u.dir, "data")
	require.Zero(t, launch(t, u.dir, nil, "demo", "--data", data, "--days", "10").wait())
	require.Zero(t, launch(t, u.dir, nil, "demo", "--data", data, "--visitors", "12").wait())
	r := newToolReader(t, u, data)

	list, err := r.agent.session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	compared := 0
	for _, tool := range list.Tools {
		op := r.operations[tool.Name]
		require.NotNil(t, op, tool.Name)
		if _, is := op.Responses["200"].Content["application/json"]; !is {
			continue
		}
		compared++
		required := r.arguments(op, map[string]any{"per_page": 3, "minutes": 60})
		if data, isList := r.requireSame(op, required)["data"].([]any); isList {
			require.NotEmpty(t, data, "%s: plant some of it", tool.Name)
		}
		if more := r.arguments(op, r.optional); len(more) > len(required) {
			r.requireSame(op, more)
		}
	}
	require.Equal(t, 12, compared)

	r.requireSQL(r.question("Which page loses readers?"), []string{"title", "version", "page", "reached", "stopped"},
		r.pages)
	// SQL counts readers by links, a funnel by submissions, which may have several.
	r.requireSQL(r.question("How far do visitors get, from the landing page to the download?"),
		[]string{"title", "views", "submitted"}, r.funnels)
	r.requireSQL(r.question("Which lead magnets are read best?"), []string{"title", "readers", "sessions", "minutes",
		"finished_percent", "attentive_percent"}, r.readings)
	// As the question of docs/sql.md about each week's readers, by the times of page views: a session
	// may begin in the week before.
	r.requireSQL(`SELECT title, toDate(toStartOfWeek(first_read_at, 1)) AS cohort, dateDiff('week', cohort, toDate(toStartOfWeek(events.created_at, 1))) AS weeks_after, uniqExact(access_link_id) AS readers
		FROM readers JOIN events USING (account_id, lead_magnet_id, access_link_id) JOIN lead_magnets USING (lead_magnet_id)
		WHERE bot = '' AND event_type = 'page_viewed' GROUP BY title, cohort, weeks_after`, []string{"title", "cohort", "weeks_after", "readers"}, r.retention)
}

// toolReader asks the same of an agent's tools, of the API and of SQL.
type toolReader struct {
	t          *testing.T
	agent      *agent
	api        asker
	data       string
	operations map[string]*toolOperation
	ids        map[string]any // of parameters that are required, by their names
	optional   map[string]any // values of other parameters
	bodies     map[string]map[string]any
}

func newToolReader(t *testing.T, u *up, data string) *toolReader {
	t.Helper()
	r := &toolReader{t: t, api: asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]}, data: data,
		operations: map[string]*toolOperation{}}
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries(t), "lodestone"), "mcp", "--data", data)
	r.agent = newAgent(t, &sdk.CommandTransport{Command: cmd})
	t.Cleanup(func() { _ = r.agent.session.Close() })
	_, _, description := r.api.send(t, http.MethodGet, "/api/v1/openapi.json", "")
	var described struct {
		Paths map[string]map[string]*toolOperation `json:"paths"`
	}
	require.NoError(t, json.Unmarshal([]byte(description), &described))
	for path, methods := range described.Paths {
		for method, op := range methods {
			op.method, op.path = strings.ToUpper(method), path
			r.operations[op.ID] = op
		}
	}

	magnet, link := text(r.list("/api/v1/lead-magnets")[0]["id"]), r.list("/api/v1/generic-links")[0]["id"]
	reader := r.list("/api/v1/analytics/readers")[0]
	email := reader["email"]
	links, _ := reader["access_links"].([]any)
	require.NotEmpty(t, links)
	r.api.must(t, "PATCH", "/api/v1/lead-magnets/"+magnet, `{"title":"Read today"}`) // questions of SQL group by titles
	r.ids = map[string]any{"lead_magnet_id": magnet, "email": email, "/api/v1/analytics/readers": links[0]}
	r.optional = map[string]any{
		"per_page": 2, "lead_magnet_id": magnet, "generic_link_id": link, "email": email, "is_active": true,
		"event_type": "page_viewed",
		"from":       time.Now().AddDate(0, 0, -15).UTC().Format(time.RFC3339),
		"to":         time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
		"bot":        false, "by": "day", "timezone": "Europe/Berlin", "min_pages": 2, "reached": 1, "from_form": true,
		"device": "desktop", "minutes": 60, "state": "ready",
	}
	r.bodies = map[string]map[string]any{
		"query-analytics": {"metrics": []string{"readers", "finish_rate", "median_page_ms"},
			"dimensions": []string{"utm_source"}, "interval": "week"},
	}
	return r
}

// list returns the first elements of a list of the API.
func (r *toolReader) list(path string) (elements []map[string]any) {
	r.t.Helper()
	list, _ := r.api.must(r.t, http.MethodGet, path, "")["data"].([]any)
	for _, e := range list {
		element, _ := e.(map[string]any)
		elements = append(elements, element)
	}
	require.NotEmpty(r.t, elements, path)
	return elements
}

// arguments returns the arguments of a call: what the operation requires, and these of the others.
func (r *toolReader) arguments(op *toolOperation, others map[string]any) map[string]any {
	r.t.Helper()
	out := map[string]any{}
	path := op.path
	for _, p := range op.Parameters {
		switch value, has := others[p.Name]; {
		case p.In == "path": // an element of the list whose path is before it
			before, _, _ := strings.Cut(path, "/{"+p.Name+"}")
			id, known := r.ids[before]
			if !known {
				id = r.list(before)[0]["id"]
			}
			out[p.Name], path = id, strings.Replace(path, "{"+p.Name+"}", fmt.Sprint(id), 1)
		case p.In == "query" && p.Required:
			out[p.Name] = r.ids[p.Name]
		case p.In == "query" && has:
			out[p.Name] = value
		}
	}
	maps.Copy(out, r.bodies[op.ID])
	return out
}

// requireSame requires that a tool has the answer of the API, and returns it.
func (r *toolReader) requireSame(op *toolOperation, arguments map[string]any) (body map[string]any) {
	r.t.Helper()
	before, deadline := r.ask(op, arguments), time.After(enginetest.Timeout)
	for {
		got, wrong := r.agent.call(op.ID, arguments)
		require.False(r.t, wrong, "%s %v: %v", op.ID, arguments, got.Error)
		var byAgent map[string]any
		require.NoError(r.t, json.Unmarshal(got.Data.Value, &byAgent))
		body = r.ask(op, arguments)
		if reflect.DeepEqual(timeless(before), timeless(body)) { // else something happened meanwhile
			require.Equal(r.t, timeless(body), timeless(byAgent), "%s %v", op.ID, arguments)
			return body
		}
		select {
		case <-deadline:
			require.Equal(r.t, timeless(before), timeless(body), "%s %v: the answer is never the same twice", op.ID, arguments)
		case <-time.After(interval):
			before = body
		}
	}
}

// ask asks the API what a tool was asked.
func (r *toolReader) ask(op *toolOperation, arguments map[string]any) map[string]any {
	r.t.Helper()
	path, query, body := op.path, url.Values{}, ""
	for _, p := range op.Parameters {
		value, has := arguments[p.Name]
		switch {
		case has && p.In == "path":
			path = strings.Replace(path, "{"+p.Name+"}", url.PathEscape(fmt.Sprint(value)), 1)
		case has:
			query.Set(p.Name, fmt.Sprint(value))
		}
	}
	if op.method == http.MethodPost {
		encoded, err := json.Marshal(arguments)
		require.NoError(r.t, err)
		body = string(encoded)
	}
	return r.api.must(r.t, op.method, path+"?"+query.Encode(), body)
}

// timeless returns an answer without the time of asking, which cursors have as well.
func timeless(value any) any {
	switch value := value.(type) {
	case []any:
		out := make([]any, len(value))
		for i, v := range value {
			out[i] = timeless(v)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(value))
		for name, v := range value {
			if v != nil && slices.Contains([]string{"as_of", "exported_at", "next_cursor", "next_received_after"}, name) {
				v = "then"
			}
			out[name] = timeless(v)
		}
		return out
	default:
		return value
	}
}

// question returns the SQL of a question of docs/sql.md.
func (r *toolReader) question(heading string) string {
	r.t.Helper()
	document, err := os.ReadFile("../../docs/sql.md")
	require.NoError(r.t, err)
	_, after, found := strings.Cut(string(document), "\n### "+heading+"\n")
	require.True(r.t, found, heading)
	_, after, found = strings.Cut(after, "```sql\n")
	require.True(r.t, found, heading)
	sql, _, _ := strings.Cut(after, "```")
	return sql
}

// requireSQL requires that columns of a statement have the rows of an agent's reports about each
// lead magnet, in any order.
func (r *toolReader) requireSQL(statement string, columns []string, report func(magnet, title string) []string) {
	r.t.Helper()
	file := filepath.Join(r.t.TempDir(), "answer")
	for deadline := time.After(enginetest.Timeout); ; { // titles and counters are copied for SQL
		var rows []string
		for _, m := range r.list("/api/v1/lead-magnets") {
			rows = append(rows, report(text(m["id"]), text(m["title"]))...)
		}
		slices.Sort(rows)
		require.Greater(r.t, len(rows), 1)
		require.NoError(r.t, runSQL(r.t, "--data", r.data, "--format", "tsv", "--output", file,
			"SELECT "+strings.Join(columns, ", ")+" FROM ("+statement+")"))
		answer, err := os.ReadFile(file)
		require.NoError(r.t, err)
		found := strings.Split(strings.TrimRight(string(answer), "\n"), "\n")[1:] // below the names of the columns
		slices.Sort(found)
		if slices.Equal(rows, found) {
			return
		}
		select {
		case <-deadline:
			require.Equal(r.t, strings.Join(rows, "\n"), strings.Join(found, "\n"), "%v", columns)
		case <-time.After(interval):
		}
	}
}

// report calls a tool and returns the list of its answer.
func (r *toolReader) report(tool string, arguments map[string]any) []map[string]any {
	r.t.Helper()
	got, wrong := r.agent.call(tool, arguments)
	require.False(r.t, wrong, "%s %v: %v", tool, arguments, got.Error)
	var body struct {
		Data []map[string]any `json:"data"`
	}
	require.NoError(r.t, json.Unmarshal(got.Data.Value, &body))
	return body.Data
}

// pages are the rows of the pages of each version that was read.
func (r *toolReader) pages(magnet, title string) (rows []string) {
	r.t.Helper()
	for version := 1; version <= 2; version++ {
		for _, p := range r.report("get-page-report", map[string]any{"lead_magnet_id": magnet, "magnet_version": version}) {
			if p["reached"] != 0.0 {
				rows = append(rows, row(title, version, p["page"], p["reached"], p["stopped"]))
			}
		}
	}
	return rows
}

// funnels is the row of a lead magnet's funnel.
func (r *toolReader) funnels(magnet, title string) []string {
	r.t.Helper()
	counts := map[string]any{}
	for _, step := range r.report("get-funnel", map[string]any{"lead_magnet_id": magnet}) {
		counts[text(step["step"])] = step["from_form"]
	}
	return []string{row(title, counts["link_view"], counts["submission"])}
}

// readings is the row of a lead magnet's readers.
func (r *toolReader) readings(magnet, title string) []string {
	r.t.Helper()
	question := map[string]any{
		"metrics": []string{"readers", "sessions", "reading_ms", "finished", "attentive"},
		"filters": map[string]any{"lead_magnet_id": []string{magnet}},
		"from":    time.Now().AddDate(0, 0, -60).UTC().Format(time.DateOnly),
	}
	answers := r.report("query-analytics", question)
	require.Len(r.t, answers, 1)
	of := map[string]float64{}
	totals, _ := answers[0]["totals"].(map[string]any)
	for name, value := range totals {
		of[name], _ = value.(float64)
	}
	percent := func(part string) float64 { return math.RoundToEven(100 * of[part] / of["readers"]) }
	return []string{row(title, of["readers"], of["sessions"], math.RoundToEven(of["reading_ms"]/60000*10)/10,
		percent("finished"), percent("attentive"))}
}

// retention are the rows of each week's readers: the week itself, and the weeks in which some
// returned.
func (r *toolReader) retention(magnet, title string) (rows []string) {
	r.t.Helper()
	for _, c := range r.report("get-retention", map[string]any{"lead_magnet_id": magnet}) {
		week, _, _ := strings.Cut(text(c["cohort"]), "T")
		rows = append(rows, row(title, week, 0, c["size"]))
		returned, _ := c["returned"].([]any)
		for _, later := range returned {
			if later, _ := later.(map[string]any); later["readers"] != 0.0 {
				rows = append(rows, row(title, week, later["after"], later["readers"]))
			}
		}
	}
	return rows
}

// row writes the values of a row as SQL does.
func row(values ...any) string {
	var cells []string
	for _, v := range values {
		cells = append(cells, fmt.Sprint(v))
	}
	return strings.Join(cells, "\t")
}

// text returns a text of an answer, or "".
func text(value any) string {
	s, _ := value.(string)
	return s
}
