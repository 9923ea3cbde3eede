package session

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// A pass is what the URLs of a session's file carry: base64url of
//
//	session id (16) · file version (4) · seconds when it ends (8) · MAC (16)
//
// The MAC covers the link as well. Ids of sessions are told to others (in events and webhooks), so an
// id alone opens nothing.
const (
	passBody  = 16 + 4 + 8
	passBytes = passBody + 16
)

func passMAC(key *[token.KeyBytes]byte, link uuid.UUID, body []byte) []byte {
	mac := hmac.New(sha256.New, key[:])
	mac.Write(link[:])
	mac.Write(body)
	return mac.Sum(nil)[:16]
}

// signed reports whether a MAC of a link and a body was made with a key of ours.
func (s *Sessions) signed(link uuid.UUID, body, mac []byte) bool {
	return slices.ContainsFunc(s.keys, func(key [token.KeyBytes]byte) bool { return hmac.Equal(mac, passMAC(&key, link, body)) })
}

// Pass returns what opens the file of the session, for as long as a session lasts at most. It is the
// same each time, so that a page that is loaded again finds what it had in the browser's cache.
func (s Session) Pass() string {
	body := make([]byte, passBody, passBytes)
	copy(body, s.ID[:])
	binary.BigEndian.PutUint32(body[16:], uint32(s.File.Version))
	binary.BigEndian.PutUint64(body[20:], uint64(s.StartedAt.Add(Longest).Unix()))
	return base64.RawURLEncoding.EncodeToString(append(body, passMAC(s.key, s.Link.ID, body)...))
}

// Enter returns the session of a pass, or a Refusal: sessions end after a while, and at once when their
// link or its lead magnet is switched off.
func (s *Sessions) Enter(ctx context.Context, link Link, pass string) (Session, error) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(pass)
	if err != nil || len(raw) != passBytes || !s.signed(link.ID, raw[:passBody], raw[passBody:]) ||
		time.Now().Unix() >= int64(binary.BigEndian.Uint64(raw[20:])) {
		return Session{}, &Refusal{Over}
	}
	out := Session{ID: uuid.UUID(raw[:16]), tokens: s.deps.Tokens, key: &s.keys[0]}
	version := int32(binary.BigEndian.Uint32(raw[16:]))
	err = s.deps.Postgres.AccountSnapshot(ctx, link.Account, func(tx pgx.Tx) error {
		q := store.New(tx)
		if out.ID == uuid.Nil {
			row, err := q.GetOpening(ctx, link.ID)
			if err != nil {
				return err
			}
			out.Link, out.File.Version = row.AccessLink, version
			return s.complete(ctx, q, &out)
		}
		row, err := q.GetSessionFile(ctx, store.GetSessionFileParams{ID: out.ID, AccessLinkID: link.ID, LongestSeconds: Longest.Seconds()})
		out.Link, out.File, out.Title = row.AccessLink, row.LeadMagnetFile, row.Title
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

// PreviewToken returns what lets the owner of a link look at its document without being counted, and
// until when.
func (s *Sessions) PreviewToken(link uuid.UUID) (string, time.Time) {
	ends := time.Now().Add(previewTime).Truncate(time.Second)
	body := binary.BigEndian.AppendUint64(nil, uint64(ends.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(body, passMAC(&s.keys[0], link, body)...)), ends
}

// IsPreview reports whether a text is a preview token of the link that has not ended.
func (s *Sessions) IsPreview(link Link, text string) bool {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	return err == nil && len(raw) == 8+16 && s.signed(link.ID, raw[:8], raw[8:]) &&
		time.Now().Unix() < int64(binary.BigEndian.Uint64(raw[:8]))
}
