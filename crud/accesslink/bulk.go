package accesslink

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/account"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/email"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
)

const bulkPath = "/api/v1/lead-magnets/{id}/bulk-links"

type createManyInput struct {
	ID   uuid.UUID `path:"id" doc:"Id of the lead magnet that the links open."`
	Body newAccessLinks
}

type newAccessLinks struct {
	Emails    []string `json:"emails" nullable:"false" minItems:"1" maxItems:"1000" maxLength:"254" doc:"Email addresses of the recipients, without duplicates."`
	MaxViews  *int32   `json:"max_views" required:"false" minimum:"1" maximum:"10000" doc:"How many times each link can be opened; null for no limit."`
	ExpiresAt *string  `json:"expires_at" required:"false" format:"date-time" doc:"When the links expire (ISO 8601, in the future); null for never."`
}

// Batch is the access links that one request created.
type Batch struct {
	Data []AccessLink `json:"data" nullable:"false" doc:"The links, in the order of the addresses."`
}

// params turns a body into what is stored, or returns what the schema cannot tell. An address that
// occurs twice is refused, since it is more likely a mistake in a list than a wish for two links.
func (b newAccessLinks) params(now time.Time) (store.InsertAccessLinksParams, error) {
	p := store.InsertAccessLinksParams{MaxViews: b.MaxViews}
	var wrong []problem.Field
	first := make(map[string]int, len(b.Emails))
	for i, text := range b.Emails {
		field := fmt.Sprintf("emails[%d]", i)
		address, err := email.Parse(text)
		if err != nil {
			wrong = append(wrong, problem.Field{Field: field, Message: err.Error()})
			continue
		}
		if before, twice := first[address.Key]; twice {
			wrong = append(wrong, problem.Field{Field: field, Message: fmt.Sprintf("is the same address as emails[%d]", before)})
			continue
		}
		first[address.Key] = i
		p.Emails, p.EmailKeys = append(p.Emails, address.Text), append(p.EmailKeys, address.Key)
	}
	p.ExpiresAt = expiry(b.ExpiresAt, now, &wrong)
	if wrong != nil {
		return p, problem.Invalid(wrong[:min(len(wrong), maxWrong)]...)
	}
	return p, nil
}

// maxWrong bounds the answer to a list that is wrong all over.
const maxWrong = 100

func (l *Links) createMany(ctx context.Context, in *createManyInput) (*api.Answer[Batch], error) {
	params, err := in.Body.params(time.Now())
	if err != nil {
		return nil, err
	}
	params.AccountID, params.LeadMagnetID = auth.From(ctx).AccountID, in.ID
	var created []AccessLink
	err = l.deps.Postgres.Account(ctx, params.AccountID, func(tx pgx.Tx) (err error) {
		created, err = l.Insert(ctx, tx, params)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("create access links: %w", err)
	}
	return api.Created(path+"?lead_magnet_id="+in.ID.String(), Batch{created}), nil
}

// Insert adds a link for each address of p, in a transaction of its account, and tells the
// webhooks. It makes their ids, which rise in the order of the addresses, and their tokens. It
// returns the links in that order. The error is a problem if the account cannot have them.
func (l *Links) Insert(ctx context.Context, tx pgx.Tx, p store.InsertAccessLinksParams) ([]AccessLink, error) {
	keys := l.deps.Tokens.Frozen() // they are sealed by one key
	place := make(map[uuid.UUID]int, len(p.Emails))
	for i := range p.Emails {
		id, err := uuid.NewV7()
		if err != nil {
			return nil, fmt.Errorf("make id: %w", err)
		}
		t, err := NewToken(keys, id)
		if err != nil {
			return nil, err
		}
		p.IDs, place[id] = append(p.IDs, id), i
		p.TokenHashes, p.TokensSealed, p.TokenKey = append(p.TokenHashes, t.Hash), append(p.TokensSealed, t.Sealed), t.Key
	}
	q := store.New(tx)
	magnet, err := shareMagnet(ctx, q, p.LeadMagnetID)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, problem.Missing("lead magnet")
	}
	if err != nil {
		return nil, err
	}
	if err := account.Reserve(ctx, tx, l.plans, account.AccessLinks, int64(len(p.IDs))); err != nil {
		return nil, err
	}
	rows, err := q.InsertAccessLinks(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("insert access links: %w", err)
	}
	created := make([]AccessLink, len(rows))
	for _, row := range rows {
		created[place[row.ID]] = l.fromRow(store.GetAccessLinkRow{AccessLink: row, FileVersion: magnet.FileVersion},
			store.Counts{})
	}
	return created, l.announce(ctx, tx, p.AccountID, created...)
}
