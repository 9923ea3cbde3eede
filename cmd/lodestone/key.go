package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/config"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/postgres"
)

type keyCommand struct {
	Data   dataConfig       `embed:""`
	Create keyCreateCommand `cmd:"" help:"Create an API key for an account and print it. The key cannot be shown again."`
	List   keyListCommand   `cmd:"" help:"List the API keys of an account, oldest first, including revoked ones."`
	Revoke keyRevokeCommand `cmd:"" help:"Revoke an API key and every key that was created with it. All processes refuse them within a second."`
}

type keyCreateCommand struct {
	Postgres postgres.Config `embed:""`
	Account  uuid.UUID       `name:"account" required:"" placeholder:"ID" help:"Id of the account."`
	Name     string          `name:"name" default:"key" help:"Purpose of the key."`
	Scopes   []auth.Scope    `name:"scopes" aliases:"scope" default:"read,write,leads,webhooks,keys,people,people:privacy" enum:"read,write,leads,webhooks,keys,people,people:privacy" help:"Scopes of the key, separated by commas: read, write, leads (reading personal data), webhooks, keys (listing, creating and revoking keys), people (managing people, and reading the audit log), people:privacy (reading and erasing everything stored about one reader). A key cannot grant scopes that it lacks: to invite an owner, it needs all."`
	Expires  string          `name:"expires" placeholder:"TIME" help:"When the key expires: a time such as 2027-01-31 or 2027-01-31T12:00:00Z, or a duration from now such as 720h. If empty, it never expires."`
}

// Run makes the key.
func (c *keyCreateCommand) Run(ctx context.Context) error {
	expiresAt, err := c.expiry(time.Now())
	if err != nil {
		return err
	}
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		key, err := accounts.CreateExpiringKey(ctx, c.Account, c.Name, expiresAt, c.Scopes...)
		if errors.Is(err, account.ErrUnknown) {
			return fmt.Errorf("there is no account %s: create one with `lodestone account create`", c.Account)
		}
		if err != nil {
			return err
		}
		fmt.Println("id: ", key.ID)
		fmt.Println("key:", key.Text)
		return nil
	})
}

// expiry returns when the key expires, nil for never.
func (c *keyCreateCommand) expiry(now time.Time) (*time.Time, error) {
	if c.Expires == "" {
		return nil, nil
	}
	at, err := jsonschema.ParseTime(c.Expires)
	if err != nil {
		after, durationErr := time.ParseDuration(c.Expires)
		if durationErr != nil {
			return nil, config.Invalid("--expires", "is neither a time nor a time from now",
				"write 2027-01-31, 2027-01-31T12:00:00Z or 720h")
		}
		at = now.Add(after)
	}
	if !at.After(now) {
		return nil, config.Invalid("--expires", "is not in the future", "give a later time, or leave it out")
	}
	return &at, nil
}

type keyListCommand struct {
	Postgres postgres.Config `embed:""`
	Account  uuid.UUID       `name:"account" required:"" placeholder:"ID" help:"Id of the account."`
}

// Run lists the keys.
func (c *keyListCommand) Run(ctx context.Context) error {
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		all, err := accounts.Keys(ctx, c.Account)
		if errors.Is(err, account.ErrUnknown) {
			return fmt.Errorf("there is no account %s: `lodestone account list` shows the existing ones", c.Account)
		}
		if err != nil {
			return err
		}
		rows := [][]string{{"ID", "KEY", "SCOPES", "CREATED", "LAST USED", "EXPIRES", "REVOKED", "NAME"}}
		for _, k := range all {
			scopes := make([]string, len(k.Scopes))
			for i, s := range k.Scopes {
				scopes[i] = string(s)
			}
			rows = append(rows, []string{
				k.ID.String(), k.Prefix + "…", strings.Join(scopes, ","), formatTime(&k.CreatedAt), formatTime(k.LastUsedAt),
				formatTime(k.ExpiresAt), formatTime(k.RevokedAt), k.Name,
			})
		}
		return printTable(os.Stdout, rows)
	})
}

type keyRevokeCommand struct {
	Postgres postgres.Config `embed:""`
	ID       uuid.UUID       `arg:"" help:"Id of the key, as printed when it was created."`
}

// Run revokes the key.
func (c *keyRevokeCommand) Run(ctx context.Context) error {
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		err := accounts.RevokeKey(ctx, c.ID)
		if errors.Is(err, account.ErrUnknown) {
			return fmt.Errorf("there is no key %s: `lodestone key list` shows those of an account", c.ID)
		}
		return err
	})
}
