package summary

import (
	_ "embed" // for the statements

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/query/scope"
)

//go:embed views.sql
var viewsSQL string

// Views returns the statement that counts the views of access links, in one row: views, lead
// magnets, first and last page.
func Views(links []uuid.UUID) scope.Statement {
	return scope.Statement{
		Name: "email views", SQL: viewsSQL, Params: map[string]string{"access_links": clickhouse.UUIDs(links)},
		// Names what answers, so that nothing else is planned: a millisecond and a half of twenty.
		Projection: "quarters", Alone: true, AtOnce: true,
	}
}
