package crud_test

import (
	"bytes"
	"fmt"
	"image/color"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	people "lodestone/crud/user"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
	"lodestone/pkg/test/clienttest"
)

// operation is one request that would succeed once.
type operation struct {
	id, method, path, body, kind string
	scope                        auth.Scope
}

// operations returns every operation with ids of things that u has.
func operations(t *testing.T, u *user) []operation {
	t.Helper()
	m := u.magnet(t)
	_, err := u.UploadFile(t.Context(), m.ID, "a.pdf", bytes.NewReader(test.StripPDF(1, 0)))
	require.NoError(t, err)
	link, access := u.link(t, m.ID), u.accessLink(t, m.ID)
	submission, _ := u.submit(t, link, "sub@example.com", time.Now())
	key, err := u.CreateKey(t.Context(), clienttest.NewKey{Name: "spare", Scopes: []string{"read"}})
	require.NoError(t, err)
	hook := u.post(t, "/api/v1/webhooks",
		`{"url":"http://127.0.0.1:9/","kinds":["link.created"]}`).object(t)["id"].(string)
	other := u.post(t, "/api/v1/webhooks",
		`{"url":"http://127.0.0.1:9/","kinds":["form.verified"]}`).object(t)["id"].(string)
	sent := u.send(t, "POST", "/api/v1/webhooks/"+hook+"/test", http.NoBody).object(t)["id"].(string)
	picture := string(flag(t, 40, 30, color.White))
	person := func() string {
		id, err := people.NewUsers(u.fixture.db).Add(t.Context(), u.account, uuid.NewString()+"@example.com", auth.Analyst)
		require.NoError(t, err)
		return id.String()
	}
	member, leaver := person(), person()
	session := uuid.NewString()
	_, err = u.fixture.db.Unscoped().Exec(t.Context(), `INSERT INTO user_sessions (id, account_id, user_id, method, cookie_hash, key_hash, user_agent)
		VALUES ($1, $2, $3, 'mail', $4, $4, '')`, session, u.account, member, []byte(session))
	require.NoError(t, err)
	invite := func(email string) string {
		return u.post(t, "/api/v1/invitations", `{"email":"`+email+`","role":"editor"}`).object(t)["id"].(string)
	}
	invited, withdrawn := invite("ada@example.com"), invite("bob@example.com")
	share := u.post(t, "/api/v1/lead-magnets/"+m.ID+"/shares", `{"name":"board"}`).object(t)["id"].(string)
	template := u.post(t, "/api/v1/utm-templates", `{"name":"letter","source":"newsletter"}`).object(t)["id"].(string)
	spare := u.post(t, "/api/v1/utm-templates", `{"name":"spare","source":"newsletter"}`).object(t)["id"].(string)
	view := u.post(t, "/api/v1/views", `{"screen":"links","name":"All","query":""}`).object(t)["id"].(string)
	rule := u.post(t, "/api/v1/alert-rules", `{"kind":"range"}`).object(t)["id"].(string)
	recipients := linksPath + "/" + link.ID + "/recipients"
	const (
		hooks    = "/api/v1/webhooks"
		jsonType = "application/json"
		magnets  = "/api/v1/lead-magnets"
		keys     = "/api/v1/keys"

		persons     = "/api/v1/users"
		templates   = "/api/v1/utm-templates"
		invitations = "/api/v1/invitations"
	)
	return []operation{
		{"get-account", "GET", "/api/v1/account", "", "", auth.Read},
		{"update-account", "PATCH", "/api/v1/account", `{"notify":"daily"}`, jsonType, auth.Write},
		{"upload-logo", "PUT", logoPath, picture, "image/png", auth.Write},
		{"get-logo", "GET", logoPath, "", "", auth.Read},
		{"delete-logo", "DELETE", logoPath, "", "", auth.Write},
		{"list-keys", "GET", keys, "", "", auth.Keys},
		{"get-key", "GET", keys + "/" + key.ID, "", "", auth.Keys},
		{"create-key", "POST", keys, `{"name":"x","scopes":["keys"]}`, jsonType, auth.Keys},
		{"revoke-key", "DELETE", keys + "/" + key.ID, "", "", auth.Keys},
		{"create-lead-magnet", "POST", magnets, `{"title":"x"}`, jsonType, auth.Write},
		{"list-lead-magnets", "GET", magnets, "", "", auth.Read},
		{"get-lead-magnet", "GET", magnets + "/" + m.ID, "", "", auth.Read},
		{"update-lead-magnet", "PATCH", magnets + "/" + m.ID, `{"title":"y"}`, jsonType, auth.Write},
		{"delete-lead-magnet", "DELETE", magnets + "/" + u.magnet(t).ID, "", "", auth.Write},
		{"upload-lead-magnet-file", "PUT", magnets + "/" + m.ID + "/file", string(test.StripPDF(1, 0)),
			"application/pdf", auth.Write},
		{"list-lead-magnet-versions", "GET", magnets + "/" + m.ID + "/versions", "", "", auth.Read},
		{"get-page-picture", "GET", magnets + "/" + m.ID + "/pages/1/picture", "", "", auth.Read},
		{"download-lead-magnet-file", "GET", magnets + "/" + m.ID + "/file", "", "", auth.Read},
		{"create-access-links", "POST", magnets + "/" + m.ID + "/bulk-links",
			`{"expires_at":"2099-01-01","emails":["a@example.com","b@example.com"]}`, jsonType, auth.Write},
		{"create-generic-link", "POST", linksPath, `{"lead_magnet_id":"` + m.ID + `"}`, jsonType, auth.Write},
		{"list-generic-links", "GET", linksPath, "", "", auth.Read},
		{"get-generic-link", "GET", linksPath + "/" + link.ID, "", "", auth.Read},
		{"update-generic-link", "PATCH", linksPath + "/" + link.ID, `{"title":"y","headline_b":"z"}`, jsonType, auth.Write},
		{"compare-headlines", "GET", linksPath + "/" + link.ID + "/headlines", "", "", auth.Read},
		{"duplicate-generic-link", "POST", linksPath + "/" + link.ID + "/duplicate", "", "", auth.Write},
		{"get-generic-link-tracking", "GET", linksPath + "/" + link.ID + "/tracking", "", "", auth.Read},
		{"preview-generic-link", "POST", linksPath + "/" + link.ID + "/preview", "", "", auth.Write},
		{"upload-generic-link-thumbnail", "PUT", linksPath + "/" + link.ID + "/thumbnail", picture, "image/png", auth.Write},
		{"delete-generic-link-thumbnail", "DELETE", linksPath + "/" + link.ID + "/thumbnail", "", "", auth.Write},
		{"delete-generic-link", "DELETE", linksPath + "/" + u.link(t, m.ID).ID, "", "", auth.Write},
		{"list-submissions", "GET", linksPath + "/" + link.ID + "/submissions", "", "", auth.Leads},
		{"export-submissions", "GET", linksPath + "/" + link.ID + "/submissions/export", "", "", auth.Leads},
		{"list-recipients", "GET", recipients, "", "", auth.Leads},
		{"count-recipients", "GET", recipients + "/counts", "", "", auth.Read},
		{"export-recipients", "GET", recipients + "/export", "", "", auth.Leads},
		{"add-recipients", "POST", recipients, `{"recipients":[{"email":"guest@example.com"}]}`, jsonType, auth.Write},
		{"import-recipients", "POST", recipients + "/import", "other@example.com", "text/csv", auth.Write},
		{"send-to-recipients", "POST", recipients + "/send", `{"subject":"x","text":"y"}`, jsonType, auth.Write},
		{"remind-recipients", "POST", recipients + "/remind", `{"subject":"x","text":"y","after_days":3}`, jsonType,
			auth.Write},
		{"set-reminder-rule", "PUT", recipients + "/reminder", `{"subject":"x","text":"y","after_days":3}`, jsonType,
			auth.Write},
		{"get-reminder-rule", "GET", recipients + "/reminder", "", "", auth.Read},
		{"delete-reminder-rule", "DELETE", recipients + "/reminder", "", "", auth.Write},
		{"delete-submission", "DELETE", "/api/v1/submissions/" + submission, "", "", auth.Write},
		{"create-access-link", "POST", accessPath, `{"lead_magnet_id":"` + m.ID + `","email":"jo@example.com"}`, jsonType,
			auth.Write},
		{"list-access-links", "GET", accessPath, "", "", auth.Leads},
		{"get-access-link", "GET", accessPath + "/" + access.ID, "", "", auth.Leads},
		{"update-access-link", "PATCH", accessPath + "/" + access.ID, `{"expires_at":"2099-01-01"}`, jsonType, auth.Write},
		{"preview-access-link", "POST", accessPath + "/" + access.ID + "/preview", "", "", auth.Write},
		{"delete-access-link", "DELETE", accessPath + "/" + u.accessLink(t, m.ID).ID, "", "", auth.Write},
		{"create-webhook", "POST", hooks, `{"url":"https://example.com/","kinds":["link.created"]}`, jsonType, auth.Webhooks},
		{"list-webhooks", "GET", hooks, "", "", auth.Webhooks},
		{"get-webhook", "GET", hooks + "/" + hook, "", "", auth.Webhooks},
		{"update-webhook", "PATCH", hooks + "/" + hook, `{"description":"y"}`, jsonType, auth.Webhooks},
		{"delete-webhook", "DELETE", hooks + "/" + other, "", "", auth.Webhooks},
		{"rotate-webhook-secret", "POST", hooks + "/" + hook + "/rotate-secret", "", "", auth.Webhooks},
		{"test-webhook", "POST", hooks + "/" + hook + "/test", "", "", auth.Webhooks},
		{"list-webhook-deliveries", "GET", hooks + "/" + hook + "/deliveries", "", "", auth.Webhooks},
		{"get-webhook-delivery", "GET", hooks + "/" + hook + "/deliveries/" + sent, "", "", auth.Webhooks},
		{"list-users", "GET", persons, "", "", auth.People},
		{"get-user", "GET", persons + "/" + member, "", "", auth.People},
		{"update-user", "PATCH", persons + "/" + member, `{"role":"editor"}`, jsonType, auth.People},
		{"get-weekly-report", "GET", persons + "/" + member + "/weekly-report", "", "", auth.Read},
		{"set-weekly-report", "PUT", persons + "/" + member + "/weekly-report", `{"enabled":true}`, jsonType, auth.Read},
		{"remove-user", "DELETE", persons + "/" + leaver, "", "", auth.People},
		{"list-invitations", "GET", invitations, "", "", auth.People},
		{"get-invitation", "GET", invitations + "/" + invited, "", "", auth.People},
		{"create-invitation", "POST", invitations, `{"email":"eve@example.com","role":"analyst"}`, jsonType, auth.People},
		{"delete-invitation", "DELETE", invitations + "/" + withdrawn, "", "", auth.People},
		{"list-sessions", "GET", "/api/v1/sessions", "", "", auth.Read},
		{"end-session", "DELETE", "/api/v1/sessions/" + session, "", "", auth.Read},
		{"export-person", "POST", "/api/v1/people/export", `{"email":"no.one@example.com"}`, jsonType, auth.Privacy},
		{"erase-person", "POST", erasePath, `{"email":"no.two@example.com"}`, jsonType, auth.Privacy},
		{"get-person", "GET", "/api/v1/people/" + access.ID, "", "", auth.Leads},
		{"update-person", "PATCH", "/api/v1/people/" + access.ID, `{"note":"called"}`, jsonType, auth.Write},
		{"get-erasure", "GET", "/api/v1/erasures/" + u.erased(t), "", "", auth.Privacy},
		{"list-audit-log", "GET", "/api/v1/audit-log", "", "", auth.People},
		{"get-generic-link-qr", "GET", linksPath + "/" + link.ID + "/qr", "", "", auth.Read},
		{"get-access-link-qr", "GET", accessPath + "/" + access.ID + "/qr", "", "", auth.Leads},
		{"get-generic-link-embed", "GET", linksPath + "/" + link.ID + "/embed", "", "", auth.Read},
		{"create-share", "POST", magnets + "/" + m.ID + "/shares", `{"name":"team"}`, jsonType, auth.Write},
		{"list-shares", "GET", magnets + "/" + m.ID + "/shares", "", "", auth.Read},
		{"revoke-share", "DELETE", magnets + "/" + m.ID + "/shares/" + share, "", "", auth.Write},
		{"create-utm-template", "POST", templates, `{"name":"webinar","source":"webinar"}`, jsonType, auth.Write},
		{"list-utm-templates", "GET", templates, "", "", auth.Read},
		{"get-utm-template", "GET", templates + "/" + template, "", "", auth.Read},
		{"update-utm-template", "PATCH", templates + "/" + template, `{"medium":"email"}`, jsonType, auth.Write},
		{"delete-utm-template", "DELETE", templates + "/" + spare, "", "", auth.Write},
		{"create-view", "POST", "/api/v1/views", `{"screen":"readers","name":"Finished","query":"finished=true"}`, jsonType, auth.Write},
		{"list-views", "GET", "/api/v1/views", "", "", auth.Leads},
		{"delete-view", "DELETE", "/api/v1/views/" + view, "", "", auth.Write},
		{"create-alert-rule", "POST", "/api/v1/alert-rules", `{"kind":"silent"}`, jsonType, auth.Write},
		{"list-alert-rules", "GET", "/api/v1/alert-rules", "", "", auth.Read},
		{"list-alerts", "GET", "/api/v1/alerts", "", "", auth.Read},
		{"delete-alert-rule", "DELETE", "/api/v1/alert-rules/" + rule, "", "", auth.Write},
		{"replay-webhook-delivery", "POST", hooks + "/" + hook + "/deliveries/" + sent + "/replay", "", "", auth.Webhooks},
	}
}

