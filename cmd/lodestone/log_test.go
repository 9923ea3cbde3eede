package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/enginetest"
)

var logField = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (time|string|integer|boolean|duration|list) \\| .+ \\|$")

// logFields returns the types of the fields in docs/logs.md.
func logFields(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/logs.md")
	require.NoError(t, err)
	fields := map[string]string{}
	for _, m := range logField.FindAllStringSubmatch(string(text), -1) {
		require.Empty(t, fields[m[1]], m[1])
		fields[m[1]] = m[2]
	}
	require.Greater(t, len(fields), 80)
	return fields
}

// logSchema checks each line against the documented fields.
type logSchema struct {
	t       *testing.T
	fields  map[string]string
	seen    map[string]bool
	private []string // what no line may have
	lines   int
	wrong   []string
}

// check compares the lines of JSON of what a process printed. Other lines are for the person who
// started it.
func (s *logSchema) check(printed string) {
	s.t.Helper()
	for line := range strings.Lines(printed) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		for _, p := range s.private {
			require.NotContains(s.t, line, p)
		}
		s.lines++
		d := json.NewDecoder(strings.NewReader(line))
		d.UseNumber()
		given := map[string]any{}
		_, err := d.Token()
		require.NoError(s.t, err, line)
		for d.More() {
			name, err := d.Token()
			require.NoError(s.t, err, line)
			var value any
			require.NoError(s.t, d.Decode(&value), line)
			require.NotContains(s.t, given, name, "twice: %s", line)
			given[name.(string)] = value
		}
		for _, name := range []string{"time", "level", "msg", "component"} {
			require.NotEmpty(s.t, given[name], "%s is missing: %s", name, line)
		}
		for name, value := range given {
			s.seen[name] = true
			if !isOf(s.fields[name], value) {
				s.wrong = append(s.wrong, "docs/logs.md has no "+name+" of this type: "+line)
			}
		}
	}
}

// isOf reports whether a value of JSON is of a type of docs/logs.md.
func isOf(kind string, value any) bool {
	switch v := value.(type) {
	case json.Number:
		_, err := v.Int64()
		return kind == "integer" && err == nil
	case bool:
		return kind == "boolean"
	case []any:
		return kind == "list"
	case string:
		switch kind {
		case "time":
			_, err := time.Parse(time.RFC3339Nano, v)
			return err == nil
		case "duration":
			_, err := time.ParseDuration(v)
			return err == nil
		default:
			return kind == "string"
		}
	default:
		return false
	}
}

