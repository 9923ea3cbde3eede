package alert

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// Kind is what a rule looks for.
type Kind string

// Kinds returns every kind.
func Kinds() []Kind { return []Kind{kindSilent, kindRange, kindAbove, kindBelow} }

// EnumValues implements jsonschema.Enum.
func (Kind) EnumValues() []string { return jsonschema.Values(Kinds()) }

// Metric is the number that a rule watches.
type Metric string

// Metrics returns every metric.
func Metrics() []Metric { return []Metric{visitors, "submissions", "people"} }

// EnumValues implements jsonschema.Enum.
func (Metric) EnumValues() []string { return jsonschema.Values(Metrics()) }

type direction string

// EnumValues implements jsonschema.Enum.
func (direction) EnumValues() []string { return []string{kindAbove, kindBelow, kindSilent} }

// Subject is what a rule, or an alert of it, is about.
type Subject struct {
	Kind          Kind       `json:"kind" doc:"What the rule looks for: silent, pages from which nothing comes; range, days outside of their usual range; above and below, days that pass threshold."`
	Metric        Metric     `json:"metric" doc:"Metric of POST /api/v1/analytics/query that is watched."`
	LeadMagnetID  *uuid.UUID `json:"lead_magnet_id" format:"uuid" doc:"Only of this lead magnet."`
	GenericLinkID *uuid.UUID `json:"generic_link_id" format:"uuid" doc:"Only of this generic link."`
	UTMCampaign   *string    `json:"utm_campaign" doc:"Only of this campaign."`
	Threshold     *int64     `json:"threshold" doc:"Number of a day that is passed; null unless kind is above or below."`
	Name          *string    `json:"name" doc:"Title of the lead magnet or link, or the campaign; null for the whole account."`
}

// Rule is a rule as the API shows it.
type Rule struct {
	ID uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Subject
	CreatedAt api.Time `json:"created_at" doc:"When it was created."`
}

// Alert is an alert as the API shows it.
type Alert struct {
	ID     uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	RuleID uuid.UUID `json:"rule_id" format:"uuid" doc:"Id of the rule."`
	Subject
	Direction direction `json:"direction" doc:"Whether the number is above or below what is usual or allowed, or nothing comes."`
	Value     int64     `json:"value" doc:"The number when the alert began."`
	UsualLow  *int64    `json:"usual_low" doc:"Lowest usual number of such a day or stretch of the week; null if a threshold was passed."`
	UsualHigh *int64    `json:"usual_high" doc:"Highest usual number, likewise."`
	Since     api.Time  `json:"since" doc:"Beginning of the day, or when a visit came last."`
	Pages     []string  `json:"pages" doc:"Of silent: the pages, at most three, from which most visitors came in the eight weeks before, such as acme.example/pricing.html."`
	CreatedAt api.Time  `json:"created_at" doc:"When the alert began."`
	EndedAt   *api.Time `json:"ended_at" doc:"When it was over; null as long as it goes on."`
	SentAt    *api.Time `json:"sent_at" doc:"When its notice was queued; null if it waits for the end of quiet hours."`
}

const (
	rulesPath  = "/api/v1/alert-rules"
	alertsPath = "/api/v1/alerts"
	tag        = "Alerts"
	// maxRules is how many rules an account can have; a check asks about all of them at once.
	maxRules = 10
)

// Register adds the operations.
func (a *Alerts) Register(at *api.API) {
	api.Register(at, api.Operation{
		ID: "create-alert-rule", Method: "POST", Path: rulesPath, Scope: auth.Write, Tag: tag, Status: 201,
		Summary:     "Create a rule of alerts",
		Description: "A rule watches one lead magnet, generic link or campaign, or the whole account: give at most one of the three. A rule of the kind silent watches each generic link, or each one of a lead magnet. A notice is sent by mail and to chat programs, and webhooks get alert.started.",
		BodyExample: map[string]any{"kind": kindSilent, "metric": visitors},
		Errors:      []problem.Code{problem.LimitReached, problem.Conflict},
	}, a.create)
	api.Register(at, api.Operation{
		ID: "list-alert-rules", Method: "GET", Path: rulesPath, Scope: auth.Read, Tag: tag,
		Summary: "List the rules of alerts, newest first", PerPage: api.PageSize{Default: 20, Max: 100},
	}, a.listRules)
	api.Register(at, api.Operation{
		ID: "delete-alert-rule", Method: "DELETE", Path: rulesPath + "/{id}", Scope: auth.Write, Tag: tag, Status: 204,
		Summary: "Delete a rule of alerts, and its alerts",
	}, a.delete)
	api.Register(at, api.Operation{
		ID: "list-alerts", Method: "GET", Path: alertsPath, Scope: auth.Read, Tag: tag,
		Summary:     "List alerts, newest first",
		Description: "An alert is kept for 90 days after it ended.", PerPage: api.PageSize{Default: 20, Max: 100},
	}, a.list)
}

