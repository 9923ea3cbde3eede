package bench

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// make makes a design's tables under another name, without rows.
func (t *tables) make(ctx context.Context, d tableDesign, table string) error {
	engine := ""
	if d.order != "" {
		engine = " ENGINE = MergeTree " + d.order
	}
	statements := []string{"CREATE TABLE " + table + " AS " + tableSource + engine}
	if d.bare {
		indexes, err := t.texts(ctx, "SELECT name FROM system.data_skipping_indices WHERE concat(database, '.', table) = ?", tableSource)
		if err != nil {
			return err
		}
		for _, index := range indexes {
			statements = append(statements, "ALTER TABLE "+table+" DROP INDEX "+index)
		}
	}
	return t.exec(ctx, statements...)
}

// makeMore adds to a design's table what it has beside the rows.
func (t *tables) makeMore(ctx context.Context, d tableDesign, table string) error {
	var statements []string
	if d.ours {
		projections, err := t.texts(ctx, "SELECT concat(name, ' (', query, ')') FROM system.projections WHERE database = 'lodestone' AND table = 'events'")
		if err != nil {
			return err
		}
		for _, p := range projections {
			statements = append(statements, "ALTER TABLE EVENTS ADD PROJECTION "+p)
		}
	}
	return t.exec(ctx, of(table, append(statements, d.more...))...)
}

// of returns statements of a design for its table of a name.
func of(table string, statements []string) []string {
	list := make([]string, len(statements))
	for i, s := range statements {
		list[i] = strings.ReplaceAll(s, "EVENTS", table)
	}
	return list
}

// fill makes a design's tables with all events: months that are over merged, the newest as inserts left it.
func (t *tables) fill(ctx context.Context, d tableDesign) error {
	table := d.table()
	if err := t.drop(ctx, d); err != nil {
		return err
	}
	if err := t.make(ctx, d, table); err != nil {
		return err
	}
	over, last, err := t.months(ctx, tableSource)
	if err != nil {
		return err
	}
	for _, month := range over {
		if err := t.take(ctx, d, month); err != nil {
			return err
		}
		if d.byMonth() && d.order != "" {
			if err := mergeMonths(ctx, t.store, table, month); err != nil {
				return err
			}
		}
		t.b.Sayf("tables: %s has %s", d.name, month)
	}
	if !d.byMonth() { // one part of all but the newest month, which is the best that can be
		if err := t.exec(ctx, "OPTIMIZE TABLE "+table+" FINAL"); err != nil { //nolint:misspell // SQL has it so
			return err
		}
	}
	if err := t.take(ctx, d, last); err != nil {
		return err
	}
	if err := t.makeMore(ctx, d, table); err != nil {
		return err
	}
	projections, err := t.texts(ctx, "SELECT concat('MATERIALIZE PROJECTION ', name) FROM system.projections WHERE concat(database, '.', table) = ?", table)
	if err == nil && len(projections) > 0 {
		err = t.exec(ctx, "ALTER TABLE "+table+" "+strings.Join(projections, ", ")+" SETTINGS mutations_sync = 1")
	}
	if err != nil {
		return err
	}
	for _, s := range d.fill {
		for _, month := range append(over, last) {
			part := strings.Replace(s, "FROM EVENTS", "FROM EVENTS WHERE _partition_id = '"+month+"'", 1) + copySettings
			if err := t.exec(ctx, of(table, []string{part})...); err != nil {
				return err
			}
		}
	}
	for _, other := range d.tables(table)[1:] {
		if err := t.mergeOld(ctx, other); err != nil {
			return err
		}
	}
	return nil
}

// byMonth reports whether a design's partitions are months.
func (d tableDesign) byMonth() bool { return d.order == "" || strings.HasPrefix(d.order, ofMonths) }

// copySettings are those of an INSERT that copies: blocks of a million rows, so that there is little to merge, by
// one thread, which keeps to the order that rows lie in.
const copySettings = " SETTINGS async_insert = 0, insert_allow_materialized_columns = 1, max_threads = 1, max_insert_threads = 1," +
	" max_block_size = 1000000, min_insert_block_size_rows = 1000000, min_insert_block_size_bytes = 0"

// take puts a month of the events into a design's table: the parts themselves where the order is the same.
func (t *tables) take(ctx context.Context, d tableDesign, month string) error {
	if d.order == "" {
		return t.exec(ctx, "ALTER TABLE "+d.table()+" ATTACH PARTITION ID '"+month+"' FROM "+tableSource)
	}
	columns := strings.Join(t.columns, ", ")
	return t.exec(ctx, fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s WHERE _partition_id = '%s'%s",
		d.table(), columns, columns, tableSource, month, copySettings))
}

// others are the endings of the names of a design's tables but the first.
func (d tableDesign) others() []string {
	var names []string
	for _, s := range d.more {
		if rest, ok := strings.CutPrefix(s, "CREATE TABLE EVENTS_"); ok {
			name, _, _ := strings.Cut(rest, " ")
			names = append(names, name)
		}
	}
	return names
}

// drop removes a design's tables, and those that show what loading costs.
func (t *tables) drop(ctx context.Context, d tableDesign) error {
	return errors.Join(t.dropTables(ctx, d, d.table()), t.dropTables(ctx, d, d.loaded()))
}

func (t *tables) dropTables(ctx context.Context, d tableDesign, table string) error {
	var statements []string
	for _, other := range d.others() {
		statements = append(statements, "DROP VIEW IF EXISTS "+table+"_to_"+other+" SYNC", "DROP TABLE IF EXISTS "+table+"_"+other+" SYNC")
	}
	return t.exec(ctx, append(statements, "DROP TABLE IF EXISTS "+table+" SYNC")...)
}
