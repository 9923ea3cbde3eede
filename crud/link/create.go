package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/crud/web"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/locale"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

type createInput struct {
	Body newGenericLink
}

type newGenericLink struct {
	LeadMagnetID        string               `json:"lead_magnet_id" doc:"Lead magnet that the page offers."`
	Slug                *string              `json:"slug" required:"false" minLength:"3" maxLength:"64" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"3 to 64 characters of a-z, 0-9 and -, without a - at an end or two in a row" doc:"Last part of the URL; made of the title if omitted."`
	Name                *string              `json:"name" required:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"What you call the link. Its page does not show it."`
	Title               *string              `json:"title" required:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Headline of the page."`
	HeadlineB           *string              `json:"headline_b" required:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"A second headline, which half of the visitors see."`
	Description         *string              `json:"description" required:"false" maxLength:"5000" format:"text" doc:"Description on the page."`
	CollectName         bool                 `json:"collect_name" required:"false" default:"false" doc:"Whether the form asks for a name."`
	RequireVerification bool                 `json:"require_verification" required:"false" default:"false" doc:"Whether the email address must be verified."`
	ThumbnailURL        *string              `json:"thumbnail_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/cover.png" doc:"http or https URL of the thumbnail image."`
	ButtonText          *string              `json:"button_text" required:"false" minLength:"1" maxLength:"40" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 40 characters, not only blanks" doc:"Label of the form's button; the default describes the action."`
	ConsentText         *string              `json:"consent_text" required:"false" minLength:"1" maxLength:"1000" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 1000 characters, not only blanks" doc:"Text that a visitor must agree to, shown next to a box to tick."`
	PrivacyURL          *string              `json:"privacy_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/privacy" doc:"http or https URL of the privacy notice."`
	Language            *locale.Language     `json:"language" required:"false" doc:"Language of the page and of its mails; null for the account's language, or the visitor's if the account has none."`
	ShowContents        *bool                `json:"show_contents" required:"false" nullable:"false" doc:"Whether the page shows the document's table of contents; true by default."`
	ShowPages           *bool                `json:"show_pages" required:"false" nullable:"false" doc:"Whether the page shows blurred pictures of inside pages; true by default."`
	ShowReaders         bool                 `json:"show_readers" required:"false" default:"false" doc:"Whether the page shows how many people have read the document, once there are ten."`
	RedirectURL         *string              `json:"redirect_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/thanks" doc:"http or https URL that the form leads to instead of the document. The document's link then comes by mail."`
	ReadingNotices      *notices             `json:"reading_notices" required:"false" doc:"When the owner gets mails about readers who came through the page; null for the account's setting."`
	ExpiresAt           *string              `json:"expires_at" required:"false" format:"date-time" doc:"When the page closes (ISO 8601, in the future); null for never."`
	AccessDays          *int32               `json:"access_expires_after_days" required:"false" minimum:"1" maximum:"3650" doc:"Days for which personal links created by the form work; null for no end."`
	Fields              field.List           `json:"fields" required:"false" nullable:"false" maxItems:"12" doc:"Fields of the form beside the address and the name, in their order; at most 12."`
	AllowedOrigins      []string             `json:"allowed_origins" required:"false" nullable:"false" maxItems:"20" doc:"Origins of your own pages that may show the form, such as https://www.example.com."`
	Gate                *gate.LinkGateChange `json:"gate" required:"false" nullable:"false" doc:"Who may read through the page."`
}

const redirectURL = "redirect_url"

// address is a field that holds a URL, nil if it is not given.
type address struct {
	field   string
	value   *string
	example string
}

func (b newGenericLink) addresses() []address {
	return addresses(b.ThumbnailURL, b.PrivacyURL, b.RedirectURL)
}

func addresses(thumbnail, privacy, redirect *string) []address {
	return []address{
		{"thumbnail_url", thumbnail, "https://example.com/cover.png"},
		{"privacy_url", privacy, "https://example.com/privacy"},
		{redirectURL, redirect, "https://example.com/thanks"},
	}
}

// check returns what the schema cannot tell.
func check(slug *string, addresses []address, fields field.List, g *gate.LinkGateChange) error {
	wrong := append(fields.Check(), g.Check()...)
	if slug != nil && reserved(*slug) {
		wrong = append(wrong, problem.Field{Field: "slug", Message: slugReserved})
	}
	for _, a := range addresses {
		if a.value == nil {
			continue
		}
		message := web.CheckURL(*a.value, a.example)
		if message == "" && a.field == redirectURL &&
			web.Origin(*a.value) == "" { // the browser's policy has to name where a form leads
			message = "must have a host that a browser's policy can name, as " + a.example + " has"
		}
		if message != "" {
			wrong = append(wrong, problem.Field{Field: a.field, Message: message})
		}
	}
	if wrong != nil {
		return problem.Invalid(wrong...)
	}
	return nil
}

// expiry reads expires_at, which may be nil, and refuses what the schema cannot tell.
func expiry(text *string) (*time.Time, error) {
	if text == nil {
		return nil, nil
	}
	at, err := jsonschema.ParseTime(*text)
	switch {
	case err != nil:
		return nil, problem.Invalid(problem.Field{Field: "expires_at", Message: err.Error()})
	case !at.After(time.Now()):
		return nil, problem.Invalid(problem.Field{Field: "expires_at", Message: "must be in the future"})
	}
	return &at, nil
}

