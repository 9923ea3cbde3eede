package report

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/query/scope"
)

//go:embed label.sql
var labelSQL string

// label adds the titles of lead magnets, and the titles or slugs of generic links, whose ids are in
// the rows of answers. What was deleted has none.
func (r *Reporter) label(ctx context.Context, account uuid.UUID, answers []Answer) error {
	var ids []uuid.UUID
	for i := range answers {
		answers[i].Labels = map[string]string{}
		for _, id := range answers[i].named() {
			if parsed, err := uuid.Parse(id); err == nil {
				ids = append(ids, parsed)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names := map[string]string{}
	statement := scope.Statement{Name: "labels", SQL: labelSQL, Params: map[string]string{"ids": clickhouse.UUIDs(ids)}}
	if err := r.ch.Query(ctx, account, statement, func(row scope.Row) error {
		var id, name string
		if err := row.Scan(&id, &name); err != nil {
			return fmt.Errorf("read label: %w", err)
		}
		names[id] = name
		return nil
	}); err != nil {
		return err
	}
	for i := range answers {
		for _, id := range answers[i].named() {
			if name, ok := names[id]; ok {
				answers[i].Labels[id] = name
			}
		}
	}
	return nil
}

// named returns the ids in the rows that have names, each once.
func (a *Answer) named() []string {
	ids := map[string]bool{}
	for i, name := range a.Dimensions {
		if name != "lead_magnet_id" && name != "generic_link_id" {
			continue
		}
		for _, row := range a.Rows {
			if len(row.Values) == 0 {
				continue
			}
			if id, ok := row.Values[i].(string); ok {
				ids[id] = true
			}
		}
	}
	return slices.Collect(maps.Keys(ids))
}
