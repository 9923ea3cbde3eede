package webhook_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/test/enginetest"
)

// recipe returns the code of a section of docs/recipes.md, with a secret.
func recipe(t *testing.T, section, secret string) string {
	t.Helper()
	root, err := enginetest.Root()
	require.NoError(t, err)
	text, err := os.ReadFile(filepath.Join(root, "docs", "recipes.md"))
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(text), "\n## "+section+"\n")
	require.True(t, found, section)
	code := regexp.MustCompile("(?s)```js\n(.*?)```").FindStringSubmatch(rest)
	require.NotNil(t, code, section)
	return strings.ReplaceAll(code[1], "whsec_…", secret)
}

// delivered is a message as a webhook gets it.
type delivered struct {
	Headers map[string]string `json:"headers"`
	Body    string            `json:"body"`
	Token   string            `json:"token"` // of the URL, where there is one
}

// story returns the events of a reader with a hostile name, of a program, of a reader without a
// name, and of the first one again.
func story() []webhook.Event {
	name, at := "=HYPERLINK(\"https://evil.example\") Lovelace King", api.TimeOf(time.UnixMilli(1_770_000_000_123))
	link := webhook.Link{AccessLinkID: uuid.New(), LeadMagnetID: uuid.New(), Email: "Ada@example.com", Source: "mail"}
	return []webhook.Event{
		webhook.FormSubmitted{SubmissionID: uuid.New(), Email: "Ada@example.com", Name: &name,
			UTM: map[string]string{"utm_source": "letter"}, SubmittedAt: at},
		webhook.FormSubmitted{SubmissionID: uuid.New(), Email: "robot@example.com",
			Visitor: webhook.VisitorOf(true, "", false), SubmittedAt: at},
		webhook.FormVerified{SubmissionID: uuid.New(), Email: "bob@example.com", VerifiedAt: at},
		webhook.SessionEnded{Link: link, SessionID: uuid.New(), StartedAt: at, EndedAt: at, Pages: []int32{1, 2, 7},
			DurationMS: 61_500},
	}
}

func (r *rig) tellOne(e webhook.Event) {
	r.t.Helper()
	require.NoError(r.t, r.db.Account(r.t.Context(), r.owner,
		func(tx pgx.Tx) error { return webhook.Emit(r.t.Context(), tx, r.tokens, r.owner, e) }))
}

// tell emits events: each once those before have been sent, since they could overtake each other.
func (r *rig) tell(id string, events ...webhook.Event) {
	r.t.Helper()
	for i, e := range events {
		r.tellOne(e)
		r.delivered(id, i+1)
	}
}

var forRecipes = []webhook.Kind{webhook.KindFormSubmitted, webhook.KindFormVerified, webhook.KindSessionEnded}

// Real messages go through the code for Google Sheets, n8n and Zapier: each becomes what the page
// says, once, and neither a program's act, a test, nor a message of someone else does.
func TestRecipes(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	arrived := make(chan delivered, 20)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		d := delivered{Headers: map[string]string{}, Body: string(body), Token: req.URL.Query().Get("token")}
		for name := range req.Header {
			d.Headers[strings.ToLower(name)] = req.Header.Get(name)
		}
		arrived <- d
	}))
	t.Cleanup(receiver.Close)
	id, secret := r.create(receiver.URL+"/?token=right", forRecipes...)
	r.tell(id, story()...)
	r.must("POST", "/"+id+"/test", "")
	var got []delivered
	for range 5 {
		got = append(got, <-arrived)
	}
	got = append(got, got[0]) // sent again
	forged := got[0]
	forged.Body, forged.Token = strings.Replace(forged.Body, "Ada@", "Eve@", 1), "wrong"
	old := got[2]
	old.Headers = maps.Clone(old.Headers)
	old.Headers["webhook-timestamp"] = "1770000000"
	got = append(got, forged, old)
	input, err := json.Marshal(got)
	require.NoError(t, err)

	run := func(name, section string) (results []object, rows [][]any) {
		t.Helper()
		file := filepath.Join(t.TempDir(), name+".js")
		require.NoError(t, os.WriteFile(file, []byte(recipe(t, section, secret)), 0o600))
		cmd := exec.CommandContext(t.Context(), "node", filepath.Join("testdata", "recipe.mjs"), name, file)
		cmd.Stdin, cmd.Stderr = bytes.NewReader(input), os.Stderr
		out, err := cmd.Output()
		require.NoError(t, err)
		var answer struct {
			Results []object
			Rows    [][]any
		}
		require.NoError(t, json.Unmarshal(out, &answer), string(out))
		require.Len(t, answer.Results, len(got))
		return answer.Results, answer.Rows
	}

	results, rows := run("sheets", "Google Sheets")
	require.Contains(t, results[6]["error"], "The token is wrong")
	require.Len(t, rows, 4, "a head and three rows: the old message is one that was taken")
	require.Equal(t, []any{"id", "when", "what", "email", "name", "source", "pages", "seconds"}, rows[0])
	for i, want := range [][]any{
		{"form.submitted", "Ada@example.com", "'=HYPERLINK(\"https://evil.example\") Lovelace King", "letter", "", ""},
		{"form.verified", "bob@example.com", "", "", "", ""},
		{"session.ended", "Ada@example.com", "", "", 3.0, 62.0},
	} {
		require.Len(t, rows[i+1][0], 44)
		require.NotEmpty(t, rows[i+1][1])
		require.Equal(t, want, rows[i+1][2:])
	}

	results, _ = run("n8n", "n8n")
	require.Contains(t, results[6]["error"], "not from Lodestone")
	require.Contains(t, results[7]["error"], "too old")
	for i, empty := range []bool{false, true, false, false, true, false} {
		require.Equal(t, empty, len(results[i]["ok"].([]any)) == 0, i)
	}
	read := results[3]["ok"].([]any)[0].(object)["json"].(object)
	require.Equal(t, got[3].Headers["webhook-id"], read["webhook_id"])
	require.Equal(t, []any{"session.ended", "Ada@example.com", 3.0, 62.0},
		[]any{read["type"], read["email"], read["pages"], read["seconds"]})
	require.Equal(t, "letter", results[0]["ok"].([]any)[0].(object)["json"].(object)["source"])

	results, _ = run("zapier", "Zapier")
	require.Contains(t, results[6]["error"], "not from Lodestone")
	for i, take := range []string{"yes", "no", "yes", "yes", "no", "yes"} {
		require.Equal(t, take, results[i]["ok"].(object)["take"], i)
	}
	first := results[0]["ok"].(object)
	require.Equal(t, []any{"form.submitted", "Ada@example.com", "letter", 0.0, got[0].Headers["webhook-id"]},
		[]any{first["type"], first["email"], first["source"], first["pages"], first["id"]})
	require.NotContains(t, results[7], "ok", "another time is not signed")
}

