package eventlist

import (
	"context"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// Questions are what the first page of a list asks of ClickHouse, all at once, where the newest days have enough events for
// it: to see what each of them takes.
type Questions struct {
	Page   scope.Statement
	Number scope.Statement // of all events, or of those that are not remembered
	Parts  bool            // whether scope.ClickHouse.Parts is asked: whether what is remembered still stands
}

// FirstPage asks for the first page of a list and returns what the next one asks. It reports false while that is about
// to change: months are not remembered before they have been as they are for a while. It reports false as well of a list that
// has nothing to count, as all is remembered.
func (l *Lister) FirstPage(ctx context.Context, account uuid.UUID, f Filter, limit int64) (q Questions, ok bool, err error) {
	if _, _, err := l.Page(ctx, account, f, 0, limit); err != nil {
		return q, false, err
	}
	q = Questions{Page: pageStatement(f, firstLook(f, nil), 0, limit), Number: daysStatement(f)}
	if f.isNarrow() {
		return q, true, nil
	}
	if !f.isOfKind() {
		q.Number = totalStatement(f)
	}
	v, there := l.history.Get(account, scope.Opening(time.Now()))
	switch {
	case !there, len(v.restless) > 0:
		return q, false, nil
	case v.unfit:
		return q, true, nil
	}
	known := v.recall(f)
	if l.isTooMuch(known) {
		return q, true, nil
	}
	q.Number, q.Parts = l.restStatement(f, v, known.unread), f.From == nil || f.From.Before(v.open)
	return q, known.rest, nil
}