// described returns the operations that the API describes, by their ids.
func (f *fixture) described() map[string]*api.DescribedOperation {
	found := map[string]*api.DescribedOperation{}
	for _, p := range f.api.OpenAPI().Paths {
		for _, o := range p {
			found[o.OperationID] = o
		}
	}
	return found
}

func (u *user) run(t *testing.T, o operation, header ...string) reply {
	t.Helper()
	if o.kind != "" {
		header = append([]string{"Content-Type", o.kind}, header...)
	}
	return u.send(t, o.method, o.path, strings.NewReader(o.body), header...)
}

// Every operation asks for a good key with the right scope, shows nothing of other accounts, and
// changes nothing where it refuses.
func TestEveryOperationIsGuarded(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	owner, stranger := f.user(t, account.Team), f.user(t, account.Team)
	// For each scope, a key with that alone and one with all the others.
	only, without := map[auth.Scope]*user{}, map[auth.Scope]*user{}
	for _, s := range auth.Scopes() {
		only[s] = f.userOf(t, owner.account, s)
		without[s] = f.userOf(t, owner.account,
			slices.DeleteFunc(auth.Scopes(), func(o auth.Scope) bool { return o == s })...)
	}
	granted := map[string][]auth.Scope{"create-invitation": auth.Analyst.Scopes(), "update-user": auth.Editor.Scopes()}
	overseer := f.userOf(t, owner.account, auth.Read, auth.People)
	revoked := f.userOf(t, owner.account)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), revoked.keyID))
	typo := *owner
	typo.key = owner.key[:len(owner.key)-1] + "-"
	flipped := []byte(owner.key)
	flipped[10] ^= 1
	mistyped := *owner
	mistyped.key = string(flipped)
	unknown := *owner
	unknown.key = auth.NewKey().Text
	all := operations(t, owner)
	var tried []string // an operation that is added is tried as well, here and by all that follows
	for _, o := range all {
		tried = append(tried, o.id)
		d := f.described()[o.id]
		require.NotNil(t, d, o.id)
		require.Equal(t, d.Method, o.method)
		require.Regexp(t, "^"+regexp.MustCompile(`\{\w+\}`).ReplaceAllString(d.Path, "([0-9a-f-]{36}|[0-9]+)")+"$", o.path)
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(f.described())), tried)
	secrets := regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`).FindAllString(f.dump(t, owner.account), -1)
	slices.Sort(secrets)
	secrets = slices.Compact(secrets)
	require.Greater(t, len(secrets), 20)
	before := f.dump(t, owner.account)
	for _, o := range all {
		name, other := o.method+" "+o.path, without[o.scope]
		for _, u := range []*user{revoked, &typo, &mistyped, &unknown} {
			r := u.run(t, o)
			require.Equal(t, problem.Unauthorized, r.problem(t).Code, name)
			require.Equal(t, "Bearer", r.header.Get("WWW-Authenticate"))
		}
		for _, header := range []string{"", "Bearer", "Bearer ", "Basic " + owner.key, owner.key,
			"Bearer " + owner.key + " x"} {
			require.Equal(t, problem.Unauthorized, owner.run(t, o, "Authorization", header).problem(t).Code, name)
		}
		refused := other.run(t, o).problem(t)
		require.Equal(t, problem.Forbidden, refused.Code, name)
		require.Contains(t, refused.Detail, "scope "+string(o.scope)+".", name)

		r := stranger.run(t, o)
		switch {
		case strings.Contains(o.body, "lead_magnet_id"):
			require.Equal(t, problem.InvalidLeadMagnet, r.problem(t).Code)
		case strings.Contains(f.described()[o.id].Path, "{"):
			require.Equal(t, problem.NotFound, r.problem(t).Code, name)
		}
		for _, p := range f.described()[o.id].Parameters {
			if p.In != "query" || p.Schema.Format != jsonschema.UUID {
				continue
			}
			for _, id := range secrets {
				r := stranger.run(t, operation{o.id, o.method, o.path + "?" + p.Name + "=" + id, o.body, o.kind, o.scope})
				if r.status == http.StatusNotFound {
					require.NotContains(t, r.body, id, name)
					continue
				}
				require.Contains(t, r.body, `"total":0`, name)
				require.Contains(t, r.body, `"data":[]`)
			}
		}
		for _, id := range secrets {
			if !strings.Contains(o.path+o.body, id) { // what was sent may come back
				require.NotContains(t, r.body, id, name)
			}
		}
		require.Equal(t, before, f.dump(t, owner.account), name)
	}
	for _, o := range all {
		name, scoped := o.method+" "+o.path, only[o.scope]
		if needs := slices.Concat(granted[o.id], f.described()[o.id].Also); len(needs) > 0 {
			require.Equal(t, problem.Forbidden, scoped.run(t, o).problem(t).Code, name)
			scoped = f.userOf(t, owner.account, append(needs, o.scope)...)
		}
		if slices.Contains([]string{"end-session", "get-weekly-report", "set-weekly-report"}, o.id) { // it is another's
			require.Equal(t, problem.NotFound, scoped.run(t, o).problem(t).Code)
			scoped = overseer
		}
		require.Less(t, scoped.run(t, o).status, 300, name)
	}
}

// Bad input in every position gets its documented answer.
func TestEveryOperationWithBadInput(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	all := operations(t, u)
	before := f.dump(t)
	for _, o := range all {
		name := o.method + " " + o.path
		query := "?"
		p := u.run(t, operation{o.id, o.method, o.path + query + "colour=red", o.body, o.kind, o.scope}).problem(t)
		require.Equal(t, problem.InvalidParameter, p.Code, name)
		require.Equal(t, "colour", fields(p), name)
		for _, bad := range []string{"a=%zz", "page=1;page=2", "%00=1", "%ff=1"} {
			p := u.run(t, operation{o.id, o.method, o.path + query + bad, o.body, o.kind, o.scope}).problem(t)
			require.Equal(t, problem.InvalidParameter, p.Code, name+bad)
		}
		r := u.run(t, operation{o.id, "DELETE", o.path + "/x/y", "", "", o.scope})
		require.Equal(t, problem.NotFound, r.problem(t).Code, name)
		r = u.run(t, operation{o.id, "TRACE", o.path, "", "", o.scope})
		require.Equal(t, problem.MethodNotAllowed, r.problem(t).Code, name)
		require.Contains(t, r.header.Get("Allow"), o.method)
		if id := strings.Split(o.path, "/"); strings.Contains(f.described()[o.id].Path, "{") {
			for _, bad := range []string{"1", "x", "%00", "%ff", "%2e%2e", "'; DROP TABLE accounts", uuid.NewString(),
				strings.ToUpper(id[4]) + "0", "{" + id[4] + "}", strings.ReplaceAll(id[4], "-", "")} {
				path := strings.Replace(o.path, id[4], strings.NewReplacer(" ", "%20", "{", "%7B", "}", "%7D").Replace(bad), 1)
				p := u.run(t, operation{o.id, o.method, path, o.body, o.kind, o.scope}).problem(t)
				require.Equal(t, problem.NotFound, p.Code, o.method+" "+path)
			}
		}
		if o.kind != "application/json" {
			require.Equal(t, before, f.dump(t), name)
			continue
		}
		for kind, code := range map[string]problem.Code{
			"": problem.UnsupportedMediaType, "text/plain": problem.UnsupportedMediaType,
			"application/pdf": problem.UnsupportedMediaType,
		} {
			p := u.send(t, o.method, o.path, strings.NewReader(o.body), "Content-Type", kind).problem(t)
			require.Equal(t, code, p.Code, name)
		}
		for body, code := range map[string]problem.Code{
			"":              problem.InvalidJSON,
			"[":             problem.InvalidJSON,
			"\x00":          problem.InvalidJSON,
			o.body + o.body: problem.InvalidJSON,
			strings.Replace(o.body, "{", `{"title":"x","title":"y",`, 1): problem.InvalidJSON,
			strings.Replace(o.body, ":\"", ":\"\xff", 1):                 problem.InvalidJSON,
			strings.Replace(o.body, ":\"", `:"\udead`, 1):                problem.InvalidJSON,
			strings.Repeat(`{"a":`, 100_000):                             problem.InvalidJSON,
			"[]":                                                         problem.ValidationError,
			`"x"`:                                                        problem.ValidationError,
			"7":                                                          problem.ValidationError,
			"null":                                                       problem.ValidationError,
			"{}":                                                         problem.ValidationError,
			strings.Replace(o.body, "{", `{"surprise":[[[1]]],`, 1): problem.ValidationError,
			strings.Replace(o.body, "{", `{"":1,`, 1):               problem.ValidationError,
			`{"title":"` + strings.Repeat("x", 2<<20) + `"}`:        problem.PayloadTooLarge,
		} {
			if body == "{}" && (o.method == "PATCH" ||
				len(f.described()[o.id].RequestBody.Content[o.kind].Schema.Resolve().Required) == 0) {
				continue // which is fine
			}
			if body == o.body {
				continue // it has no string to break
			}
			p := u.run(t, operation{o.id, o.method, o.path, body, o.kind, o.scope}).problem(t)
			require.Equal(t, code, p.Code, "%s %.60q %s", name, body, p.Detail)
		}
		require.Equal(t, before, f.dump(t), name)
	}
}

