// Package report answers the analytics that are numbers: how a document is read, page by page, and
// questions of metrics over dimensions and intervals. Every number is exact, and the words mean the
// same everywhere (docs/reports.md).
package report

import "lodestone/query/scope"

// Reporter answers reports of accounts. It is safe for concurrent use.
type Reporter struct {
	ch *scope.ClickHouse
}

// New returns a Reporter.
func New(ch *scope.ClickHouse) *Reporter { return &Reporter{ch} }
