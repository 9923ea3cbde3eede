package notice

import (
	"embed"
	"errors"
	"fmt"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/store"
)

//go:embed web
var webFiles embed.FS

const path = "/notices/"

// The purposes of grants in mails.
const (
	forNotices      = "notices"
	forConfirmation = "notice confirmation"
)

// unsubscribeURL returns the address of the page on which whoever got a notice ends them. It works
// as long as the account's notices go to the same address.
func (n *Notices) unsubscribeURL(account uuid.UUID, to string) string {
	return n.deps.Pages.URL(path + n.grant(forNotices, account, to))
}

// aboutReaders is the parameter of the address in mails about readers: who ends notices from a mail
// program, without a choice, ends those.
const aboutReaders = "?about=readers"

// aboutWeeks is likewise that of the weekly report.
const aboutWeeks = "?about=week"

// aboutAlerts is likewise that of alerts.
const aboutAlerts = "?about=alerts"

// state is the data of the page.
type state struct {
	To       string
	Notify   string  // when mails about leads are sent
	Readings string  // when mails about readers are sent
	Weekly   bool    // whether the weekly report is sent
	Alerts   bool    // whether alerts are sent
	Done     bool    // it was just changed
	Language *string // of the account
}

// choice holds the settings to change; "" leaves a setting as it is.
type choice struct{ notify, readings, weekly, alerts string }

// chosen returns a value of a setting, None for what is no value.
func chosen(value string) string {
	if value != Each && value != Daily {
		return None
	}
	return value
}

// Register mounts the pages that mails lead to.
func (n *Notices) Register(a *api.API) {
	n.deps.Pages.Mount(a, "GET "+path+"{token}", n.showSettings)
	n.deps.Pages.Mount(a, "POST "+path+"{token}", n.changeSettings)
	n.deps.Pages.Mount(a, "GET "+weeklyPath+"{token}", n.showWeekly)
	n.deps.Pages.Mount(a, "POST "+weeklyPath+"{token}", n.changeWeekly)
	n.deps.Pages.Mount(a, "GET "+confirmPath+"{token}", n.askToConfirm)
	n.deps.Pages.Mount(a, "POST "+confirmPath+"{token}", n.confirmed)
}

func (n *Notices) showSettings(w http.ResponseWriter, r *http.Request) error {
	s, err := n.change(r, choice{})
	if err != nil {
		return err
	}
	return n.writeSettings(w, r, s)
}

// changeSettings sets what the form chooses. A mail program posts here as well when its user
// presses its button (RFC 8058); it names no choice.
func (n *Notices) changeSettings(w http.ResponseWriter, r *http.Request) error {
	var c choice
	readings, weekly, alerts := r.PostFormValue("readings"), r.PostFormValue("weekly"), r.PostFormValue("alerts")
	switch {
	case readings != "":
		c.readings = chosen(readings)
	case weekly != "":
		c.weekly = weekly
	case alerts != "":
		c.alerts = alerts
	case r.PostFormValue("notify") == "" && r.URL.Query().Get("about") == "alerts":
		c.alerts = None
	case r.PostFormValue("notify") == "" && r.URL.Query().Get("about") == "week":
		c.weekly = None
	case r.PostFormValue("notify") == "" && r.URL.Query().Get("about") == "readers":
		c.readings = None
	default:
		c.notify = chosen(r.PostFormValue("notify"))
	}
	s, err := n.change(r, c)
	if err != nil {
		return err
	}
	s.Done = true
	return n.writeSettings(w, r, s)
}

func (n *Notices) writeSettings(w http.ResponseWriter, r *http.Request, s state) error {
	return n.settings.Write(w, r, http.StatusOK, n.page(r, "notice.title", s.Language, s))
}

// ofToken runs fn with the account that a request's grant names, and the address of its notices, if
// the grant is for that address. Else there is no such page.
func (n *Notices) ofToken(r *http.Request, purpose string, fn func(q *store.Queries, account uuid.UUID, to string,
	a store.TakeNoticesRow) error) error {
	missing := web.Error(web.NotFound, web.Brand{})
	account, isFor, ok := n.open(purpose, r.PathValue("token"))
	if !ok {
		return missing
	}
	return n.deps.Postgres.Account(r.Context(), account, func(tx pgx.Tx) error {
		q := store.New(tx)
		a, err := q.TakeNotices(r.Context())
		if errors.Is(err, pgx.ErrNoRows) {
			return missing
		}
		if err != nil {
			return fmt.Errorf("read whom to tell of leads: %w", err)
		}
		if a.NotifyEmail == nil || !isFor(*a.NotifyEmail) {
			return missing
		}
		return fn(q, account, *a.NotifyEmail, a)
	})
}

// change reads the account that a request's token names, and sets what is chosen.
func (n *Notices) change(r *http.Request, c choice) (s state, err error) {
	err = n.ofToken(r, forNotices, func(q *store.Queries, _ uuid.UUID, to string, a store.TakeNoticesRow) error {
		s = state{To: to, Notify: a.Notify, Readings: a.ReadingNotices, Weekly: a.WeeklyReport,
			Alerts: a.AlertNotices, Language: a.Language}
		var p store.UpdateAccountParams
		if c.notify != "" && c.notify != a.Notify {
			p.Notify, s.Notify = &c.notify, c.notify
		}
		if c.readings != "" {
			p.ReadingNotices, s.Readings = &c.readings, c.readings
			if err := q.FollowReadingNotices(r.Context()); err != nil {
				return fmt.Errorf("end settings of pages: %w", err)
			}
		}
		if c.weekly != "" {
			s.Weekly = c.weekly != None
			p.WeeklyReport = &s.Weekly
		}
		if c.alerts != "" {
			s.Alerts = c.alerts != None
			p.AlertNotices = &s.Alerts
		}
		if p.Notify == nil && p.ReadingNotices == nil && p.WeeklyReport == nil && p.AlertNotices == nil {
			return nil
		}
		_, err := q.UpdateAccount(r.Context(), p)
		return err
	})
	return s, err
}

// page returns a page in the language of the account, or else of whoever opens it.
func (n *Notices) page(r *http.Request, title string, language *string, data any) web.Page {
	b := web.Brand{Language: language}
	texts := n.deps.Pages.Texts(r, b)
	return web.Page{Title: texts.Say(title), Brand: b, Texts: texts, Data: data}
}
