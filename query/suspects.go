package query

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
	"lodestone/query/report"
	"lodestone/query/scope"
)

const (
	// suspectDays is how far back suspected sessions are counted.
	suspectDays = 30
	// suspectExamples is how many sessions of a rule are shown.
	suspectExamples = 5
)

func (q *Query) registerSuspects(a *api.API) {
	api.Register(a, api.Operation{
		ID: "get-suspects", Method: http.MethodGet, Path: "/api/v1/analytics/suspects",
		Scope: auth.Read, Tag: tag, Report: true,
		Summary: "Report suspected scanners",
		Description: "Sessions of the last 30 days that look like a person's and behave like a link scanner's, by the rule that suspects them: how many there are, the newest, and what the " +
			"account's numbers are with all of them and without those of the rule. They are counted until the account leaves the rule out, by left_out_suspects of PATCH /api/v1/account.",
		Timeout: q.config.Timeout, Errors: []problem.Code{problem.ValidationError},
	}, budgeted(q, problem.Field{Field: "path", Message: "needs more memory than a report may use"}, q.suspects))
}

type noInput struct{}

// Suspects is the answer about suspected sessions.
type Suspects struct {
	Data []SuspectRule `json:"data" nullable:"false" doc:"One element per rule. A session has the first rule that applies, in this order."`
	All  SuspectCounts `json:"all" doc:"Numbers with all suspected sessions, whatever the account leaves out. Bots are excluded."`
	From api.Time      `json:"from" doc:"Beginning of the 30 days."`
	AsOf api.Time      `json:"as_of" doc:"Everything stored before this time is included. Newer events may be."`
}

// Timeless implements api.TimelessBody.
func (s Suspects) Timeless() any {
	s.From, s.AsOf = api.Time{}, api.Time{}
	return s
}

// SuspectRule is what a rule suspects.
type SuspectRule struct {
	Rule     suspect.Rule     `json:"rule" doc:"Name of the rule."`
	LeftOut  bool             `json:"left_out" doc:"Whether the account's numbers leave its sessions out."`
	Sessions int64            `json:"sessions" minimum:"0" doc:"Suspected sessions."`
	People   int64            `json:"people" minimum:"0" doc:"People whose links they opened."`
	Without  SuspectCounts    `json:"without" doc:"Numbers without the sessions of this rule."`
	Examples []SuspectSession `json:"examples" nullable:"false" doc:"The newest sessions, at most five."`
}

// SuspectCounts are the numbers that suspected sessions may change.
type SuspectCounts struct {
	People    int64  `json:"people" minimum:"0" doc:"People who read."`
	Sessions  int64  `json:"sessions" minimum:"0" doc:"Sessions with a page view."`
	PageViews int64  `json:"page_views" minimum:"0" doc:"Page views."`
	LinkViews int64  `json:"link_views" minimum:"0" doc:"Views of landing pages. Of the rules, only network suspects some."`
	ReadingMS int64  `json:"reading_ms" minimum:"0" doc:"Milliseconds that pages were visible."`
	AverageMS *int64 `json:"average_ms" minimum:"0" doc:"reading_ms for each person; null if no one read."`
}

// SuspectSession is a suspected session.
type SuspectSession struct {
	SessionID    uuid.UUID `json:"session_id" format:"uuid"`
	AccessLinkID uuid.UUID `json:"access_link_id" format:"uuid"`
	LeadMagnetID uuid.UUID `json:"lead_magnet_id" format:"uuid"`
	Email        *string   `json:"email" doc:"Address of the recipient; null if the key lacks the scope leads."`
	StartedAt    api.Time  `json:"started_at"`
	MailedAt     *api.Time `json:"mailed_at" doc:"When the last mail with the link before it was handed to the mail server; null if none was sent to a list of recipients."`
	Pages        []int32   `json:"pages" nullable:"false" doc:"Viewed pages."`
	DurationMS   int64     `json:"duration_ms" minimum:"0" doc:"Milliseconds that pages were visible."`
}

