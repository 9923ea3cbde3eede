package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/locale"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
	"lodestone/pkg/timezone"
)

// Account is an account as the API shows it to itself.
type Account struct {
	ID     uuid.UUID `json:"id" format:"uuid" doc:"Unique identifier."`
	Name   string    `json:"name" doc:"Name of the account."`
	Plan   Plan      `json:"plan" doc:"Plan of the account."`
	Limits Allowance `json:"limits" doc:"Limits of the account."`
	Usage  Usage     `json:"usage" doc:"Usage of the account."`

	NotifyEmail    *string          `json:"notify_email" doc:"Address for mails about new leads, readers and disabled webhooks, and for the weekly report; null if no mails are sent."`
	Confirmed      bool             `json:"notify_email_confirmed" doc:"Whether the owner of notify_email agreed to get mails. Until then, it gets only the mail that asks for consent."`
	Notify         notify           `json:"notify" doc:"When mails about leads are sent: for each lead, once a day (after 05:00 in the account's time zone, about the previous day), or never. Mails about disabled webhooks are sent immediately, unless it is none."`
	Readings       notify           `json:"reading_notices" doc:"When mails are sent about readers who opened a document for the first time, finished it, downloaded it or came back after a day: when the visit is over, once a day, or never. A generic link can have its own setting."`
	Weekly         bool             `json:"weekly_report" doc:"Whether a report about the past week is sent to notify_email on Mondays, after 07:00 in the account's time zone. If the address belongs to one of the account's people, their own setting decides."`
	Alerts         bool             `json:"alert_notices" doc:"Whether alerts are sent to notify_email."`
	QuietFrom      *string          `json:"quiet_from" doc:"Local time, such as 22:00, from which notices of alerts wait; null for no quiet hours."`
	QuietUntil     *string          `json:"quiet_until" doc:"Local time at which they are sent, as one notice; null for no quiet hours."`
	BrandColor     *string          `json:"brand_color" doc:"Accent colour of the account's pages, as #rrggbb; null for the default. Pages darken or lighten it if its contrast is too low."`
	BrandFont      font             `json:"brand_font" doc:"Typeface of the account's pages: the visitor's system font, or Inter, which the pages load."`
	Language       *locale.Language `json:"language" doc:"Language of the account's pages and mails; null for each visitor's language, and English in mails to the owner."`
	Timezone       string           `json:"timezone" doc:"Time zone of the account, as its IANA name. Mails to the owner use it."`
	OpenStatuses   []string         `json:"open_statuses" nullable:"false" doc:"What a person's status can be, in the account's own words. The first is that of people who have none."`
	ClosedStatuses []string         `json:"closed_statuses" nullable:"false" doc:"More words for a status, of people whom no one has to call any more."`
	LeftOut        []suspect.Rule   `json:"left_out_suspects" nullable:"false" doc:"Rules whose suspected sessions the account's numbers leave out. All others are counted."`
	CreatedAt      api.Time         `json:"created_at" doc:"When it was created."`
}

// Allowance is how many things an account may have; nil is any number.
type Allowance struct {
	LeadMagnets  *int64 `json:"lead_magnets" doc:"Lead magnets that the plan allows; null for no limit."`
	StoredBytes  *int64 `json:"stored_bytes" doc:"Maximum total size of the files in bytes; null for no limit."`
	GenericLinks *int64 `json:"generic_links" doc:"Generic links that the plan allows; null for no limit."`
	AccessLinks  *int64 `json:"access_links" doc:"Number of access links above which keys cannot create more; null for no limit."`
	Keys         int64  `json:"keys" doc:"Working API keys."`

	EventsPerMonth *int64 `json:"events_per_month" doc:"Events that the plan allows per calendar month (UTC); null for no limit."`
}

// Usage is how many things an account has.
type Usage struct {
	LeadMagnets  int64 `json:"lead_magnets" doc:"Lead magnets."`
	StoredBytes  int64 `json:"stored_bytes" doc:"Total size of their files in bytes, including replaced versions that are still being read."`
	GenericLinks int64 `json:"generic_links" doc:"Generic links, active or not."`
	AccessLinks  int64 `json:"access_links" doc:"Access links, active or not."`
	Keys         int64 `json:"keys" doc:"Working API keys."`

	EventsThisMonth int64 `json:"events_this_month" doc:"Events stored in this calendar month (UTC), as of the last count, which is less than a minute old."`
}

