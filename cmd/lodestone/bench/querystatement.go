package bench

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/query/scope"
)

// listStatements are what a first page asks of ClickHouse: the page itself, and the number of events of the months that are
// not over. A request asks both at the same time, so it takes what the two take together, and then what is its own.
type listStatements struct {
	door    *scope.ClickHouse
	account uuid.UUID
}

// at returns the parameter of a condition on a time.
func at(name string, t time.Time) map[string]string {
	return map[string]string{name: strconv.FormatInt(t.UnixMilli(), 10)}
}

// page reads the newest events since a time, as lists do.
func (l listStatements) page(since time.Time) scope.Statement {
	s := page(isRecent)
	return scope.Statement{Name: "page alone", SQL: of("lodestone.events", []string{s.sql})[0], Params: at("recent", since), Projection: scope.NoProjection}
}

// number counts the days since a time, as lists do.
func (l listStatements) number(since time.Time) scope.Statement {
	return scope.Statement{
		Name: "number alone", Params: at("from", since), Projection: scope.NoProjection, AtOnce: true,
		SQL: "SELECT toDate(created_at) AS day, toInt64(count())\nFROM lodestone.events\n" + where([]string{isSince}) + "GROUP BY day",
	}
}

// sides measures the statements, each alone and both at the same time.
func (l listStatements) sides() []Side {
	now := time.Now().UTC()
	day := now.AddDate(0, 0, -2).Truncate(24 * time.Hour)
	month := time.Date(day.Year(), day.Month(), 1, 0, 0, 0, 0, time.UTC)
	run := func(name string, statements ...scope.Statement) Side {
		return Side{Name: name, Run: func(ctx context.Context) (Sample, error) { return l.run(ctx, statements) }}
	}
	return []Side{
		run("page and number at once", l.page(day), l.number(month)),
		run("page alone", l.page(day)),
		run("number alone", l.number(month)),
		run("a page that finds nothing", l.page(now.AddDate(80, 0, 0))),
		run("SELECT 1", scope.Statement{Name: "one", SQL: "SELECT 1"}),
	}
}

// run asks all statements at the same time, again and again.
func (l listStatements) run(ctx context.Context, statements []scope.Statement) (Sample, error) {
	const asked = 150
	var took Latencies
	for range asked {
		begin := time.Now()
		group, groupCtx := errgroup.WithContext(ctx)
		for _, s := range statements {
			group.Go(func() error { return l.door.Query(groupCtx, l.account, s, func(scope.Row) error { return nil }) })
		}
		if err := group.Wait(); err != nil {
			return nil, err
		}
		took.Add(time.Since(begin))
	}
	s := Sample{}
	s.AddLatencies(&took)
	return s, nil
}
