package main

import (
	"bytes"
	"encoding/json"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/cmd/lodestone/demo"
	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
)

// hostile is text that would run, or break the page, if it were not escaped.
const hostile = `"><script>alert(1)</script><img src=x onerror=alert(1)>'--{{.}}`

// signInByKey signs in a browser with an API key.
func signInByKey(t *testing.T, site, key string) *owner {
	t.Helper()
	v := newOwner(t, site, key)
	form := v.open("/dashboard/sign-in").filled("/dashboard/sign-in/key", url.Values{"key": {key}})
	v.enter(v.still().PostForm(site+"/dashboard/sign-in/key", form))
	return v
}

// upload posts a form with a file, in the order of the page: the file comes first.
func (v *owner) upload(s screen, path, file string, content []byte, values map[string]string) screen {
	v.t.Helper()
	var action string
	for _, f := range s.find("form", "") {
		if strings.HasPrefix(attr(f, "action"), path+"?") {
			action = attr(f, "action")
		}
	}
	require.NotEmpty(v.t, action)
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	part, err := w.CreateFormFile("file", file)
	require.NoError(v.t, err)
	_, err = part.Write(content)
	require.NoError(v.t, err)
	for name, value := range values {
		require.NoError(v.t, w.WriteField(name, value))
	}
	require.NoError(v.t, w.Close())
	res, err := v.http.Post(v.site+action, w.FormDataContentType(), &body)
	require.NoError(v.t, err)
	return v.read(res)
}

