package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
)

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Make an API key of an account and print it. It cannot be shown again."`
	List   keyListCommand   `cmd:"" help:"List the API keys of an account, the oldest first, also the revoked ones."`
	Revoke keyRevokeCommand `cmd:"" help:"Make an API key worthless, within a second everywhere."`
}

type keyCreateCommand struct {
	Postgres postgres.Config `embed:""`
	Account  uuid.UUID       `name:"account" required:"" placeholder:"ID" help:"Id of the account."`
	Name     string          `name:"name" default:"key" help:"What the key is for."`
	Scopes   []auth.Scope    `name:"scope" default:"read,write" enum:"read,write" help:"What the key allows: read, write or both, separated by a comma."`
}

// Run makes the key.
func (c *keyCreateCommand) Run(ctx context.Context) error {
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		key, err := accounts.CreateKey(ctx, c.Account, c.Name, c.Scopes...)
		if errors.Is(err, account.ErrUnknown) {
			return fmt.Errorf("there is no account %s: make one with `lodestone account create`", c.Account)
		}
		if err != nil {
			return err
		}
		fmt.Println("id: ", key.ID)
		fmt.Println("key:", key.Text)
		return nil
	})
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
			return fmt.Errorf("there is no account %s: `lodestone account list` shows those that there are", c.Account)
		}
		if err != nil {
			return err
		}
		rows := [][]string{{"ID", "KEY", "SCOPES", "CREATED", "LAST USED", "REVOKED", "NAME"}}
		for _, k := range all {
			scopes := make([]string, len(k.Scopes))
			for i, s := range k.Scopes {
				scopes[i] = string(s)
			}
			rows = append(rows, []string{
				k.ID.String(), k.Prefix + "…", strings.Join(scopes, ","), moment(&k.CreatedAt), moment(k.LastUsedAt), moment(k.RevokedAt), k.Name,
			})
		}
		return printTable(os.Stdout, rows)
	})
}

type keyRevokeCommand struct {
	Postgres postgres.Config `embed:""`
	ID       uuid.UUID       `arg:"" help:"Id of the key, as it was printed when it was made."`
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
