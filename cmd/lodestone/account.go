package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/crud/person"
	"lodestone/pkg/blob"
	"lodestone/pkg/config"
	"lodestone/pkg/email"
	"lodestone/pkg/postgres"
)

type accountCommand struct {
	Data   dataConfig           `embed:""`
	Create accountCreateCommand `cmd:"" help:"Create an account and print its id."`
	List   accountListCommand   `cmd:"" help:"List the accounts, oldest first."`
	Change accountChangeCommand `cmd:"" help:"Change the plan or the name of an account."`
	Delete accountDeleteCommand `cmd:"" help:"Delete an account with all its data. Its events are blanked. It cannot be undone."`
}

type accountCreateCommand struct {
	Postgres postgres.Config `embed:""`
	Name     string          `name:"name" required:"" help:"Name of the account."`
	Plan     account.Plan    `name:"plan" default:"free" enum:"free,pro,team" help:"Plan of the account: free, pro or team."`
	Notify   string          `name:"notify-email" placeholder:"ADDRESS" help:"Address for mails about the account's new leads. If empty, the owner sets it through the API."`
}

// Run makes the account.
func (c *accountCreateCommand) Run(ctx context.Context) error {
	if c.Notify != "" {
		if _, err := email.Parse(c.Notify); err != nil {
			return config.Invalid("--notify-email", err.Error(), "give an address alone, or leave it out")
		}
	}
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		id, err := accounts.Create(ctx, c.Name, c.Plan)
		if err != nil {
			return err
		}
		fmt.Println(id)
		if c.Notify != "" {
			return accounts.NotifyAt(ctx, id, c.Notify)
		}
		return nil
	})
}

type accountListCommand struct {
	Postgres postgres.Config `embed:""`
}

// Run lists the accounts.
func (c *accountListCommand) Run(ctx context.Context) error {
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		all, err := accounts.List(ctx)
		if err != nil {
			return err
		}
		rows := [][]string{{"ID", "PLAN", "CREATED", "NAME"}}
		for _, a := range all {
			rows = append(rows, []string{a.ID.String(), string(a.Plan), formatTime(&a.CreatedAt), a.Name})
		}
		return printTable(os.Stdout, rows)
	})
}

type accountChangeCommand struct {
	Postgres postgres.Config `embed:""`
	Name     *string         `name:"name" help:"New name of the account."`
	Plan     *account.Plan   `name:"plan" enum:"free,pro,team" help:"New plan of the account: free, pro or team. Objects above the new limits stay."`
	ID       uuid.UUID       `arg:"" help:"Id of the account, as the list shows it."`
}

// Run changes the account.
func (c *accountChangeCommand) Run(ctx context.Context) error {
	if c.Name == nil && c.Plan == nil {
		return config.Invalid("--plan", "is missing, and so is --name", "give what to change")
	}
	if c.Name != nil && strings.TrimSpace(*c.Name) == "" {
		return config.Invalid("--name", "is blank", "give a name")
	}
	return withAccounts(ctx, c.Postgres, func(accounts *account.Accounts) error {
		err := accounts.Change(ctx, c.ID, c.Name, c.Plan)
		if errors.Is(err, account.ErrUnknown) {
			return fmt.Errorf("there is no account %s: `lodestone account list` shows the existing ones", c.ID)
		}
		return err
	})
}

type accountDeleteCommand struct {
	Postgres postgres.Config `embed:""`
	Erasure  person.Config   `embed:""`
	S3       blob.Config     `embed:""`
	Name     string          `name:"name" required:"" env:"-" help:"Name of the account, to confirm."`
	ID       uuid.UUID       `arg:"" help:"Id of the account, as the list shows it."`
}

// Run deletes the account.
func (c *accountDeleteCommand) Run(ctx context.Context) error {
	err := errors.Join(c.Postgres.Validate(), c.Erasure.Validate(c.S3))
	if c.Erasure.Log == "" {
		err = errors.Join(err, config.Invalid("--erasure-log", "is missing",
			"give the log of the crud processes, so that a restored backup is brought up to it"))
	}
	if err != nil {
		return err
	}
	return withSchema(ctx, c.Postgres, func(pool *postgres.Pool) error {
		all, err := account.New(pool).List(ctx)
		if err != nil {
			return err
		}
		at := slices.IndexFunc(all, func(a account.Info) bool { return a.ID == c.ID })
		if at < 0 {
			return fmt.Errorf("there is no account %s: `lodestone account list` shows the existing ones", c.ID)
		}
		if all[at].Name != c.Name {
			return config.InvalidFlag("--name", "is not the name of this account", "give "+strconv.Quote(all[at].Name))
		}
		log, err := person.OpenLog(c.Erasure, c.S3)
		if err != nil {
			return err
		}
		return person.DeleteAccount(ctx, pool, log, c.ID)
	})
}

func withAccounts(ctx context.Context, c postgres.Config, fn func(*account.Accounts) error) error {
	return withSchema(ctx, c, func(pool *postgres.Pool) error { return fn(account.New(pool)) })
}

// withSchema calls fn with a Postgres whose schema suits this program.
func withSchema(ctx context.Context, c postgres.Config, fn func(*postgres.Pool) error) error {
	return withPool(ctx, c, func(pool *postgres.Pool) error {
		if err := pool.CheckSchema(ctx); err != nil {
			return err
		}
		return fn(pool)
	})
}

// printTable prints rows in columns. Names come from outside: what is not printable in them is
// quoted, so that it cannot steer a terminal.
func printTable(to io.Writer, rows [][]string) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		for i, cell := range row {
			if strings.ContainsFunc(cell, func(r rune) bool { return !unicode.IsPrint(r) }) {
				row[i] = strconv.Quote(cell)
			}
		}
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

// formatTime formats a time for people, or returns a hyphen for none.
func formatTime(t *time.Time) string {
	if t == nil {
		return "-"
	}
	return t.UTC().Format(time.RFC3339)
}
