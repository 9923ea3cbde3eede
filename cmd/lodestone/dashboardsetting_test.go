package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/web"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
	"lodestone/pkg/locale"
)

const settings = "/dashboard/settings"

// What is changed in the settings is in the API, and what the API refuses is beside its field.
func TestDashboardSettings(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	v.looks(t)
	v.keys(t)
	v.people(t)
	v.webhooks(t)
	v.chats(t)
	v.notices(t)
	v.limits(t)
	v.auditLog(t)
	v.roles(t)
	v.sessions(t)
}

func (v *owner) looks(t *testing.T) {
	t.Helper()
	s := v.send(v.open(settings), settings,
		url.Values{"brand_color": {"red"}, "timezone": {"Mars/Base"}, "name": {"Kept name"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotEmpty(t, s.wrong())
	s.has("Kept name")
	s = v.send(v.open(settings), settings, url.Values{"brand_color": {"#C81E5A"}, "timezone": {"Europe/Berlin"},
		"name": {evil}, "language": {"fr"}, "brand_font": {"inter"}})
	s.harmless()
	s.has("Saved.")
	_, account := v.api("GET", "/api/v1/account", nil)
	require.Equal(t, object{"brand_color": "#c81e5a", "timezone": "Europe/Berlin", "name": evil,
		"language": "fr", "brand_font": "inter"},
		pick(account, "brand_color", "timezone", "name", "language", "brand_font"))
	s.has(`fill="#c81e5a"`, "the preview has the colour")
	tried := v.open(settings + "?preview=1&name=Other&brand_color=%23006600")
	tried.has(`fill="#006600"`)
	tried.has(`value="#c81e5a"`, "a preview changes nothing")
	v.send(s, settings, url.Values{"brand_color": {""}, "language": {""}})
	_, account = v.api("GET", "/api/v1/account", nil)
	require.Equal(t, object{"brand_color": nil, "language": nil}, pick(account, "brand_color", "language"))

	s = v.open(settings)
	sent := v.sendPicture(s, "/logo", []byte("no picture"))
	require.Equal(t, http.StatusUnprocessableEntity, sent.status)
	require.Len(t, sent.wrong(), 1)
	var picture bytes.Buffer
	logo := image.NewRGBA(image.Rect(0, 0, 200, 40))
	logo.Set(3, 3, color.RGBA{200, 0, 0, 255})
	require.NoError(t, png.Encode(&picture, logo))
	sent = v.sendPicture(s, "/logo", picture.Bytes())
	require.Equal(t, http.StatusOK, sent.status)
	_, shown := v.api("GET", "/api/v1/account/logo", nil)
	sent.has(shown["url"].(string))
	v.send(sent, settings+"/logo/delete", nil)
	status, _ := v.api("GET", "/api/v1/account/logo", nil)
	require.Equal(t, http.StatusNotFound, status)
}

// sendPicture sends a file by a form of a screen.
func (v *owner) sendPicture(s screen, action string, content []byte) screen {
	v.t.Helper()
	for _, form := range s.find("form", "") {
		to, _, _ := strings.Cut(attr(form, "action"), "?")
		if !strings.HasSuffix(to, action) {
			continue
		}
		var body bytes.Buffer
		parts := multipart.NewWriter(&body)
		file, err := parts.CreatePart(
			textproto.MIMEHeader{"Content-Disposition": {`form-data; name="file"; filename="picture.png"`},
				"Content-Type": {"image/png"}})
		require.NoError(v.t, err)
		_, err = file.Write(content)
		require.NoError(v.t, err)
		require.NoError(v.t, parts.Close())
		address, _, _ := strings.Cut(attr(form, "action"), "#")
		res, err := v.http.Post(v.site+address, parts.FormDataContentType(), &body)
		require.NoError(v.t, err)
		return v.read(res)
	}
	require.Fail(v.t, "no form to "+action)
	return screen{}
}

func (v *owner) keys(t *testing.T) {
	t.Helper()
	const path = settings + "/keys"
	s := v.send(v.open(path), path, url.Values{"name": {" "}, "scopes": {"read", "leads"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotEmpty(t, s.wrong())
	s = v.send(s, path, url.Values{"name": {evil}, "expires_at": {"2099-01-31"}})
	require.Equal(t, http.StatusCreated, s.status)
	text := textOf(s.find("code", "")[0])
	api := client.New(client.Config{URL: v.site, Key: text})
	_, err := api.GenericLinks(t.Context(), client.GenericLinkFilter{})
	require.NoError(t, err, "the key works")
	again := v.open(path)
	again.harmless()
	again.lacks(text, "it is shown once")
	var ends []string
	for _, cell := range again.find("td", "") {
		if attr(cell, "data-l") == "Expires" {
			ends = append(ends, strings.TrimSpace(textOf(cell)))
		}
	}
	require.Len(t, ends, 2)
	require.Contains(t, ends[0], "2099")
	require.Equal(t, "never", ends[1], "it is the key of the installation")
	_, list := v.api("GET", "/api/v1/keys", nil)
	newest := list["data"].([]any)[0].(object)
	require.Equal(t, object{"name": evil, "scopes": []any{"read", "leads"}, "expires_at": "2099-01-31T23:00:00.000Z"},
		pick(newest, "name", "scopes", "expires_at"), "the end of the day in the account's time zone, Europe/Berlin")
	s = v.send(again, path+"/"+newest["id"].(string)+"/revoke", nil)
	s.has("The key was revoked.")
	status, _ := v.api("GET", "/api/v1/keys/"+newest["id"].(string), nil)
	require.Equal(t, http.StatusNotFound, status)
}

func (v *owner) people(t *testing.T) {
	t.Helper()
	const path = settings + "/people"
	s := v.send(v.open(path), path, url.Values{"email": {"not an address"}, "role": {"analyst"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotEmpty(t, s.wrong())
	s.has("not an address")
	s = v.send(s, path, url.Values{"email": {"grace@example.com"}})
	s.has("grace@example.com")
	_, list := v.api("GET", "/api/v1/invitations", nil)
	invited := list["data"].([]any)[0].(object)
	require.Equal(t, object{"email": "grace@example.com", "role": "analyst"}, pick(invited, "email", "role"))
	v.send(s, settings+"/invitations/"+invited["id"].(string)+"/remove", nil)
	_, list = v.api("GET", "/api/v1/invitations", nil)
	require.Empty(t, list["data"])
	_, users := v.api("GET", "/api/v1/users", nil)
	self := users["data"].([]any)[0].(object)
	s = v.send(v.open(path), path+"/"+self["id"].(string), url.Values{"role": {"analyst"}})
	require.Equal(t, http.StatusConflict, s.status)
	s.has("last owner")
	s = v.send(s, path+"/"+self["id"].(string)+"/remove", nil)
	require.Equal(t, http.StatusConflict, s.status)
	_, users = v.api("GET", "/api/v1/users", nil)
	require.Equal(t, "owner", users["data"].([]any)[0].(object)["role"])
}

func (v *owner) webhooks(t *testing.T) {
	t.Helper()
	const path = settings + "/webhooks"
	got, signatures := make(chan string, 10), make(chan int, 10)
	to := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got <- string(text)
		signatures <- len(strings.Fields(r.Header.Get("Webhook-Signature")))
		_, _ = io.WriteString(w, evil)
	}))
	t.Cleanup(to.Close)
	v.open(path).has("No webhooks yet")
	s := v.send(v.open(path), path, url.Values{"url": {"ftp://example.com"}, "description": {"Kept"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Len(t, s.wrong(), 1)
	s.has("Kept")
	s = v.send(s, path, url.Values{"url": {to.URL + "/"}, "description": {evil}, "kinds": {"link.created"}})
	require.Equal(t, http.StatusCreated, s.status)
	secret := textOf(s.find("code", "")[0])
	require.Regexp(t, "^whsec_", secret)
	_, list := v.api("GET", "/api/v1/webhooks", nil)
	hook := list["data"].([]any)[0].(object)
	id := hook["id"].(string)
	require.Equal(t, object{"url": to.URL + "/", "description": evil, "kinds": []any{"link.created"}},
		pick(hook, "url", "description", "kinds"))
	one := path + "/" + id
	s = v.send(v.open(one), one+"/test", nil)
	s.has("The test message was delivered")
	<-got
	require.Equal(t, 1, <-signatures)
	s = v.open(one)
	s.harmless()
	s.lacks(secret)
	_, log := v.api("GET", "/api/v1/webhooks/"+id+"/deliveries", nil)
	delivery := log["data"].([]any)[0].(object)["id"].(string)
	s = v.send(s, one+"/deliveries/"+delivery+"/replay", nil)
	s.has("The message was sent again.")
	<-got
	require.Equal(t, 1, <-signatures)
	s = v.send(v.open(one), one, url.Values{"description": {""}, "kinds": {"form.submitted", "link.created"}})
	s.has("Saved.")
	_, hook = v.api("GET", "/api/v1/webhooks/"+id, nil)
	require.Equal(t, object{"description": nil, "kinds": []any{"form.submitted", "link.created"}},
		pick(hook, "description", "kinds"))
	v.rotates(t, one, secret, func() int {
		v.send(v.open(one), one+"/test", nil)
		<-got
		return <-signatures
	})
	v.send(v.open(one), one+"/active", nil)
	_, hook = v.api("GET", "/api/v1/webhooks/"+id, nil)
	require.Equal(t, false, hook["is_active"])
	s = v.send(v.open(one), one+"/deliveries/"+delivery+"/replay", nil)
	require.Equal(t, http.StatusConflict, s.status)
	s.has("not active")
	s = v.send(v.open(one), one+"/delete", url.Values{"confirm": {"other.example"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	v.send(v.open(one), one+"/delete", url.Values{"confirm": {strings.TrimPrefix(to.URL, "http://")}})
	status, _ := v.api("GET", "/api/v1/webhooks/"+id, nil)
	require.Equal(t, http.StatusNotFound, status)
}

// rotates makes new secrets of a webhook. signed sends a message, and returns how many secrets
// signed it.
func (v *owner) rotates(t *testing.T, one, first string, signed func() int) {
	t.Helper()
	earliest := time.Now().Add(24 * time.Hour).Truncate(time.Second)
	s := v.send(v.open(one), one+"/secret", nil)
	second := textOf(s.find("code", "")[0])
	require.Regexp(t, "^whsec_", second)
	require.NotEqual(t, first, second)
	s.has("The previous secret also signs them until")
	until, err := time.Parse(time.RFC3339,
		attr(screen{t: t, root: s.find("div", "note")[0]}.find("time", "")[0], "datetime"))
	require.NoError(t, err)
	require.WithinRange(t, until, earliest, time.Now().Add(24*time.Hour))
	require.Equal(t, 2, signed())
	s = v.open(one)
	s.lacks(second)
	s = v.send(s, one+"/secret", url.Values{"at_once": {"true"}})
	require.NotEqual(t, second, textOf(s.find("code", "")[0]))
	s.has("The previous secret no longer signs messages.")
	require.Equal(t, 1, signed())
}

func (v *owner) notices(t *testing.T) {
	t.Helper()
	const path = settings + "/notices"
	s := v.send(v.open(path), path, url.Values{"notify_email": {"not an address"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Len(t, s.wrong(), 1)
	s = v.send(s, path, url.Values{"notify_email": {"leads@example.com"}, "notify": {"daily"}})
	s.has("We emailed the address")
	_, account := v.api("GET", "/api/v1/account", nil)
	require.Equal(t, object{"notify_email": "leads@example.com", "notify": "daily"},
		pick(account, "notify_email", "notify"))
	v.send(v.open(path), path, url.Values{"notify_email": {""}, "notify": {"none"}})
	_, account = v.api("GET", "/api/v1/account", nil)
	require.Equal(t, object{"notify_email": nil, "notify": "none"}, pick(account, "notify_email", "notify"))

	_, people := v.api("GET", "/api/v1/users", nil)
	report := "/api/v1/users/" + people["data"].([]any)[0].(object)["id"].(string) + "/weekly-report"
	_, mine := v.api("GET", report, nil)
	require.Equal(t, true, mine["enabled"], "owners get it")
	s = v.open(path)
	s.has("To " + mine["email"].(string) + ", on Mondays")
	v.send(s, path+"/weekly", url.Values{"enabled": {""}})
	_, mine = v.api("GET", report, nil)
	require.Equal(t, false, mine["enabled"])
	v.send(v.open(path), path+"/weekly", url.Values{"enabled": {"true"}})
	_, mine = v.api("GET", report, nil)
	require.Equal(t, true, mine["enabled"])
}

// limits compares limits and use with the API.
func (v *owner) limits(t *testing.T) {
	t.Helper()
	s := v.open(settings + "/usage")
	_, account := v.api("GET", "/api/v1/account", nil)
	for name, want := range account["usage"].(object) {
		require.Equal(t, []string{exact(want)}, shown(s.root, name), name)
	}
}

// auditLog shows that each action of the audit log is a sentence, and that its object has its name
// and leads to its screen, unless it is gone.
func (v *owner) auditLog(t *testing.T) {
	t.Helper()
	c, err := web.DashboardTexts()
	require.NoError(t, err)
	texts := c.In(locale.English)
	_, document := v.api("GET", "/api/v1/openapi.json", nil)
	actions := []string{string(auth.SignIn), string(auth.SignOut), string(auth.AcceptInvitation), string(auth.AddPasskey),
		string(auth.RemovePasskey)}
	for _, operations := range document["paths"].(object) {
		for method, operation := range operations.(object) {
			id := operation.(object)["operationId"].(string)
			reads := method == "get" || strings.HasPrefix(id, "preview-") || strings.HasPrefix(id, "query-")
			if !reads || strings.HasPrefix(id, "export-") {
				actions = append(actions, id)
			}
		}
	}
	require.Greater(t, len(actions), 40)
	for _, action := range actions {
		require.NotEmpty(t, texts.Forms("setting.audit.did."+action), "the audit log has no words for %s", action)
	}

	create := func(path string, body object) string {
		_, created := v.api("POST", path, body)
		return created["id"].(string)
	}
	magnet := create("/api/v1/lead-magnets", object{"title": evil})
	link := create("/api/v1/generic-links", object{"lead_magnet_id": magnet, "slug": "audited"})
	gone := create("/api/v1/lead-magnets", object{"title": "Gone soon"})
	status, _ := v.api("DELETE", "/api/v1/lead-magnets/"+gone, nil)
	require.Equal(t, http.StatusNoContent, status)
	s := v.open(settings + "/audit")
	s.harmless()
	rows := map[string]screen{} // what was done: to what
	for _, row := range s.find("tr", "") {
		one := screen{root: row}
		if cells := one.find("td", ""); len(cells) == 4 {
			rows[textOf(one.find("th", "")[0])+": "+strings.TrimSpace(textOf(cells[0]))] = screen{root: cells[0]}
		}
	}
	for what, path := range map[string]string{
		"Added a lead magnet: " + evil: "/dashboard/magnets/" + magnet, "Created a link: audited": "/dashboard/links/" + link,
		"Deleted a lead magnet: " + gone: "",
		"Changed the account: –":         "",
	} {
		require.Contains(t, rows, what)
		links := rows[what].find("a", "")
		if path == "" {
			require.Empty(t, links, what)
			continue
		}
		require.Len(t, links, 1, what)
		require.Equal(t, path, attr(links[0], "href"))
		require.Equal(t, http.StatusOK, v.open(path).status)
	}
	only := v.open(settings + "/audit?action=create-generic-link")
	only.has("Created a link")
	only.lacks("Added a lead magnet")
	v.open(settings + "/audit?action=of-a-release-before").has("of-a-release-before")
}

// chats adds a chat channel, changes it, and deletes it. Its address is not shown again.
func (v *owner) chats(t *testing.T) {
	t.Helper()
	const path = settings + "/webhooks"
	s := v.send(v.open(path), path, url.Values{"format": {"discord"}, "url": {"ftp://example.com"},
		"description": {"Kept"}, "kinds": {"notice.leads"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Len(t, s.wrong(), 1)
	s.has("Kept")
	s = v.send(s, path, url.Values{"format": {"discord"}, "url": {"https://discord.com/api/webhooks/1/averysecrettoken"},
		"description": {evil}, "kinds": {"notice.leads"}})
	require.Equal(t, http.StatusCreated, s.status)
	s.lacks("averysecrettoken")
	s.lacks("Create a new secret")
	_, list := v.api("GET", "/api/v1/webhooks", nil)
	hook := list["data"].([]any)[0].(object)
	require.Equal(t, object{"format": "discord", "url": "https://discord.com/…", "description": evil,
		"kinds": []any{"notice.leads"}}, pick(hook, "format", "url", "description", "kinds"))
	one := path + "/" + hook["id"].(string)
	v.open(one).harmless()
	s = v.open(path)
	s.harmless()
	s.lacks("averysecrettoken")
	v.send(v.open(one), one,
		url.Values{"description": {"Sales"}, "kinds": {"notice.leads", "notice.weekly"}}).has("Saved.")
	_, hook = v.api("GET", "/api/v1/webhooks/"+hook["id"].(string), nil)
	require.Equal(t, object{"url": "https://discord.com/…", "description": "Sales",
		"kinds": []any{"notice.leads", "notice.weekly"}}, pick(hook, "url", "description", "kinds"))
	v.send(v.open(one), one+"/delete", url.Values{"confirm": {"discord.com"}})
	v.open(path).has("No webhooks yet")
}

// needs are the scopes that the forms of the settings need, by their paths.
var needs = map[string]string{
	"": "write", "/logo": "write", "/logo/delete": "write", "/notices": "write",
	"/alerts": "write", "/alerts/sending": "write", "/alerts/ID/delete": "write",
	"/people": "people", "/people/ID": "people", "/people/ID/remove": "people", "/invitations/ID/remove": "people",
	"/keys": "keys", "/keys/ID/revoke": "keys",
	"/webhooks": "webhooks", "/webhooks/ID": "webhooks", "/webhooks/ID/active": "webhooks",
	"/webhooks/ID/test": "webhooks", "/webhooks/ID/secret": "webhooks",
	"/webhooks/ID/delete": "webhooks", "/webhooks/ID/deliveries/ID/replay": "webhooks",
	"/sessions/ID/end": "read",
}

// roles shows sessions with each set of scopes: they see the sections and forms that they may use,
// and the page for any other says why. A session of a key never has the scopes people and keys.
func (v *owner) roles(t *testing.T) {
	t.Helper()
	sections := map[string]string{"": "read", "/notices": "read", "/people": "people", "/keys": "keys",
		"/webhooks": "webhooks", "/sessions": "read", "/audit": "people", "/usage": "read"}
	id := regexp.MustCompile(`[0-9a-f-]{36}`)
	for _, scopes := range [][]string{{"read"}, {"read", "leads"}, {"read", "write"}, {"read", "webhooks"},
		{"read", "write", "leads", "webhooks"}, {"read", "people", "keys"}} {
		other := v.signInWithKey(scopes...)
		may := func(scope string) bool { return scope != "people" && scope != "keys" && slices.Contains(scopes, scope) }
		first := other.open(settings)
		for section, scope := range sections {
			s := other.open(settings + section)
			if !may(scope) {
				require.Equal(t, http.StatusForbidden, s.status, "%s %v", section, scopes)
				s.has("You don’t have access to this", scopes)
				first.lacks(`href="`+settings+section+`"`, scopes)
				continue
			}
			require.Equal(t, http.StatusOK, s.status, "%s %v", section, scopes)
			first.has(`href="`+settings+section+`"`, scopes)
			for _, form := range s.find("form", "") {
				action, _, _ := strings.Cut(attr(form, "action"), "?")
				if path, ours := strings.CutPrefix(action, settings); ours {
					scope, known := needs[id.ReplaceAllString(path, "ID")]
					require.True(t, known, "a form is sent to %s", action)
					require.True(t, may(scope), "%s has a form that is sent to %s, which %v may not", section, action, scopes)
				}
			}
		}
		for path, scope := range needs {
			if may(scope) || path == "/logo" { // which takes a file
				continue
			}
			s := other.forge(settings+strings.ReplaceAll(path, "ID", "01a21082-79c9-72b4-8722-3a101ce8046c"), url.Values{
				"email": {"eve@example.com"}, "role": {"owner"}, "name": {"taken over"}, "scopes": {"read"}, "timezone": {"UTC"},
				"brand_font": {"inter"}, "notify": {"none"},
			})
			require.Equal(t, http.StatusForbidden, s.status, "%s %v", path, scopes)
			s.has("You don’t have permission to do this", path, scopes)
		}
	}
	_, account := v.api("GET", "/api/v1/account", nil)
	require.Equal(t, evil, account["name"])
}

// sessions ends another session, and then the own one.
func (v *owner) sessions(t *testing.T) {
	t.Helper()
	const path = settings + "/sessions"
	other := v.signInWithKey("read")
	_, list := v.api("GET", "/api/v1/sessions", nil)
	s := v.open(path)
	var own string
	for _, one := range list["data"].([]any) {
		id := one.(object)["id"].(string)
		s.has(path + "/" + id + "/end")
		if one.(object)["method"] == "link" {
			own = id
		}
	}
	require.Equal(t, "/dashboard", other.open("/dashboard").path)
	newest := list["data"].([]any)[0].(object)
	require.Equal(t, "key", newest["method"])
	v.send(s, path+"/"+newest["id"].(string)+"/end", nil)
	require.Contains(t, other.open("/dashboard").path, "/dashboard/sign-in")
	require.Contains(t, v.send(v.open(path), path+"/"+own+"/end", nil).path, "/dashboard/sign-in")
}
