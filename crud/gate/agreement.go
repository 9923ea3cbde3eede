package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/store"
)

// AcceptedAgreement is a text that a visitor accepted.
type AcceptedAgreement struct {
	Title      *string  `json:"title" doc:"Heading of the text; null if it had none."`
	Text       string   `json:"text" doc:"The text, as it was shown."`
	AcceptedAt api.Time `json:"accepted_at" doc:"When it was accepted first."`
}

func digest(link store.GenericLink) []byte {
	text := *link.AgreementText
	if link.AgreementTitle != nil {
		text = *link.AgreementTitle + "\x00" + text
	}
	sum := sha256.Sum256([]byte(text))
	return sum[:]
}

// AgreementVersion names the text that a link asks to accept; "" if there is none.
func AgreementVersion(link store.GenericLink) string {
	if link.AgreementText == nil {
		return ""
	}
	return hex.EncodeToString(digest(link)[:8])
}

// Accept records that the visitor of a submission accepted the text of its link, if there is one.
func Accept(ctx context.Context, q *store.Queries, link store.GenericLink, submission uuid.UUID, at time.Time) error {
	if link.AgreementText == nil {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	id, err = q.KeepAgreement(ctx, store.KeepAgreementParams{ID: id, AccountID: link.AccountID, GenericLinkID: link.ID,
		Digest: digest(link), Title: link.AgreementTitle, Text: *link.AgreementText})
	if err != nil {
		return fmt.Errorf("keep agreement: %w", err)
	}
	err = q.AcceptAgreement(ctx, store.AcceptAgreementParams{SubmissionID: submission, AgreementID: id,
		AccountID: link.AccountID, AcceptedAt: at})
	if err != nil {
		return fmt.Errorf("record acceptance: %w", err)
	}
	return nil
}

// Accepted returns what was accepted with submissions, oldest first.
func Accepted(ctx context.Context, q *store.Queries, submissions []store.Submission) (
	map[uuid.UUID][]AcceptedAgreement, error) {
	ids := make([]uuid.UUID, len(submissions))
	found := make(map[uuid.UUID][]AcceptedAgreement, len(submissions))
	for i := range submissions {
		ids[i] = submissions[i].ID
		found[ids[i]] = []AcceptedAgreement{}
	}
	rows, err := q.AcceptedAgreements(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read accepted agreements: %w", err)
	}
	for _, row := range rows {
		found[row.SubmissionID] = append(found[row.SubmissionID],
			AcceptedAgreement{row.Title, row.Text, api.TimeOf(row.AcceptedAt)})
	}
	return found, nil
}
