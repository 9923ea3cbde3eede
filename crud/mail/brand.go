package mail

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/mail"
	"strings"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	gomail "github.com/wneessen/go-mail"

	"lodestone/crud/web"
	"lodestone/pkg/store"
)

// Brand is how mails of an account look. The zero value is the installation's own look.
type Brand struct {
	Name        string
	Accent      web.Pair
	Logo, Cover *Picture // nil: none
}

// Picture is a picture that a mail carries with it, so that opening the mail asks no server for
// anything.
type Picture struct {
	ID            string // of its part
	Type          string
	Width, Height int // as it is shown, in pixels
	Bytes         []byte
}

// CID returns the content id of the picture, by which the HTML refers to it.
func (p Picture) CID() string { return p.ID + "@mail" }

const (
	logoHeight = 32 // pixels
	coverWidth = 160
	maxBrand   = 60 // characters of an account's name in a sender
)

// Worded reports whether the logo has the name in it, which broad ones do.
func (b Brand) Worded() bool { return b.Logo != nil && b.Logo.Width >= 2*b.Logo.Height }

// brandOf returns how a mail looks: like its account, with the cover of its document for a visitor,
// or like the installation.
func (w *worker) brandOf(ctx context.Context, m Message) (b Brand, err error) {
	b.Accent = web.Token("accent")
	if w.postgres == nil || !m.Kind.branded() {
		return b, nil
	}
	err = w.postgres.AccountSnapshot(ctx, m.AccountID, func(tx pgx.Tx) error {
		q := store.New(tx)
		account, err := q.BrandOfAccount(ctx, m.AccountID)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		b.Name = Clean(account.Name, maxBrand)
		if account.BrandColor != nil {
			b.Accent = web.Accent(*account.BrandColor)
		}
		logo, err := q.LogoOfAccount(ctx, m.AccountID)
		if err == nil && logo.Height > 0 {
			b.Logo = &Picture{"logo", logo.ContentType, int(logo.Width) * logoHeight / int(logo.Height), logoHeight, logo.Bytes}
		}
		if err != nil && !errors.Is(err, pgx.ErrNoRows) {
			return err
		}
		if m.Kind != KindDocument && m.Own == nil || m.LeadMagnetID == uuid.Nil {
			return nil
		}
		cover, err := q.CoverOfMagnet(ctx, m.LeadMagnetID)
		if err == nil && cover.Width > 0 {
			b.Cover = &Picture{"cover", cover.ContentType, coverWidth,
				int(cover.Height) * coverWidth / int(cover.Width), cover.Bytes}
		}
		if errors.Is(err, pgx.ErrNoRows) {
			return nil
		}
		return err
	})
	if err != nil {
		return b, fmt.Errorf("read how mails of an account look: %w", err)
	}
	return b, nil
}

// senderOf returns the sender of a mail: the operator's address, which the server may send for,
// under the name of the account.
func (w *worker) senderOf(b Brand) *mail.Address {
	operator := w.from.Name
	if operator == "" {
		_, operator, _ = strings.Cut(w.from.Address, "@")
	}
	if b.Name == "" || strings.EqualFold(b.Name, w.from.Name) {
		return w.from
	}
	return &mail.Address{Name: b.Name + " via " + operator, Address: w.from.Address}
}

// embed adds the pictures of a brand to a mail.
func (b Brand) embed(m *gomail.Msg) error {
	for _, p := range []*Picture{b.Logo, b.Cover} {
		if p == nil {
			continue
		}
		_, ending, _ := strings.Cut(p.Type, "/")
		err := m.EmbedReader(p.ID+"."+ending, bytes.NewReader(p.Bytes), gomail.WithFileContentID("<"+p.CID()+">"),
			gomail.WithFileContentType(gomail.ContentType(p.Type)))
		if err != nil {
			return fmt.Errorf("add a picture: %w", err)
		}
	}
	return nil
}