type noInput struct{}

func (s *Self) get(ctx context.Context, _ *noInput) (*api.Answer[Account], error) {
	var shown Account
	err := s.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := store.New(tx).OwnAccount(ctx)
		if err != nil {
			return err
		}
		shown, err = s.show(ctx, tx, row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("get account: %w", err)
	}
	return api.OK(shown), nil
}

func (s *Self) show(ctx context.Context, tx pgx.Tx, row store.Account) (Account, error) {
	usage, err := store.New(tx).CountUsage(ctx)
	if err != nil {
		return Account{}, err
	}
	events, err := store.New(tx).EventUsage(ctx)
	if err != nil {
		return Account{}, err
	}
	shown := Account{
		ID: row.ID, Name: row.Name, Plan: Plan(row.Plan), CreatedAt: api.TimeOf(row.CreatedAt),
		NotifyEmail: row.NotifyEmail, Confirmed: row.NotifyEmail != nil && row.NotifyConfirmedAt != nil,
		Notify: notify(row.Notify), Readings: notify(row.ReadingNotices),
		Weekly: row.WeeklyReport, Alerts: row.AlertNotices, QuietFrom: row.QuietFrom, QuietUntil: row.QuietUntil,
		BrandColor: row.BrandColor,
		BrandFont:  font(row.BrandFont), Language: (*locale.Language)(row.Language), Timezone: row.Timezone,
		OpenStatuses: row.OpenStatuses, ClosedStatuses: row.ClosedStatuses, LeftOut: rulesOf(row.LeftOutSuspects),
		Limits: allowanceOf(limitsOf(s.plans, Plan(row.Plan))),
		Usage: Usage{
			LeadMagnets: usage.LeadMagnets, StoredBytes: usage.StoredBytes, GenericLinks: usage.GenericLinks,
			AccessLinks: usage.AccessLinks, Keys: usage.Keys,
			EventsThisMonth: events.Events,
		},
	}
	if events.EventLimit > 0 {
		shown.Limits.EventsPerMonth = &events.EventLimit
	}
	return shown, nil
}

// Confirmer asks whoever reads an address to agree to notices; it is implemented by notice.Notices.
type Confirmer interface {
	// Check returns an error that says which addresses mails can be sent to, if this is none.
	Check(ctx context.Context, to email.Address) error
	// MayAsk counts a question, and returns how long it has to wait.
	MayAsk(ctx context.Context, account uuid.UUID, to email.Address) (wait time.Duration, err error)
	// Ask has the question sent once the transaction, which is the account's, commits.
	Ask(ctx context.Context, tx pgx.Tx, account uuid.UUID, to string) error
}

// mayAsk refuses a change to an address that would be asked too often.
func (s *Self) mayAsk(ctx context.Context, to email.Address) error {
	id := auth.From(ctx).AccountID
	confirmed := false
	err := s.deps.Postgres.AccountSnapshot(ctx, id, func(tx pgx.Tx) error {
		row, err := store.New(tx).OwnAccount(ctx)
		confirmed = err == nil && row.NotifyConfirmedAt != nil && row.NotifyEmail != nil && *row.NotifyEmail == to.Text
		return err
	})
	if err != nil {
		return fmt.Errorf("read account: %w", err)
	}
	if confirmed {
		return nil
	}
	wait, err := s.deps.Confirmer.MayAsk(ctx, id, to)
	if err != nil {
		return fmt.Errorf("change account: %w", err)
	}
	if wait > 0 {
		return problem.New(problem.RateLimited,
			"notify_email would be sent too many mails that ask to confirm it. Wait for the time that Retry-After gives, in seconds.").RetryAfter(wait)
	}
	return nil
}

// notify is when an account is sent mails about new leads, or about readers.
type notify string

// EnumValues implements jsonschema.Enum.
func (notify) EnumValues() []string { return []string{"each", "daily", "none"} }

// font is the typeface of an account's pages.
type font string

// EnumValues implements jsonschema.Enum.
func (font) EnumValues() []string { return []string{"system", "inter"} }

type updateInput struct {
	Body changedAccount
}

