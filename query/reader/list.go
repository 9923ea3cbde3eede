package reader

import (
	"bytes"
	"context"
	_ "embed" // for the statements
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/clickhouse"
	"lodestone/query/report"
	"lodestone/query/scope"
)

//go:embed list.sql
var listSQL string

//go:embed given.sql
var givenSQL string

//go:embed score.sql
var scoreSQL string

// Page is a part of a list.
type Page struct {
	People       []Person
	Total        int64 // in the whole list
	ExcludedBots int64 // events of bots that match the filter and were left out
	AsOf         time.Time
	Next         *Cursor // where the list goes on; nil: it ends here
}

// Page reads a part of a list by its number of people before it.
func (r *Readers) Page(ctx context.Context, account uuid.UUID, f Filter, offset, limit int64) (Page, error) {
	asOf, err := r.settled.AsOf(ctx)
	if err != nil {
		return Page{}, err
	}
	return r.page(ctx, account, f, span{asOf: asOf.UnixMilli(), offset: offset}, limit)
}

// After reads the part of a list that goes on after a cursor, which Filter.Check let pass. It
// counts what was stored when the first page was asked for, so that all pages of one walk are of
// one state.
func (r *Readers) After(ctx context.Context, account uuid.UUID, f Filter, c Cursor, limit int64) (Page, error) {
	return r.page(ctx, account, f, span{asOf: c.AsOf, after: &c}, limit)
}

// batch is the number of people who are completed at once.
const batch = 1000

// All calls each with all people of a list, in its order and by the thousand. Their numbers are of
// one state of the data, and so are their addresses; sources are those of the time at which they
// are read. It returns the page without people. It takes constant memory, and a connection to each
// database.
func (r *Readers) All(ctx context.Context, account uuid.UUID, f Filter, each func([]Person) error) (Page, error) {
	asOf, err := r.settled.AsOf(ctx)
	if err != nil {
		return Page{}, err
	}
	all := Page{AsOf: asOf}
	err = r.postgres.AccountSnapshot(ctx, account, func(tx pgx.Tx) error {
		return r.all(ctx, account, func(fn func(pgx.Tx) error) error { return fn(tx) }, f, &all, each)
	})
	if err != nil {
		return Page{}, err
	}
	return all, nil
}

// Links returns the access links of all people of a list, in no order; not nil. The error is a
// TooManyError if they have more than a list can be restricted to.
func (r *Readers) Links(ctx context.Context, account uuid.UUID, f Filter) ([]uuid.UUID, error) {
	asOf, err := r.settled.AsOf(ctx)
	if err != nil {
		return nil, err
	}
	links, most := []uuid.UUID{}, r.maxLinks
	s := span{asOf: asOf.UnixMilli(), rows: math.MaxInt64}
	err = r.read(ctx, account, r.facts(ctx, account), f, s, func(row row) error {
		if row.shown {
			links = append(links, row.AccessLinks...)
		}
		if len(links) > most {
			return TooManyError{"", most}
		}
		return nil
	})
	return links, err
}

// all is All in a transaction that shows one state of the addresses.
func (r *Readers) all(ctx context.Context, account uuid.UUID, from facts, f Filter, all *Page,
	each func([]Person) error) error {
	var people []Person
	flush := func() error {
		if len(people) == 0 {
			return nil
		}
		if err := r.complete(ctx, account, from, people); err != nil {
			return err
		}
		err := each(people)
		people = nil
		return err
	}
	s := span{asOf: all.AsOf.UnixMilli(), rows: math.MaxInt64}
	if err := r.read(ctx, account, from, f, s, func(row row) error {
		all.Total, all.ExcludedBots = row.total, row.bots
		if !row.shown {
			return nil
		}
		if people = append(people, row.Person); len(people) < batch {
			return nil
		}
		return flush()
	}); err != nil {
		return err
	}
	return flush()
}

// span is the part of a list that is asked for.
type span struct {
	asOf         int64 // that recency counts from
	offset, rows int64
	after        *Cursor
	links        []uuid.UUID // nil: all
	others       []uuid.UUID // links that are not asked for; nil: none
	person       *uuid.UUID  // that all links are of; nil: of their own
}

