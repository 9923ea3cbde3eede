package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"lodestone/pkg/config"
)

// consumeOptions are the settings of this suite alone.
type consumeOptions struct {
	Rows        int64   `name:"consume-rows" default:"2000000" help:"Events that Kafka is filled with for each run of the consumer, and that are in the memory of its limit."`
	Partitions  []int32 `name:"consume-partitions" default:"4,12" help:"Partitions of the topic, a case each."`
	BlockRows   int     `name:"consume-block-rows" default:"100000" help:"Rows of one insert at the most, of the consumer and of its limit."`
	Connections int     `name:"consume-connections" default:"4" help:"Connections that the limit inserts by at the same time."`
}

// Validate returns every problem of the settings.
func (o consumeOptions) Validate() error {
	var errs []error
	if o.Rows < 1000 {
		errs = append(errs, config.Invalid("--consume-rows", "is too small", "give at least 1000"))
	}
	for _, p := range o.Partitions {
		if p < 1 || p > 256 {
			errs = append(errs, config.Invalid("--consume-partitions", "is out of range", "give numbers from 1 to 256"))
		}
	}
	errs = append(errs, numberWithin("--consume-block-rows", o.BlockRows, 1, 1_000_000))
	errs = append(errs, numberWithin("--consume-connections", o.Connections, 1, 64))
	return errors.Join(errs...)
}

func (o consumeOptions) suite() suite {
	return suite{name: "consume", kafka: true, cases: o.cases, run: o.measure}
}

// caseOn is the name of the case of so many partitions.
func (o consumeOptions) caseOn(kafka string, partitions int32) string {
	return "consume/" + kafka + "/" + strconv.Itoa(int(partitions))
}

func (o consumeOptions) cases(kafka string) []string {
	var names []string
	for _, partitions := range o.Partitions {
		names = append(names, o.caseOn(kafka, partitions))
	}
	return names
}

// CPU of client and server, and what else a run of a consumer or of its limit shows.
const (
	bothCPU    = "CPU µs/event client + server"
	blockRows  = "rows/insert"
	storedRate = "events/s until stored" // merged or not
	pacedSide  = "ch-go at the consumer's pace"
)

func (o consumeOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	for _, partitions := range o.Partitions {
		name := o.caseOn(e.Kafka, partitions)
		if !b.Wanted(name) {
			continue
		}
		if err := o.measureOn(ctx, b, e, name, partitions); err != nil {
			return err
		}
	}
	return nil
}

// measureOn is the case of one number of partitions.
//
// A side's time and processor time go on until ClickHouse has merged what it was sent, so that both have had the same done for as many
// rows. When the last row is stored, a sixth to a third of the limit's rows have been merged, and nearly all of the consumer's (part_log):
// merges go on beside the inserts, and take a share of the time whoever inserts. The rate up to that moment is judged as well.
//
// Even so ClickHouse may have less to do for whoever inserts faster: with blocks of 50,000 rows it merged those that came in a burst once
// each, and nearly twice those that came at the consumer's pace (part_log). The third side inserts what the second does in the time that
// the consumer took.
func (o consumeOptions) measureOn(ctx context.Context, b *Bench, e *Engines, name string, partitions int32) (err error) {
	rows := o.Rows
	if b.Quick {
		rows = min(rows, 200_000)
	}
	d, err := newDrain(b, e, o, rows, partitions)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.close(context.WithoutCancel(ctx))) }()
	return b.Measure(ctx, Case{
		Name: name,
		Title: fmt.Sprintf("Kafka to ClickHouse exactly once, %s rows in %d partitions, beside ch-go that inserts the same rows from memory, %s Kafka",
			group(strconv.FormatInt(rows, 10)), partitions, e.Kafka),
		Warm:  1,
		Sides: []Side{{Name: "consumer", Run: d.consume}, {Name: "ch-go", Run: d.insert}, {Name: pacedSide, Run: d.insertPaced, After: "consumer"}},
		Targets: []Target{
			{What: "≥ 65 % of ch-go alone", Value: Rate, Against: "ch-go", AtLeast: 0.65},
			{What: "≥ 65 % of ch-go alone, until the last row is stored, merged or not", Value: storedRate, Against: "ch-go", AtLeast: 0.65},
			{What: "CPU a row, client and server, ≤ 1.5 × ch-go alone", Value: bothCPU, Against: "ch-go", AtMost: 1.5},
			{What: "CPU a row, client and server, ≤ 1.5 × ch-go that is no faster than the consumer", Value: bothCPU, Against: pacedSide, AtMost: 1.5},
			consumerMemory,
			clickhouseMemory,
		},
		Show: []string{Rate, storedRate, bothCPU, CPU("consumer"), CPU("ch-go"), CPU("clickhouse"), CPU("kafka"), CPU("postgres"),
			blockRows, Peak("consumer"), Peak("ch-go"), Peak("clickhouse")},
	})
}