// An owner publishes a PDF, changes it and takes it away, without a terminal and without scripts.
func TestDashboardPublishes(t *testing.T) {
	t.Parallel()
	u := sharedUp(t)
	v := signIn(t, u)
	site := v.site

	first := v.open("/dashboard")
	require.Contains(t, first.text, "Publish your first PDF", "an empty account shows what to do")
	form := v.open("/dashboard/new")

	s := v.upload(form, "/dashboard/new", "notes.txt", []byte("no PDF"),
		map[string]string{"title": hostile, "slug": "my-guide"})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Contains(t, textOf(s.find("span", "wrong")[0]), "PDF")
	require.Equal(t, hostile, attr(s.byID("title"), "value"), "what was typed is kept")
	require.NotContains(t, s.text, "<script>alert")
	require.Empty(t, v.magnetsList(), "nothing is left behind")

	s = v.upload(form, "/dashboard/new", "my_field-guide.pdf", demo.Guide(),
		map[string]string{"title": "", "slug": "Not A Slug!"})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotEmpty(t, s.byID("slug-wrong"), s.text)
	require.Empty(t, v.magnetsList())

	s = v.upload(form, "/dashboard/new", "my_field-guide.pdf", demo.Guide(),
		map[string]string{"title": "", "description": hostile, "slug": "my-guide", "require_verification": "on"})
	require.Equal(t, http.StatusOK, s.status, s.text)
	require.Contains(t, s.text, "Your landing page is live.")
	require.Contains(t, s.text, site+"/l/my-guide")
	require.Contains(t, s.text, "No readers in 30 days")
	require.NotContains(t, s.text, "<script>alert")
	list := v.magnetsList()
	require.Len(t, list, 1)
	const title = "Worth the email: a field guide to documents people ask for, open and finish"
	require.Equal(t, title, list[0].Title, "that of the PDF, not the name of the file")
	require.NotNil(t, list[0].PageCount)
	status, landing := get(t, site+"/l/my-guide", "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, landing, title)
	self := "/dashboard/magnets/" + list[0].ID
	require.Contains(t, v.open("/dashboard").text, self)

	v.change(t, self)
	v.refuse(t, u, self)

	s = v.send(v.open(self+"/edit"), self+"/delete", url.Values{"confirm": {"something else"}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.Len(t, v.magnetsList(), 1)
	s = v.send(s, self+"/delete", url.Values{"confirm": {hostile}})
	require.Equal(t, "/dashboard", s.path)
	require.Empty(t, v.magnetsList())
	require.Equal(t, http.StatusNotFound, v.open(self).status)
	require.Contains(t, v.open(self).text, "Open the dashboard")
}

// change edits the lead magnet in two windows at a time.
func (v *owner) change(t *testing.T, self string) {
	t.Helper()
	edit := self + "/edit"
	one, other := v.open(edit), v.open(edit)
	s := v.send(one, edit, url.Values{"title": {hostile}, "description": {"New"}, "author": {hostile},
		"end_text": {"The\r\nend"}})
	require.Equal(t, edit+"?saved=1", s.path)
	var stored struct {
		Author  string `json:"author"`
		EndText string `json:"end_text"`

		Downloadable bool `json:"downloadable"`
	}
	v.call(http.MethodGet, "/api/v1/lead-magnets/"+v.magnetsList()[0].ID, "", &stored)
	require.Equal(t, hostile, stored.Author)
	require.Equal(t, "The\nend", stored.EndText)
	require.True(t, stored.Downloadable, "as the form had it")
	require.NotContains(t, s.text, "<script>alert")
	require.Equal(t, hostile, v.magnetsList()[0].Title)

	s = v.send(other, edit, url.Values{"title": {"From the other window"}})
	require.Equal(t, http.StatusConflict, s.status)
	require.Contains(t, s.text, "Someone else changed")
	require.Equal(t, "From the other window", attr(s.byID("title"), "value"), "what was typed is kept")
	s = v.send(s, edit, nil)
	require.Equal(t, edit+"?saved=1", s.path, s.text)
	require.Equal(t, "From the other window", v.magnetsList()[0].Title)

	s = v.send(s, edit, url.Values{"title": {"   "}})
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotNil(t, s.byID("title-wrong"), "the API's words stand at the field")
	v.send(v.open(edit), edit, url.Values{"title": {hostile}})

	s = v.send(v.open(edit), self+"/active", nil)
	require.Contains(t, s.text, "Switch on")
	require.False(t, v.magnetsList()[0].IsActive)
	v.send(s, self+"/active", nil)
	require.True(t, v.magnetsList()[0].IsActive)

	s = v.upload(v.open(edit), self+"/file", "broken.pdf", []byte("%PDF-1.4 broken"), nil)
	require.Equal(t, http.StatusUnprocessableEntity, s.status)
	require.NotNil(t, s.byID("file-wrong"))
	s = v.upload(s, self+"/file", "second.pdf", demo.Guide(), nil)
	require.Equal(t, edit+"?saved=1", s.path)
	require.Contains(t, s.text, "second.pdf")
}

// refuse shows that a session that only reads gets no forms, that the API refuses what it sends all
// the same, and that no other account sees anything.
func (v *owner) refuse(t *testing.T, u *up, self string) {
	t.Helper()
	var key struct{ Key string }
	v.call(http.MethodPost, "/api/v1/keys", `{"name":"reads","scopes":["read"]}`, &key)
	reads := signInByKey(t, v.site, key.Key)
	s := reads.open(self)
	require.Equal(t, http.StatusOK, s.status)
	require.Nil(t, reads.open(self+"/edit").byID("title"), "no form")
	require.NotContains(t, reads.open("/dashboard").text, "/dashboard/new")
	csrf := attr(s.byName("csrf"), "value")
	res, err := reads.http.PostForm(v.site+self+"/edit", url.Values{"csrf": {csrf}, "title": {"Taken over"}})
	require.NoError(t, err)
	s = reads.read(res)
	require.Equal(t, http.StatusForbidden, s.status)
	require.Contains(t, s.text, "You don’t have permission to do this")
	require.Contains(t, s.text, "API key “reads”")
	s = reads.open("/dashboard/readers")
	require.Equal(t, http.StatusForbidden, s.status, "no addresses without the scope")
	require.Contains(t, s.text, "You don’t have access to this")
	require.Equal(t, hostile, v.magnetsList()[0].Title)

	pool, err := postgres.Open(t.Context(),
		postgres.Config{URL: strings.Trim(u.env["LODESTONE_POSTGRES_URL"], "'"), MaxConns: 2})
	require.NoError(t, err)
	defer pool.Close()
	accounts := account.New(pool)
	id, err := accounts.Create(t.Context(), hostile, account.Team)
	require.NoError(t, err)
	theirs, err := accounts.CreateKey(t.Context(), id, hostile, auth.Scopes()...)
	require.NoError(t, err)
	other := signInByKey(t, v.site, theirs.Text)
	s = other.open("/dashboard")
	require.NotContains(t, s.text, "<script>alert", "names of accounts and keys are text")
	require.NotContains(t, s.text, self)
	require.Equal(t, http.StatusNotFound, other.open(self).status)
}

type listedMagnet struct {
	ID, Title string
	PageCount *int `json:"page_count"`
	IsActive  bool `json:"is_active"`
}

func (v *owner) magnetsList() []listedMagnet {
	v.t.Helper()
	var list struct{ Data json.RawMessage }
	v.call(http.MethodGet, "/api/v1/lead-magnets", "", &list)
	var all []listedMagnet
	require.NoError(v.t, json.Unmarshal(list.Data, &all))
	return all
}
