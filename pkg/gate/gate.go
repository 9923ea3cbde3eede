// Package gate keeps a process from serving what a restored Postgres has of people who were erased. Crud compares each server of Postgres
// with the log of erasures (--erasure-log), erases again whom the server still has, and records that in Postgres. The record is void for a
// server that has started since, and for one into which a dump was restored.
package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/service"
	"lodestone/pkg/store"
)

const (
	lookEvery   = time.Second
	lookTimeout = 5 * time.Second
)

// ErrClosed says that Postgres was not compared with the log of erasures since it started.
var ErrClosed = errors.New("Postgres was restarted or restored, and crud has not compared it with the log of erasures yet") //nolint:staticcheck // a name

// Gate is a service.Service that looks for the record every second. It is closed until it has found it, and while Postgres cannot be
// reached, since another state of it may come back. It is safe for concurrent use.
type Gate struct {
	*service.Loop
	queries *store.Queries
	log     *slog.Logger
	open    atomic.Bool
	looking sync.Mutex // of two looks, the later one decides
}

// New returns the gate of a process.
func New(db *postgres.Pool, log *slog.Logger) *Gate {
	g := &Gate{queries: store.New(db.Unscoped()), log: log}
	g.Loop = service.NewLoop("erasure gate", g.run)
	return g
}

func (g *Gate) run(ctx context.Context, ready func()) error {
	for first := true; ; first = false {
		was := g.open.Load()
		_, err := g.Look(ctx)
		switch is := g.open.Load(); {
		case ctx.Err() != nil:
			return ctx.Err()
		case is && !was && !first:
			g.log.Info("Postgres was compared with the log of erasures, and is served again")
		case !is && err == nil && (was || first):
			g.log.Warn("nothing is served", "error", ErrClosed)
		}
		if first {
			ready()
		}
		if err := service.Sleep(ctx, lookEvery); err != nil {
			return err
		}
	}
}

// Look looks for the record now, and reports whether the gate is open.
func (g *Gate) Look(ctx context.Context) (bool, error) {
	g.looking.Lock()
	defer g.looking.Unlock()
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	compared, err := g.queries.ErasuresCompared(ctx)
	if err != nil && ctx.Err() == nil { // a connection may have ended, and Postgres not
		compared, err = g.queries.ErasuresCompared(ctx)
	}
	if ctx.Err() == nil { // else nothing is known: a busy pool may have no connection
		g.open.Store(compared && err == nil)
	}
	if err != nil {
		return false, fmt.Errorf("look whether Postgres was compared with the log of erasures: %w", err)
	}
	return compared, nil
}

// Compare calls fn, which compares Postgres with the log, and opens the gate of every process.
func (g *Gate) Compare(ctx context.Context, fn func() error) error {
	server, err := g.queries.ServerStarted(ctx) // before: fn may begin on one server and end on another
	if err != nil {
		return fmt.Errorf("look when Postgres started: %w", err)
	}
	if err := fn(); err != nil {
		return err
	}
	if err := g.queries.RecordErasuresCompared(ctx, server); err != nil {
		return fmt.Errorf("record that Postgres was compared with the log of erasures: %w", err)
	}
	_, err = g.Look(ctx)
	return err
}

// Ready returns ErrClosed while the gate is closed. It suits httpserver.Check.
func (g *Gate) Ready(context.Context) error {
	if !g.open.Load() {
		return ErrClosed
	}
	return nil
}

// Check is Ready for requests: its error is a problem.
func (g *Gate) Check(ctx context.Context) error {
	if err := g.Ready(ctx); err != nil {
		return problem.New(problem.Unavailable, "The database was restarted, and is compared with the log of erasures first. Try again.").
			RetryAfter(lookEvery)
	}
	return nil
}
