// Package setting is the settings of the dashboard: the account and how it looks, its people, keys,
// webhooks, notices and sessions, the audit log, and what is used of the limits. Package dashboard
// says how screens are made.
package setting

import (
	"embed"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strconv"
	"time"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/signin"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/client"
)

//go:embed web
var webFiles embed.FS

// Screens are the settings. They are safe for concurrent use.
type Screens struct {
	frame    *frame.Frame
	passkeys Passkeys
	byName   map[string]*frame.Template
}

// screens are the files of the screens.
var screens = []string{"account", "notices", "alerts", "people", "keys", "webhooks", "webhook", "sessions", "passkeys",
	"usage", "audit", "suspects"}

// New returns the settings in a frame.
func New(f *frame.Frame, p Passkeys) (*Screens, error) {
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read screens of settings: %w", err)
	}
	s := &Screens{f, p, map[string]*frame.Template{}}
	for _, name := range screens {
		if s.byName[name], err = f.ParseForms(files, []string{"setting.html", name + ".html"},
			[]string{frame.Cards, "setting.css"}); err != nil {
			return nil, err
		}
	}
	return s, nil
}

const screenPath = "/dashboard/settings"

// Register mounts the screens.
func (s *Screens) Register(a *api.API) {
	s.frame.Mount(a, "GET "+screenPath, s.showAccount)
	s.frame.Mount(a, "POST "+screenPath, s.changeAccount)
	s.frame.Mount(a, "POST "+screenPath+"/logo/delete", s.removeLogo)
	s.frame.Mount(a, "GET "+screenPath+"/notices", s.showNotices)
	s.frame.Mount(a, "POST "+screenPath+"/notices", s.changeNotices)
	s.frame.Mount(a, "POST "+screenPath+"/notices/weekly", s.changeReport)
	s.frame.Mount(a, "GET "+screenPath+"/alerts", s.showAlerts)
	s.frame.Mount(a, "POST "+screenPath+"/alerts", s.createRule)
	s.frame.Mount(a, "POST "+screenPath+"/alerts/{id}/delete", s.deleteRule)
	s.frame.Mount(a, "POST "+screenPath+"/alerts/sending", s.changeSending)
	s.frame.Mount(a, "GET "+screenPath+"/suspects", s.showSuspects)
	s.frame.Mount(a, "POST "+screenPath+"/suspects", s.changeSuspects)
	s.frame.Mount(a, "GET "+screenPath+"/people", s.showPeople)
	s.frame.Mount(a, "POST "+screenPath+"/people", s.invite)
	s.frame.Mount(a, "POST "+screenPath+"/people/{id}", s.changeRole)
	s.frame.Mount(a, "POST "+screenPath+"/people/{id}/remove", s.removePerson)
	s.frame.Mount(a, "POST "+screenPath+"/invitations/{id}/remove", s.removeInvitation)
	s.frame.Mount(a, "GET "+screenPath+"/keys", s.showKeys)
	s.frame.Mount(a, "POST "+screenPath+"/keys", s.createKey)
	s.frame.Mount(a, "POST "+screenPath+"/keys/{id}/revoke", s.revokeKey)
	s.frame.Mount(a, "GET "+screenPath+"/sessions", s.showSessions)
	s.frame.Mount(a, "POST "+screenPath+"/sessions/{id}/end", s.endSession)
	s.frame.Mount(a, "GET "+signin.PasskeysPath, s.showPasskeys)
	s.frame.Mount(a, "GET "+screenPath+"/webhooks", s.showWebhooks)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks", s.createWebhook)
	s.frame.Mount(a, "GET "+screenPath+"/webhooks/{id}", s.showWebhook)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks/{id}", s.changeWebhook)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks/{id}/active", s.activateWebhook)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks/{id}/test", s.testWebhook)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks/{id}/secret", s.rotateSecret)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks/{id}/delete", s.deleteWebhook)
	s.frame.Mount(a, "POST "+screenPath+"/webhooks/{id}/deliveries/{delivery}/replay", s.replay)
	s.frame.Mount(a, "GET "+screenPath+"/usage", s.showUsage)
	s.frame.Mount(a, "GET "+screenPath+"/audit", s.showAudit)
	s.frame.MountTransfer(a, "POST "+screenPath+"/logo", logoBounds, s.uploadLogo)
}

