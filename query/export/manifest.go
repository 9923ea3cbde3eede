package export

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
)

// Manifest lists the files of an account. A file that it does not list is not part of the archive:
// its day is written again.
type Manifest struct {
	AccountID uuid.UUID `json:"account_id"`
	// CompleteUntil is the start of the first day that is missing: every event stored before is in
	// a file.
	CompleteUntil time.Time      `json:"complete_until"`
	Files         []ArchivedFile `json:"files"`
}

// ArchivedFile is the file of a day.
type ArchivedFile struct {
	Path   string    `json:"path"` // below the archive
	Day    string    `json:"day"`  // UTC day on which its events were stored
	Rows   int64     `json:"rows"`
	Bytes  int64     `json:"bytes"`
	SHA256 string    `json:"sha256"`
	AsOf   time.Time `json:"as_of"` // state of the data: everything stored until then was there
}

func folder(account uuid.UUID) string { return "events/account_id=" + account.String() + "/" }

func manifestPath(account uuid.UUID) string {
	return "manifests/account_id=" + account.String() + ".json"
}

func filePath(account uuid.UUID, day time.Time) string {
	return folder(account) + "day=" + day.Format(time.DateOnly) + "/events.parquet"
}

func (a *Archive) readManifest(ctx context.Context, account uuid.UUID) (Manifest, error) {
	m := Manifest{AccountID: account, Files: []ArchivedFile{}}
	text, err := a.target.Read(ctx, manifestPath(account))
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", manifestPath(account), err)
	}
	if m.AccountID != account {
		return m, fmt.Errorf("read %s: it is of account %s", manifestPath(account), m.AccountID)
	}
	return m, nil
}

func (a *Archive) writeManifest(ctx context.Context, m Manifest) error {
	text, err := json.Marshal(m, jsontext.WithIndent("  "))
	if err != nil {
		return fmt.Errorf("write manifest: %w", err)
	}
	return a.put(ctx, manifestPath(m.AccountID), append(text, '\n'))
}