// The program for HubSpot and Mailchimp takes real messages, and writes to both what the page says.
// A message is sent again if one of them fails.
func TestRecipeForHubSpotAndMailchimp(t *testing.T) {
	t.Parallel()
	r := newQuietRig(t)
	type call struct {
		line, authorization string
		body                object
	}
	calls, failing := make(chan call, 20), atomic.Bool{}
	services := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if failing.Load() {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		body, _ := io.ReadAll(req.Body)
		c := call{line: req.Method + " " + req.URL.Path, authorization: req.Header.Get("Authorization")}
		_ = json.Unmarshal(body, &c.body)
		calls <- c
	}))
	t.Cleanup(services.Close)
	id, secret := r.create("https://example.com/", forRecipes...)
	file := filepath.Join(t.TempDir(), "bridge.mjs")
	require.NoError(t, os.WriteFile(file, []byte(recipe(t, "HubSpot and Mailchimp", secret)), 0o600))
	cmd := exec.CommandContext(t.Context(), "node", file)
	cmd.Env = append(os.Environ(), "PORT=0", "WEBHOOK_SECRET="+secret, "HUBSPOT_TOKEN=pat", "HUBSPOT_URL="+services.URL,
		"MAILCHIMP_KEY=abc-us21", "MAILCHIMP_AUDIENCE=a1", "MAILCHIMP_URL="+services.URL)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // it was killed
	})
	lines := bufio.NewScanner(out)
	require.True(t, lines.Scan(), "the program ended")
	port, found := strings.CutPrefix(lines.Text(), "listening on ")
	require.True(t, found)
	r.must("PATCH", "/"+id, `{"url":"http://127.0.0.1:`+port+`/"}`)
	r.deliver(r.hooks)
	r.tell(id, story()...)
	r.must("POST", "/"+id+"/test", "")

	const contacts, members = "POST /crm/v3/objects/contacts/batch/upsert", "PUT /3.0/lists/a1/members/"
	properties := func(more object) object {
		all := object{"email": "Ada@example.com", "lodestone_last_activity": "now"}
		maps.Copy(all, more)
		return object{"inputs": []any{object{"idProperty": "email", "id": all["email"], "properties": all}}}
	}
	named := object{"firstname": `=HYPERLINK("https://evil.example")`, "lastname": "Lovelace King"}
	for _, want := range []call{
		{contacts, "Bearer pat", properties(object{"firstname": named["firstname"], "lastname": named["lastname"],
			"lodestone_source": "letter"})},
		{members + "3e3417d7ef77d5932a6734b916515ed5", "Basic YW55OmFiYy11czIx", object{"email_address": "Ada@example.com",
			"status_if_new": "pending", "merge_fields": object{"FNAME": named["firstname"], "LNAME": named["lastname"]}}},
		{contacts, "Bearer pat", properties(object{"email": "bob@example.com"})},
		{members + "4b9bb80620f03eb3719e0a061c14283d", "Basic YW55OmFiYy11czIx", object{"email_address": "bob@example.com",
			"status_if_new": "subscribed"}},
		{contacts, "Bearer pat", properties(object{"lodestone_pages": 3.0, "lodestone_seconds": 62.0})},
	} {
		got := <-calls
		if inputs, ok := got.body["inputs"].([]any); ok {
			properties := inputs[0].(object)["properties"].(object)
			at, err := time.Parse(time.RFC3339, properties["lodestone_last_activity"].(string))
			require.NoError(t, err)
			require.WithinDuration(t, time.Now(), at, time.Hour)
			properties["lodestone_last_activity"] = "now"
		}
		require.Equal(t, want, got)
	}
	require.Empty(t, calls, "nothing is written for a program or a test")

	failing.Store(true)
	r.tellOne(story()[2])
	require.Eventually(t, func() bool {
		waiting := r.must("GET", "/"+id+"/deliveries?state=pending", "")["data"].([]any)
		return len(waiting) == 1 && tried(1)(waiting[0].(object)) &&
			attempt(waiting[0].(object), 0)["status_code"] == 502.0
	}, testTimeout, 20*time.Millisecond, "it is sent again")
}
