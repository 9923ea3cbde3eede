package webhook

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// About returns the messages in the log that are about access links and submissions, oldest first, in a transaction of the account.
func (w *Webhooks) About(ctx context.Context, tx pgx.Tx, links, submissions []uuid.UUID) ([]Delivery, error) {
	rows, err := store.New(tx).DeliveriesOfPerson(ctx, store.DeliveriesOfPersonParams{AccessLinkIDs: links, SubmissionIDs: submissions})
	if err != nil {
		return nil, fmt.Errorf("read deliveries: %w", err)
	}
	list := make([]Delivery, len(rows))
	for i, row := range rows {
		if list[i], err = w.show(row); err != nil {
			return nil, err
		}
	}
	return list, nil
}
