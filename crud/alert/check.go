package alert

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/dashboard/frame"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
)

const (
	kindRange  = "range"
	kindAbove  = "above"
	kindBelow  = "below"
	kindSilent = "silent"

	// maxPages is how many pages a rule of silence watches: those with the most visits.
	maxPages = 60
	// pagesAsked is how many pages one question is about, within the bound of an answer's cells.
	pagesAsked = 12
	// minTotal is what a page must have in all weeks together: with less, none can be unusual.
	minTotal = 50

	lookBack = 7*weeks + 7 // days

	// visitors is the metric of pages.
	visitors = "visitors"
	// byLink is the dimension of pages.
	byLink = "generic_link_id"
)

// fact is something that is unusual now.
type fact struct {
	rule      store.AlertRule
	link      *uuid.UUID // of a page that is silent, or that the rule names
	direction string     // above, below, silent
	value     int64
	usual     *Range // nil: a threshold was passed
	since     time.Time
	pages     []string // with the most visitors before the silence, as host and path
}

// key tells the things apart of which an account hears once.
type key struct {
	rule, link uuid.UUID
	direction  string
}

func keyOf(rule uuid.UUID, link *uuid.UUID, direction string) key {
	k := key{rule: rule, direction: direction}
	if link != nil {
		k.link = *link
	}
	return k
}

// bounds are the whole numbers that are usual; nil without a usual range.
func (f fact) bounds() (low, high *int64) {
	if f.usual == nil {
		return nil, nil
	}
	return new(int64(math.Ceil(max(f.usual.Low, 0)))), new(int64(math.Floor(f.usual.High)))
}

// event is what webhooks are sent of an alert that begins.
func event(id uuid.UUID, f fact) webhook.AlertStarted {
	e := webhook.AlertStarted{
		AlertID: id, RuleID: f.rule.ID, Kind: f.rule.Kind, Metric: f.rule.Metric, Direction: f.direction,
		LeadMagnetID: f.rule.LeadMagnetID, GenericLinkID: f.link, UTMCampaign: f.rule.UTMCampaign,
		Value: f.value, Threshold: f.rule.Threshold, Since: api.TimeOf(f.since),
		Pages: f.pages,
	}
	e.UsualLow, e.UsualHigh = f.bounds()
	return e
}

// check is the check of one account.
type check struct {
	*Alerts
	account uuid.UUID
	zone    *time.Location
	now     time.Time

	rules []uuid.UUID   // that were checked
	open  []store.Alert // when the check began
	facts []fact
}

// run finds what is unusual, without holding anything. It asks nothing if no rule is due.
func (c *check) run(ctx context.Context, due time.Time) error {
	var rules []store.AlertRulesRow
	err := c.deps.Postgres.AccountSnapshot(ctx, c.account, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if rules, err = q.AlertRules(ctx, c.now); err != nil {
			return fmt.Errorf("read rules: %w", err)
		}
		c.open, err = q.OpenAlerts(ctx)
		return err
	})
	isDue := func(r store.AlertRulesRow) bool { return r.AlertRule.CheckedAt.Before(due) }
	if err != nil || !slices.ContainsFunc(rules, isDue) {
		return err
	}
	queries := make([]frame.Query, len(rules))
	for i, r := range rules {
		queries[i] = c.question(r.AlertRule)
		c.rules = append(c.rules, r.AlertRule.ID)
	}
	answers, err := c.deps.Numbers.Ask(ctx, c.account, queries)
	if err != nil {
		return err
	}
	for _, r := range rules {
		switch rows := answers.Of(r.AlertRule.ID.String()).Rows; {
		case !r.Active:
		case r.AlertRule.Kind == kindSilent:
			if err := c.findSilent(ctx, r.AlertRule, rows); err != nil {
				return err
			}
		default:
			c.judgeDays(r.AlertRule, rows, answers.AsOf)
		}
	}
	return c.namePages(ctx)
}

