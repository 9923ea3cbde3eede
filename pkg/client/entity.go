package client

import (
	"context"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// LeadMagnet is a lead magnet. What is about its file is nil until there is one.
type LeadMagnet struct {
	ID               string    `json:"id"`
	Title            string    `json:"title"`
	Description      *string   `json:"description"`
	Author           *string   `json:"author"`
	AuthorAbout      *string   `json:"author_about"`
	EndText          *string   `json:"end_text"`
	Downloadable     bool      `json:"downloadable"`
	EndButton        *string   `json:"end_button"`
	EndURL           *string   `json:"end_url"`
	FileName         *string   `json:"file_name"`
	FileSize         *int64    `json:"file_size"`
	PageCount        *int      `json:"page_count"`
	ContentType      *string   `json:"content_type"`
	IsActive         bool      `json:"is_active"`
	GenericLinkCount int64     `json:"generic_link_count"`
	AccessLinkCount  int64     `json:"access_link_count"`
	CreatedAt        time.Time `json:"created_at"`
	UpdatedAt        time.Time `json:"updated_at"`
	ETag             string    `json:"-"` // of this state, for a change that must not undo another; "" in a list
}

// NewLeadMagnet describes the lead magnet to create.
type NewLeadMagnet struct {
	Title       string  `json:"title"`
	Description *string `json:"description,omitzero"`
}

// CreateLeadMagnet creates a lead magnet without a file.
func (c *Client) CreateLeadMagnet(ctx context.Context, n NewLeadMagnet) (LeadMagnet, error) {
	return Post[LeadMagnet](ctx, c, magnetsPath, n)
}

// LeadMagnets returns a page of the lead magnets, the newest first.
func (c *Client) LeadMagnets(ctx context.Context, p Paging) (Page[LeadMagnet], error) {
	return Get[Page[LeadMagnet]](ctx, c, magnetsPath, p.Query())
}

// UploadFile sets the file of a lead magnet: a PDF, as a new version.
func (c *Client) UploadFile(ctx context.Context, id, name string, pdf io.Reader) (LeadMagnet, error) {
	var out LeadMagnet
	header := http.Header{"Content-Type": {"application/pdf"}}
	if name != "" {
		header.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name}))
	}
	_, err := c.Do(ctx, http.MethodPut, magnetsPath+"/"+url.PathEscape(id)+"/file", header, pdf, &out)
	return out, err
}

// GenericLink is a generic link. LeadMagnet is nil but where one link was asked for.
type GenericLink struct {
	ID                  string      `json:"id"`
	LeadMagnetID        string      `json:"lead_magnet_id"`
	Slug                string      `json:"slug"`
	URL                 string      `json:"url"`
	Name                *string     `json:"name"`
	Title               *string     `json:"title"`
	HeadlineB           *string     `json:"headline_b"`
	Description         *string     `json:"description"`
	ThumbnailURL        *string     `json:"thumbnail_url"`
	CollectName         bool        `json:"collect_name"`
	RequireVerification bool        `json:"require_verification"`
	ButtonText          *string     `json:"button_text"`
	ConsentText         *string     `json:"consent_text"`
	PrivacyURL          *string     `json:"privacy_url"`
	RedirectURL         *string     `json:"redirect_url"`
	Language            *string     `json:"language"`
	ShowContents        bool        `json:"show_contents"`
	ShowPages           bool        `json:"show_pages"`
	ShowReaders         bool        `json:"show_readers"`
	ReadingNotices      *string     `json:"reading_notices"` // each, daily or none; nil: the account's
	ExpiresAt           *time.Time  `json:"expires_at"`
	AccessDays          *int        `json:"access_expires_after_days"`
	SubmissionCount     int64       `json:"submission_count"`
	ViewCount           int64       `json:"view_count"`
	Active              bool        `json:"active"`
	Archived            bool        `json:"archived"`
	LeadMagnet          *LeadMagnet `json:"lead_magnet"`
	CreatedAt           time.Time   `json:"created_at"`
	UpdatedAt           time.Time   `json:"updated_at"`
	ETag                string      `json:"-"` // of this state, for a change that must not undo another; "" in a list
}

// Label returns what the account calls the link, or the headline of its page; nil if it has
// neither.
func (l *GenericLink) Label() *string {
	if l.Name != nil {
		return l.Name
	}
	return l.Title
}

