// Package report answers the analytics that are numbers: how a document is read, page by page, and questions of metrics
// over dimensions and intervals. Every number is exact, and the words mean the same everywhere (docs/reports.md).
package report

import (
	"context"
	"time"

	"lodestone/query/scope"
)

// Reporter answers reports of accounts. It is safe for concurrent use.
type Reporter struct {
	ch *scope.ClickHouse
}

// New returns a Reporter.
func New(ch *scope.ClickHouse) *Reporter { return &Reporter{ch} }

// AsOf returns the time up to which everything that was stored is in an answer that is asked for after this call. Newer
// events may be in it as well.
func (r *Reporter) AsOf(ctx context.Context) (time.Time, error) { return r.ch.Settled(ctx) }
