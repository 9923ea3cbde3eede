package recipient

import (
	"bufio"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/link"
	"lodestone/pkg/api"
	"lodestone/pkg/attachment"
	"lodestone/pkg/auth"
	"lodestone/pkg/store"
)

// Exports that run at a time in a process, and how long one may take.
const (
	maxExports        = 4
	maxAccountExports = 2
	exportTimeout     = 15 * time.Minute
	exportBatch       = 1000
)

type exportInput struct {
	Filter
	attachment.Choice
}

// record is a row of a file whose columns are fixed. A null is nil.
type record struct {
	ID             uuid.UUID  `parquet:"id,uuid"`
	Email          string     `parquet:"email"`
	Name           *string    `parquet:"name,optional"`
	State          string     `parquet:"state"`
	URL            *string    `parquet:"url,optional"`
	FurthestPage   *int64     `parquet:"furthest_page,optional"`
	AddedAt        time.Time  `parquet:"added_at,timestamp(millisecond)"`
	SentAt         *time.Time `parquet:"sent_at,optional,timestamp(millisecond)"`
	BouncedAt      *time.Time `parquet:"bounced_at,optional,timestamp(millisecond)"`
	Failure        *string    `parquet:"failure,optional"`
	OpenedAt       *time.Time `parquet:"opened_at,optional,timestamp(millisecond)"`
	RemindedAt     *time.Time `parquet:"reminded_at,optional,timestamp(millisecond)"`
	UnsubscribedAt *time.Time `parquet:"unsubscribed_at,optional,timestamp(millisecond)"`
}

func recordOf(r *Recipient) record {
	row := record{
		ID: r.ID, Email: r.Email, Name: r.Name, State: string(r.State), URL: r.URL, AddedAt: r.AddedAt.UTC(),
		SentAt: api.PlainTime(r.SentAt), BouncedAt: api.PlainTime(r.BouncedAt), Failure: r.Failure,
		OpenedAt: api.PlainTime(r.OpenedAt), RemindedAt: api.PlainTime(r.RemindedAt),
		UnsubscribedAt: api.PlainTime(r.UnsubscribedAt),
	}
	if r.FurthestPage != nil {
		row.FurthestPage = new(int64(*r.FurthestPage))
	}
	return row
}

func (r *Recipients) export(w http.ResponseWriter, req *http.Request, in *exportInput) error {
	ctx, account := req.Context(), auth.From(req.Context()).AccountID
	release, err := r.exports.Take(account, 1)
	if err != nil {
		return attachment.Refuse(err)
	}
	defer release()
	out, err := attachment.Create(w, req, "recipients", in.Choice)
	if err != nil {
		return err
	}
	err = r.deps.Postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		_, err := link.Get(ctx, tx, in.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("export recipients: %w", err)
	}
	if req.Method == http.MethodHead {
		_, err := out.Write(nil)
		return err
	}
	if err := auth.RecordRead(ctx, r.deps.Postgres); err != nil {
		return err
	}
	buffer := bufio.NewWriter(out)
	file := attachment.NewTable[record](buffer, in.Format)
	err = r.deps.Postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		query := store.ListRecipientsParams{GenericLinkID: in.ID, State: in.state(), Containing: in.Q, RowLimit: exportBatch}
		for {
			rows, err := store.New(tx).ListRecipients(ctx, query)
			if err != nil {
				return err
			}
			for i := range rows {
				shown := r.fromRow(&rows[i])
				if err := file.Write(recordOf(&shown), &shown); err != nil {
					return err
				}
			}
			if len(rows) < exportBatch {
				return errors.Join(file.End(), buffer.Flush())
			}
			query.Before = &rows[len(rows)-1].Recipient.ID
		}
	})
	if err != nil {
		return fmt.Errorf("export recipients: %w", err)
	}
	_, err = out.Write(nil) // an empty file is one as well
	return err
}
