package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
)

type accountCommand struct {
	Create accountCreateCommand `cmd:"" help:"Make an account and print its id."`
}

type accountCreateCommand struct {
	Postgres postgres.Config `embed:""`
	Name     string          `name:"name" required:"" help:"Name of the account."`
	Plan     account.Plan    `name:"plan" default:"free" enum:"free,pro,team" help:"Plan of the account: free, pro or team."`
}

// Run makes the account.
func (c *accountCreateCommand) Run(ctx context.Context) error {
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		id, err := accounts.Create(ctx, c.Name, c.Plan)
		if err != nil {
			return err
		}
		fmt.Println(id)
		return nil
	})
}

type keyCommand struct {
	Create keyCreateCommand `cmd:"" help:"Make an API key of an account and print it. It cannot be shown again."`
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

type keyRevokeCommand struct {
	Postgres postgres.Config `embed:""`
	ID       uuid.UUID       `arg:"" help:"Id of the key, as it was printed when it was made."`
}

// Run revokes the key.
func (c *keyRevokeCommand) Run(ctx context.Context) error {
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		return accounts.RevokeKey(ctx, c.ID)
	})
}

func withAccounts(ctx context.Context, c postgres.Config, fn func(*account.Accounts) error) error {
	if err := validate(c); err != nil {
		return err
	}
	pool, err := postgres.Open(ctx, c)
	if err != nil {
		return err
	}
	defer pool.Close()
	return fn(account.New(pool))
}
