package bench

import (
	"context"
	"errors"
	"fmt"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	"lodestone/cmd/lodestone-lab/bench/traffic"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

// storageOptions are the settings of this suite alone.
type storageOptions struct {
	Rows int64 `name:"storage-rows" default:"2000000" help:"How many events are stored to see how much room they take."`
}

// Validate returns every problem of the settings.
func (o storageOptions) Validate() error {
	if o.Rows < 100_000 {
		return config.Invalid("--storage-rows", "is too little", "give at least 100000")
	}
	return nil
}

func (o storageOptions) suite() suite {
	return suite{name: "storage", cases: func(string) []string { return []string{storageCase} }, run: o.measure}
}

// The case, and the names of its values.
const (
	storageCase  = "storage"
	bytesOfTable = "bytes/event table"
	bytesOfAll   = "bytes/event all"
)

// entropyFloor is what an event cannot be stored in less than, on the average, in bytes: what is drawn by
// chance for it and cannot be told from anything else. Of the traffic that package traffic makes:
//
//	event id            9.6   74 random bits of a UUID version 7 (its time is that of the event), 122 of a version 4 in 40
//	session id          0.9   74 bits, for ten events
//	access link id      0.4   74 bits, for 23 events
//	address hash        0.9   128 bits, for a visitor's day
//	duration            1.9   of a log-normal distribution, in ms
//	created_at          2.2   an exponential gap to the event before, in ms
//	received_at         0.9   20 to 140 ms on the way
//	session, link, page 0.8   which of those that are going on; a page back or on; type, magnet
//	place in the log    0.3   how four partitions interleave
const entropyFloor = 9.6 + 0.9 + 0.4 + 0.9 + 1.9 + 2.2 + 0.9 + 0.8 + 0.3

func (o storageOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	store, err := clickhouse.Open(clickhouse.Config{URL: e.ClickHouseURL}, 2)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	b.Sayf("storage: storing %d events", o.Rows)
	if err := insertEvents(ctx, clickhouse.Config{URL: e.ClickHouseURL}, traffic.New(traffic.Year(b.Seed, o.Rows)), o.Rows); err != nil {
		return fmt.Errorf("store events: %w", err)
	}
	if err := store.Exec(ctx, "OPTIMIZE TABLE lodestone.events FINAL"); err != nil { //nolint:misspell // SQL has it so
		return fmt.Errorf("merge: %w", err)
	}
	return b.Measure(ctx, Case{
		Name: storageCase, Title: "bytes that an event takes, of " + million(o.Rows) + " in a year, merged", Runs: 1,
		Sides: []Side{
			{Name: "lodestone", Run: func(ctx context.Context) (Sample, error) { return storedBytes(ctx, store) }},
			{Name: "entropy", Run: func(context.Context) (Sample, error) {
				return Sample{bytesOfTable: entropyFloor, bytesOfAll: entropyFloor}, nil
			}},
		},
		Show: []string{bytesOfTable, bytesOfAll, "projection by_link", "projection by_offset", "projection sessions", "projection by_day"},
		Targets: []Target{
			{What: "table ≤ 60 bytes", Value: bytesOfTable, Beside: "entropy", AtMost: 60},
			{What: "everything ≤ 130 bytes", Value: bytesOfAll, Beside: "entropy", AtMost: 130},
		},
	})
}

// storedBytes tells how many bytes an event takes: in the table, in each projection and each column.
func storedBytes(ctx context.Context, store driver.Conn) (Sample, error) {
	s := Sample{}
	for _, query := range []string{
		`SELECT 'bytes/event all', sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE database = 'lodestone' AND table = 'events' AND active`,
		`SELECT 'bytes/event table', (sum(bytes_on_disk) - (SELECT sum(bytes_on_disk) FROM system.projection_parts WHERE database = 'lodestone' AND table = 'events' AND active)) / sum(rows)
			FROM system.parts WHERE database = 'lodestone' AND table = 'events' AND active`,
		`SELECT concat('projection ', name), sum(bytes_on_disk) / (SELECT sum(rows) FROM system.parts WHERE database = 'lodestone' AND table = 'events' AND active)
			FROM system.projection_parts WHERE database = 'lodestone' AND table = 'events' AND active GROUP BY name`,
		`SELECT concat('column ', column), sum(column_bytes_on_disk) / sum(rows) FROM system.parts_columns
			WHERE database = 'lodestone' AND table = 'events' AND active GROUP BY column`,
		`SELECT 'indexes and marks', sum(secondary_indices_compressed_bytes + secondary_indices_marks_bytes + primary_key_size) / sum(rows) FROM system.parts
			WHERE database = 'lodestone' AND table = 'events' AND active`,
	} {
		rows, err := store.Query(ctx, query)
		if err != nil {
			return nil, fmt.Errorf("read sizes: %w", err)
		}
		for rows.Next() {
			var name string
			var bytes float64
			if err = rows.Scan(&name, &bytes); err != nil {
				break
			}
			s[name] = bytes
		}
		if err = errors.Join(err, rows.Err(), rows.Close()); err != nil {
			return nil, fmt.Errorf("read sizes: %w", err)
		}
	}
	return s, nil
}
