package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/google/uuid"

	"lodestone/ingest/producer"
	"lodestone/ingest/spool"
	"lodestone/pkg/config"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

// spoolStart bounds the wait for Kafka before anything is sent.
const spoolStart = 30 * time.Second

type spoolCommand struct {
	List  spoolListCommand  `cmd:"" help:"List the segments of a spool's directory, including those that were moved aside. No collector may run on it."`
	Check spoolCheckCommand `cmd:"" help:"Verify the checksums of a spool's directory. The exit code is 1 if something is damaged, 3 if something cannot be read."`
	Show  spoolShowCommand  `cmd:"" help:"Show the records of one segment that Kafka is not known to have."`
	Send  spoolSendCommand  `cmd:"" help:"Send a spool's directory to Kafka, including every intact record of damaged segments, and move the sent segments to its folder sent."`
	Drop  spoolDropCommand  `cmd:"" help:"Permanently remove segments and their events."`
}

// withSpool calls fn with a directory and its segments.
func withSpool(dir string, fn func(d *spool.Directory, names []string) error) (err error) {
	d, err := spool.OpenDirectory(dir)
	if err != nil {
		return exitError{err, exitUnfinished}
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	names, err := d.Names()
	if err != nil {
		return exitError{err, exitUnfinished}
	}
	return fn(d, names)
}

// spoolTable is the table of segments, which can be printed.
func spoolTable(files []spool.File) [][]string {
	rows := [][]string{{"FILE", "BYTES", "RECORDS", "WAITING", "OLDEST", "STATE"}}
	for i := range files {
		f := &files[i]
		if f.Err != nil {
			rows = append(rows, []string{f.Name, "-", "-", "-", "-", "cannot be read: " + f.Err.Error()})
			continue
		}
		oldest, state := "-", "sound"
		if !f.Oldest.IsZero() {
			oldest = formatTime(&f.Oldest)
		}
		switch {
		case f.Damaged > 0:
			state = fmt.Sprintf("%d bytes damaged", f.Damaged)
		case f.Tail > 0:
			state = fmt.Sprintf("sound, and %d bytes that were never acknowledged", f.Tail)
		}
		rows = append(rows, []string{f.Name, strconv.FormatInt(f.Bytes, 10), strconv.FormatInt(f.Records, 10), strconv.FormatInt(f.Waiting, 10), oldest, state})
	}
	return rows
}

func readAll(d *spool.Directory, names []string) []spool.File {
	files := make([]spool.File, len(names))
	for i, name := range names {
		files[i] = d.Read(name)
		files[i].Release()
	}
	return files
}

// anyUnread is an error if a segment could not be read.
func anyUnread(files []spool.File) error {
	n := 0
	for i := range files {
		if files[i].Err != nil {
			n++
		}
	}
	if n > 0 {
		return exitError{fmt.Errorf("%d segments cannot be read", n), exitUnfinished}
	}
	return nil
}

type spoolListCommand struct {
	Dir string `arg:"" help:"Directory of the spool (--spool-dir of its collector)."`
}

// Run lists the segments.
func (c *spoolListCommand) Run() error {
	return withSpool(c.Dir, func(d *spool.Directory, names []string) error {
		files := readAll(d, names)
		if err := printTable(os.Stdout, spoolTable(files)); err != nil {
			return err
		}
		return anyUnread(files)
	})
}

type spoolCheckCommand struct {
	Dir string `arg:"" help:"Directory of the spool (--spool-dir of its collector)."`
}

// Run verifies the checksums.
func (c *spoolCheckCommand) Run() error {
	return withSpool(c.Dir, func(d *spool.Directory, names []string) error {
		names = slices.DeleteFunc(names, func(name string) bool { return (&spool.File{Name: name}).Sent() })
		files := readAll(d, names)
		findings := slices.DeleteFunc(slices.Clone(files), func(f spool.File) bool { return f.Err == nil && f.Damaged == 0 && !f.Aside() })
		if len(findings) > 0 {
			if err := printTable(os.Stdout, spoolTable(findings)); err != nil {
				return err
			}
		}
		err := anyUnread(files)
		if n := len(slices.DeleteFunc(findings, func(f spool.File) bool { return f.Err != nil })); n > 0 {
			return errors.Join(fmt.Errorf("%d segments are damaged, or were moved aside as damaged", n), plain(err))
		}
		if err == nil {
			fmt.Printf("segments without damage: %d\n", len(files))
		}
		return err
	})
}

// plain takes the exit code off an error: that of a finding comes first.
func plain(err error) error {
	if coded, ok := errors.AsType[exitError](err); ok {
		return coded.error
	}
	return err
}

type spoolShowCommand struct {
	Dir   string `arg:"" help:"Directory of the spool (--spool-dir of its collector)."`
	File  string `arg:"" help:"Name of the segment, as shown by list."`
	Limit int    `name:"limit" default:"100" help:"Maximum number of lines to print, oldest first; 0 for all."`
}

// Run shows the records of a segment.
func (c *spoolShowCommand) Run() error {
	return withSpool(c.Dir, func(d *spool.Directory, names []string) error {
		if err := checkSegments(names, c.File); err != nil {
			return err
		}
		f := d.Read(c.File)
		if f.Err != nil {
			return exitError{f.Err, exitUnfinished}
		}
		records, err := f.Unsent()
		if err != nil {
			return exitError{err, exitUnfinished}
		}
		shown := records
		if c.Limit > 0 {
			shown = records[:min(c.Limit, len(records))]
		}
		rows := [][]string{{"SPOOLED", "TOPIC", "LINK", "EVENT ID", "BYTES"}}
		for _, r := range shown {
			link, id := "-", "-"
			if key, err := uuid.FromBytes(r.Key); err == nil {
				link = key.String()
			}
			if found := eventID(r.Topic, r.Value); found != uuid.Nil {
				id = found.String()
			}
			rows = append(rows, []string{formatTime(&r.SpooledAt), r.Topic, link, id, strconv.Itoa(len(r.Value))})
		}
		if err := printTable(os.Stdout, rows); err != nil {
			return err
		}
		if more := len(records) - len(shown); more > 0 {
			fmt.Printf("and %d more (--limit)\n", more)
		}
		return nil
	})
}

// eventID returns the id of the event in a record, or the zero one if it cannot be decoded.
func eventID(topic string, value []byte) uuid.UUID {
	var e event.Event
	var v event.LinkView
	switch {
	case topic == event.Topic && e.Decode(value) == nil:
		return e.EventID
	case topic == event.LinkViewTopic && v.Decode(value) == nil:
		return v.EventID
	default:
		return uuid.Nil
	}
}

func checkSegments(names []string, given ...string) error {
	for _, name := range given {
		if !slices.Contains(names, name) {
			return config.Invalid("the segment "+strconv.Quote(name), "is not in the directory", "give a name that `lodestone spool list` shows")
		}
	}
	return nil
}

type spoolSendCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
	Producer producer.Config `embed:""`
	Dir      string          `arg:"" help:"Directory of the spool (--spool-dir of its collector)."`
}

