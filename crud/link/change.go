package link

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/field"
	"lodestone/crud/gate"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/locale"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

// deleteTimeout bounds a deletion, which may take hundreds of thousands of submissions with it.
const deleteTimeout = 5 * time.Minute

type updateInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
	api.Precondition
	Body changedGenericLink
}

type changedGenericLink struct {
	Slug                *string                     `json:"slug" required:"false" nullable:"false" minLength:"3" maxLength:"64" pattern:"^[a-z0-9]+(-[a-z0-9]+)*$" patternDescription:"3 to 64 characters of a-z, 0-9 and -, without a - at an end or two in a row" doc:"Last part of the URL. The previous URL stops working; no other account can take it."`
	Name                api.Change[string]          `json:"name" required:"false" minLength:"1" maxLength:"100" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 100 characters, not only blanks" doc:"What you call the link; null clears it."`
	Title               api.Change[string]          `json:"title" required:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"Headline of the page; null clears it."`
	HeadlineB           api.Change[string]          `json:"headline_b" required:"false" minLength:"1" maxLength:"200" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 200 characters, not only blanks" doc:"A second headline, which half of the visitors see; null ends the comparison. A change of either headline starts it again."`
	Description         api.Change[string]          `json:"description" required:"false" maxLength:"5000" format:"text" doc:"Description on the page; null clears it."`
	CollectName         *bool                       `json:"collect_name" required:"false" nullable:"false" doc:"Whether the form asks for a name."`
	RequireVerification *bool                       `json:"require_verification" required:"false" nullable:"false" doc:"Whether the email address must be verified."`
	ThumbnailURL        api.Change[string]          `json:"thumbnail_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/cover.png" doc:"http or https URL of the thumbnail image; null clears it."`
	Active              *bool                       `json:"active" required:"false" nullable:"false" doc:"Whether the page is open. Opening an archived link brings it back."`
	Archived            *bool                       `json:"archived" required:"false" nullable:"false" doc:"true closes the page and takes the link out of lists; false brings it back, with the page closed until active is true."`
	ButtonText          api.Change[string]          `json:"button_text" required:"false" minLength:"1" maxLength:"40" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 40 characters, not only blanks" doc:"Label of the form's button; null for the default, which describes the action."`
	ConsentText         api.Change[string]          `json:"consent_text" required:"false" minLength:"1" maxLength:"1000" pattern:"[^\\s\u00a0\u00ad\u034f\u115f\u1160\u1680\u2000-\u200f\u202a-\u202f\u205f-\u206f\u2800\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0]" patternDescription:"a text of 1 to 1000 characters, not only blanks" doc:"Text that a visitor must agree to; null removes it."`
	PrivacyURL          api.Change[string]          `json:"privacy_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/privacy" doc:"http or https URL of the privacy notice; null clears it."`
	Language            api.Change[locale.Language] `json:"language" required:"false" doc:"Language of the page and of its mails; null for the account's language, or the visitor's if the account has none."`
	ShowContents        *bool                       `json:"show_contents" required:"false" nullable:"false" doc:"Whether the page shows the document's table of contents."`
	ShowPages           *bool                       `json:"show_pages" required:"false" nullable:"false" doc:"Whether the page shows blurred pictures of inside pages."`
	ShowReaders         *bool                       `json:"show_readers" required:"false" nullable:"false" doc:"Whether the page shows how many people have read the document, once there are ten."`
	RedirectURL         api.Change[string]          `json:"redirect_url" required:"false" maxLength:"2048" pattern:"^[Hh][Tt][Tt][Pp][Ss]?://[^/?#\\s]" patternDescription:"a full http or https URL, such as https://example.com/thanks" doc:"http or https URL that the form leads to; null leads to the document."`
	ReadingNotices      api.Change[notices]         `json:"reading_notices" required:"false" doc:"When the owner gets mails about readers who came through the page; null for the account's setting."`
	ExpiresAt           api.Change[string]          `json:"expires_at" required:"false" format:"date-time" doc:"When the page closes (ISO 8601, in the future); null for never."`
	AccessDays          api.Change[int32]           `json:"access_expires_after_days" required:"false" minimum:"1" maximum:"3650" doc:"Days for which personal links created by the form from now on work; null for no end."`
	Fields              field.List                  `json:"fields" required:"false" nullable:"false" maxItems:"12" doc:"Fields of the form beside the address and the name, in their order; at most 12. The list replaces the present one; answers that were given stay."`
	AllowedOrigins      []string                    `json:"allowed_origins" required:"false" nullable:"false" maxItems:"20" doc:"Origins of your own pages that may show the form. An empty list allows none."`
	Gate                *gate.LinkGateChange        `json:"gate" required:"false" nullable:"false" doc:"Who may read through the page. What is left out of the object stays."`
}

func (l *Links) update(ctx context.Context, in *updateInput) (*api.Answer[GenericLink], error) {
	b := in.Body
	urls := addresses(b.ThumbnailURL.Value, b.PrivacyURL.Value, b.RedirectURL.Value)
	if err := check(b.Slug, urls, b.Fields, b.Gate); err != nil {
		return nil, err
	}
	if b.Active != nil && *b.Active && b.Archived != nil && *b.Archived {
		return nil, problem.Invalid(problem.Field{Field: "archived",
			Message: "cannot be true while active is: an archived link is closed"})
	}
	origins, err := checkOrigins(b.AllowedOrigins)
	if err != nil {
		return nil, err
	}
	in.Body.AllowedOrigins = origins
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	passcode, err := b.Gate.HashPasscode(ctx, l.passwords)
	if err != nil {
		return nil, err
	}
	var shown, whole GenericLink
	var revision int64
	err = l.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		row, err := l.change(ctx, tx, in, revisions, passcode)
		if err != nil {
			return err
		}
		revision = row.Revision
		if shown, err = l.show(ctx, tx, row); err != nil {
			return err
		}
		whole, err = shown.whole(ctx, tx)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("update generic link: %w", err)
	}
	return api.OK(shown).At(revision).Of(whole), nil
}