// NewGenericLink describes the generic link to create. LeadMagnetID is required.
type NewGenericLink struct {
	LeadMagnetID        string  `json:"lead_magnet_id"`
	Slug                *string `json:"slug,omitzero"`
	Title               *string `json:"title,omitzero"`
	Description         *string `json:"description,omitzero"`
	ThumbnailURL        *string `json:"thumbnail_url,omitzero"`
	CollectName         bool    `json:"collect_name,omitzero"`
	RequireVerification bool    `json:"require_verification,omitzero"`
	ButtonText          *string `json:"button_text,omitzero"`
	ConsentText         *string `json:"consent_text,omitzero"`
	PrivacyURL          *string `json:"privacy_url,omitzero"`
	RedirectURL         *string `json:"redirect_url,omitzero"`
	ReadingNotices      *string `json:"reading_notices,omitzero"` // each, daily or none

	ExpiresAt  *time.Time `json:"expires_at,omitzero"`
	AccessDays *int       `json:"access_expires_after_days,omitzero"`
}

// CreateGenericLink creates a generic link.
func (c *Client) CreateGenericLink(ctx context.Context, n NewGenericLink) (GenericLink, error) {
	return Post[GenericLink](ctx, c, linksPath, n)
}

// GenericLink returns one generic link with its lead magnet.
func (c *Client) GenericLink(ctx context.Context, id string) (GenericLink, error) {
	return Get[GenericLink](ctx, c, linksPath+"/"+url.PathEscape(id), nil)
}

// GenericLinkFilter chooses generic links. Empty fields choose all.
type GenericLinkFilter struct {
	Paging
	LeadMagnetID string
}

// GenericLinks returns a page of the generic links, the newest first.
func (c *Client) GenericLinks(ctx context.Context, f GenericLinkFilter) (Page[GenericLink], error) {
	q := f.Query()
	set(q, "lead_magnet_id", f.LeadMagnetID)
	return Get[Page[GenericLink]](ctx, c, linksPath, q)
}

// AccessLink is an access link.
type AccessLink struct {
	ID            string     `json:"id"`
	LeadMagnetID  string     `json:"lead_magnet_id"`
	GenericLinkID *string    `json:"generic_link_id"`
	SubmissionID  *string    `json:"submission_id"`
	Email         string     `json:"email"`          // "" for a key without the scope leads
	URL           string     `json:"url"`            // "" for a key without the scope leads
	TrackingToken string     `json:"tracking_token"` // "" for a key without the scope write
	MaxViews      *int       `json:"max_views"`
	ViewCount     int64      `json:"view_count"`
	ExpiresAt     *time.Time `json:"expires_at"`
	IsActive      bool       `json:"is_active"`
	FirstViewedAt *time.Time `json:"first_viewed_at"`
	LastViewedAt  *time.Time `json:"last_viewed_at"`
	CreatedAt     time.Time  `json:"created_at"`
	UpdatedAt     time.Time  `json:"updated_at"`
	ETag          string     `json:"-"` // of this state, for a change that must not undo another; "" in a list
}

// NewAccessLink describes the access link to create. LeadMagnetID and Email are required.
type NewAccessLink struct {
	LeadMagnetID string     `json:"lead_magnet_id"`
	Email        string     `json:"email"`
	MaxViews     *int       `json:"max_views,omitzero"`
	ExpiresAt    *time.Time `json:"expires_at,omitzero"`
}

// CreateAccessLink creates an access link.
func (c *Client) CreateAccessLink(ctx context.Context, n NewAccessLink) (AccessLink, error) {
	return Post[AccessLink](ctx, c, accessPath, n)
}

// AccessLinkFilter chooses access links. Empty fields choose all.
type AccessLinkFilter struct {
	Paging
	LeadMagnetID string
	Email        string
	SubmissionID string
	IsActive     *bool
}

// AccessLinks returns a page of the access links, the newest first.
func (c *Client) AccessLinks(ctx context.Context, f AccessLinkFilter) (Page[AccessLink], error) {
	q := f.Query()
	set(q, "lead_magnet_id", f.LeadMagnetID)
	set(q, "email", f.Email)
	set(q, "submission_id", f.SubmissionID)
	if f.IsActive != nil {
		q.Set("is_active", strconv.FormatBool(*f.IsActive))
	}
	return Get[Page[AccessLink]](ctx, c, accessPath, q)
}

func set(q url.Values, name, value string) {
	if value != "" {
		q.Set(name, value)
	}
}

// TaggedResource is a resource whose state has an entity tag.
type TaggedResource interface{ SetETag(tag string) }

// SetETag implements TaggedResource.
func (m *LeadMagnet) SetETag(tag string) { m.ETag = tag }

// SetETag implements TaggedResource.
func (l *GenericLink) SetETag(tag string) { l.ETag = tag }

// SetETag implements TaggedResource.
func (l *AccessLink) SetETag(tag string) { l.ETag = tag }