// page reads a part of a list.
func (r *Readers) page(ctx context.Context, account uuid.UUID, f Filter, s span, limit int64) (Page, error) {
	s.rows = limit + 2 // the row with the totals, and one that tells whether the list goes on
	p := Page{AsOf: time.UnixMilli(s.asOf).UTC()}
	var values []int64
	var asked int64
	from := r.facts(ctx, account)
	err := r.read(ctx, account, from, f, s, func(row row) error {
		p.Total, p.ExcludedBots, asked = row.total, row.bots, row.asked
		if row.shown {
			p.People, values = append(p.People, row.Person), append(values, row.place)
		}
		return nil
	})
	if err != nil {
		return Page{}, err
	}
	if int64(len(p.People)) > limit {
		p.People = p.People[:limit]
		p.Next = &Cursor{List: f.digest(account), Value: values[limit-1],
			Person: p.People[limit-1].ID, AsOf: s.asOf, Until: asked}
		if s.after != nil {
			p.Next.Until = s.after.Until
		}
	}
	return p, r.complete(ctx, account, from, p.People)
}

// row is a row of the statement.
type row struct {
	Person
	shown                     bool // it is of the part that is asked for
	place, total, bots, asked int64
}

// statement returns the statement of a list.
func (f Filter) statement(s span) scope.Statement {
	params := f.params()
	params["as_of"] = strconv.FormatInt(s.asOf, 10)
	params["offset"], params["rows"] = strconv.FormatInt(s.offset, 10), strconv.FormatInt(s.rows, 10)
	params["after_place"], params["after_person"], params["person"] = "0", `\N`, `\N`
	if s.after != nil {
		params["after_place"], params["after_person"] = strconv.FormatInt(s.after.Value, 10), s.after.Person.String()
		params["until"] = strconv.FormatInt(s.after.Until, 10)
	}
	if s.links != nil {
		params["access_links"] = clickhouse.UUIDs(s.links)
	}
	if s.person != nil {
		params["person"] = s.person.String()
	}
	if s.others != nil {
		params["other_links"] = clickhouse.UUIDs(s.others)
	}
	given := ""
	if f.Unopened {
		given = strings.ReplaceAll(givenSQL, "/* conditions */", report.Where(params, givenConditions))
	}
	sql := strings.NewReplacer("/* conditions */", report.Where(params, conditions), "/* given */", given,
		"/* score */\n", scoreSQL).Replace(listSQL)
	return scope.Statement{Name: "readers", SQL: sql, Params: params, Projection: scope.NoProjection, Threads: 2}
}

// read calls each with every row of a part of a list. Addresses and sources are not in them.
func (r *Readers) read(ctx context.Context, account uuid.UUID, from facts, f Filter, s span,
	each func(row) error) error {
	if f.choosesLinks() {
		c, err := choose(ctx, account, from, f, r.maxLinks)
		if err != nil || c.none {
			return err
		}
		s.links, s.others = c.links, c.others
	}
	return r.ch.Query(ctx, account, f.statement(s), func(scanned scope.Row) error {
		row, err := scan(scanned)
		if err != nil {
			return err
		}
		return each(row)
	})
}

func scan(from scope.Row) (r row, err error) {
	var sessions, pages, views, ms, downloads, total, bots uint64
	var finished, shown uint8
	var first, last int64
	var parts [5]uint8
	if err := from.Scan(&r.ID, &r.AccessLinks, &r.Magnets, &sessions, &pages, &views, &ms,
		&finished, &downloads, &first, &last,
		&parts[0], &parts[1], &parts[2], &parts[3], &parts[4], &r.place, &total, &bots, &r.asked, &shown); err != nil {
		return row{}, fmt.Errorf("read person: %w", err)
	}
	byTime := func(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }
	slices.SortFunc(r.AccessLinks, byTime)
	r.AccessLinks = slices.Compact(r.AccessLinks)
	slices.SortFunc(r.Magnets, byTime)
	r.Sessions, r.Pages, r.PageViews, r.ReadingMS, r.Downloads = int64(sessions), int64(pages),
		int64(views), int64(ms), int64(downloads)
	r.Finished, r.FirstSeen, r.LastSeen = finished == 1, time.UnixMilli(first).UTC(), time.UnixMilli(last).UTC()
	r.Score = Score{int64(parts[0]), int64(parts[1]), int64(parts[2]), int64(parts[3]), int64(parts[4])}
	r.shown, r.total, r.bots = shown == 1, int64(total), int64(bots)
	return r, nil
}