func (l *Links) change(ctx context.Context, tx pgx.Tx, in *updateInput,
	revisions []int64, passcode *string) (row store.GenericLink, err error) {
	b := in.Body
	expiresAt, err := expiry(b.ExpiresAt.Value)
	if err != nil {
		return row, err
	}
	if reflect.ValueOf(b).IsZero() {
		return unchanged(ctx, tx, in.ID, revisions)
	}
	keeps, err := l.keepsThumbnail(ctx, tx, in)
	if err != nil {
		return row, err
	}
	setThumbnail := b.ThumbnailURL.Given && !keeps
	thumbnail := b.ThumbnailURL.Value
	if keeps {
		thumbnail = nil
	}
	fields, err := b.Fields.Encode()
	if err != nil {
		return row, err
	}
	asked := gate.LinkGateChange{}
	if b.Gate != nil {
		asked = *b.Gate
	}
	agreementTitle, agreement := asked.Text()
	row, err = store.New(tx).UpdateLink(ctx, store.UpdateLinkParams{
		ID: in.ID, Revisions: revisions, Slug: b.Slug,
		SetName: b.Name.Given, Name: b.Name.Value,
		SetTitle: b.Title.Given, Title: b.Title.Value,
		SetHeadlineB: b.HeadlineB.Given, HeadlineB: b.HeadlineB.Value,
		SetDescription: b.Description.Given, Description: b.Description.Value,
		SetThumbnailURL: setThumbnail, ThumbnailURL: thumbnail,
		CollectName: b.CollectName, RequireVerification: b.RequireVerification, Active: b.Active, Archived: b.Archived,
		AllowedOrigins: b.AllowedOrigins, Fields: fields,
		SetButtonText: b.ButtonText.Given, ButtonText: b.ButtonText.Value,
		SetConsentText: b.ConsentText.Given, ConsentText: b.ConsentText.Value,
		SetPrivacyURL: b.PrivacyURL.Given, PrivacyURL: b.PrivacyURL.Value,
		SetLanguage: b.Language.Given, Language: (*string)(b.Language.Value), ShowContents: b.ShowContents,
		ShowPages: b.ShowPages, ShowReaders: b.ShowReaders,
		SetRedirectURL: b.RedirectURL.Given, RedirectURL: b.RedirectURL.Value,
		SetReadingNotices: b.ReadingNotices.Given, ReadingNotices: (*string)(b.ReadingNotices.Value),
		SetExpiresAt: b.ExpiresAt.Given, ExpiresAt: expiresAt, SetAccessDays: b.AccessDays.Given,
		AccessDays:    b.AccessDays.Value,
		AllowedEmails: asked.Allow, BlockedEmails: asked.Block,
		SetMaxPeople: asked.MaxPeople.Given, MaxPeople: asked.MaxPeople.Value,
		SetPasscode: asked.Passcode.Given, PasscodeHash: passcode,
		SetAgreement: asked.Agreement.Given, AgreementTitle: agreementTitle, AgreementText: agreement,
		Watermark: asked.Watermark,
	})
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return row, conflictOf(ctx, tx, in.ID)
	case postgres.IsUniqueViolation(err, "generic_links_slug"):
		return row, slugTaken(*b.Slug, "choose another one")
	}
	if err == nil {
		err = checkWatermark(ctx, store.New(tx), b.Gate, row.LeadMagnetID)
	}
	if err == nil && setThumbnail {
		err = store.New(tx).DeletePicturesOfLink(ctx, in.ID)
	}
	return row, err
}

// unchanged returns a link that nothing is to be changed of, if it is at one of the revisions.
func unchanged(ctx context.Context, tx pgx.Tx, id uuid.UUID, revisions []int64) (store.GenericLink, error) {
	row, err := Get(ctx, tx, id)
	if err == nil && !api.Matches(row.Revision, revisions) {
		err = problem.Stale("generic link")
	}
	return row, err
}

// conflictOf says why a statement that compares revisions found nothing to change.
func conflictOf(ctx context.Context, tx pgx.Tx, id uuid.UUID) error {
	if _, err := Get(ctx, tx, id); err != nil {
		return err
	}
	return problem.Stale("generic link")
}

type deleteInput struct {
	ID uuid.UUID `path:"id" doc:"Id of the generic link."`
	api.Precondition
}

func (l *Links) delete(ctx context.Context, in *deleteInput) (*api.Answer[api.Empty], error) {
	revisions, err := in.Revisions()
	if err != nil {
		return nil, err
	}
	err = l.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		revision, err := q.TakeLink(ctx, in.ID)
		if errors.Is(err, pgx.ErrNoRows) {
			return problem.Missing("generic link")
		}
		if err != nil {
			return fmt.Errorf("take generic link: %w", err)
		}
		if !api.Matches(revision, revisions) {
			return problem.Stale("generic link")
		}
		if err := q.DetachAccessLinks(ctx, in.ID); err != nil {
			return fmt.Errorf("detach access links: %w", err)
		}
		return q.DeleteLink(ctx, in.ID)
	})
	if err != nil {
		return nil, fmt.Errorf("delete generic link: %w", err)
	}
	return &api.Answer[api.Empty]{}, nil
}
