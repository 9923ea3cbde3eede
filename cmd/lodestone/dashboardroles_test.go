package main

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/dashboard"
	"lodestone/crud/signin"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/token"
)

// route is a screen or a form of the dashboard, and what a session needs for it.
type route struct {
	pattern string
	needs   []auth.Scope // all of them
	seen    []auth.Scope // of a form: what its screen needs besides reading
	form    url.Values   // of a form: something that the API would take
	person  bool         // for a session of a person, not of a key
	upload  bool         // the form has a file, and its token in the address
}

func scopes(list ...auth.Scope) []auth.Scope { return list }

// routes are all screens and forms behind the sign-in.
func routes() []route {
	title := url.Values{"title": {"taken over"}}
	return []route{
		{pattern: "GET /dashboard", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/documents.csv", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/new", needs: scopes(auth.Write)},
		{pattern: "POST /dashboard/new", needs: scopes(auth.Write), upload: true},
		{pattern: "GET /dashboard/magnets/{id}", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/magnets/{id}/pages/{page}", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/magnets/{id}/edit", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/magnets/{id}/edit", needs: scopes(auth.Write), form: title},
		{pattern: "POST /dashboard/magnets/{id}/active", needs: scopes(auth.Write), form: url.Values{"active": {"false"}}},
		{pattern: "POST /dashboard/magnets/{id}/delete", needs: scopes(auth.Write),
			form: url.Values{"confirm": {"The Guide"}}},
		{pattern: "GET /dashboard/magnets/{id}/file", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/magnets/{id}/file", needs: scopes(auth.Write), upload: true},
		{pattern: "GET /dashboard/magnets/{id}/shares", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/magnets/{id}/shares", needs: scopes(auth.Write, auth.Read),
			form: url.Values{"name": {"planted"}}},
		{pattern: "POST /dashboard/magnets/{id}/shares/{share}/delete", needs: scopes(auth.Write)},
		{pattern: "GET /dashboard/readers", needs: scopes(auth.Leads)},
		{pattern: "GET /dashboard/readers/{access_link_id}", needs: scopes(auth.Read, auth.Leads)},
		{pattern: "POST /dashboard/readers/{access_link_id}", needs: scopes(auth.Write), seen: scopes(auth.Leads),
			form: url.Values{"lead_magnet_id": {"MAGNET"}}},
		{pattern: "POST /dashboard/readers/{access_link_id}/person", needs: scopes(auth.Write, auth.Leads),
			form: url.Values{"note": {"planted"}}},
		{pattern: "POST /dashboard/readers/{access_link_id}/links/{link}", needs: scopes(auth.Write),
			seen: scopes(auth.Leads), form: url.Values{"do": {"revoke"}}},
		{pattern: "POST /dashboard/readers/{access_link_id}/links/{link}/preview",
			needs: scopes(auth.Write), seen: scopes(auth.Leads)},
		{pattern: "POST /dashboard/readers/{access_link_id}/links/{link}/delete",
			needs: scopes(auth.Write), seen: scopes(auth.Leads)},
		{pattern: "GET /dashboard/readers/{access_link_id}/links/{link}/qr", needs: scopes(auth.Leads)},
		{pattern: "POST /dashboard/readers/{access_link_id}/forms/{submission}/delete",
			needs: scopes(auth.Write), seen: scopes(auth.Leads)},
		{pattern: "POST /dashboard/readers/{access_link_id}/export", needs: scopes(auth.Read, auth.Leads, auth.Privacy)},
		{pattern: "POST /dashboard/readers/{access_link_id}/erase", needs: scopes(auth.Leads, auth.Privacy),
			form: url.Values{"confirm": {"reader@example.com"}}},
		{pattern: "GET /dashboard/erasures/{id}", needs: scopes(auth.Privacy)},
		{pattern: "GET /dashboard/erasures/{id}/receipt", needs: scopes(auth.Privacy)},
		{pattern: "GET /dashboard/live", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/links", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/links.csv", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/links/new", needs: scopes(auth.Read, auth.Write)},
		{pattern: "POST /dashboard/links/new", needs: scopes(auth.Write), form: url.Values{"magnet": {"MAGNET"},
			"lead_magnet_id": {"MAGNET"}, "title": {"planted"}}},
		{pattern: "GET /dashboard/links/{id}", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/links/{id}", needs: scopes(auth.Write), form: title},
		{pattern: "GET /dashboard/links/{id}/edit", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/links/{id}/active", needs: scopes(auth.Write)},
		{pattern: "POST /dashboard/links/{id}/archive", needs: scopes(auth.Write)},
		{pattern: "POST /dashboard/links/{id}/duplicate", needs: scopes(auth.Write)},
		{pattern: "POST /dashboard/links/{id}/preview", needs: scopes(auth.Write)},
		{pattern: "POST /dashboard/links/{id}/delete", needs: scopes(auth.Write), form: url.Values{"confirm": {"roles"}}},
		{pattern: "GET /dashboard/links/{id}/recipients", needs: scopes(auth.Read, auth.Leads)},
		{pattern: "POST /dashboard/links/{id}/recipients", needs: scopes(auth.Write, auth.Leads),
			form: url.Values{"list": {"eve@example.com"}, "confirmed": {"true"}}},
		{pattern: "POST /dashboard/links/{id}/recipients/send", needs: scopes(auth.Write), seen: scopes(auth.Leads),
			form: url.Values{"subject": {"x"}, "text": {"y"}}},
		{pattern: "POST /dashboard/links/{id}/recipients/remind", needs: scopes(auth.Write), seen: scopes(auth.Leads),
			form: url.Values{"subject": {"x"}, "text": {"y"}, "after_days": {"3"}, "do": {"rule"}}},
		{pattern: "GET /dashboard/links/{id}/recipients.csv", needs: scopes(auth.Leads)},
		{pattern: "GET /dashboard/links/{id}/campaigns", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/links/{id}/campaigns", needs: scopes(auth.Write),
			form: url.Values{"name": {"planted"}, "utm_source": {"x"}}},
		{pattern: "POST /dashboard/links/{id}/campaigns/{template}", needs: scopes(auth.Write),
			form: url.Values{"utm_source": {"x"}}},
		{pattern: "POST /dashboard/links/{id}/campaigns/{template}/delete", needs: scopes(auth.Write)},
		{pattern: "GET /dashboard/links/{id}/site", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/links/{id}/site", needs: scopes(auth.Write),
			form: url.Values{"add": {"https://evil.example"}}},
		{pattern: "POST /dashboard/links/{id}/picture", needs: scopes(auth.Write), upload: true},
		{pattern: "POST /dashboard/links/{id}/picture/delete", needs: scopes(auth.Write)},
		{pattern: "GET /dashboard/links/{id}/submissions/{submission}", needs: scopes(auth.Read, auth.Leads)},
		{pattern: "GET /dashboard/links/{id}/submissions.csv", needs: scopes(auth.Leads)},
		{pattern: "GET /dashboard/links/{id}/qr", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/settings", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/settings", needs: scopes(auth.Write), form: url.Values{"name": {"taken over"},
			"timezone": {"UTC"}, "brand_font": {"inter"}}},
		{pattern: "POST /dashboard/settings/logo", needs: scopes(auth.Write), upload: true},
		{pattern: "POST /dashboard/settings/logo/delete", needs: scopes(auth.Write)},
		{pattern: "GET /dashboard/settings/notices", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/settings/notices", needs: scopes(auth.Write), form: url.Values{"notify": {"none"},
			"notify_email": {"eve@example.com"}}},
		{pattern: "POST /dashboard/settings/notices/weekly", needs: scopes(auth.Read), person: true,
			form: url.Values{"enabled": {"true"}}},
		{pattern: "GET /dashboard/filter"}, // which leads to the screen of the filter
		{pattern: "POST /dashboard/views", needs: scopes(auth.Write),
			form: url.Values{"screen": {"overview"}, "name": {"planted"}, "to": {"/dashboard"}}},
		{pattern: "POST /dashboard/views/{view}/delete", needs: scopes(auth.Write), seen: scopes(auth.Leads),
			form: url.Values{"to": {"/dashboard"}}},
		{pattern: "GET /dashboard/readers.csv", needs: scopes(auth.Leads)},
		{pattern: "GET /dashboard/settings/alerts", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/settings/alerts", needs: scopes(auth.Write), form: url.Values{"kind": {"silent"}}},
		{pattern: "POST /dashboard/settings/alerts/sending", needs: scopes(auth.Write),
			form: url.Values{"quiet_from": {"22:00"}, "quiet_until": {"07:00"}}},
		{pattern: "POST /dashboard/settings/alerts/{id}/delete", needs: scopes(auth.Write)},
		{pattern: "GET /dashboard/settings/suspects", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/settings/suspects", needs: scopes(auth.Write), form: url.Values{"rule": {"delivery"}}},
		{pattern: "GET /dashboard/settings/people", needs: scopes(auth.People)},
		{pattern: "POST /dashboard/settings/people", needs: scopes(auth.People),
			form: url.Values{"email": {"eve@example.com"}, "role": {"owner"}}},
		{pattern: "POST /dashboard/settings/people/{id}", needs: scopes(auth.People), form: url.Values{"role": {"owner"}}},
		{pattern: "POST /dashboard/settings/people/{id}/remove", needs: scopes(auth.People)},
		{pattern: "POST /dashboard/settings/invitations/{id}/remove", needs: scopes(auth.People)},
		{pattern: "GET /dashboard/settings/keys", needs: scopes(auth.Keys)},
		{pattern: "POST /dashboard/settings/keys", needs: scopes(auth.Keys),
			form: url.Values{"name": {"planted"}, "scopes": {"read"}}},
		{pattern: "POST /dashboard/settings/keys/{id}/revoke", needs: scopes(auth.Keys)},
		{pattern: "GET /dashboard/settings/sessions", needs: scopes(auth.Read)},
		{pattern: "POST /dashboard/settings/sessions/{id}/end", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/settings/webhooks", needs: scopes(auth.Webhooks)},
		{pattern: "POST /dashboard/settings/webhooks", needs: scopes(auth.Webhooks, auth.Leads),
			form: url.Values{"url": {"https://evil.example"}, "kinds": {"form.submitted"}}},
		{pattern: "GET /dashboard/settings/webhooks/{id}", needs: scopes(auth.Webhooks, auth.Leads)},
		{pattern: "POST /dashboard/settings/webhooks/{id}", needs: scopes(auth.Webhooks, auth.Leads),
			form: url.Values{"url": {"https://evil.example"}, "kinds": {"form.submitted"}}},
		{pattern: "POST /dashboard/settings/webhooks/{id}/active", needs: scopes(auth.Webhooks, auth.Leads)},
		{pattern: "POST /dashboard/settings/webhooks/{id}/test", needs: scopes(auth.Webhooks), seen: scopes(auth.Leads)},
		{pattern: "POST /dashboard/settings/webhooks/{id}/secret", needs: scopes(auth.Webhooks), seen: scopes(auth.Leads)},
		{pattern: "POST /dashboard/settings/webhooks/{id}/delete", needs: scopes(auth.Webhooks), seen: scopes(auth.Leads),
			form: url.Values{"confirm": {"127.0.0.1:9"}}},
		{pattern: "POST /dashboard/settings/webhooks/{id}/deliveries/{delivery}/replay",
			needs: scopes(auth.Webhooks, auth.Leads)},
		{pattern: "GET /dashboard/settings/usage", needs: scopes(auth.Read)},
		{pattern: "GET /dashboard/settings/audit", needs: scopes(auth.People)},
		// Of the session itself, or of its person.
		{pattern: "GET /dashboard/settings/passkeys"},
		{pattern: "POST /dashboard/settings/passkeys"},
		{pattern: "POST /dashboard/settings/passkeys/challenge"},
		{pattern: "POST /dashboard/settings/passkeys/remove"},
		{pattern: "GET /dashboard/sign-in/account"},
		{pattern: "POST /dashboard/sign-in/account"},
		{pattern: "POST /dashboard/sign-out"},
	}
}

// outside are the pages before the session.
var outside = []string{
	"GET /dashboard/sign-in", "POST /dashboard/sign-in", "POST /dashboard/sign-in/key",
	"GET /dashboard/sign-in/sent/{page}", "POST /dashboard/sign-in/sent/{page}",
	"POST /dashboard/sign-in/sent/{page}/again", "GET /dashboard/sign-in/link/{link}",
	"POST /dashboard/sign-in/link/{link}", "GET /dashboard/sign-in/once/{link}",
	"GET /dashboard/sign-in/openid", "GET /dashboard/sign-in/openid/callback",
	"GET /dashboard/sign-in/invitation/{secret}", "POST /dashboard/sign-in/invitation/{secret}",
	"POST /dashboard/sign-in/passkey", "POST /dashboard/sign-in/passkey/challenge",
	"GET /dashboard/sign-out",
}

// mounted returns the patterns of the dashboard as the program mounts them.
func mounted(t *testing.T) (list []string) {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	pages, err := web.New(web.Deps{Site: "https://links.example.com", Log: log})
	require.NoError(t, err)
	ring, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	sessions, err := signin.New(signin.Config{}, signin.Deps{Pages: pages, Tokens: ring,
		Addresses: clientaddr.New(nil, ""), Log: log})
	require.NoError(t, err)
	screens, err := dashboard.New(dashboard.Config{}, dashboard.Deps{Pages: pages, Sessions: sessions, Passkeys: sessions})
	require.NoError(t, err)
	a := api.New(api.Deps{Log: log})
	sessions.Register(a)
	screens.Register(a)
	for _, pattern := range a.Mounted() {
		if strings.Contains(pattern, " /dashboard") && !strings.HasSuffix(pattern, "/") { // not the scripts of the screens
			list = append(list, pattern)
		}
	}
	return list
}

// world is an account with one of everything that routes name.
type world struct {
	*owner
	ids map[string]string // by a part of a pattern: magnets/{id}
}

func newWorld(t *testing.T, u *up) *world {
	t.Helper()
	v := signIn(t, u)
	w := &world{v, map[string]string{"pages/{page}": "1", "sent/{page}": strings.Repeat("a", 32),
		"link/{link}": strings.Repeat("a", 32), "once/{link}": strings.Repeat("a", 32),
		"invitation/{secret}": strings.Repeat("a", 32)}}
	made := func(part, path string, body object) string {
		status, answer := v.api("POST", path, body)
		require.Less(t, status, 300, "%s: %v", path, answer)
		w.ids[part] = answer["id"].(string)
		return w.ids[part]
	}
	magnet := u.newGuide("The Guide").ID
	w.ids["magnets/{id}"] = magnet
	made("shares/{share}", "/api/v1/lead-magnets/"+magnet+"/shares", object{"name": "board"})
	link := made("links/{id}", "/api/v1/generic-links", object{"lead_magnet_id": magnet, "slug": "roles",
		"allowed_origins": []string{}})
	status, _ := v.api("POST", "/api/v1/generic-links/"+link+"/recipients", object{"recipients": []object{
		{"email": "guest@example.com"}}})
	require.Equal(t, http.StatusOK, status)
	visitor{t, &http.Client{Timeout: time.Minute}}.submit(v.site+"/l/roles", url.Values{"email": {"reader@example.com"}})
	_, list := v.api("GET", "/api/v1/generic-links/"+link+"/submissions", nil)
	w.ids["submissions/{submission}"] = list["data"].([]any)[0].(object)["id"].(string)
	w.ids["forms/{submission}"] = w.ids["submissions/{submission}"]
	_, list = v.api("GET", "/api/v1/access-links?email=reader@example.com", nil)
	w.ids["readers/{access_link_id}"] = list["data"].([]any)[0].(object)["id"].(string)
	w.ids["links/{link}"] = w.ids["readers/{access_link_id}"]
	made("campaigns/{template}", "/api/v1/utm-templates", object{"name": "letter", "source": "newsletter"})
	hook := made("webhooks/{id}", "/api/v1/webhooks", object{"url": "http://127.0.0.1:9/",
		"kinds": []string{"link.created"}})
	made("deliveries/{delivery}", "/api/v1/webhooks/"+hook+"/test", nil)
	made("views/{view}", "/api/v1/views", object{"screen": "overview", "name": "By phone", "query": "device=mobile"})
	made("alerts/{id}", "/api/v1/alert-rules", object{"kind": "range"})
	made("invitations/{id}", "/api/v1/invitations", object{"email": "ada@example.com", "role": "editor"})
	made("erasures/{id}", "/api/v1/people/erase", object{"email": "gone@example.com"})
	made("keys/{id}", "/api/v1/keys", object{"name": "spare", "scopes": []string{"read"}})
	var logo bytes.Buffer
	require.NoError(t, png.Encode(&logo, image.NewGray(image.Rect(0, 0, 200, 200))))
	picture := func(path string) {
		s := v.open(path)
		action := "/logo"
		if strings.Contains(path, "/links/") {
			action = "/picture"
		}
		require.Equal(t, http.StatusOK, v.sendPicture(s, action, logo.Bytes()).status, path)
	}
	picture(settings)
	picture("/dashboard/links/" + link + "/edit")
	return w
}

// fill returns the path of a pattern with the ids of the world.
func (w *world) fill(pattern string) (method, path string) {
	w.t.Helper()
	method, path, _ = strings.Cut(pattern, " ")
	path = regexp.MustCompile(`[a-z-]+/\{\w+\}`).ReplaceAllStringFunc(path, func(part string) string {
		id, known := w.ids[part]
		require.True(w.t, known, "%s of %s", part, pattern)
		before, _, _ := strings.Cut(part, "/")
		return before + "/" + id
	})
	return method, path
}

// join returns the browser of someone new with a role.
func (w *world) join(u *up, role auth.Role) *owner {
	w.t.Helper()
	other := newOwner(w.t, w.site, w.key)
	email := "new-" + string(role) + "@example.com"
	status, _ := w.api("POST", "/api/v1/invitations", object{"email": email, "role": role})
	require.Equal(w.t, http.StatusCreated, status)
	links := u.mailTo(email, "")
	link := links[slices.IndexFunc(links,
		func(l string) bool { return strings.Contains(l, "/dashboard/sign-in/invitation/") })]
	other.enter(other.still().PostForm(link, nil))
	return other
}

// guarded is a session and what it may.
type guarded struct {
	name   string
	scopes []auth.Scope
	*owner
}

func (g guarded) has(list []auth.Scope) bool {
	return !slices.ContainsFunc(list, func(s auth.Scope) bool { return !slices.Contains(g.scopes, s) })
}

func (g guarded) may(r route) bool {
	return g.has(r.needs) && (!r.person || !strings.HasPrefix(g.name, "key"))
}

// Every session sees the screens that it may, with the forms that it may send, and nothing else. A
// screen or form that is added needs a row in routes.
func TestDashboardForEveryRole(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	w := newWorld(t, u)
	var known []string
	for _, r := range routes() {
		known = append(known, r.pattern)
	}
	require.ElementsMatch(t, append(known, outside...), mounted(t))

	var sessions []guarded
	for _, role := range auth.Roles() {
		sessions = append(sessions, guarded{string(role), role.Scopes(), w.join(u, role)})
	}
	_, people := w.api("GET", "/api/v1/users", nil)
	for _, one := range people["data"].([]any) {
		if one.(object)["email"] == "new-analyst@example.com" {
			w.ids["people/{id}"] = one.(object)["id"].(string)
		}
	}
	_, list := w.api("GET", "/api/v1/sessions", nil)
	for _, one := range list["data"].([]any) {
		if one.(object)["method"] == "link" { // that of the owner who signed in first
			w.ids["sessions/{id}"] = one.(object)["id"].(string)
		}
	}
	// A session by a key has its scopes but those of people and keys.
	byKey := func(scopes ...auth.Scope) {
		var names []string
		for _, s := range scopes {
			names = append(names, string(s))
		}
		has := slices.DeleteFunc(slices.Clone(scopes), func(s auth.Scope) bool { return s == auth.People || s == auth.Keys })
		sessions = append(sessions, guarded{"key " + strings.Join(names, "+"), has, w.signInWithKey(names...)})
	}
	byKey(auth.Leads) // which shows nothing by itself
	byKey(auth.Read, auth.People, auth.Keys)
	// Of the others, each is without each other in one of the sessions.
	byKey(auth.Read, auth.Write, auth.Privacy)
	byKey(auth.Read, auth.Leads, auth.Webhooks)
	byKey(auth.Read, auth.Write, auth.Webhooks)
	byKey(auth.Read, auth.Leads, auth.Privacy)
	require.Len(t, auth.Scopes(), 7)
	for _, g := range sessions {
		w.guards(t, g)
	}
	w.forged(t, u, sessions[0].owner)
}

// guards goes through all routes with a session.
func (w *world) guards(t *testing.T, g guarded) {
	t.Helper()
	offered := map[string]string{} // pattern of a form → the screen that has it
	var csrf string
	for _, r := range routes() {
		method, path := w.fill(r.pattern)
		if method != http.MethodGet {
			continue
		}
		if strings.HasSuffix(path, "/campaigns") {
			path += "?utm_source=newsletter&template=" + w.ids["campaigns/{template}"] // what can be saved
		}
		if path == "/dashboard" {
			path += "?device=mobile" // what can be saved
		}
		s := g.open(path)
		what := g.name + ": " + r.pattern
		switch {
		case len(r.needs) == 0:
			require.Contains(t, []int{http.StatusOK, http.StatusForbidden}, s.status, what) // it may lead to the overview
		case g.has(r.needs):
			require.Equal(t, http.StatusOK, s.status, what)
		case s.status == http.StatusOK: // screens that change something say so
			require.Contains(t, []string{"GET /dashboard/new", "GET /dashboard/links/new"}, r.pattern, what)
			s.has("You have read-only access", what)
		default:
			require.Equal(t, http.StatusForbidden, s.status, what)
			s.has("You don’t have access to this", what)
		}
		if !slices.Contains(g.scopes, auth.Leads) {
			s.lacks("reader@example.com", what)
		}
		for _, form := range s.find("form", "") {
			action, _, _ := strings.Cut(attr(form, "action"), "?")
			if action == "" {
				action, _, _ = strings.Cut(s.path, "?") // where path has led to
			}
			if attr(form, "method") != "post" {
				continue
			}
			pattern := w.patternOf(t, "POST "+action)
			offered[pattern] = r.pattern
			if token := fields(form).Get("csrf"); token != "" {
				csrf = token
			}
		}
	}
	_, before := w.api("GET", "/api/v1/audit-log?per_page=1", nil)
	for _, r := range routes() {
		method, path := w.fill(r.pattern)
		if method != http.MethodPost || len(r.needs) == 0 {
			continue
		}
		what := fmt.Sprintf("%s: %s, offered by %q", g.name, r.pattern, offered[r.pattern])
		if g.may(r) {
			if g.has(append(scopes(auth.Read), r.seen...)) { // else there is no screen that could
				require.NotEmpty(t, offered[r.pattern], what)
			}
			continue
		}
		require.Empty(t, offered[r.pattern], what)
		values := url.Values{"csrf": {csrf}}
		for name, list := range r.form {
			values[name] = slices.Clone(list)
			if list[0] == "MAGNET" {
				values.Set(name, w.ids["magnets/{id}"])
			}
		}
		s := g.post(path, values, r.upload)
		if r.person && g.has(r.needs) {
			require.Equal(t, http.StatusNotFound, s.status, what+": a key has no such thing")
			continue
		}
		require.Equal(t, http.StatusForbidden, s.status, what)
		s.has("You don’t have permission to do this", what)
	}
	_, after := w.api("GET", "/api/v1/audit-log?per_page=1", nil)
	require.Equal(t, before["data"], after["data"], "%s changed something", g.name)
}

// post sends a form, with its token in the address if it has a file.
func (v *owner) post(path string, values url.Values, upload bool, header ...string) screen {
	v.t.Helper()
	address, kind, body := v.site+path, "application/x-www-form-urlencoded", values.Encode()
	if upload {
		address += "?" + url.Values{"csrf": values["csrf"]}.Encode()
		kind = "multipart/form-data; boundary=x"
		body = "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\nContent-Type: application/pdf\r\n\r\n%PDF-1.7\r\n--x--\r\n"
	}
	req, err := http.NewRequestWithContext(v.t.Context(), http.MethodPost, address, strings.NewReader(body))
	require.NoError(v.t, err)
	req.Header.Set("Content-Type", kind)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := v.still().Do(req)
	require.NoError(v.t, err)
	return v.read(res)
}

// patternOf returns the pattern of a form's address.
func (w *world) patternOf(t *testing.T, address string) string {
	t.Helper()
	for _, r := range routes() {
		if regexp.MustCompile(`^` + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(r.pattern),
			`[^/]+`) + `$`).MatchString(address) {
			if literal := strings.ReplaceAll(address, "/new", ""); literal != address && strings.HasSuffix(r.pattern, "}") {
				continue // /links/new is no /links/{id}
			}
			return r.pattern
		}
	}
	require.Fail(t, "a form leads to "+address)
	return ""
}

// forged sends every form as others would, and looks at the headers of every page.
func (w *world) forged(t *testing.T, u *up, own *owner) {
	t.Helper()
	other := w.signInWithKey("read")
	token, foreign := own.token(), other.token()
	for _, pattern := range mounted(t) {
		if method, path := w.fill(pattern); method == http.MethodGet {
			w.headers(t, own, path)
		}
	}
	_, before := w.api("GET", "/api/v1/audit-log?per_page=1", nil)
	all := slices.Clone(routes())
	for _, pattern := range outside {
		all = append(all, route{pattern: pattern})
	}
	for _, r := range all {
		method, path := w.fill(r.pattern)
		if method == http.MethodGet {
			continue
		}
		for name, header := range map[string][]string{
			"another site":   {"Sec-Fetch-Site", "cross-site", "Origin", "https://evil.example"},
			"another port":   {"Sec-Fetch-Site", "same-site", "Origin", u.env["LODESTONE_COLLECTOR_URL"]},
			"an old browser": {"Origin", "https://evil.example"},
			"a sandbox":      {"Origin", "null"},
		} {
			s := own.post(path, withToken(r.form, token), r.upload, header...)
			require.Equal(t, http.StatusForbidden, s.status, "%s, sent by %s", r.pattern, name)
		}
		if strings.Contains(path, "/invitation/") {
			continue // its address is the secret
		}
		for name, wrong := range map[string]string{"no token": "", "the token of another session": foreign,
			"a token that is cut": token[:len(token)-1]} {
			s := own.post(path, withToken(r.form, wrong), r.upload)
			require.Contains(t, []int{http.StatusForbidden, http.StatusNotFound}, s.status, "%s with %s", r.pattern, name)
		}
	}
	_, after := w.api("GET", "/api/v1/audit-log?per_page=1", nil)
	require.Equal(t, before["data"], after["data"], "something was changed")
}

func withToken(form url.Values, token string) url.Values {
	values := url.Values{"csrf": {token}}
	maps.Copy(values, form)
	return values
}

// headers asserts that a page is in no frame, runs no script but its own, and stays in no cache of
// others.
func (w *world) headers(t *testing.T, v *owner, path string) {
	t.Helper()
	res, err := v.still().Get(v.site + path)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	h := res.Header
	for _, allowed := range h.Values("Access-Control-Allow-Origin") {
		require.Empty(t, allowed, path)
	}
	require.Regexp(t, "^(no-store|private)", h.Get("Cache-Control"), path)
	if res.StatusCode == http.StatusSeeOther {
		return
	}
	require.Equal(t, "nosniff", h.Get("X-Content-Type-Options"), path)
	if !strings.HasPrefix(h.Get("Content-Type"), "text/html") {
		return
	}
	policy := h.Get("Content-Security-Policy")
	require.Contains(t, policy, "frame-ancestors 'none'", path)
	require.Contains(t, policy, "default-src 'none'", path)
	require.Contains(t, policy, "base-uri 'none'", path)
	require.Regexp(t, `script-src 'nonce-[^']+'`, policy, path)
	require.NotContains(t, policy, "unsafe-inline", path)
	require.Equal(t, "DENY", h.Get("X-Frame-Options"), path)
	require.Equal(t, "same-origin", h.Get("Cross-Origin-Opener-Policy"), path)
	require.Contains(t, []string{"same-origin", "no-referrer"}, h.Get("Referrer-Policy"), path)
}
