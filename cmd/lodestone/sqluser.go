package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
)

type sqlUserCommand struct {
	Name    string    `name:"name" required:"" help:"Name of the user: lowercase letters, digits and underscores."`
	Account uuid.UUID `name:"account" required:"" help:"Account whose rows the user may read."`
}

// Run prints a file for ClickHouse's directory users.d, and on standard error the password.
func (c *sqlUserCommand) Run(context.Context) error {
	password := rand.Text()
	text, err := clickhouse.Analyst{Name: c.Name, Account: c.Account, Password: password}.File()
	if err != nil {
		return err
	}
	if _, err := os.Stdout.WriteString(text); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	fmt.Fprintf(os.Stderr, "Password of %s, shown only once: %s\n", c.Name, password)
	return nil
}
