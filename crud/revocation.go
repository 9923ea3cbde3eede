package crud

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"

	"lodestone/pkg/blob"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

// Revocation is one that is on record.
type Revocation struct {
	Entity    string     `json:"entity"` // the table of Postgres
	ID        uuid.UUID  `json:"id"`
	Account   *uuid.UUID `json:"account,omitzero"` // of a membership, whose id is the user's
	Deleted   bool       `json:"deleted"`          // false: it was switched off
	RevokedAt time.Time  `json:"revoked_at"`
}

type revocationEntry struct {
	Version     int          `json:"version"` // 1
	Revocations []Revocation `json:"revocations"`
}

const (
	entryVersion = 1
	writeEvery   = time.Second
	atOnce       = 1000

	// writerLock is the key of the advisory lock under which one process writes: names follow each
	// other.
	writerLock = 0x6c6f6465_7265766f // "loderevo"
)

// OpenRevocations returns the place in a log of erasures, which is a directory or a bucket, or nil
// if there is no log. Names of entries are in the order in which these were written.
func OpenRevocations(log string, s3 blob.Config) (blob.Folder, error) {
	if log == "" {
		return nil, nil
	}
	place, err := blob.OpenFolder(strings.TrimSuffix(log, "/")+"/revoked", s3)
	if err != nil {
		return nil, fmt.Errorf("open record of revocations: %w", err)
	}
	return place, nil
}

// RevocationDeps are the dependencies of the record. Place may be nil: nothing is recorded then.
// All others are required.
type RevocationDeps struct {
	Postgres   *postgres.Pool
	Place      blob.Folder
	Log        *slog.Logger
	Registerer prometheus.Registerer
}

// Revocations keeps what was revoked (links, keys, shares, people, webhooks) on record outside the
// databases, so that a restored Postgres of before does not open it again. Triggers note a
// revocation in the transaction that makes it. This service.Service writes the notes to the place
// of the log of erasures within a second or so. Replay revokes what a restored Postgres lacks
// before anything is served.
type Revocations struct {
	*service.Loop
	deps RevocationDeps
	lag  prometheus.Gauge
}

// NewRevocations returns the record.
func NewRevocations(d RevocationDeps) *Revocations {
	r := &Revocations{deps: d, lag: prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "lodestone_revocation_lag_seconds",
		Help: "Age of the oldest revocation not yet in the log outside the databases; a restore would miss it.",
	})}
	d.Registerer.MustRegister(r.lag)
	r.Loop = service.Every("record of revocations", writeEvery, writeEvery, d.Log, r.write)
	return r
}

// write writes what is noted. The process replays what Postgres lacks before it starts this
// service.
func (r *Revocations) write(ctx context.Context) error {
	for n := atOnce; n == atOnce; {
		err := r.deps.Postgres.Transaction(ctx, func(tx pgx.Tx) (err error) {
			n, err = r.writeSome(ctx, tx)
			return err
		})
		if err != nil {
			return fmt.Errorf("put revocations on record: %w", err)
		}
	}
	return r.look(ctx)
}

func (r *Revocations) look(ctx context.Context) error {
	lag, err := store.New(r.deps.Postgres.Unscoped()).RevocationLag(ctx)
	if err != nil {
		return fmt.Errorf("look for revocations: %w", err)
	}
	r.lag.Set(lag)
	return nil
}

func (r *Revocations) writeSome(ctx context.Context, tx pgx.Tx) (n int, err error) {
	q := store.New(tx)
	mine, err := q.TryLock(ctx, writerLock)
	if err != nil || !mine {
		return 0, err
	}
	rows, err := q.SomeRevocations(ctx, atOnce)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	e, numbers := revocationEntry{Version: entryVersion}, make([]int64, len(rows))
	for i, row := range rows {
		e.Revocations = append(e.Revocations, Revocation{Entity: row.Entity, ID: row.ID, Account: row.Account,
			Deleted: row.Deleted, RevokedAt: row.RevokedAt.UTC()})
		numbers[i] = row.Number
	}
	if r.deps.Place != nil {
		if err := r.append(ctx, q, e); err != nil {
			return 0, err
		}
	}
	return len(rows), q.RemoveRevocations(ctx, numbers)
}

// append writes an entry behind the newest one.
func (r *Revocations) append(ctx context.Context, q *store.Queries, e revocationEntry) error {
	newest, err := q.NewestRevocation(ctx)
	if err != nil {
		return err
	}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	name := nextName(newest, time.Now())
	if err := r.deps.Place.Write(ctx, name, text); err != nil {
		return err
	}
	return q.SetNewestRevocation(ctx, name)
}

// nameForm is a time. Names of one form sort as their times do.
const nameForm = "20060102T150405.000000000Z"

// nextName returns a name behind another, also if the clock was set back.
func nextName(newest string, now time.Time) string {
	if last, err := time.Parse(nameForm, newest); err == nil && !now.After(last) {
		now = last.Add(1)
	}
	return now.UTC().Format(nameForm)
}

// isName reports whether a document has a name that nextName returns.
func isName(name string) bool {
	at, err := time.Parse(nameForm, name)
	return err == nil && at.Format(nameForm) == name
}
