package picture

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
)

// StoreForFile stores the pictures of a version of a lead magnet's file, if any, and its table of
// contents, as JSON. They replace those stored before.
func (s Set) StoreForFile(ctx context.Context, tx pgx.Tx, account, magnet uuid.UUID,
	version int32, outline []byte) error {
	if len(s) > 0 {
		if err := store.New(tx).DeletePicturesOfFile(ctx, store.DeletePicturesOfFileParams{LeadMagnetID: magnet,
			Version: version}); err != nil {
			return fmt.Errorf("delete earlier pictures of file: %w", err)
		}
	}
	if _, err := s.insert(ctx, tx, store.InsertPictureParams{AccountID: account, LeadMagnetID: &magnet,
		Version: &version}); err != nil {
		return err
	}
	if err := store.New(tx).SetOutline(ctx, store.SetOutlineParams{LeadMagnetID: magnet, Version: version,
		Outline: outline}); err != nil {
		return fmt.Errorf("store table of contents: %w", err)
	}
	return nil
}

// StoreForLink keeps the pictures of a generic link, which has none yet, and returns the path of
// the larger thumbnail.
func (s Set) StoreForLink(ctx context.Context, tx pgx.Tx, account, link uuid.UUID) (path string, err error) {
	paths, err := s.insert(ctx, tx, store.InsertPictureParams{AccountID: account, GenericLinkID: &link})
	return paths[large], err
}

// CopyForLink gives a generic link, which has none yet, the pictures that were uploaded for
// another, and returns the path of the larger thumbnail; "" if there are none.
func CopyForLink(ctx context.Context, tx pgx.Tx, account, from, to uuid.UUID) (path string, err error) {
	rows, err := store.New(tx).UploadedPictures(ctx, from)
	if err != nil {
		return "", fmt.Errorf("read pictures: %w", err)
	}
	var s Set
	for _, row := range rows {
		s = append(s, variant{row.Kind, row.ContentType, int(row.Width), int(row.Height), row.Bytes})
	}
	return s.StoreForLink(ctx, tx, account, to)
}

// StoreLogo keeps the logo of an account, which has none yet, and returns its path.
func (s Set) StoreLogo(ctx context.Context, tx pgx.Tx, account uuid.UUID) (path string, err error) {
	paths, err := s.insert(ctx, tx, store.InsertPictureParams{AccountID: account})
	return paths[logo], err
}

// insert adds every picture to the owner that a row names.
func (s Set) insert(ctx context.Context, tx pgx.Tx, row store.InsertPictureParams) (paths map[string]string,
	err error) {
	q := store.New(tx)
	paths = make(map[string]string, len(s))
	for _, m := range s {
		row.ID, row.Kind, row.ContentType = newID(), m.kind, m.contentType
		row.Width, row.Height, row.Bytes = int32(m.width), int32(m.height), m.bytes
		if err := q.InsertPicture(ctx, row); err != nil {
			return nil, fmt.Errorf("store picture: %w", err)
		}
		paths[m.kind] = pathOf(row.ID, row.ContentType)
	}
	return paths, nil
}

// Covers returns the URLs of the pictures of the first pages of lead magnets, of those that have
// one.
func Covers(ctx context.Context, tx pgx.Tx, site string, magnets []uuid.UUID) (map[uuid.UUID]string, error) {
	covers := map[uuid.UUID]string{}
	if len(magnets) == 0 {
		return covers, nil
	}
	rows, err := store.New(tx).CoversOfMagnets(ctx, store.CoversOfMagnetsParams{Kind: large, IDs: magnets})
	if err != nil {
		return nil, fmt.Errorf("read pictures of first pages: %w", err)
	}
	for _, row := range rows {
		covers[row.LeadMagnetID] = site + pathOf(row.ID, row.ContentType)
	}
	return covers, nil
}