// question asks for the days of a rule's number, or for the pages that it watches.
func (c *check) question(r store.AlertRule) frame.Query {
	today := timezone.AddDays(c.now.In(c.zone), 0)
	q := frame.Query{ID: r.ID.String(), Metrics: []string{r.Metric}, Interval: "day", Timezone: c.zone.String(),
		From: timezone.AddDays(today, -lookBack).Format(time.DateOnly),
		To:   timezone.AddDays(today, 1).Format(time.DateOnly), Filters: map[string][]any{}}
	switch {
	case r.LeadMagnetID != nil:
		q.Filters["lead_magnet_id"] = []any{*r.LeadMagnetID}
	case r.GenericLinkID != nil:
		q.Filters[byLink] = []any{*r.GenericLinkID}
	case r.UTMCampaign != nil:
		q.Filters["utm_campaign"] = []any{*r.UTMCampaign}
	}
	if r.Kind == kindSilent {
		q.Interval, q.Dimensions, q.Limit = "", []string{byLink}, maxPages
	}
	return q
}

// judgeDays compares the last whole day, and what there is of the day after it, which can only be
// above.
func (c *check) judgeDays(r store.AlertRule, rows []frame.Row, asOf time.Time) {
	days := make([]float64, len(rows))
	for i, row := range rows {
		days[i] = row.Number(r.Metric)
	}
	for i, row := range slices.Backward(rows) {
		begin := row.Time().In(c.zone)
		if begin.After(asOf) {
			continue
		}
		end := timezone.AddDays(begin, 1)
		isOver := !end.After(asOf)
		if isOver && end.Before(r.CreatedAt) {
			return
		}
		f := fact{rule: r, link: r.GenericLinkID, value: int64(days[i]), since: begin}
		bounds, ok := Range{Low: math.Inf(-1), High: math.Inf(1)}, true
		switch {
		case r.Kind == kindRange:
			bounds, ok = UsualDay(days, i)
			f.usual = &bounds
		case r.Threshold == nil:
			ok = false
		case r.Kind == kindAbove:
			bounds.High = float64(*r.Threshold)
		default:
			bounds.Low = float64(*r.Threshold)
		}
		switch {
		case !ok:
		case days[i] > bounds.High:
			f.direction = kindAbove
			c.add(f)
		case isOver && days[i] < bounds.Low:
			f.direction = kindBelow
			c.add(f)
		}
		if isOver {
			return
		}
	}
}

// add adds a fact, unless the day before it is one already.
func (c *check) add(f fact) {
	k := keyOf(f.rule.ID, f.link, f.direction)
	if !slices.ContainsFunc(c.facts, func(o fact) bool { return keyOf(o.rule.ID, o.link, o.direction) == k }) {
		f.pages = []string{} // not null where it is written
		c.facts = append(c.facts, f)
	}
}

// findSilent looks for silent pages among those with enough visits, and among those that are silent
// already.
func (c *check) findSilent(ctx context.Context, r store.AlertRule, rows []frame.Row) error {
	since := map[uuid.UUID]time.Time{} // of the alerts that are open
	var pages []uuid.UUID
	for _, o := range c.open {
		if o.RuleID == r.ID && o.GenericLinkID != nil {
			since[*o.GenericLinkID] = o.Since
			pages = append(pages, *o.GenericLinkID)
		}
	}
	for _, row := range rows {
		id, err := uuid.Parse(row.Text(byLink)) // forms of links that were deleted have none
		if err == nil && row.Number(r.Metric) >= minTotal && !slices.Contains(pages, id) {
			pages = append(pages, id)
		}
	}
	pages = pages[:min(len(pages), maxPages)]
	err := c.deps.Postgres.AccountSnapshot(ctx, c.account, func(tx pgx.Tx) (err error) {
		pages, err = store.New(tx).WatchedLinks(ctx, store.WatchedLinksParams{IDs: pages, Now: c.now})
		return err
	})
	if err != nil {
		return fmt.Errorf("read pages: %w", err)
	}
	for some := range slices.Chunk(pages, pagesAsked) {
		if err := c.listen(ctx, r, some, since); err != nil {
			return err
		}
	}
	return nil
}

