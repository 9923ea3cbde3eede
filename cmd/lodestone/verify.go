package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"text/tabwriter"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/erasure"
	"lodestone/ingest/stream"
	"lodestone/ingest/verify"
	"lodestone/pkg/backup"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
	"lodestone/pkg/email"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// verifySettle is how long a counter that differs may take to follow before the next look at it.
const verifySettle = 2 * time.Second

type verifyCommand struct {
	Data       dataConfig        `embed:""`
	Process    processConfig     `embed:""`
	Kafka      kafka.Config      `embed:""`
	ClickHouse clickhouse.Config `embed:""`
	Others     string            `name:"clickhouse-other-copies" placeholder:"N=HOST:PORT,…" help:"Further copies of the events to compare with the copy of the ClickHouse URL, by partition and offset. The format is that of query."`
	Postgres   postgres.Config   `embed:""`
	Group      string            `name:"consumer-group" default:"lodestone" help:"Kafka consumer group. Consumers of one group share the partitions. For copies of the events after the first, -copy- and the number are appended."`
	Since      pointInTime       `name:"since" placeholder:"TIME" help:"Start time: an RFC 3339 time, a date, or a duration before now such as 24h."`
	Until      pointInTime       `name:"until" placeholder:"TIME" help:"End time, in the same format."`
	Person     string            `name:"person" placeholder:"ADDRESS" help:"Instead of comparing, search the databases for data about this email address. Fails if there is any."`
}

func (c *verifyCommand) check() error {
	err := validate(c.Kafka, c.ClickHouse, c.Postgres)
	_, wrong := c.copies()
	err = errors.Join(err, wrong)
	if !c.Since.IsZero() && !c.Until.IsZero() && !c.Since.Before(c.Until.Time) {
		err = errors.Join(err, config.Invalid("--until", "is not after --since", "give a later time"))
	}
	if _, wrong := email.Parse(c.Person); c.Person != "" && wrong != nil {
		err = errors.Join(err, config.Invalid("--person", wrong.Error(), "give an email address alone"))
	}
	return err
}

// copies returns the settings of all copies of the events, that of the ClickHouse URL first.
func (c *verifyCommand) copies() ([]clickhouse.Config, error) {
	return clickhouse.CopiesConfig{Others: c.Others}.Copies(c.ClickHouse)
}

// Run compares Kafka, ClickHouse and Postgres, and fails if they differ. The code of an error that
// prevented it from comparing everything is exitUnfinished.
func (c *verifyCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Person != "" {
		return c.look(ctx)
	}
	report, err := c.compare(ctx)
	if err != nil {
		printed := printUnfinished(os.Stdout, report)
		return exitError{fmt.Errorf("the comparison could not be finished: %w", errors.Join(err, printed)), exitUnfinished}
	}
	if err := printReport(os.Stdout, report); err != nil {
		return err
	}
	if n := report.Total(); n > 0 {
		return fmt.Errorf("%d differences", n)
	}
	return nil
}

// look prints what the databases have of a person, and fails if that is anything.
func (c *verifyCommand) look(ctx context.Context) (err error) {
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return err
	}
	defer pool.Close()
	conn, err := clickhouse.Open(c.ClickHouse, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if err := stream.CheckPlacements(ctx, pool, c.ClickHouse); err != nil {
		return err
	}
	person, err := email.Parse(c.Person)
	if err != nil {
		return err
	}
	found, err := erasure.Find(ctx, pool, conn, person.Key)
	if err != nil {
		return exitError{err, exitUnfinished}
	}
	for _, f := range found {
		fmt.Printf("%s: %d\n", f.Where, f.Rows)
	}
	if len(found) == 0 {
		fmt.Println("nothing found")
	}
	fmt.Println("not looked at: queues of mails, messages and answers, which have nothing about an erased person after the day that the receipt names")
	fmt.Println("not looked at, because they are outside of Postgres and ClickHouse: records in Kafka and in spools, mails in a mailbox, exported files, and backups")
	if len(found) > 0 {
		return errors.New("the databases have data of this address")
	}
	return nil
}

// compare returns the differences, with an error if it could not finish.
func (c *verifyCommand) compare(ctx context.Context) (report *verify.Report, err error) {
	log := c.Process.logger()
	pool, err := postgres.Open(ctx, c.Postgres)
	if err != nil {
		return nil, err
	}
	defer pool.Close()
	conn, err := clickhouse.Open(c.ClickHouse, 2)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	options := c.Kafka.Options(log)
	client, err := kgo.NewClient(options...)
	if err != nil {
		return nil, fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	if err := stream.CheckPlacements(ctx, pool, c.ClickHouse); err != nil {
		return nil, err
	}
	if apart, err := backup.Compare(ctx, pool, c.ClickHouse.Number(), conn); err != nil {
		return nil, err
	} else if apart != nil {
		fmt.Println(apart)
	}
	v := &verify.Verifier{Client: client, Options: options, Conn: conn, Pool: pool, Copy: c.ClickHouse.Number(),
		Group: c.ClickHouse.Group(c.Group), Settle: verifySettle, Log: log}
	if report, err = v.Run(ctx, verify.Span{Since: c.Since.Time, Until: c.Until.Time}); err != nil {
		return report, err
	}
	configs, err := c.copies()
	if err != nil {
		return report, err
	}
	return report, v.CompareCopies(ctx, configs[1:], c.Group, report)
}

// printUnfinished prints the differences that a comparison found before it failed, and nothing if
// it found none.
func printUnfinished(to io.Writer, r *verify.Report) error {
	if r == nil || r.Total() == 0 {
		return nil
	}
	for _, d := range r.Differences {
		fmt.Fprintln(to, d)
	}
	if _, err := fmt.Fprintf(to, "differences so far: %d, not everything was compared\n", r.Total()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}

func printReport(to io.Writer, r *verify.Report) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "topic\tpartition\tfrom offset\tto offset\trecords\trows\trepeats\tdead letters\t")
	for _, p := range r.Partitions {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t\n", p.Topic, p.Partition, p.Offsets.From, p.Offsets.To-1, p.Records,
			p.Rows, p.Repeats, p.DeadLetters)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	fmt.Fprintf(to, "counters of links compared: %d\n", r.Links)
	for _, c := range r.Copies {
		fmt.Fprintf(to, "copies %d and %d of %s compared: %d rows\n", c.Own, c.Other, c.Topic, c.Rows)
	}
	if r.Unsettled > 0 {
		fmt.Fprintf(to, "counters that changed at every check and could not be judged: %d\n", r.Unsettled)
	}
	expired := int64(0)
	for _, e := range r.Expired {
		fmt.Fprintln(to, e)
		expired += e.Offsets.To - e.Offsets.From
	}
	if expired > 0 {
		fmt.Fprintf(to, "records that Kafka deleted before they were stored, no difference: %d\n", expired)
	}
	for _, d := range r.Differences {
		fmt.Fprintln(to, d)
	}
	fmt.Fprintf(to, "differences: %d, took %s\n", r.Total(), r.Took.Round(time.Millisecond))
	return nil
}
