package clienttest

import (
	"context"
	"net/url"
	"time"

	"lodestone/pkg/client"
)

// Account is the account that the client's key belongs to.
type Account struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Plan   string `json:"plan"` // free, pro or team
	Limits struct {
		LeadMagnets  *int64 `json:"lead_magnets"` // nil for any number, as the next three
		StoredBytes  *int64 `json:"stored_bytes"`
		GenericLinks *int64 `json:"generic_links"`
		AccessLinks  *int64 `json:"access_links"`
		Keys         int64  `json:"keys"`

		EventsPerMonth *int64 `json:"events_per_month"` // nil for any number
	} `json:"limits"`
	Usage struct {
		LeadMagnets  int64 `json:"lead_magnets"`
		StoredBytes  int64 `json:"stored_bytes"`
		GenericLinks int64 `json:"generic_links"`
		AccessLinks  int64 `json:"access_links"`
		Keys         int64 `json:"keys"`

		EventsThisMonth int64 `json:"events_this_month"`
	} `json:"usage"`
	NotifyEmail *string   `json:"notify_email"`
	Confirmed   bool      `json:"notify_email_confirmed"`
	Notify      string    `json:"notify"` // each, daily or none
	Weekly      bool      `json:"weekly_report"`
	Readings    string    `json:"reading_notices"` // each, daily or none
	BrandColor  *string   `json:"brand_color"`
	CreatedAt   time.Time `json:"created_at"`
}

// Account returns the account.
func (c Client) Account(ctx context.Context) (Account, error) {
	return client.Get[Account](ctx, c.Client, accountPath, nil)
}

// Key is an API key. Text is set only in the answer that created the key.
type Key struct {
	ID         string     `json:"id"`
	Text       string     `json:"key"` // secret
	Name       string     `json:"name"`
	Prefix     string     `json:"prefix"`
	Scopes     []string   `json:"scopes"` // read, write, leads, webhooks, keys
	CreatedBy  *string    `json:"created_by"`
	CreatedAt  time.Time  `json:"created_at"`
	ExpiresAt  *time.Time `json:"expires_at"` // nil for never
	LastUsedAt *time.Time `json:"last_used_at"`
}

// NewKey describes the key that CreateKey creates.
type NewKey struct {
	Name      string     `json:"name"`
	Scopes    []string   `json:"scopes"`
	ExpiresAt *time.Time `json:"expires_at,omitzero"` // nil: with the client's own key, if that expires
}

// CreateKey creates a key of the account. It can only have scopes that the client's own key has.
func (c Client) CreateKey(ctx context.Context, n NewKey) (Key, error) {
	return client.Post[Key](ctx, c.Client, keysPath, n)
}

// Keys returns a page of the working keys, the newest first.
func (c Client) Keys(ctx context.Context, p client.Paging) (client.Page[Key], error) {
	return client.Get[client.Page[Key]](ctx, c.Client, keysPath, p.Query())
}

// RevokeKey revokes a key. It is refused everywhere within a second.
func (c Client) RevokeKey(ctx context.Context, id string) error {
	return c.remove(ctx, keysPath+"/"+url.PathEscape(id), nil)
}
