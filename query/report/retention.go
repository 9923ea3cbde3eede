package report

import (
	"context"
	_ "embed" // for the statements
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/clickhouse"
	"lodestone/pkg/problem"
	"lodestone/query/scope"
)

var (
	//go:embed firstread.sql
	firstReadSQL string
	//go:embed retention.sql
	retentionSQL string
)

// RetentionQuestion asks when the readers of a lead magnet came back.
type RetentionQuestion struct {
	LeadMagnetID uuid.UUID
	By           Interval  // Day, Week or Month
	Timezone     string    // IANA; "": UTC
	From, To     string    // of first reads: dates of the zone, or RFC 3339 times; "": no bound
	AsOf         time.Time // intervals that began until then are in the answer
	Narrowed               // to page views, of which the first and later ones are looked at
}

// Retention tells of readers, by when they first read, how many read again. A reader is an access
// link by which a person viewed a page.
type Retention struct {
	Cohorts      []Cohort // those that have readers, the first one first
	ExcludedBots int64    // page views of bots that were left out
}

// Cohort are the readers who first read in one interval.
type Cohort struct {
	Start   time.Time
	Partial bool // the range cuts the interval, or it is not over
	Readers int64
	Returns []Return // one for each later interval that has begun
}

// Return tells how many of a cohort read in a later interval.
type Return struct {
	After   int // intervals after that of the first read
	Start   time.Time
	Partial bool // the interval is not over
	Readers int64
}

// Retention reads the report. What is wrong with the question is returned as a problem of
// parameters; a TooLargeError says how to ask for less.
func (r *Reporter) Retention(ctx context.Context, account uuid.UUID, q RetentionQuestion) (Retention, error) {
	c, asked, err := q.compile()
	if err != nil {
		return Retention{}, err
	}
	first, bots, err := r.firstRead(ctx, account, q, asked)
	if err != nil {
		return Retention{}, err
	}
	answer := Retention{ExcludedBots: bots}
	if first.IsZero() {
		return answer, nil
	}
	from := asked.from
	if from.Before(first) {
		from = first
	}
	starts := c.intervals(span{from, q.AsOf.Add(time.Millisecond)}, q.By, MaxIntervals)
	switch {
	case len(starts) == 0:
		return answer, nil
	case len(starts) > MaxIntervals:
		return Retention{}, &TooLargeError{"from",
			fmt.Sprintf("leads to more than %d intervals: ask for later readers, or for longer intervals", MaxIntervals)}
	}
	ends := append(slices.Clone(starts[1:]), c.next(starts[len(starts)-1], q.By))
	counted, err := r.returns(ctx, account, q, first, asked, starts, ends[len(ends)-1])
	if err != nil {
		return Retention{}, err
	}
	numbers := 0
	for i, start := range starts {
		size := counted[cohortKey{start.UnixMilli(), start.UnixMilli()}]
		if size == 0 {
			continue
		}
		cohort := Cohort{
			Start: start, Partial: start.Before(asked.from) || ends[i].After(asked.to) || ends[i].After(q.AsOf),
			Readers: size, Returns: []Return{},
		}
		for j := i + 1; j < len(starts); j++ {
			cohort.Returns = append(cohort.Returns, Return{
				After: j - i, Start: starts[j], Partial: ends[j].After(q.AsOf),
				Readers: counted[cohortKey{start.UnixMilli(), starts[j].UnixMilli()}],
			})
		}
		if numbers += len(cohort.Returns); numbers > MaxRows {
			return Retention{}, &TooLargeError{"from",
				fmt.Sprintf("leads to more than %d numbers: ask for later readers, or for longer intervals", MaxRows)}
		}
		answer.Cohorts = append(answer.Cohorts, cohort)
	}
	return answer, nil
}

// compile checks the question, and returns the calendar and the time of first reads that it asks
// for.
func (q RetentionQuestion) compile() (c calendar, asked span, err error) {
	c, ok := calendarOf(q.Timezone)
	if !ok {
		return c, span{}, problem.Parameter(problem.Field{Field: "timezone", Message: wantedZone})
	}
	var wrong []problem.Field
	add := func(field, format string, values ...any) {
		wrong = append(wrong, problem.Field{Field: field, Message: fmt.Sprintf(format, values...)})
	}
	p := plan{calendar: c}
	from, okFrom := p.parse("from", q.From, earliest, add)
	to, okTo := p.parse("to", q.To, last, add)
	if okFrom && okTo && !from.Before(to) {
		add("from", "must be before to")
	}
	if len(wrong) > 0 {
		return c, span{}, problem.Parameter(wrong...)
	}
	return c, span{from, to}, nil
}

// firstRead returns when a person first read a lead magnet, zero if no one did, and how many pages
// bots viewed in a time.
func (r *Reporter) firstRead(ctx context.Context, account uuid.UUID, q RetentionQuestion,
	asked span) (first time.Time, bots int64, err error) {
	statement := scope.Statement{Name: "first read", SQL: firstReadSQL, Params: map[string]string{
		"lead_magnet": q.LeadMagnetID.String(), "from": milli(asked.from), "to": milli(asked.to),
	}}
	statement.SQL = strings.ReplaceAll(statement.SQL, "/* conditions */", q.conditions(statement.Params))
	err = r.ch.Query(ctx, account, statement, func(row scope.Row) error {
		var ms *int64
		var views *uint64
		if err := row.Scan(&ms, &views); err != nil {
			return fmt.Errorf("read first read: %w", err)
		}
		if ms != nil {
			first = time.UnixMilli(*ms)
		}
		bots = int64(*views)
		return nil
	})
	return first, bots, err
}

// cohortKey has the starts of the interval in which readers first read, and of one in which they
// read.
type cohortKey struct{ cohort, slot int64 }

// returns counts the readers. What is stored since first was read, and is older, is left out: no
// interval has it.
func (r *Reporter) returns(ctx context.Context, account uuid.UUID, q RetentionQuestion, first time.Time, asked span,
	starts []time.Time, end time.Time) (map[cohortKey]int64, error) {
	list := make([]int64, len(starts))
	for i, start := range starts {
		list[i] = start.UnixMilli()
	}
	counted := map[cohortKey]int64{}
	statement := scope.Statement{Name: "retention", SQL: retentionSQL, Threads: 2, Params: map[string]string{
		"lead_magnet": q.LeadMagnetID.String(), "first": milli(first), "from": milli(asked.from), "to": milli(asked.to),
		"end": milli(end), "starts": clickhouse.Numbers(list),
	}}
	statement.SQL = strings.ReplaceAll(statement.SQL, "/* conditions */", q.conditions(statement.Params))
	err := r.ch.Query(ctx, account, statement, func(row scope.Row) error {
		var key cohortKey
		var readers uint64
		if err := row.Scan(&key.cohort, &key.slot, &readers); err != nil {
			return fmt.Errorf("read cohort: %w", err)
		}
		counted[key] = int64(readers)
		return nil
	})
	return counted, err
}
