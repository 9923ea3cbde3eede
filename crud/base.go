package crud

import (
	"strings"

	"lodestone/crud/alert"
	"lodestone/crud/dashboard"
	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
)

// base holds what operations on several entities work with.
type base struct {
	site    string // the public URL, without a slash at the end
	pages   *web.Site
	jobs    *queue.Queue
	mails   *mail.Queue
	weekly  *dashboard.WeeklyReports
	bots    *bot.Rules
	notices *notice.Notices
	alerts  *alert.Alerts
}

func newBase(c Config, d Deps) (b base, err error) {
	b.site = strings.TrimRight(c.PublicURL, "/")
	if b.pages, err = web.New(web.Deps{Site: b.site, Log: d.Log}); err != nil {
		return base{}, err
	}
	b.jobs, err = queue.New(queue.Config{Grace: d.Grace},
		queue.Deps{Postgres: d.Postgres, Log: d.Log, Registerer: d.Registerer})
	if err != nil {
		return base{}, err
	}
	b.mails, err = mail.New(c.Mail, mail.Deps{Queue: b.jobs, Tokens: d.Tokens, Site: b.site, Log: d.Log,
		Registerer: d.Registerer, Postgres: d.Postgres, Mailbox: d.Mailbox})
	if err != nil {
		return base{}, err
	}
	b.weekly, err = dashboard.NewWeeklyReports(dashboard.WeeklyDeps{Postgres: d.Postgres, Pages: b.pages})
	if err != nil {
		return base{}, err
	}
	if b.bots, err = bot.NewRules(); err != nil {
		return base{}, err
	}
	b.notices, err = notice.New(notice.Deps{Postgres: d.Postgres, Bots: b.bots, Reports: b.weekly, Queue: b.jobs,
		Mail: b.mails, Tokens: d.Tokens, Pages: b.pages, Log: d.Log})
	if err != nil {
		return base{}, err
	}
	b.alerts, err = alert.New(alert.Deps{Postgres: d.Postgres, Queue: b.jobs, Tokens: d.Tokens, Numbers: b.weekly,
		Notifier: b.notices})
	if err != nil {
		return base{}, err
	}
	return b, nil
}