// wrongValues returns JSON that a field with this schema cannot be.
func wrongValues(s *jsonschema.Schema) []string {
	s = s.Resolve()
	const text = `"x"`
	values := []string{`{"a":1}`, "1e400", "-1e400"}
	if s.Type != jsonschema.Object || len(s.Required) > 0 {
		values = append(values, "{}")
	}
	if !s.Nullable {
		values = append(values, "null")
	}
	if s.Type != jsonschema.Array {
		values = append(values, "[]", "[1]", "[null]")
	}
	switch s.Type {
	case jsonschema.Boolean:
		values = append(values, "0", "1", text, `"true"`, `""`)
	case jsonschema.Integer:
		values = append(values, "true", text, `"5"`, `""`, "1.5", "0.1e1x", "1e100", "9223372036854775808", "-1", "01",
			"+1", "NaN", "Infinity", "0x1",
			fmt.Sprint(int64(*s.Minimum)-1), fmt.Sprint(int64(*s.Maximum)+1))
	case jsonschema.Array:
		if s.MinItems != nil && *s.MinItems > 0 {
			values = append(values, "[]")
		}
		values = append(values, "true", "1", text, "[", "[,]", "["+strings.Repeat("[", 40)+strings.Repeat("]", 41),
			"["+strings.Repeat(`"a",`, *s.MaxItems)+`"a"]`)
		for _, v := range wrongValues(s.Items) {
			values = append(values, "["+v+"]")
		}
	case jsonschema.String:
		values = append(values, "true", "1", "0", `"\u0000"`, `"a\u0007b"`, `"a\u001bb"`, `"a\u007fb"`, `"a\u009bb"`,
			`"\ud800"`, `"\udc00\ud800"`, `"a\ud83d"`,
			"\"\xff\"", "\"\xc0\x80\"", "\"\xed\xa0\x80\"", "\"a\nb\"", "\"a\x00b\"", `"\x41"`, `"open`, `'x'`,
			"x", `"\u202e"`, `"\ufffe"`)
		if s.MaxLength != nil {
			values = append(values, `"`+strings.Repeat("a", *s.MaxLength+1)+`"`, `"`+strings.Repeat("é", *s.MaxLength+1)+`"`)
		}
		if s.MinLength != nil && *s.MinLength > 0 || s.Format != "" || len(s.Enum) > 0 {
			values = append(values, `""`)
		}
		if s.Format != "" || len(s.Enum) > 0 {
			values = append(values, text, `" "`, `"null"`, `"../x"`, `"'; DROP TABLE accounts; --"`)
		}
	}
	return values
}