func (l *Links) create(ctx context.Context, in *createInput) (*api.Answer[GenericLink], error) {
	if err := check(in.Body.Slug, in.Body.addresses(), in.Body.Fields, in.Body.Gate); err != nil {
		return nil, err
	}
	expiresAt, err := expiry(in.Body.ExpiresAt)
	if err != nil {
		return nil, err
	}
	origins, err := checkOrigins(in.Body.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	in.Body.AllowedOrigins = append([]string{}, origins...)
	passcode, err := in.Body.Gate.HashPasscode(ctx, l.passwords)
	if err != nil {
		return nil, err
	}
	caller := auth.From(ctx)
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("create generic link: %w", err)
	}
	auth.RecordCreated(ctx, id)
	var created, whole GenericLink
	var revision int64
	err = l.deps.Postgres.Account(ctx, caller.AccountID, func(tx pgx.Tx) (err error) {
		magnetID, ok := jsonschema.ParseUUID(in.Body.LeadMagnetID)
		var offered store.LeadMagnet
		if ok {
			offered, err = store.New(tx).ShareMagnet(ctx, magnetID)
		}
		if !ok || errors.Is(err, pgx.ErrNoRows) {
			return problem.New(problem.InvalidLeadMagnet, "lead_magnet_id names no lead magnet of this account.",
				problem.Field{Field: "lead_magnet_id", Message: "names no lead magnet of this account"})
		}
		if err != nil {
			return fmt.Errorf("read lead magnet: %w", err)
		}
		if !offered.IsActive {
			return problem.New(problem.Conflict, inactiveMagnet)
		}
		if err := checkWatermark(ctx, store.New(tx), in.Body.Gate, offered.ID); err != nil {
			return err
		}
		if err := account.Reserve(ctx, tx, l.plans, account.GenericLinks, 1); err != nil {
			return err
		}
		row, err := insert(ctx, tx, caller.AccountID, id, offered, in.Body, expiresAt, passcode)
		if err != nil {
			return err
		}
		revision = row.Revision
		if created, err = l.show(ctx, tx, row); err != nil {
			return err
		}
		whole, err = created.whole(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create generic link: %w", err)
	}
	return api.Created(path+"/"+id.String(), created).At(revision).Of(whole), nil
}

// insert adds the link under the slug asked for, or under the first free one of our making.
func insert(ctx context.Context, tx pgx.Tx, owner, id uuid.UUID, offered store.LeadMagnet, b newGenericLink,
	expiresAt *time.Time, passcode *string) (store.GenericLink, error) {
	fields, err := append(field.List{}, b.Fields...).Encode()
	if err != nil {
		return store.GenericLink{}, err
	}
	asked := gate.LinkGateChange{}
	if b.Gate != nil {
		asked = *b.Gate
	}
	agreementTitle, agreement := asked.Text()
	title := offered.Title
	if b.Title != nil {
		title = *b.Title
	}
	slugs := slugsOf(title)
	if b.Slug != nil {
		slugs = []string{*b.Slug}
	}
	for _, slug := range slugs {
		row, err := store.New(tx).InsertLink(ctx, store.InsertLinkParams{
			ID: id, AccountID: owner, LeadMagnetID: offered.ID, Slug: slug, Name: b.Name, Title: b.Title,
			HeadlineB: b.HeadlineB, Description: b.Description, ThumbnailURL: b.ThumbnailURL,
			CollectName: b.CollectName, RequireVerification: b.RequireVerification,
			ButtonText: b.ButtonText, ConsentText: b.ConsentText, PrivacyURL: b.PrivacyURL, RedirectURL: b.RedirectURL,
			Language: (*string)(b.Language), ShowContents: b.ShowContents == nil || *b.ShowContents,
			ShowPages: b.ShowPages == nil || *b.ShowPages, ShowReaders: b.ShowReaders,
			Fields: fields, AllowedOrigins: b.AllowedOrigins, ReadingNotices: (*string)(b.ReadingNotices),
			ExpiresAt: expiresAt, AccessDays: b.AccessDays,
			AllowedEmails: append([]string{}, asked.Allow...), BlockedEmails: append([]string{}, asked.Block...),
			MaxPeople: asked.MaxPeople.Value, PasscodeHash: passcode, AgreementTitle: agreementTitle, AgreementText: agreement,
			Watermark: asked.Watermark != nil && *asked.Watermark,
		})
		if err == nil {
			return row, nil
		}
		if b.Slug != nil && (errors.Is(err, pgx.ErrNoRows) || postgres.IsUniqueViolation(err, "generic_links_slug")) {
			return store.GenericLink{}, slugTaken(*b.Slug, "choose another one, or leave it out")
		}
		if !errors.Is(err, pgx.ErrNoRows) {
			return store.GenericLink{}, fmt.Errorf("insert generic link: %w", err)
		}
	}
	return store.GenericLink{}, errNoSlug
}

const inactiveMagnet = "The lead magnet is not active: activate it before creating links to it."

var errNoSlug = errors.New("found no free slug")

func slugTaken(slug, remedy string) error {
	return problem.New(problem.SlugTaken, "The slug "+slug+" is already in use: "+remedy+".",
		problem.Field{Field: "slug", Message: "is already in use"})
}
