package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"go.opentelemetry.io/otel/trace"

	"lodestone/pkg/tracing"
)

// queryTracer makes each statement of a traced request a span, which has the statement's name. It
// implements pgx.QueryTracer.
type queryTracer struct{}

// TraceQueryStart implements pgx.QueryTracer.
func (queryTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryStartData) context.Context {
	ctx, _ = tracing.Begin(ctx, func() string { return "postgres " + statementName(q.SQL) })
	return ctx
}

// TraceQueryEnd implements pgx.QueryTracer. The span of ctx is that of the statement, or records
// nothing.
func (queryTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, q pgx.TraceQueryEndData) {
	tracing.End(trace.SpanFromContext(ctx), q.Err)
}

// statementName returns the name that a statement begins with (-- name: GetLink :one), or its first
// word.
func statementName(sql string) string {
	sql = strings.TrimPrefix(strings.TrimSpace(sql), "-- name: ")
	if i := strings.IndexAny(sql, " \n\t;("); i >= 0 {
		sql = sql[:i]
	}
	return sql
}