// Each field with each kind of value that it cannot have is refused, and nothing changes.
func TestEveryFieldWithBadValues(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	tried, all := 0, operations(t, u)
	before := f.dump(t)
	for _, o := range all {
		d := f.described()[o.id]
		if d.RequestBody == nil || d.RequestBody.Content["application/json"] == nil {
			continue
		}
		schema := d.RequestBody.Content["application/json"].Schema.Resolve()
		var good map[string]jsontext.Value
		require.NoError(t, json.Unmarshal([]byte(o.body), &good))
		for field, s := range schema.Properties {
			for _, value := range wrongValues(s) {
				members := []string{`"` + field + `":` + value}
				for name, v := range good {
					if name != field {
						members = append(members, `"`+name+`":`+string(v))
					}
				}
				r := u.run(t, operation{o.id, o.method, o.path, "{" + strings.Join(members, ",") + "}", o.kind, o.scope})
				p := r.problem(t)
				require.Contains(t, []problem.Code{problem.ValidationError, problem.InvalidJSON}, p.Code,
					"%s %s=%.80q", o.id, field, value)
				if p.Code == problem.ValidationError {
					require.NotEmpty(t, p.Errors)
					require.True(t, strings.HasPrefix(p.Errors[0].Field, field), "%s %s=%.80q: %v", o.id, field, value, p.Errors)
				}
				require.Contains(t, d.Responses, strconv.Itoa(r.status))
				tried++
			}
		}
		require.Equal(t, before, f.dump(t), o.id)
	}
	require.Greater(t, tried, 500)
}

