package main

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/enginetest"
)

// agent is a client of `lodestone mcp`.
type agent struct {
	t       *testing.T
	session *sdk.ClientSession
}

// answered is the answer of a tool.
type answered struct {
	AsOf    string `json:"as_of"`
	LeftOut *struct {
		Further *int64         `json:"further_items"`
		Next    map[string]any `json:"next"`
		Bots    int64          `json:"events_of_bots"`
	} `json:"left_out"`
	Data struct {
		Untrusted bool           `json:"untrusted"`
		Value     jsontext.Value `json:"value"`
	} `json:"data"`
	Error struct {
		Status int    `json:"status"`
		Code   string `json:"code"`
		Fields []struct {
			Field string `json:"field"`
		} `json:"fields"`
	} `json:"error"`
}

func newAgent(t *testing.T, transport sdk.Transport) *agent {
	t.Helper()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"},
		nil).Connect(t.Context(), transport, nil)
	require.NoError(t, err)
	return &agent{t, session}
}

// tools lists the names of the tools, and whether any of them changes something.
func (a *agent) tools() (names []string, writes bool) {
	a.t.Helper()
	list, err := a.session.ListTools(a.t.Context(), nil)
	require.NoError(a.t, err)
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
		writes = writes || !tool.Annotations.ReadOnlyHint
	}
	return names, writes
}

