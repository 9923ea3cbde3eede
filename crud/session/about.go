package session

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// Waiting is an event in the queue of reports.
type Waiting struct {
	State        string // of the job: available, running, retryable, scheduled, completed, cancelled or discarded
	EventID      uuid.UUID
	EventType    string
	AccessLinkID uuid.UUID
	SessionID    uuid.UUID
	At           time.Time
	UserAgent    string
	Language     string
	Country      string
}

// ReportsAbout returns the events of access links in the queue of reports, in a transaction of the account.
func ReportsAbout(ctx context.Context, tx pgx.Tx, links []uuid.UUID) ([]Waiting, error) {
	rows, err := store.New(tx).ReportsOfPerson(ctx, store.ReportsOfPersonParams{Kind: report{}.Kind(), AccessLinkIDs: links})
	if err != nil {
		return nil, fmt.Errorf("read reports: %w", err)
	}
	list := make([]Waiting, len(rows))
	for i, row := range rows {
		var r report
		if err := json.Unmarshal(row.Args, &r); err != nil {
			return nil, fmt.Errorf("read report: %w", err)
		}
		list[i] = Waiting{row.State, r.EventID, r.EventType, r.AccessLinkID, r.SessionID, r.At, r.UserAgent, r.Language, r.Country}
	}
	return list, nil
}

// BlankReports removes what the queue of reports has about the visitors of access links, in a transaction of the account. Call it once
// the links are deleted: downloads of deleted links are not reported.
func BlankReports(ctx context.Context, tx pgx.Tx, links []uuid.UUID) error {
	if err := store.New(tx).BlankReports(ctx, store.BlankReportsParams{Kind: report{}.Kind(), AccessLinkIDs: links}); err != nil {
		return fmt.Errorf("blank reports: %w", err)
	}
	return nil
}