// While links are being added, the total of a page and what the page shows belong to one moment.
func TestListIsOneSnapshot(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	done := make(chan error, 1)
	go func() {
		for range 60 {
			if _, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for {
		page, err := u.GenericLinks(t.Context(), client.GenericLinkFilter{Paging: client.Paging{PerPage: 100}})
		require.NoError(t, err)
		require.EqualValues(t, len(page.Data), page.Pagination.Total)
		select {
		case err := <-done:
			require.NoError(t, err)
			return
		default:
		}
	}
}

// A revoked key stops soon, also where it was used just before (package auth tests how soon).
func TestRevokedKey(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	require.Equal(t, 200, u.get(t, linksPath).status)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), u.keyID))
	require.Eventually(t, func() bool { return u.get(t, linksPath).status == http.StatusUnauthorized },
		testTimeout, 5*time.Millisecond)
	require.NoError(t, f.accounts.RevokeKey(t.Context(), u.keyID))
	require.ErrorIs(t, f.accounts.RevokeKey(t.Context(), uuid.New()), account.ErrUnknown)
}

func TestAccounts(t *testing.T) {
	t.Parallel()
	f := start(t)
	_, err := f.accounts.Create(t.Context(), "x", "gold")
	require.ErrorContains(t, err, "gold")
	_, err = f.accounts.Create(t.Context(), " ", account.Free)
	require.Error(t, err)
	_, err = f.accounts.CreateKey(t.Context(), uuid.New(), "k", auth.Read)
	require.ErrorIs(t, err, account.ErrUnknown)
	u := f.user(t, account.Free)
	_, err = f.accounts.CreateKey(t.Context(), u.account, "k")
	require.Error(t, err)
	_, err = f.accounts.CreateKey(t.Context(), u.account, "k", "admin")
	require.Error(t, err)
	var stored string
	require.NoError(t, f.db.Unscoped().QueryRow(t.Context(), "SELECT api_keys::text FROM api_keys WHERE account_id = $1",
		u.account).Scan(&stored))
	require.NotContains(t, stored, u.key[12:], "only the beginning of a key is kept")
	require.Contains(t, stored, u.key[:12])
}
