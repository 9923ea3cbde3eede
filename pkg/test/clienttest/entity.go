package clienttest

import (
	"context"
	"net/url"
	"time"

	"lodestone/pkg/client"
)

// LeadMagnet returns one lead magnet.
func (c Client) LeadMagnet(ctx context.Context, id string) (client.LeadMagnet, error) {
	return client.Get[client.LeadMagnet](ctx, c.Client, magnetsPath+"/"+url.PathEscape(id), nil)
}

// LeadMagnetChanges are the changes of a lead magnet; nil or zero fields stay unchanged.
type LeadMagnetChanges struct {
	Title       *string        `json:"title,omitzero"`
	Description Change[string] `json:"description,omitzero"`
	IsActive    *bool          `json:"is_active,omitzero"`
}

// UpdateLeadMagnet changes a lead magnet. With entity tags it does so in one of these states only,
// and otherwise returns a problem with the status 412.
func (c Client) UpdateLeadMagnet(ctx context.Context, id string, n LeadMagnetChanges,
	ifMatch ...string) (client.LeadMagnet, error) {
	return patch[client.LeadMagnet](ctx, c, magnetsPath+"/"+url.PathEscape(id), n, ifMatch)
}

// DeleteLeadMagnet deletes a lead magnet, under the same condition as UpdateLeadMagnet. One with
// links is refused (problem.Conflict), unless cascade deletes them and their submissions with it.
func (c Client) DeleteLeadMagnet(ctx context.Context, id string, cascade bool, ifMatch ...string) error {
	path := magnetsPath + "/" + url.PathEscape(id)
	if cascade {
		path += "?cascade=true"
	}
	return c.remove(ctx, path, ifMatch)
}

// GenericLinkChanges are the changes of a generic link; nil or zero fields stay unchanged.
type GenericLinkChanges struct {
	Slug                *string        `json:"slug,omitzero"`
	Title               Change[string] `json:"title,omitzero"`
	Description         Change[string] `json:"description,omitzero"`
	ThumbnailURL        Change[string] `json:"thumbnail_url,omitzero"`
	CollectName         *bool          `json:"collect_name,omitzero"`
	RequireVerification *bool          `json:"require_verification,omitzero"`
	ButtonText          Change[string] `json:"button_text,omitzero"`
	ConsentText         Change[string] `json:"consent_text,omitzero"`
	PrivacyURL          Change[string] `json:"privacy_url,omitzero"`
	RedirectURL         Change[string] `json:"redirect_url,omitzero"`
	Active              *bool          `json:"active,omitzero"`

	ReadingNotices Change[string]    `json:"reading_notices,omitzero"`
	ExpiresAt      Change[time.Time] `json:"expires_at,omitzero"`
	AccessDays     Change[int]       `json:"access_expires_after_days,omitzero"`
}

// UpdateGenericLink changes a generic link. With entity tags it does so in one of these states
// only, and otherwise returns a problem with the status 412.
func (c Client) UpdateGenericLink(ctx context.Context, id string, n GenericLinkChanges,
	ifMatch ...string) (client.GenericLink, error) {
	return patch[client.GenericLink](ctx, c, linksPath+"/"+url.PathEscape(id), n, ifMatch)
}

// DeleteGenericLink deletes a generic link and its submissions, under the same condition as
// UpdateGenericLink.
func (c Client) DeleteGenericLink(ctx context.Context, id string, ifMatch ...string) error {
	return c.remove(ctx, linksPath+"/"+url.PathEscape(id), ifMatch)
}

// DeleteSubmission deletes a submission. Access links that were created for it stay.
func (c Client) DeleteSubmission(ctx context.Context, id string) error {
	return c.remove(ctx, "/api/v1/submissions/"+url.PathEscape(id), nil)
}

// AccessLink returns one access link.
func (c Client) AccessLink(ctx context.Context, id string) (client.AccessLink, error) {
	return client.Get[client.AccessLink](ctx, c.Client, accessPath+"/"+url.PathEscape(id), nil)
}

// NewAccessLinks describes access links for many recipients.
type NewAccessLinks struct {
	Emails    []string   `json:"emails"` // at most 1,000, without duplicates
	MaxViews  *int       `json:"max_views,omitzero"`
	ExpiresAt *time.Time `json:"expires_at,omitzero"`
}

// CreateAccessLinks creates one access link to a lead magnet for each address, in their order, or
// none of them.
func (c Client) CreateAccessLinks(ctx context.Context, leadMagnetID string,
	n NewAccessLinks) ([]client.AccessLink, error) {
	out, err := client.Post[struct {
		Data []client.AccessLink `json:"data"`
	}](ctx, c.Client, magnetsPath+"/"+url.PathEscape(leadMagnetID)+"/bulk-links", n)
	return out.Data, err
}

// AccessLinkChanges are the changes of an access link; nil or zero fields stay unchanged.
type AccessLinkChanges struct {
	MaxViews  Change[int]       `json:"max_views,omitzero"`
	ExpiresAt Change[time.Time] `json:"expires_at,omitzero"`
	IsActive  *bool             `json:"is_active,omitzero"`
}

// UpdateAccessLink changes an access link. With entity tags it does so in one of these states only,
// and otherwise returns a problem with the status 412.
func (c Client) UpdateAccessLink(ctx context.Context, id string, n AccessLinkChanges,
	ifMatch ...string) (client.AccessLink, error) {
	return patch[client.AccessLink](ctx, c, accessPath+"/"+url.PathEscape(id), n, ifMatch)
}

// DeleteAccessLink deletes an access link, under the same condition as UpdateAccessLink.
func (c Client) DeleteAccessLink(ctx context.Context, id string, ifMatch ...string) error {
	return c.remove(ctx, accessPath+"/"+url.PathEscape(id), ifMatch)
}