type createInput struct {
	Body newRule
}

type newRule struct {
	Kind          Kind       `json:"kind" doc:"What to look for."`
	Metric        Metric     `json:"metric" required:"false" default:"visitors" doc:"Metric to watch."`
	LeadMagnetID  *uuid.UUID `json:"lead_magnet_id" required:"false" format:"uuid" doc:"Lead magnet to watch."`
	GenericLinkID *uuid.UUID `json:"generic_link_id" required:"false" format:"uuid" doc:"Generic link to watch."`
	UTMCampaign   *string    `json:"utm_campaign" required:"false" minLength:"1" maxLength:"200" doc:"Campaign to watch; not with the kind silent."`
	Threshold     *int64     `json:"threshold" required:"false" minimum:"0" maximum:"1000000000" doc:"Number of a day that is passed; with the kinds above and below only."`
}

// check returns what the schema cannot say.
func (b newRule) check() error {
	given := 0
	for _, is := range []bool{b.LeadMagnetID != nil, b.GenericLinkID != nil, b.UTMCampaign != nil} {
		if is {
			given++
		}
	}
	var wrong []problem.Field
	if given > 1 {
		wrong = append(wrong, problem.Field{Field: "lead_magnet_id",
			Message: "must not be combined: give at most one of lead_magnet_id, generic_link_id and utm_campaign"})
	}
	if b.Kind == kindSilent && b.UTMCampaign != nil {
		wrong = append(wrong, problem.Field{Field: "utm_campaign",
			Message: "must not be given with the kind silent, which watches pages"})
	}
	switch needs := b.Kind == kindAbove || b.Kind == kindBelow; {
	case needs && b.Threshold == nil:
		wrong = append(wrong, problem.Field{Field: "threshold", Message: "is required with the kinds above and below"})
	case !needs && b.Threshold != nil:
		wrong = append(wrong, problem.Field{Field: "threshold", Message: "must not be given with the kinds silent and range"})
	}
	if wrong != nil {
		return problem.Invalid(wrong...)
	}
	return nil
}

func (a *Alerts) create(ctx context.Context, in *createInput) (*api.Answer[Rule], error) {
	b := in.Body
	b.Metric = cmp.Or(b.Metric, visitors)
	if err := b.check(); err != nil {
		return nil, err
	}
	owner := auth.From(ctx).AccountID
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create alert rule: %w", err)
	}
	auth.RecordCreated(ctx, id)
	var made Rule
	err = a.deps.Postgres.Account(ctx, owner, func(tx pgx.Tx) error {
		// One at a time, so that two at once cannot pass the limit.
		if _, err := account.LockPlan(ctx, tx); err != nil {
			return err
		}
		q := store.New(tx)
		row := store.InsertAlertRuleParams{ID: id, AccountID: owner, Kind: string(b.Kind), Metric: string(b.Metric),
			LeadMagnetID: b.LeadMagnetID, GenericLinkID: b.GenericLinkID, UTMCampaign: b.UTMCampaign, Threshold: b.Threshold}
		if err := mayInsert(ctx, q, row); err != nil {
			return err
		}
		if err := q.InsertAlertRule(ctx, row); err != nil {
			return err
		}
		rules, err := q.ListAlertRules(ctx, store.ListAlertRulesParams{RowLimit: maxRules})
		for _, r := range rules {
			if r.AlertRule.ID == id {
				made = ruleOf(r)
			}
		}
		return err
	})
	if postgres.IsForeignKeyViolation(err) {
		field := "lead_magnet_id"
		if b.GenericLinkID != nil {
			field = "generic_link_id"
		}
		return nil, problem.Invalid(problem.Field{Field: field, Message: "is not the id of one of the account"})
	}
	if err != nil {
		return nil, fmt.Errorf("create alert rule: %w", err)
	}
	return api.OK(made), nil
}

