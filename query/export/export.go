// Package export writes the events of an account as a file: CSV, NDJSON or Parquet. ClickHouse
// writes the format, in one statement and so from one state of the data; here the file only passes
// through. An Archive does the same for every account and day, in a directory or a bucket.
package export

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/attachment"
	"lodestone/pkg/limit"
	"lodestone/query/eventlist"
	"lodestone/query/scope"
)

// Config bounds exports.
type Config struct {
	Max         int           // exports at the same time; one account may have half of them, rounded up
	Timeout     time.Duration // of one export
	MemoryBytes int64         // of one export on the server
}

// Deps are the dependencies of an Exporter.
type Deps struct {
	Copies *scope.Copies // of the events
	HTTP   string        // HTTP address of each of them, with commas; "": every export fails with ErrNoAddress
}

// ErrNoAddress says that the HTTP address of ClickHouse is not set.
var ErrNoAddress = errors.New("the HTTP address of ClickHouse is not set")

// Exporter opens exports. It is safe for concurrent use.
type Exporter struct {
	streams *scope.Streams // nil without an address
	slots   *limit.Slots[uuid.UUID]
}

// New returns an Exporter without connecting.
func New(c Config, d Deps) (*Exporter, error) {
	e := &Exporter{slots: limit.NewSlots[uuid.UUID](int64(c.Max), int64(c.Max+1)/2)}
	if d.HTTP == "" {
		return e, nil
	}
	var err error
	e.streams, err = scope.OpenStreamsOf(d.Copies, d.HTTP, scope.Limits{MaxConns: c.Max, Timeout: c.Timeout,
		MemoryBytes: c.MemoryBytes})
	return e, err
}

// Close closes the connections that no export uses.
func (e *Exporter) Close() {
	if e.streams != nil {
		e.streams.Close()
	}
}

// File is an export that runs.
type File struct {
	*scope.Stream
	release func()
}

// Close ends the export if it still runs.
func (f *File) Close() error {
	defer f.release()
	return f.Stream.Close()
}

// Take lets an account write a file of another source, until the function is called. Its errors are
// those of limit.Slots.
func (e *Exporter) Take(account uuid.UUID) (release func(), err error) {
	return e.slots.Take(account, 1)
}

// Events starts an export of the events that the filter lets through, to be closed. It is with the
// columns of visitors if that is asked for.
func (e *Exporter) Events(ctx context.Context, account uuid.UUID, f eventlist.Filter, format attachment.Format,
	visitors bool) (*File, error) {
	columns := events
	if visitors {
		columns = slices.Concat(events, visitor)
	}
	clause, params := f.Where()
	return e.open(ctx, account, columns, clause, params, format)
}

func (e *Exporter) open(ctx context.Context, account uuid.UUID, columns []column, clause string,
	params map[string]string, format attachment.Format) (*File, error) {
	if e.streams == nil {
		return nil, ErrNoAddress
	}
	release, err := e.Take(account)
	if err != nil {
		return nil, err
	}
	stream, err := e.streams.Open(ctx, account, statementOf(columns, clause, params, format), formatOf(format, columns))
	if err != nil {
		release()
		return nil, err
	}
	return &File{stream, release}, nil
}
