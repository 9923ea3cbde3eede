package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/crud/user"
	"lodestone/pkg/auth"
	"lodestone/pkg/config"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
)

type userCommand struct {
	Data dataConfig     `embed:""`
	Add  userAddCommand `cmd:"" help:"Add a person to an account and print the id. The person signs in to the dashboard with the address. If the person is in the account, the role changes."`
}

type userAddCommand struct {
	Postgres postgres.Config `embed:""`
	Account  uuid.UUID       `name:"account" placeholder:"ID" help:"Id of the account. Can be omitted if there is only one."`
	Email    string          `name:"email" required:"" placeholder:"ADDRESS" help:"Address that the person signs in with."`
	Role     auth.Role       `name:"role" default:"owner" enum:"owner,editor,analyst" help:"What the person may do: owner (everything), editor (everything but managing people and keys) or analyst (reading)."`
}

// Run adds the person.
func (c *userAddCommand) Run(ctx context.Context) error {
	if _, err := email.Parse(c.Email); err != nil {
		return config.Invalid("--email", err.Error(), "give an address alone")
	}
	return withSchema(ctx, c.Postgres, func(pool *postgres.Pool) error {
		to := c.Account
		if to == uuid.Nil {
			var err error
			if to, err = onlyAccount(ctx, account.New(pool)); err != nil {
				return err
			}
		}
		id, err := user.NewUsers(pool).Add(ctx, to, c.Email, c.Role)
		if errors.Is(err, account.ErrUnknown) {
			return fmt.Errorf("there is no account %s: `lodestone account list` shows the existing ones", to)
		}
		if err != nil {
			return err
		}
		fmt.Println(id)
		return nil
	})
}

// onlyAccount returns the account of an installation that has one.
func onlyAccount(ctx context.Context, accounts *account.Accounts) (uuid.UUID, error) {
	all, err := accounts.List(ctx)
	if err != nil {
		return uuid.Nil, err
	}
	if len(all) != 1 {
		return uuid.Nil, config.Invalid("--account", fmt.Sprintf("is missing, and there are %d accounts", len(all)),
			"give the id of one that `lodestone account list` shows")
	}
	return all[0].ID, nil
}