func (c *spoolSendCommand) check() error { return validate(c.Kafka, c.Postgres, c.Producer) }

// Run sends the directory.
func (c *spoolSendCommand) Run(ctx context.Context) error {
	if err := c.check(); err != nil {
		return err
	}
	return withSpool(c.Dir, func(d *spool.Directory, names []string) (err error) {
		p := newProcess(c.Process)
		pool, err := p.addPostgres(ctx, c.Postgres) // which knows how many partitions the topics have
		if err != nil {
			return err
		}
		topics := kafka.KeyedTopics()
		if err := p.addGuard(c.Kafka, pool, false, topics...); err != nil {
			return err
		}
		writer, err := producer.New(c.Producer, producer.Deps{Kafka: c.Kafka.Options(p.log), Topics: topics, Partitions: kafka.Ledger{Pool: pool}, Log: p.log, Registerer: p.metrics})
		if err != nil {
			return err
		}
		p.stack.Add("producer", writer)
		defer func() { err = errors.Join(err, p.stop(stopTimeout)) }()
		start, cancel := context.WithTimeout(ctx, spoolStart)
		defer cancel()
		if err := p.stack.Start(start); err != nil {
			return exitError{err, exitUnfinished}
		}
		return sendSegments(ctx, d, names, writer)
	})
}

func sendSegments(ctx context.Context, d *spool.Directory, names []string, to spool.Writer) error {
	rows := [][]string{{"FILE", "SENT", "REFUSED", "DAMAGED BYTES", "NOW"}}
	var refused int64
	var failed []error
	for _, name := range names {
		f := d.Read(name)
		if f.Sent() {
			continue
		}
		s := d.Send(ctx, &f, to)
		rows = append(rows, []string{s.Name, strconv.FormatInt(s.Records, 10), strconv.FormatInt(s.Refused, 10), strconv.FormatInt(f.Damaged, 10), s.Now})
		refused += s.Refused
		if s.Err != nil {
			failed = append(failed, fmt.Errorf("%s: %w", name, s.Err))
		}
		if errors.Is(s.Err, producer.ErrUnacknowledged) || ctx.Err() != nil {
			break // the others fare no better
		}
	}
	if err := printTable(os.Stdout, rows); err != nil {
		return err
	}
	if len(failed) > 0 {
		return exitError{errors.Join(failed...), exitUnfinished}
	}
	if refused > 0 {
		return fmt.Errorf("Kafka refuses %d records for good: correct the topic's settings and send again, or drop the file", refused) //nolint:staticcheck // Kafka is a name
	}
	return nil
}

type spoolDropCommand struct {
	Dir   string   `arg:"" help:"Directory of the spool (--spool-dir of its collector)."`
	Files []string `arg:"" name:"file" help:"Names of the segments, as shown by list."`
}

// Run removes segments.
func (c *spoolDropCommand) Run() error {
	return withSpool(c.Dir, func(d *spool.Directory, names []string) error {
		if err := checkSegments(names, c.Files...); err != nil {
			return err
		}
		for _, name := range c.Files {
			f := d.Read(name)
			if err := d.Drop(&f); err != nil {
				return err
			}
			fmt.Printf("dropped %s: %d records that Kafka does not have, as far as is known\n", name, f.Waiting)
		}
		return nil
	})
}