func (q *Query) suspects(ctx context.Context, _ *noInput) (*api.Answer[Suspects], error) {
	asOf, err := q.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	caller := auth.From(ctx)
	from := time.Now().AddDate(0, 0, -suspectDays).Truncate(15 * time.Minute) // as reports are fastest
	answer := Suspects{From: api.TimeOf(from), AsOf: api.TimeOf(asOf)}
	if answer.Data, err = q.suspectRules(ctx, caller.AccountID, from, caller.Has(auth.Leads)); err != nil {
		return nil, fmt.Errorf("read suspected sessions: %w", err)
	}
	if answer.All, err = q.countsWithout(ctx, caller.AccountID, from); err != nil {
		return nil, err
	}
	for i := range answer.Data {
		one := &answer.Data[i]
		one.Without = answer.All
		if one.Sessions == 0 && one.Rule != suspect.Network { // which suspects views of landing pages as well
			continue
		}
		if one.Without, err = q.countsWithout(ctx, caller.AccountID, from, one.Rule); err != nil {
			return nil, err
		}
	}
	return api.OK(answer), nil
}

// suspectRules returns every rule, with its newest sessions.
func (q *Query) suspectRules(ctx context.Context, account uuid.UUID, from time.Time, emails bool) ([]SuspectRule,
	error) {
	list := make([]SuspectRule, 0, len(suspect.Rules()))
	err := q.postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		db := store.New(tx)
		own, err := db.OwnAccount(ctx)
		if err != nil {
			return err
		}
		counts, err := db.CountSuspects(ctx, store.CountSuspectsParams{AccountID: account, Since: from})
		if err != nil {
			return err
		}
		var names []string
		for _, rule := range suspect.Rules() {
			one := SuspectRule{Rule: rule, LeftOut: slices.Contains(own.LeftOutSuspects, string(rule)),
				Examples: []SuspectSession{}}
			for _, c := range counts {
				if c.Rule == string(rule) {
					one.Sessions, one.People = c.Sessions, c.People
				}
			}
			list, names = append(list, one), append(names, string(rule))
		}
		newest, err := db.NewestSuspects(ctx,
			store.NewestSuspectsParams{AccountID: account, Since: from, Rules: names, RowLimit: suspectExamples})
		for _, n := range newest {
			i := slices.Index(names, n.Rule)
			shown := SuspectSession{
				SessionID: n.ID, AccessLinkID: n.AccessLinkID, LeadMagnetID: n.LeadMagnetID,
				StartedAt: api.TimeOf(n.StartedAt), MailedAt: api.OptionalTime(n.SentAt), Pages: n.Pages,
				DurationMS: n.DurationMs,
			}
			if r := n.RemindedAt; r != nil && !r.After(n.StartedAt) {
				shown.MailedAt = api.OptionalTime(r)
			}
			if emails {
				shown.Email = &n.Email
			}
			list[i].Examples = append(list[i].Examples, shown)
		}
		return err
	})
	return list, err
}

// countsWithout returns the numbers since a time without the sessions of some rules, whatever the
// account leaves out.
func (q *Query) countsWithout(ctx context.Context, account uuid.UUID, from time.Time,
	rules ...suspect.Rule) (c SuspectCounts, err error) {
	answers, err := q.reports.Answer(scope.Leaving(ctx, rules...), account, []report.Question{{
		Metrics: []string{"people", "sessions", "page_views", "reading_ms", "link_views"},
		From:    from.UTC().Format(time.RFC3339), To: from.AddDate(0, 0, suspectDays+1).UTC().Format(time.RFC3339),
	}}, []string{""})
	if err != nil {
		return c, fmt.Errorf("count without suspected sessions: %w", err)
	}
	for i, into := range []*int64{&c.People, &c.Sessions, &c.PageViews, &c.ReadingMS, &c.LinkViews} {
		if n := answers[0].Totals.Now[i]; n != nil {
			*into = int64(*n)
		}
	}
	if c.People > 0 {
		c.AverageMS = new(c.ReadingMS / c.People)
	}
	return c, nil
}
