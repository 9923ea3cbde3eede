package session

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/pkg/suspect"
)

// A pass is a part of the URLs of a session's file: a grant for the link that holds the session's
// id (16 bytes) and the file's version (4). Ids of sessions are given to others (in events and
// webhooks), so an id alone opens nothing. A preview is a grant that holds nothing.
const (
	passPurpose = "session pass"
	passBody    = 16 + 4
)

// Pass returns the pass of the session's file, valid for the longest session. It is the same each
// time, so that a reloaded page finds the file in the browser's cache.
func (s Session) Pass() string {
	body := binary.BigEndian.AppendUint32(s.ID[:], uint32(s.File.Version))
	return s.tokens.Grant(passPurpose, s.Link.ID[:], body, s.StartedAt.Add(Longest))
}

// Enter returns the session of a pass, or a Refusal: sessions end after a while, and at once when
// their link or its lead magnet is switched off.
func (s *Sessions) Enter(ctx context.Context, link Link, pass string) (Session, error) {
	body, err := s.deps.Tokens.OpenGrant(passPurpose, link.ID[:], pass, time.Now())
	if err != nil || len(body) != passBody {
		return Session{}, &Refusal{Over}
	}
	out := Session{ID: uuid.UUID(body[:16]), tokens: s.deps.Tokens}
	version := int32(binary.BigEndian.Uint32(body[16:]))
	err = s.deps.Postgres.AccountSnapshot(ctx, link.Account, func(tx pgx.Tx) error {
		q := store.New(tx)
		if out.ID == uuid.Nil {
			row, err := q.GetOpening(ctx, link.ID)
			if err != nil {
				return err
			}
			out.Link, out.File.Version, out.StartedAt = row.AccessLink, version, time.Now()
			return s.complete(ctx, q, &out)
		}
		row, err := q.GetSessionFile(ctx, store.GetSessionFileParams{ID: out.ID, AccessLinkID: link.ID,
			LongestSeconds: Longest.Seconds()})
		out.Link, out.File, out.Title, out.Downloadable, out.Bot = row.AccessLink, row.LeadMagnetFile,
			row.Title, row.Downloadable, row.Bot
		out.StartedAt, out.Watermarked = row.StartedAt, row.Watermarked
		out.Suspect, out.LeftOut = suspect.Rule(row.Suspect), row.LeftOut
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return Session{}, &Refusal{Over}
	}
	if err != nil {
		return Session{}, fmt.Errorf("enter session: %w", err)
	}
	return out, nil
}

// previewTime is how long an owner's preview can be opened.
const previewTime = time.Hour

// PreviewToken returns what lets the owner of a link look at its document without being counted,
// and until when.
func (s *Sessions) PreviewToken(link uuid.UUID) (string, time.Time) {
	ends := time.Now().Add(previewTime).Truncate(time.Second)
	return s.deps.Tokens.Grant(passPurpose, link[:], nil, ends), ends
}

// IsPreview reports whether a text is a preview token of the link that has not ended.
func (s *Sessions) IsPreview(link Link, text string) bool {
	body, err := s.deps.Tokens.OpenGrant(passPurpose, link.ID[:], text, time.Now())
	return err == nil && len(body) == 0
}