// mayInsert returns the problem of a rule that is one too many, or is there already.
func mayInsert(ctx context.Context, q *store.Queries, r store.InsertAlertRuleParams) error {
	n, err := q.CountAlertRules(ctx)
	if err != nil {
		return fmt.Errorf("count alert rules: %w", err)
	}
	if n >= maxRules {
		return problem.New(problem.LimitReached,
			fmt.Sprintf("An account can have %d alert rules: delete some that are not used.", maxRules))
	}
	twice, err := q.HasAlertRule(ctx, store.HasAlertRuleParams{Kind: r.Kind, Metric: r.Metric,
		LeadMagnetID: r.LeadMagnetID, GenericLinkID: r.GenericLinkID, UTMCampaign: r.UTMCampaign, Threshold: r.Threshold})
	if err != nil {
		return fmt.Errorf("look for the same alert rule: %w", err)
	}
	if twice {
		return problem.New(problem.Conflict, "The account has such an alert rule already.")
	}
	return nil
}

// nameOf returns the name of what a rule is about, nil for the whole account. A link has its slug
// as well, since several can have the title of their document.
func nameOf(name, slug string) *string {
	switch {
	case name == "":
		return nil
	case slug != "":
		name += " (/" + slug + ")"
	}
	return &name
}

func ruleOf(r store.ListAlertRulesRow) Rule {
	return Rule{r.AlertRule.ID, Subject{
		Kind(r.AlertRule.Kind), Metric(r.AlertRule.Metric), r.AlertRule.LeadMagnetID, r.AlertRule.GenericLinkID,
		r.AlertRule.UTMCampaign, r.AlertRule.Threshold, nameOf(r.Name, r.Slug),
	}, api.TimeOf(r.AlertRule.CreatedAt)}
}

type listInput struct{ api.Paging }

func (a *Alerts) listRules(ctx context.Context, in *listInput) (*api.Answer[api.Page[Rule]], error) {
	var total int64
	var rules []Rule
	err := a.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountAlertRules(ctx); err != nil {
			return err
		}
		rows, err := q.ListAlertRules(ctx, store.ListAlertRulesParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, r := range rows {
			rules = append(rules, ruleOf(r))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list alert rules: %w", err)
	}
	return api.List(ctx, in.Paging, rules, total), nil
}

type ruleInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the rule."`
}

func (a *Alerts) delete(ctx context.Context, in *ruleInput) (*api.Answer[api.Empty], error) {
	err := a.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		n, err := store.New(tx).DeleteAlertRule(ctx, in.ID)
		if err == nil && n == 0 {
			err = problem.Missing("alert rule")
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("delete alert rule: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}

func (a *Alerts) list(ctx context.Context, in *listInput) (*api.Answer[api.Page[Alert]], error) {
	var total int64
	var alerts []Alert
	err := a.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if total, err = q.CountAlerts(ctx); err != nil {
			return err
		}
		rows, err := q.ListAlerts(ctx, store.ListAlertsParams{RowOffset: in.Offset(), RowLimit: in.Limit()})
		for _, r := range rows {
			alerts = append(alerts, alertOf(r))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list alerts: %w", err)
	}
	return api.List(ctx, in.Paging, alerts, total), nil
}

func alertOf(r store.ListAlertsRow) Alert {
	return Alert{
		ID: r.Alert.ID, RuleID: r.Alert.RuleID,
		Subject: Subject{Kind(r.Kind), Metric(r.Metric), r.LeadMagnetID, r.Alert.GenericLinkID, r.UTMCampaign, r.Threshold,
			nameOf(r.Name, r.Slug)},
		Direction: direction(r.Alert.Direction), Value: r.Alert.Value, UsualLow: r.Alert.UsualLow,
		UsualHigh: r.Alert.UsualHigh, Since: api.TimeOf(r.Alert.Since), Pages: r.Alert.Pages,
		CreatedAt: api.TimeOf(r.Alert.CreatedAt),
		EndedAt:   api.OptionalTime(r.Alert.EndedAt), SentAt: api.OptionalTime(r.Alert.SentAt),
	}
}