func (a *agent) call(tool string, arguments map[string]any) (out answered, wrong bool) {
	a.t.Helper()
	r, err := a.session.CallTool(a.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	require.NoError(a.t, err)
	text, ok := r.Content[0].(*sdk.TextContent)
	require.True(a.t, ok)
	require.NoError(a.t, json.Unmarshal([]byte(text.Text), &out), text.Text)
	return out, r.IsError
}

// bearing sends a key with every request.
type bearing struct {
	key  string
	over http.RoundTripper
}

// RoundTrip implements http.RoundTripper.
func (b bearing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	return b.over.RoundTrip(r)
}

// An agent gets the numbers of the API, which are those of SQL; it changes nothing unless that is
// allowed twice; and no log has a secret.
func TestAgentsGetTheNumbersOfTheAPIAndOfSQL(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	data := filepath.Join(u.dir, "data")
	require.Zero(t, launch(t, u.dir, nil, "demo", "--data", data, "--visitors", "12").wait())
	url, key := u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]

	local := func(env []string, args ...string) (*agent, *enginetest.Log) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(binaries(t), "lodestone"),
			append([]string{"mcp", "--data", data}, args...)...)
		cmd.Env = append(cmd.Environ(), env...)
		log := &enginetest.Log{}
		cmd.Stderr = log
		a := newAgent(t, &sdk.CommandTransport{Command: cmd})
		t.Cleanup(func() { _ = a.session.Close() })
		return a, log
	}
	a, log := local(nil)
	names, writes := a.tools()
	require.False(t, writes)
	require.Subset(t, names, []string{"query-analytics", "list-analytics-events", "get-funnel",
		"list-readers", "list-lead-magnets"})
	for _, none := range []string{"create-lead-magnet", "delete-lead-magnet", "erase-person", "create-key",
		"stream-analytics-events"} {
		require.NotContains(t, names, none)
	}

	// MCP = API = SQL.
	question := map[string]any{"metrics": []string{"events", "page_views", "downloads"}, "include_bots": true}
	got, wrong := a.call("query-analytics", question)
	require.False(t, wrong)
	require.True(t, got.Data.Untrusted)
	require.NotEmpty(t, got.AsOf)
	type totals struct {
		Data []struct {
			Totals map[string]float64 `json:"totals"`
		} `json:"data"`
	}
	var byAgent totals
	require.NoError(t, json.Unmarshal(got.Data.Value, &byAgent))
	byAPI, err := client.Post[totals](t.Context(), client.New(client.Config{URL: url, Key: key}),
		"/api/v1/analytics/query", question)
	require.NoError(t, err)
	require.Equal(t, byAPI, byAgent)
	sql := launch(t, u.dir, nil, "sql", "--data", data, "--format", "tsv",
		"SELECT count(), countIf(event_type = 'page_viewed'), countIf(event_type = 'download_completed') FROM events WHERE account_id = '"+accountID(t, url, key)+"'")
	require.Zero(t, sql.wait())
	fields := strings.Fields(sql.out.String())
	var bySQL []float64
	for _, f := range fields[len(fields)-3:] {
		n, err := strconv.ParseFloat(f, 64)
		require.NoError(t, err)
		bySQL = append(bySQL, n)
	}
	n := byAgent.Data[0].Totals
	require.Positive(t, n["events"])
	require.Equal(t, []float64{n["events"], n["page_views"], n["downloads"]}, bySQL)

	// A page of a list says what is behind it.
	got, wrong = a.call("list-analytics-events", map[string]any{"per_page": 3})
	require.False(t, wrong)
	require.Equal(t, int64(n["events"])-3, *got.LeftOut.Further)
	got, wrong = a.call("list-analytics-events", map[string]any{"per_page": 3, "cursor": got.LeftOut.Next["cursor"]})
	require.False(t, wrong)
	require.NotEmpty(t, got.LeftOut.Next["cursor"])
	got, wrong = a.call("list-analytics-events", map[string]any{"per_page": 101})
	require.True(t, wrong)
	require.Equal(t, "per_page", got.Error.Fields[0].Field)
	_, wrong = a.call("get-email-summary", map[string]any{"email": "ada@example.com"})
	require.False(t, wrong)

	// A key that may only read does not write, even where writing is offered.
	made := launch(t, u.dir, nil, "key", "create", "--data", data, "--account", accountID(t, url, key), "--scopes", "read")
	require.Zero(t, made.wait())
	words := strings.Fields(made.out.String())
	reader := words[len(words)-1]
	magnet := map[string]any{"title": "By an agent"}
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(reader+"\n"), 0o600))
	b, second := local([]string{"LODESTONE_API_KEY_FILE=" + file}, "--write")
	_, writes = b.tools()
	require.True(t, writes)
	got, wrong = b.call("create-lead-magnet", magnet)
	require.True(t, wrong)
	require.Equal(t, http.StatusForbidden, got.Error.Status)

	// Over HTTP, each request has the key of its caller.
	address := "127.0.0.1:" + strconv.Itoa(enginetest.FreePort(t))
	server := launch(t, u.dir, nil, "mcp", "--data", data, "--mcp-listen", address, "--write")
	endpoint := "http://" + address + "/mcp"
	require.Eventually(t, func() bool { status, _ := get(t, endpoint, ""); return status == http.StatusUnauthorized },
		enginetest.Timeout, interval)
	over := func(key string) *agent {
		a := newAgent(t, &sdk.StreamableClientTransport{Endpoint: endpoint,
			HTTPClient: &http.Client{Transport: bearing{key, http.DefaultTransport}}, DisableStandaloneSSE: true})
		t.Cleanup(func() { _ = a.session.Close() })
		return a
	}
	got, wrong = over(reader).call("create-lead-magnet", magnet)
	require.True(t, wrong)
	require.Equal(t, http.StatusForbidden, got.Error.Status)
	got, wrong = over("lsk_unknown").call("list-lead-magnets", nil)
	require.True(t, wrong)
	require.Equal(t, http.StatusUnauthorized, got.Error.Status)
	_, wrong = over(key).call("create-lead-magnet", magnet)
	require.False(t, wrong)
	got, wrong = over(reader).call("list-lead-magnets", nil)
	require.False(t, wrong)
	require.Contains(t, string(got.Data.Value), "By an agent")
	server.interrupt(enginetest.Timeout)

	logs := log.String() + second.String() + server.out.String()
	require.Contains(t, logs, "query-analytics")
	for _, secret := range []string{key, reader, "ada@example.com"} {
		require.NotContains(t, logs, secret)
	}
}

// accountID returns the id of the account of a key.
func accountID(t *testing.T, url, key string) string {
	t.Helper()
	status, text := get(t, url+"/api/v1/account", key)
	require.Equal(t, http.StatusOK, status)
	var a struct {
		ID string `json:"id"`
	}
	require.NoError(t, json.Unmarshal([]byte(text), &a))
	return a.ID
}