type changedAccount struct {
	Name           *string                     `json:"name" required:"false" nullable:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"Name of the account. Its pages and mails show it."`
	BrandFont      *font                       `json:"brand_font" required:"false" nullable:"false" doc:"Typeface of the account's pages."`
	Language       api.Change[locale.Language] `json:"language" required:"false" doc:"Language of the account's pages and mails; null for each visitor's language, and English in mails to the owner."`
	Timezone       *string                     `json:"timezone" required:"false" nullable:"false" minLength:"1" maxLength:"64" doc:"Time zone of the account, as its IANA name, such as Europe/Berlin."`
	OpenStatuses   []string                    `json:"open_statuses" required:"false" nullable:"false" minItems:"1" maxItems:"12" minLength:"1" maxLength:"40" pattern:"\\S" patternDescription:"a text of 1 to 40 characters, not only blanks" doc:"Words for the status of a person, the first of which is that of people who have none. People with a word that is no longer listed keep it."`
	ClosedStatuses []string                    `json:"closed_statuses" required:"false" nullable:"false" maxItems:"12" minLength:"1" maxLength:"40" pattern:"\\S" patternDescription:"a text of 1 to 40 characters, not only blanks" doc:"More words, of people whom no one has to call any more."`
	LeftOut        []suspect.Rule              `json:"left_out_suspects" required:"false" nullable:"false" maxItems:"4" doc:"Rules whose suspected sessions are left out of reports, lists of people and summaries, also of the past; [] to count all."`
	NotifyEmail    api.Change[string]          `json:"notify_email" required:"false" format:"email" maxLength:"254" doc:"Address for mails about new leads, readers, weeks and disabled webhooks, once it is confirmed. A mail asks for the confirmation; set the same address again to repeat that mail. null: no notices."`
	Notify         *notify                     `json:"notify" required:"false" nullable:"false" doc:"When mails about leads are sent."`
	Readings       *notify                     `json:"reading_notices" required:"false" nullable:"false" doc:"When mails about readers are sent."`
	Weekly         *bool                       `json:"weekly_report" required:"false" nullable:"false" doc:"Whether the weekly report is sent to notify_email."`
	Alerts         *bool                       `json:"alert_notices" required:"false" nullable:"false" doc:"Whether alerts are sent to notify_email."`
	QuietFrom      api.Change[string]          `json:"quiet_from" required:"false" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of the day, such as 22:00" doc:"Local time from which notices of alerts wait. Give quiet_until as well; null in both for no quiet hours."`
	QuietUntil     api.Change[string]          `json:"quiet_until" required:"false" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" patternDescription:"a time of the day, such as 07:00" doc:"Local time at which they are sent. Before quiet_from, it is on the next day."`
	BrandColor     api.Change[string]          `json:"brand_color" required:"false" pattern:"^#[0-9a-fA-F]{6}$" patternDescription:"a colour, such as #2f5bd0" doc:"Accent colour of the account's pages; null for the default."`
}

// checkQuiet returns the problem of quiet hours without a beginning, an end, or time between
// them.
func (b changedAccount) checkQuiet() error {
	from, until := b.QuietFrom, b.QuietUntil
	switch {
	case from.Given != until.Given || (from.Value == nil) != (until.Value == nil):
		return problem.Invalid(problem.Field{Field: "quiet_until", Message: "must be given together with quiet_from: two times, or null in both"})
	case from.Value != nil && *from.Value == *until.Value:
		return problem.Invalid(problem.Field{Field: "quiet_until", Message: "must be another time than quiet_from"})
	}
	return nil
}