var logoBounds = web.Transfer{MaxBytes: 6 << 20, Timeout: time.Minute}

// section is a page of the settings.
type section struct {
	Words, URL string
	Chosen     bool
}

// sections are the pages that the session may see. The API decides again.
func sections(v *frame.Visit, chosen string) (list []section) {
	for _, one := range []struct {
		key, path string
		needs     auth.Scope
	}{
		{"setting.account", "", auth.Read}, {"setting.notices", "/notices", auth.Read},
		{"setting.alerts", "/alerts", auth.Read}, {"setting.suspects", "/suspects", auth.Read},
		{"setting.people", "/people", auth.People},
		{"setting.keys", "/keys", auth.Keys}, {"setting.webhooks", "/webhooks", auth.Webhooks},
		{"setting.sessions", "/sessions", auth.Read}, {"setting.passkeys", "/passkeys", auth.Read},
		{"setting.audit", "/audit", auth.People}, {"setting.usage", "/usage", auth.Read},
	} {
		if v.May(one.needs) {
			list = append(list, section{v.Say(one.key), v.Path(screenPath + one.path), one.key == chosen})
		}
	}
	return list
}

// sectionView is the data of the screens: the sections, and the screen's own data.
type sectionView struct {
	Sections []section
	Own      any
}

// show draws a screen of a section, which is named by the key of its name.
func (s *Screens) show(v *frame.Visit, name, section string, status int, own any) error {
	return v.ShowStatus(s.byName[name], status, frame.Screen{Title: v.Say(section), Nav: frame.Settings,
		Data: sectionView{sections(v, section), own}})
}

// list is a page of a list of the API, with the addresses of its neighbours.
type list[T any] struct {
	Rows         []T
	Total        int64
	Newer, Older string
}

// read returns the page of a list that the address of the screen names, each of its things as a
// row.
func read[T, R any](v *frame.Visit, path string, query url.Values, row func(T) R) (l list[R], err error) {
	if query == nil {
		query = url.Values{}
	}
	query.Set("per_page", "50")
	n := 1
	if asked, err := strconv.Atoi(v.R.URL.Query().Get("page")); err == nil && asked > 1 {
		n = asked
		query.Set("page", strconv.Itoa(n))
	}
	found, err := frame.Get[client.Page[T]](v, path, query)
	if err != nil {
		return l, err
	}
	l.Total = found.Pagination.Total
	for _, one := range found.Data {
		l.Rows = append(l.Rows, row(one))
	}
	at := func(page int) string {
		q := v.R.URL.Query()
		q.Set("page", strconv.Itoa(page))
		return "?" + q.Encode()
	}
	if n > 1 {
		l.Newer = at(n - 1)
	}
	if int64(n) < found.Pagination.TotalPages {
		l.Older = at(n + 1)
	}
	return l, nil
}

// done returns what the address says was just done; "" for anything that no screen does.
func done(v *frame.Visit) string {
	what := v.R.URL.Query().Get("done")
	if !slices.Contains(notes, what) {
		return ""
	}
	return v.Say("setting.done." + what)
}

// notes are the actions that a screen can confirm.
var notes = []string{"saved", "asked", "logo", "invited", "role", "removed", "revoked", "ended", "replayed", "deleted",
	"passkey"}

func (s *Screens) redirect(v *frame.Visit, path, done string) error {
	return v.Redirect(screenPath + path + "?" + url.Values{"done": {done}}.Encode())
}