// The lines of JSON that processes log keep the schema of docs/logs.md, at the lowest level, while
// they serve, refuse, fail and lose an engine. No line has a secret, a token, an address of mail,
// or the address of a client.
func TestLogs(t *testing.T) {
	t.Parallel()
	const clientAddress, mail, typed = "203.0.113.77", "visitor-of-logs@example.com", "typed by the visitor"
	u := newUp(t)
	u.more = []string{"--log-format=json", "--log-level=DEBUG", "--no-sample", "--trusted-proxies=127.0.0.0/8",
		"--collector-trusted-proxies=127.0.0.0/8"}
	u.start()
	s := &logSchema{t: t, fields: logFields(t), seen: map[string]bool{}}
	key := u.env["LODESTONE_API_KEY"]
	c := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: key})
	m := u.newGuide("Guide")
	form, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
	require.NoError(t, err)
	link, err := c.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: m.ID, Email: mail})
	require.NoError(t, err)
	s.private = []string{
		clientAddress, mail, typed, link.TrackingToken, key,
		strings.Trim(u.env["LODESTONE_DEV_SECRET"], "'"), "password-of-tests",
	}
	for _, name := range []string{"LODESTONE_POSTGRES_URL", "LODESTONE_CLICKHOUSE_URL", "LODESTONE_SQL_URL"} {
		address, err := url.Parse(strings.Trim(u.env[name], "'"))
		require.NoError(t, err)
		password, _ := address.User.Password()
		require.NotEmpty(t, password, name)
		s.private = append(s.private, password)
	}
	send := func(method, at, kind, body string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, at, strings.NewReader(body))
		require.NoError(t, err)
		r.Header.Set("Content-Type", kind)
		r.Header.Set("X-Forwarded-For", clientAddress)
		r.Header.Set("Authorization", "Bearer "+key)
		response, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
	}
	site, events := u.env["LODESTONE_URL"], u.env["LODESTONE_COLLECTOR_URL"]
	send("POST", events+"/v1/events", "application/json", `[{"token":"`+link.TrackingToken+
		`","event_type":"page_viewed","event_data":{"page":1}}]`)
	send("POST", events+"/v1/events", "application/json", `[{"token":"`+link.TrackingToken+`","event_type":"`+typed+`"}]`)
	send("POST", events+"/v1/events", "text/plain", typed)
	send("GET", events+"/"+url.PathEscape(typed), "", "")
	send("POST", form.URL, "application/x-www-form-urlencoded", url.Values{"email": {mail}, "name": {typed}}.Encode())
	send("POST", form.URL, "application/x-www-form-urlencoded", url.Values{"email": {typed}}.Encode())
	send("GET", link.URL, "", "")
	send("GET", site+"/api/v1/analytics?access_link_email="+url.QueryEscape(mail), "", "")
	send("GET", site+"/api/v1/analytics?unknown="+url.QueryEscape(typed), "", "")
	send("POST", site+"/api/v1/webhooks", "application/json",
		`{"url":"http://user:password-of-tests@127.0.0.1:1/","kinds":["form.submitted"]}`)
	send("POST", site+"/api/v1/access-links", "application/json", `{"email":"`+mail+`","lead_magnet_id":"`+typed+`"}`)
	require.Eventually(t, func() bool { return u.mails() > 0 }, enginetest.Timeout, interval)

	// An engine is lost and comes back, and what needs it fails meanwhile.
	for _, pid := range u.children("lodestone-clickhouse") {
		p, err := os.FindProcess(pid)
		require.NoError(t, err)
		require.NoError(t, p.Kill())
	}
	send("GET", site+"/api/v1/analytics", "", "")
	require.Eventually(t, func() bool { return strings.Contains(u.out.String(), `"msg":"engine is back"`) },
		enginetest.Timeout, interval)
	require.Eventually(t, func() bool {
		status, _ := get(t, u.env["LODESTONE_ADMIN_URL"]+"/readyz", "")
		return status == http.StatusOK
	}, enginetest.Timeout, interval)

	for _, args := range [][]string{{"recount"}, {"verify"}, {"backup", filepath.Join(u.dir, "backups")}} {
		p := launch(t, u.dir, []string{"LODESTONE_LOG_FORMAT=json", "LODESTONE_LOG_LEVEL=DEBUG"}, args...)
		require.Zero(t, p.wait(), p.out)
		s.check(p.out.String())
	}
	u.interrupt(enginetest.Timeout)
	s.check(u.out.String())
	require.Empty(t, s.wrong)
	require.Greater(t, s.lines, 50)
	for _, name := range []string{"request_id", "route", "status", "took", "service", "topic", "partition", "engine",
		"error", "retry_in", "code"} {
		require.True(t, s.seen[name], "no line has %s", name)
	}
	for _, component := range []string{"up", "consumer", "collector", "crud"} {
		require.Contains(t, u.out.String(), `"component":"`+component+`"`)
	}
}

// Every name of a field in the code is one of docs/logs.md, and the other way around.
func TestEveryFieldOfTheLogIsDocumented(t *testing.T) {
	t.Parallel()
	fields := logFields(t)
	used := map[string]bool{"time": true, "level": true, "msg": true, component: true}
	var missing []string
	files := token.NewFileSet()
	for _, dir := range []string{".", "../../ingest", "../../query", "../../crud", "../../pkg"} {
		require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			if d.Name() == "node_modules" {
				return fs.SkipDir
			}
			if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if call, ok := n.(*ast.CallExpr); ok {
					for _, name := range namesOf(call) {
						used[name] = true
						if _, documented := fields[name]; !documented {
							missing = append(missing, fmt.Sprintf("%s: %s", files.Position(call.Pos()), name))
						}
					}
				}
				return true
			})
			return nil
		}))
	}
	require.Empty(t, missing, "docs/logs.md has no such fields")
	for name := range fields {
		require.True(t, used[name], "docs/logs.md has %s, which no line has", name)
	}
}

// namesOf returns the names of fields in a call of a logger or of an attribute, which are literals.
func namesOf(call *ast.CallExpr) (names []string) {
	s, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	if x, ok := s.X.(*ast.Ident); ok && x.Name == "slog" {
		if slices.Contains([]string{"String", "Int", "Int64", "Uint64", "Float64", "Bool", "Any", "Time", "Duration"},
			s.Sel.Name) {
			if name, ok := literal(call.Args[0]); ok {
				return []string{name}
			}
		}
		return nil
	}
	skip, known := map[string]int{
		"With": 0, "Debug": 1, "Info": 1, "Warn": 1, "Error": 1, "DebugContext": 2, "InfoContext": 2, "WarnContext": 2,
		"ErrorContext": 2, "Log": 3,
	}[s.Sel.Name]
	if !known || !ofLogger(s.X) {
		return nil
	}
	for i := skip; i < len(call.Args); i++ {
		if name, ok := literal(call.Args[i]); ok {
			names = append(names, name)
			i++ // its value
		}
	}
	return names
}

func literal(e ast.Expr) (string, bool) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(l.Value)
	return text, err == nil
}

// ofLogger reports whether an expression is a logger, which has a name such as log or Log.
func ofLogger(e ast.Expr) (yes bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		if name, ok := n.(*ast.Ident); ok && strings.EqualFold(name.Name, "log") {
			yes = true
		}
		return true
	})
	return yes
}