func (s *Self) update(ctx context.Context, in *updateInput) (*api.Answer[Account], error) {
	b := in.Body
	if b.NotifyEmail.Given { // mails about leads go there
		if err := auth.From(ctx).Require(auth.Leads); err != nil {
			return nil, err
		}
	}
	if b.NotifyEmail.Value != nil {
		address, err := email.Parse(*b.NotifyEmail.Value)
		if err == nil {
			err = s.deps.Confirmer.Check(ctx, address)
		}
		if err != nil {
			return nil, problem.Invalid(problem.Field{Field: "notify_email", Message: err.Error()})
		}
		b.NotifyEmail.Value = &address.Text
		if err := s.mayAsk(ctx, address); err != nil {
			return nil, err
		}
	}
	if err := b.checkQuiet(); err != nil {
		return nil, err
	}
	if b.Timezone != nil {
		if _, err := timezone.Load(*b.Timezone); err != nil {
			return nil, problem.Invalid(problem.Field{Field: "timezone",
				Message: "must be the IANA name of a time zone, such as Europe/Berlin"})
		}
	}
	for _, words := range [][]string{b.OpenStatuses, b.ClosedStatuses} {
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
	}
	if b.Name != nil {
		trimmed := strings.TrimSpace(*b.Name)
		b.Name = &trimmed
	}
	if b.BrandColor.Value != nil {
		lower := strings.ToLower(*b.BrandColor.Value)
		b.BrandColor.Value = &lower
	}
	var shown Account
	err := s.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := store.New(tx).UpdateAccount(ctx, store.UpdateAccountParams{
			Notify: (*string)(b.Notify), ReadingNotices: (*string)(b.Readings), WeeklyReport: b.Weekly,
			AlertNotices: b.Alerts, SetQuiet: b.QuietFrom.Given, QuietFrom: b.QuietFrom.Value, QuietUntil: b.QuietUntil.Value,
			SetNotifyEmail: b.NotifyEmail.Given, NotifyEmail: b.NotifyEmail.Value,
			SetBrandColor: b.BrandColor.Given, BrandColor: b.BrandColor.Value,
			Name: b.Name, BrandFont: (*string)(b.BrandFont), SetLanguage: b.Language.Given,
			Language: (*string)(b.Language.Value), Timezone: b.Timezone,
			OpenStatuses: b.OpenStatuses, ClosedStatuses: b.ClosedStatuses, LeftOutSuspects: textsOf(b.LeftOut),
		})
		if err != nil {
			return err
		}
		if word := repeated(slices.Concat(row.OpenStatuses, row.ClosedStatuses)); word != "" {
			field := "open_statuses"
			if b.OpenStatuses == nil {
				field = "closed_statuses"
			}
			return problem.Invalid(problem.Field{Field: field,
				Message: fmt.Sprintf("must have each word once, also beside the other list: %q is there twice", word)})
		}
		if b.NotifyEmail.Value != nil && row.NotifyConfirmedAt == nil {
			if err := s.deps.Confirmer.Ask(ctx, tx, row.ID, *b.NotifyEmail.Value); err != nil {
				return err
			}
		}
		shown, err = s.show(ctx, tx, row)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("change account: %w", err)
	}
	return api.OK(shown), nil
}

// rulesOf returns rules by their names, in the order of all rules.
func rulesOf(names []string) []suspect.Rule {
	return slices.DeleteFunc(suspect.Rules(), func(r suspect.Rule) bool { return !slices.Contains(names, string(r)) })
}

// textsOf returns the names of rules; nil is nil, which changes nothing.
func textsOf(rules []suspect.Rule) []string {
	if rules == nil {
		return nil
	}
	names := make([]string, len(rules))
	for i, r := range rules {
		names[i] = string(r)
	}
	return names
}

// repeated returns a word of a list that it has twice, in whatever case; "" if it has none.
func repeated(words []string) string {
	seen := map[string]bool{}
	for _, word := range words {
		lower := strings.ToLower(word)
		if seen[lower] {
			return word
		}
		seen[lower] = true
	}
	return ""
}

// getKey shows a key that works, as the list does.
func (s *Self) getKey(ctx context.Context, in *keyInput) (*api.Answer[APIKey], error) {
	var row store.GetKeyRow
	err := s.deps.Postgres.AccountSnapshot(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).GetKey(ctx, in.ID)
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) || err == nil && (row.RevokedAt != nil || row.ExpiresAt != nil &&
		!row.ExpiresAt.After(time.Now())) {
		return nil, problem.Missing("working key")
	}
	if err != nil {
		return nil, fmt.Errorf("get key: %w", err)
	}
	return api.OK(APIKey{
		ID: row.ID, Name: row.Name, Prefix: row.Prefix, Scopes: scopesOf(row.Scopes), CreatedBy: row.CreatedBy,
		CreatedAt: api.TimeOf(row.CreatedAt), ExpiresAt: api.OptionalTime(row.ExpiresAt),
		LastUsedAt: api.OptionalTime(row.LastUsedAt),
	}), nil
}