// listen looks which pages are silent. One that was silent already stays so until something comes.
func (c *check) listen(ctx context.Context, r store.AlertRule, pages []uuid.UUID, since map[uuid.UUID]time.Time) error {
	q := c.question(r)
	q.Interval, q.Limit, q.Filters = "hour", len(pages), map[string][]any{}
	for _, id := range pages {
		q.Filters[byLink] = append(q.Filters[byLink], id)
	}
	answers, err := c.deps.Numbers.Ask(ctx, c.account, []frame.Query{q})
	if err != nil {
		return err
	}
	hours := map[string][]Hour{}
	var until time.Time // the beginning of the hour that is not over
	for _, row := range answers.Of(q.ID).Rows {
		h := Hour{row.Time().In(c.zone), row.Number(r.Metric)}
		if h.Start.After(answers.AsOf) {
			continue
		}
		if h.Start.After(until) {
			until = h.Start
		}
		hours[row.Text(byLink)] = append(hours[row.Text(byLink)], h)
	}
	for _, id := range pages {
		list := hours[id.String()]
		heard, usual, silent := Silence(list, until)
		if was, isOpen := since[id]; isOpen {
			came := func(h Hour) bool { return h.Count > 0 && !h.Start.Before(was) }
			silent = !slices.ContainsFunc(list, came)
			heard = was
		} else if silent {
			if heard, err = c.lastMinute(ctx, r, id, heard); err != nil {
				return err
			}
		}
		if silent {
			c.add(fact{rule: r, link: &id, direction: kindSilent, usual: &usual, since: heard})
		}
	}
	return nil
}

// lastMinute returns the minute of the last visit before the end of an hour with visits, if it is
// known; else that end.
func (c *check) lastMinute(ctx context.Context, r store.AlertRule, page uuid.UUID, end time.Time) (time.Time, error) {
	if r.Metric != visitors {
		return end, nil
	}
	minute, err := store.New(c.deps.Postgres.Unscoped()).LastMinuteOfLink(ctx,
		store.LastMinuteOfLinkParams{AccountID: c.account, LinkID: page, Before: end})
	if err != nil {
		return end, fmt.Errorf("read the last view of a page: %w", err)
	}
	if end.Sub(minute) > time.Hour {
		return end, nil
	}
	return minute, nil
}

// record writes down what begins and what is over, unless another process was faster. The
// transaction is the account's and has taken it.
func (c *check) record(ctx context.Context, tx pgx.Tx, due time.Time) error {
	q := store.New(tx)
	rules, err := q.TakeAlertRules(ctx, due)
	if err != nil {
		return fmt.Errorf("take rules: %w", err)
	}
	rules = slices.DeleteFunc(rules, func(id uuid.UUID) bool { return !slices.Contains(c.rules, id) })
	if len(rules) == 0 {
		return nil
	}
	var over []uuid.UUID
	isOpen, holds := map[key]bool{}, map[key]bool{}
	for _, f := range c.facts {
		holds[keyOf(f.rule.ID, f.link, f.direction)] = true
	}
	for _, o := range c.open {
		k := keyOf(o.RuleID, o.GenericLinkID, o.Direction)
		if isOpen[k] = true; !holds[k] {
			over = append(over, o.ID)
		}
	}
	if err := q.EndAlerts(ctx, store.EndAlertsParams{At: c.now, IDs: over}); err != nil {
		return fmt.Errorf("end alerts: %w", err)
	}
	var events []webhook.AlertStarted
	for _, f := range c.facts {
		if isOpen[keyOf(f.rule.ID, f.link, f.direction)] || !slices.Contains(rules, f.rule.ID) {
			continue
		}
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make id: %w", err)
		}
		row := store.InsertAlertParams{ID: id, AccountID: c.account, RuleID: f.rule.ID, GenericLinkID: f.link,
			Direction: f.direction, Value: f.value, Since: f.since, CreatedAt: c.now, Pages: f.pages}
		row.UsualLow, row.UsualHigh = f.bounds()
		added, err := q.InsertAlert(ctx, row)
		if err != nil {
			return fmt.Errorf("insert alert: %w", err)
		}
		if added > 0 {
			events = append(events, event(id, f))
		}
	}
	if err := webhook.Emit(ctx, tx, c.deps.Tokens, c.account, events...); err != nil {
		return err
	}
	if err := q.SetAlertRulesChecked(ctx, store.SetAlertRulesCheckedParams{At: c.now, IDs: rules}); err != nil {
		return fmt.Errorf("mark rules as checked: %w", err)
	}
	return q.PruneAlerts(ctx, c.now.Add(-keep))
}
