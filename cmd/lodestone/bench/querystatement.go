package bench

import (
	"context"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/service"
	"lodestone/query/eventlist"
	"lodestone/query/scope"
)

// listStatements are what a first page asks of ClickHouse: the page itself, the number of events that are not remembered, and which
// parts there are, by which what is remembered still stands. A request asks all at the same time, so it takes what they take
// together, and then what is its own. It also asks for the inserts that still run, if nobody did in the last second: that is left out.
type listStatements struct {
	door    *scope.ClickHouse
	account uuid.UUID
	lister  *eventlist.Lister
}

// question is one thing that is asked of ClickHouse.
type question func(ctx context.Context) error

// questions returns what the first page of a list asks, once its months are remembered: a quarter of a minute after they were merged.
// It reports false if that does not come.
func (l listStatements) questions(ctx context.Context, f eventlist.Filter) (q eventlist.Questions, ok bool, err error) {
	const looks, pause = 60, time.Second
	for range looks {
		if q, ok, err = l.lister.FirstPage(ctx, l.account, f, pageRows); ok || err != nil {
			return q, ok, err
		}
		if err := service.Sleep(ctx, pause); err != nil {
			return q, false, err
		}
	}
	return q, false, nil
}

// sides measures the questions, each alone and all at the same time. There are none if they are not known.
func (l listStatements) sides(ctx context.Context) ([]Side, error) {
	asked, ok, err := l.questions(ctx, eventlist.Filter{})
	if err != nil || !ok {
		return nil, err
	}
	never := time.Now().AddDate(80, 0, 0)
	nothing, ok, err := l.questions(ctx, eventlist.Filter{From: &never})
	if err != nil || !ok {
		return nil, err
	}
	side := func(name string, questions ...question) Side {
		return Side{Name: name, Run: func(ctx context.Context) (Sample, error) { return askAll(ctx, questions) }}
	}
	page, number := l.statement(asked.Page), l.statement(asked.Number)
	rest := []Side{
		side("a page that finds nothing", l.statement(nothing.Page)),
		side("SELECT 1", l.statement(scope.Statement{Name: "one", SQL: "SELECT 1"})),
	}
	if !asked.Parts { // too much to remember of the account
		return append([]Side{side("page and number at once", page, number), side("page alone", page), side("number alone", number)}, rest...), nil
	}
	parts := func(ctx context.Context) error {
		_, err := l.door.Parts(ctx)
		return err
	}
	return append([]Side{
		side("page, number and parts at once", page, number, parts),
		side("page alone", page), side("number alone", number), side("parts alone", parts),
	}, rest...), nil
}

func (l listStatements) statement(s scope.Statement) question {
	return func(ctx context.Context) error {
		return l.door.Query(ctx, l.account, s, func(scope.Row) error { return nil })
	}
}

// askAll asks all questions at the same time, again and again.
func askAll(ctx context.Context, questions []question) (Sample, error) {
	const asked = 150
	var took Latencies
	for range asked {
		begin := time.Now()
		group, groupCtx := errgroup.WithContext(ctx)
		for _, ask := range questions {
			group.Go(func() error { return ask(groupCtx) })
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
