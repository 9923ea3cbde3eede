package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"lodestone/cmd/lodestone/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

// tableOptions are the settings of this suite alone.
type tableOptions struct {
	Rows     int64  `name:"table-rows" default:"10000000" help:"How many events each design of the table holds. A hundred million take 25 GB and, of all designs, an hour and a half."`
	Rate     int    `name:"table-insert-rate" default:"4000" help:"Events a second that are inserted meanwhile."`
	Requests int    `name:"table-requests" default:"100" help:"How often each question is asked of each design, unless that takes longer than four seconds."`
	Step     string `name:"table-step" default:"all" enum:"all,fill,measure" help:"all: make, fill, measure and drop one design after another; fill: make and fill them; measure: those that are filled. The last two are for a ClickHouse that is given, and leave the tables there."`
}

// Validate returns every problem of the settings.
func (o tableOptions) Validate() error {
	var errs []error
	if o.Rows < 100_000 {
		errs = append(errs, config.Invalid("--table-rows", "is too little", "give at least 100000"))
	}
	errs = append(errs, numberWithin("--table-insert-rate", o.Rate, 100, 100_000))
	errs = append(errs, numberWithin("--table-requests", o.Requests, 1, 10_000))
	return errors.Join(errs...)
}

func (o tableOptions) suite() suite { return suite{name: "tables", apart: true, run: o.measure} }

// tables compares designs of the table of events. Each gets the same rows and the same questions.
type tables struct {
	tableOptions
	b       *Bench
	store   driver.Conn
	columns []string // of a row
}

// The tables that all designs are made from: the events, and some more that are yet to come.
const (
	sourceName  = "bench_source"
	nextName    = "bench_next"
	tableSource = "lodestone." + sourceName
	tableNext   = "lodestone." + nextName
)

// next is how many events are yet to come.
func (t *tables) next() int64 { return min(1_000_000, t.Rows/10) }

// table is the name of a design's table. Those of other names belong to it.
func (d tableDesign) table() string { return "lodestone.bench_" + d.name }

func (o tableOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 4)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	t := &tables{tableOptions: o, b: b, store: store}
	if err := t.prepare(ctx, e); err != nil {
		return err
	}
	var picks native.Parameters
	for _, d := range tableDesigns() {
		if !b.Wanted("tables/" + d.name) {
			continue
		}
		if o.Step != "measure" {
			b.Sayf("tables: filling %s", d.name)
			if err := t.fill(ctx, d); err != nil {
				return fmt.Errorf("fill %s: %w", d.name, err)
			}
		}
		if o.Step == "fill" {
			continue
		}
		if picks == nil {
			if picks, err = t.pick(ctx); err != nil {
				return err
			}
		}
		if err := t.measureDesign(ctx, d, picks); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
		if o.Step == "all" {
			if err := t.drop(ctx, d); err != nil {
				return err
			}
		}
	}
	return nil
}

// exec runs statements one after another.
func (t *tables) exec(ctx context.Context, statements ...string) error {
	for _, s := range statements {
		if err := t.store.Exec(ctx, s); err != nil {
			return fmt.Errorf("%s: %w", s, err)
		}
	}
	return nil
}

// texts returns the rows of a statement that selects one text.
func (t *tables) texts(ctx context.Context, statement string, args ...any) ([]string, error) {
	var all []string
	err := t.store.QueryRow(ctx, "SELECT groupArray(toString(*)) FROM ("+statement+")", args...).Scan(&all)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", statement, err)
	}
	return all, nil
}

// prepare makes the tables that all others are made from, unless they are there.
func (t *tables) prepare(ctx context.Context, e *Engines) error {
	var there int64
	err := t.store.QueryRow(ctx, "SELECT toInt64(ifNull(sum(total_rows), 0)) FROM system.tables WHERE concat(database, '.', name) IN (?, ?)", tableSource, tableNext).Scan(&there)
	if err != nil {
		return err
	}
	if there < t.Rows+t.next() {
		if err := t.makeSource(ctx, e); err != nil {
			return fmt.Errorf("make the events: %w", err)
		}
	}
	columns, err := t.texts(ctx, `SELECT name FROM system.columns WHERE concat(database, '.', table) = ?
		AND default_kind != 'EPHEMERAL' AND name != 'in_time' ORDER BY position`, tableSource)
	t.columns = columns
	return err
}

func (t *tables) makeSource(ctx context.Context, e *Engines) error {
	t.b.Sayf("tables: storing %d events", t.Rows)
	projections, err := t.texts(ctx, "SELECT name FROM system.projections WHERE database = 'lodestone' AND table = 'events'")
	if err != nil {
		return err
	}
	statements := []string{
		"DROP TABLE IF EXISTS " + tableSource, "DROP TABLE IF EXISTS " + tableNext,
		"CREATE TABLE " + tableSource + " AS lodestone.events",
	}
	for _, p := range projections {
		statements = append(statements, "ALTER TABLE "+tableSource+" DROP PROJECTION "+p)
	}
	statements = append(statements, "CREATE TABLE "+tableNext+" AS "+tableSource+
		" ENGINE = MergeTree PARTITION BY tuple() PRIMARY KEY kafka_offset ORDER BY kafka_offset SETTINGS index_granularity = 1000")
	if err := t.exec(ctx, statements...); err != nil {
		return err
	}
	events := traffic.New(traffic.Config{Seed: t.b.Seed, Events: t.Rows, Begin: time.Now().AddDate(-1, 0, 0), Span: spanOfYear})
	for _, one := range []struct {
		name       string
		rows       int64
		partitions int
	}{{sourceName, t.Rows, upPartitions}, {nextName, t.next(), 1}} {
		if err := insertInto(ctx, clickhouse.Config{URL: e.ClickHouseURL}, one.name, events, one.rows, one.partitions); err != nil {
			return err
		}
	}
	return t.mergeOld(ctx, tableSource)
}

// months returns the partitions of a table, the oldest first, and the last of them apart.
func (t *tables) months(ctx context.Context, table string) (over []string, last string, err error) {
	all, err := t.texts(ctx, "SELECT DISTINCT partition_id FROM system.parts WHERE concat(database, '.', table) = ? AND active ORDER BY partition_id", table)
	if err != nil || len(all) == 0 {
		return nil, "", err
	}
	slices.Sort(all)
	return all[:len(all)-1], all[len(all)-1], nil
}

// mergeOld lets the months that are over become one part each, as they do by themselves within a day.
func (t *tables) mergeOld(ctx context.Context, table string) error {
	over, _, err := t.months(ctx, table)
	if err != nil {
		return err
	}
	return mergeMonths(ctx, t.store, table, over...)
}
