package mail

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// sealing is the purpose that mails are sealed for. The context is the id of the mail.
const sealing = "mails"

// job is a mail in the queue: sealed, since whoever reads the table or a dump of it must not be able to open links, nor to verify addresses.
type job struct {
	AccountID uuid.UUID `json:"account_id"`
	About     Kind      `json:"kind"` // for operators
	// ID makes the Message-ID, which is the same at every attempt: a mail that was sent twice, because
	// the answer to the first time got lost, is shown once by most mailboxes.
	ID     uuid.UUID `json:"id"`
	Sealed []byte    `json:"sealed"` // Message
}

const (
	kind = "sealed_mail"
	// kindInClear is that of a release before: the arguments were a Message and the id.
	kindInClear = "mail"
)

// Kind implements river.JobArgs.
func (job) Kind() string { return kind }

func seal(keys *token.Ring, m Message, id uuid.UUID) (job, error) {
	text, err := json.Marshal(m)
	if err != nil {
		return job{}, fmt.Errorf("encode mail: %w", err)
	}
	sealed, err := keys.Seal(sealing, text, id[:])
	if err != nil {
		return job{}, fmt.Errorf("seal mail: %w", err)
	}
	return job{AccountID: m.AccountID, About: m.Kind, ID: id, Sealed: sealed}, nil
}

func (j job) open(keys *token.Ring) (m Message, err error) {
	text, err := keys.Open(sealing, j.Sealed, j.ID[:])
	if err != nil {
		return m, fmt.Errorf("open mail: %w", err)
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read mail: %w", err)
	}
	return m, nil
}

// Seal seals the mails that a release before left in clear.
func (q *Queue) Seal(ctx context.Context, db *postgres.Pool) error {
	rows := store.New(db.Unscoped())
	_, err := token.SealRows(ctx, func(ctx context.Context, after, limit int64) ([]store.MailsInClearRow, error) {
		return rows.MailsInClear(ctx, store.MailsInClearParams{Kind: kindInClear, After: after, RowLimit: limit})
	}, func(ctx context.Context, row store.MailsInClearRow) (int64, error) {
		var m struct {
			Message
			ID uuid.UUID `json:"id"`
		}
		if err := json.Unmarshal(row.Args, &m); err != nil {
			// It can be neither sealed nor sent. The error may repeat what the mail says.
			q.log.Error("a waiting mail is not one of Lodestone's: delete its row of river_job", "job_id", row.ID)
			return row.ID, nil //nolint:nilerr // one mail that cannot be read keeps no other in clear
		}
		j, err := seal(q.tokens, m.Message, m.ID)
		if err != nil {
			return row.ID, err
		}
		args, err := json.Marshal(j)
		if err != nil {
			return row.ID, err
		}
		return row.ID, rows.SealMail(ctx, store.SealMailParams{ID: row.ID, Kind: kind, Args: args})
	})
	if err != nil {
		return fmt.Errorf("seal mails: %w", err)
	}
	return nil
}
