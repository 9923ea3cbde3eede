// Package notice tells the owners of accounts of new leads and of what readers do, of each or once
// a day, and of webhooks that were disabled.
package notice

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/field"
	"lodestone/crud/mail"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/bot"
	"lodestone/pkg/locale"
	"lodestone/pkg/postgres"
	"lodestone/pkg/ratelimit"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// The values of an account's setting.
const (
	Each  = "each"
	Daily = "daily"
	None  = "none"
)

// HourlyNotices is how many mails with one lead an account gets within an hour. The mail about the
// last of them says that there are no more until then: the leads themselves are all there.
const HourlyNotices = 60

// Deps are the dependencies of notices. Now may be nil; all others are required.
type Deps struct {
	Postgres *postgres.Pool
	Queue    *queue.Queue
	Mail     *mail.Queue
	Tokens   *token.Ring
	Pages    *web.Site
	Bots     *bot.Rules
	Log      *slog.Logger
	Reports  Reporter
	Now      func() time.Time // the clock; nil: time.Now
}

// Notices tells owners. It is safe for concurrent use.
type Notices struct {
	deps    Deps
	limiter *ratelimit.Visitors
	texts   *web.Catalogue

	settings, confirmation, weekly *web.Template
}

// New returns the notices of an installation, and has the daily ones sent by its queue.
func New(d Deps) (*Notices, error) {
	if d.Now == nil {
		d.Now = time.Now
	}
	n := &Notices{deps: d, limiter: ratelimit.NewVisitors(d.Postgres, d.Tokens)}
	var err error
	if n.texts, err = web.VisitorTexts(); err != nil {
		return nil, err
	}
	files, err := fs.Sub(webFiles, "web")
	if err != nil {
		return nil, fmt.Errorf("read the pages of notices: %w", err)
	}
	if n.settings, err = d.Pages.Parse(files, "notices.html"); err != nil {
		return nil, err
	}
	if n.confirmation, err = d.Pages.Parse(files, "confirm.html"); err != nil {
		return nil, err
	}
	if n.weekly, err = d.Pages.Parse(files, "weekly.html"); err != nil {
		return nil, err
	}
	if err := queue.Register(d.Queue,
		river.WorkFunc(func(ctx context.Context, _ *river.Job[digests]) error { return n.SendDigests(ctx) })); err != nil {
		return nil, err
	}
	if err := queue.Register(d.Queue, river.WorkFunc(n.sendReadings)); err != nil {
		return nil, err
	}
	if err := queue.Register(d.Queue,
		river.WorkFunc(func(ctx context.Context, _ *river.Job[weeks]) error { return n.SendWeekly(ctx) })); err != nil {
		return nil, err
	}
	// As often, since days begin at other times in other places.
	d.Queue.AddPeriodic("weekly-reports", river.PeriodicInterval(digestInterval), weeks{})
	// More often than once a day: days begin while processes are down, and an account may be switched
	// on.
	d.Queue.AddPeriodic("daily-notices", river.PeriodicInterval(digestInterval), digests{})
	return n, nil
}

// NewLead mails the owner about a submission once the transaction commits, if the account is set to
// each, up to HourlyNotices. It is called once for each submission: when it is created, or when its
// address is verified if the link requires that. The transaction is the account's.
func (n *Notices) NewLead(ctx context.Context, tx pgx.Tx, submission uuid.UUID) error {
	l, err := store.New(tx).LeadNotice(ctx, submission)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read whom to tell of a lead: %w", err)
	}
	sent, err := store.New(tx).CountNotice(ctx, n.deps.Now())
	if err != nil {
		return fmt.Errorf("count notice: %w", err)
	}
	if sent > HourlyNotices {
		return nil
	}
	lead := mail.Lead{Email: l.Email, Link: l.Title, Verified: l.Verified, SubmittedAt: l.SubmittedAt}
	if l.Name != nil {
		lead.Name = *l.Name
	}
	lead.Source, lead.Campaign = sourceOf(l.UTM, l.Referrer)
	language := locale.Or(l.Language, "")
	if lead.Answers, err = answersOf(l, language); err != nil {
		return err
	}
	return n.send(ctx, tx, mail.Message{
		Kind: mail.KindLead, AccountID: l.AccountID, URL: n.deps.Pages.URL("/dashboard/readers/" + l.AccessLinkID.String()),
		Timezone: l.Timezone,
		Language: language, Leads: &mail.Leads{List: []mail.Lead{lead}, Last: sent == HourlyNotices},
	}, optional(l.NotifyEmail))
}

// answersOf returns the answers of a lead with their labels, in the order of the form.
func answersOf(l store.LeadNoticeRow, language locale.Language) (facts []mail.Fact, err error) {
	fields, err := field.Decode(l.Fields)
	if err != nil {
		return nil, err
	}
	answers, err := field.Stored(l.Answers)
	if err != nil {
		return nil, err
	}
	for i := range fields {
		if text := answers[fields[i].Key]; text != "" {
			facts = append(facts, mail.Fact{Name: fields[i].LabelIn(language), Value: text})
		}
	}
	return facts, nil
}

// sourceOf returns where a lead came from, and with which campaign, as its page's parameters and
// the page before it say.
func sourceOf(utm []byte, referrer *string) (source, campaign string) {
	var p map[string]string
	if err := json.Unmarshal(utm, &p); err != nil {
		p = nil // there are none
	}
	source = strings.Join(slices.DeleteFunc([]string{p["utm_source"], p["utm_medium"]},
		func(s string) bool { return s == "" }), " / ")
	if source == "" && referrer != nil {
		source = *referrer
	}
	return source, p["utm_campaign"]
}
