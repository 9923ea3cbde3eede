package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"lodestone/crud/account"
	"lodestone/crud/signin"
	"lodestone/crud/user"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
)

// demoOwner is the address of the demo account's owner, which is notified of its leads where mails
// stay on this machine.
const demoOwner = "owner@example.com"

// demoKey returns the demo account with a working API key of it: the one that the last start wrote
// down, else a new one. The account is created on the first start of a data directory; owner is
// notified of its leads, unless it is "".
func demoKey(ctx context.Context, pool *postgres.Pool, dir, owner string, log *slog.Logger) (uuid.UUID, string, error) {
	key, err := readEnvFile(dir, "LODESTONE_API_KEY")
	if err != nil {
		return uuid.Nil, "", err
	}
	if key != "" {
		identity, err := auth.NewVerifier(pool, log).Verify(ctx, key)
		if err == nil && !slices.ContainsFunc(auth.Scopes(), func(s auth.Scope) bool { return !identity.Has(s) }) {
			return identity.AccountID, key, nil
		}
		if err != nil && !auth.IsInvalid(err) {
			return uuid.Nil, "", fmt.Errorf("check the demo account's key: %w", err)
		}
	}
	accounts := account.New(pool)
	file := filepath.Join(dir, demoAccountFile)
	makeAccount := func() (string, error) {
		id, err := accounts.Create(ctx, "Demo", account.Team)
		if err == nil && owner != "" {
			err = accounts.NotifyAt(ctx, id, owner)
		}
		return id.String(), err
	}
	for {
		text, err := readOrMake(file, makeAccount)
		if err != nil {
			return uuid.Nil, "", err
		}
		id, err := uuid.Parse(text)
		if err != nil {
			return uuid.Nil, "", fmt.Errorf("read %s: %w", file, err)
		}
		created, err := accounts.CreateKey(ctx, id, "lodestone up", auth.Scopes()...)
		if errors.Is(err, account.ErrUnknown) { // another Postgres than last time
			if err := os.Remove(file); err != nil {
				return uuid.Nil, "", fmt.Errorf("forget the demo account: %w", err)
			}
			continue
		}
		return id, created.Text, err
	}
}

// upLinkLasts is longer than `lodestone up` runs: the next start makes another link.
const upLinkLasts = 365 * 24 * time.Hour

// demoDashboard returns the path of a page that signs in the demo account's owner once, who is
// added on the first start.
func demoDashboard(ctx context.Context, pool *postgres.Pool, account uuid.UUID) (path string, err error) {
	owner, err := user.NewUsers(pool).Add(ctx, account, demoOwner, auth.Owner)
	if err != nil {
		return "", err
	}
	return signin.NewLink(ctx, pool, signin.Link{User: owner, Lasts: upLinkLasts})
}
