package reader

import (
	"context"
	_ "embed" // for the statement
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/store"
	"lodestone/pkg/timezone"
	"lodestone/query/scope"
)

//go:embed call.sql
var callSQL string

// candidates is the number of people who are looked at: those who read longest.
const candidates = 1000

// Call is someone to call, and why: a document that they finished, a day that they came back on, or
// a score that passed a threshold.
type Call struct {
	ID                  uuid.UUID // of the person
	Email, Name, Status *string
	Link                uuid.UUID   // that they read through last
	Seen                time.Time   // when they read last
	Previous            *time.Time  // when they read last on a day before that; nil: they did not
	AwayDays            int         // between these two days, of the account's time zone
	Finished            []uuid.UUID // lead magnets, of which they had not seen the last page before
	Score               int64
	WasScore            int64 // without what they read since the beginning of the list
	PassedMark          bool
}

// Calls are the people to call.
type Calls struct {
	People []Call // the highest score first
	Since  time.Time
	AsOf   time.Time
}

// Calls returns the people to call by what they read since the beginning of yesterday, in the
// account's time zone: at most so many, without those whose status is closed.
func (r *Readers) Calls(ctx context.Context, account uuid.UUID, now time.Time, minScore, most int) (Calls, error) {
	asOf, err := r.settled.AsOf(ctx)
	if err != nil {
		return Calls{}, err
	}
	var name string
	if err := r.postgres.Account(ctx, account, func(tx pgx.Tx) error {
		own, err := store.New(tx).OwnAccount(ctx)
		name = own.Timezone
		return err
	}); err != nil {
		return Calls{}, fmt.Errorf("read time zone: %w", err)
	}
	zone := timezone.OrUTC(name)
	today, since := timezone.AddDays(now.In(zone), 0), timezone.AddDays(now.In(zone), -1)
	calls := Calls{Since: since, AsOf: asOf}
	statement := scope.Statement{
		Name: "people to call", SQL: strings.Replace(callSQL, "/* score */\n", scoreSQL, 1),
		Projection: scope.NoProjection, Threads: 2, Params: map[string]string{
			"since": strconv.FormatInt(since.UnixMilli(), 10), "today": strconv.FormatInt(today.UnixMilli(), 10),
			"as_of": strconv.FormatInt(asOf.UnixMilli(), 10), "min_score": strconv.Itoa(minScore),
			"candidates": strconv.Itoa(candidates),
		},
	}
	var found []Call
	if err := r.ch.Query(ctx, account, statement, func(row scope.Row) error {
		c, err := scanCall(row, zone)
		c.PassedMark = c.Score >= int64(minScore) && c.WasScore < int64(minScore)
		found = append(found, c)
		return err
	}); err != nil {
		return Calls{}, err
	}
	people := make([]Person, len(found))
	for i := range found {
		people[i].AccessLinks = []uuid.UUID{found[i].Link}
	}
	if err := r.postgres.Account(ctx, account, func(tx pgx.Tx) error {
		return identify(ctx, tx, account, people)
	}); err != nil {
		return Calls{}, err
	}
	for i, p := range people {
		if p.Email != nil && !p.Closed && len(calls.People) < most {
			found[i].Email, found[i].Name, found[i].Status = p.Email, p.Name, p.Status
			calls.People = append(calls.People, found[i])
		}
	}
	return calls, nil
}

func scanCall(row scope.Row, zone *time.Location) (c Call, err error) {
	var seen, previous int64
	var now, then uint8
	if err := row.Scan(&c.ID, &c.Link, &seen, &previous, &c.Finished, &now, &then); err != nil {
		return Call{}, fmt.Errorf("read person to call: %w", err)
	}
	c.Seen, c.Score, c.WasScore = time.UnixMilli(seen).UTC(), int64(now), int64(then)
	if previous > 0 {
		at := time.UnixMilli(previous).UTC()
		c.Previous, c.AwayDays = &at, timezone.DaysBetween(at.In(zone), c.Seen.In(zone))
	}
	return c, nil
}
