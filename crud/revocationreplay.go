package crud

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// Replay revokes again what the record has and Postgres has not: it was restored to a state of
// before. Call it before anything is served. If something was revoked and later opened again, it is
// revoked: an owner can open it once more.
func (r *Revocations) Replay(ctx context.Context) error {
	if r.deps.Place == nil {
		return nil
	}
	newest, err := store.New(r.deps.Postgres.Unscoped()).NewestRevocation(ctx)
	if err != nil {
		return fmt.Errorf("look for revocations: %w", err)
	}
	names, err := r.deps.Place.After(ctx, newest)
	if err != nil {
		return fmt.Errorf("list revocations: %w", err)
	}
	n := 0
	for _, name := range names {
		if !isName(name) {
			continue // of someone else
		}
		text, err := r.deps.Place.Read(ctx, name)
		if err != nil {
			return fmt.Errorf("read revocations: %w", err)
		}
		var e revocationEntry
		if err = json.Unmarshal(text, &e); err == nil && e.Version != entryVersion {
			err = fmt.Errorf("it has version %d, and this program knows %d", e.Version, entryVersion)
		}
		if err != nil {
			return fmt.Errorf("read revocations %s: %w", r.deps.Place.Address(name), err)
		}
		err = r.deps.Postgres.RetryTransaction(ctx, func(tx pgx.Tx) error {
			q := store.New(tx)
			if err := revokeAgain(ctx, q, e.Revocations); err != nil {
				return err
			}
			return q.SetNewestRevocation(ctx, name)
		})
		if err != nil {
			return fmt.Errorf("revoke again: %w", err)
		}
		n += len(e.Revocations)
	}
	if n > 0 {
		r.deps.Log.Warn("revoked again what the restored database had not revoked", "revocations", n)
	}
	return nil
}

// revocationReason is shown with webhooks that are switched off again.
const revocationReason = "It was switched off before the installation was restored."

// revokeAgain applies revocations. What the database never had is left out.
func revokeAgain(ctx context.Context, q *store.Queries, all []Revocation) error {
	off, gone := map[string][]uuid.UUID{}, map[string][]uuid.UUID{}
	var users, accounts []uuid.UUID
	for _, r := range all {
		switch {
		case r.Account != nil:
			users, accounts = append(users, r.ID), append(accounts, *r.Account)
		case r.Deleted:
			gone[r.Entity] = append(gone[r.Entity], r.ID)
		default:
			off[r.Entity] = append(off[r.Entity], r.ID)
		}
	}
	for _, step := range []struct {
		ids []uuid.UUID
		do  func(context.Context, []uuid.UUID) error
	}{
		{off["access_links"], q.RevokeAccessLinks},
		{off["lead_magnets"], q.RevokeLeadMagnets},
		{off["generic_links"], q.RevokeGenericLinks},
		{off["api_keys"], q.RevokeKeys},
		{off["webhook_endpoints"], func(ctx context.Context, ids []uuid.UUID) error {
			return q.RevokeWebhooks(ctx, store.RevokeWebhooksParams{Reason: revocationReason, IDs: ids})
		}},
		{gone["access_links"], q.DeleteRevokedAccessLinks},
		{gone["generic_links"], q.DeleteRevokedGenericLinks},
		{gone["lead_magnets"], q.DeleteAccessLinksOfRevoked},
		{gone["lead_magnets"], q.DeleteGenericLinksOfRevoked},
		{gone["lead_magnets"], q.DeleteRevokedLeadMagnets},
		{gone["webhook_endpoints"], q.DeleteRevokedWebhooks},
		{gone["shares"], q.DeleteRevokedShares},
		{gone["invitations"], q.DeleteRevokedInvitations},
		{gone["passkeys"], q.DeleteRevokedPasskeys},
		{users, func(ctx context.Context, ids []uuid.UUID) error {
			return q.DeleteRevokedMemberships(ctx, store.DeleteRevokedMembershipsParams{IDs: ids, Accounts: accounts})
		}},
	} {
		if len(step.ids) == 0 {
			continue
		}
		if err := step.do(ctx, step.ids); err != nil {
			return err
		}
	}
	return nil
}
