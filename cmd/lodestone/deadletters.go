package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/deadletter"
	"lodestone/ingest/producer"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
)

type deadLettersCommand struct {
	Data    dataConfig                `embed:""`
	List    deadLettersListCommand    `cmd:"" help:"List dead letters: records that could not be stored as rows."`
	Show    deadLettersShowCommand    `cmd:"" help:"Show one dead letter."`
	Replay  deadLettersReplayCommand  `cmd:"" help:"Write the dead letters back to their topics, if this build can decode their records. A record is stored once, however often it is replayed."`
	Discard deadLettersDiscardCommand `cmd:"" help:"Mark dead letters as not worth replaying."`
}

// pointInTime is a time, or a duration back from now.
type pointInTime struct{ time.Time }

// UnmarshalText reads a time of RFC 3339, a date, or a duration back from now, such as 24h.
func (p *pointInTime) UnmarshalText(text []byte) error {
	s := string(text)
	if back, err := time.ParseDuration(s); err == nil {
		p.Time = time.Now().Add(-back)
		return nil
	}
	for _, layout := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(layout, s); err == nil {
			p.Time = t
			return nil
		}
	}
	return fmt.Errorf("%q is not a time: write 2026-11-20T12:00:00Z, 2026-11-20, or 24h for a day ago", s)
}

// withBox calls fn with the dead letters.
func withBox(p processConfig, k kafka.Config, fn func(*deadletter.Box) error) error {
	return withKafka(p, k, func(client *kgo.Client) error { return fn(deadletter.NewBox(client, k.Options(p.logger()))) })
}

type deadLettersListCommand struct {
	Process processConfig `embed:""`
	Kafka   kafka.Config  `embed:""`
	State   []string      `name:"state" default:"open" enum:"open,replayed,discarded" help:"States to list, separated by commas: open, replayed, discarded."`
	Reason  string        `name:"reason" help:"Only dead letters with this reason: malformed, unsupported_version or invalid."`
	Since   pointInTime   `name:"since" placeholder:"TIME" help:"Start time: an RFC 3339 time, a date, or a duration before now such as 24h."`
	Limit   int           `name:"limit" default:"100" help:"Maximum number of lines to print, oldest first; 0 for all."`
}

// Run lists dead letters.
func (c *deadLettersListCommand) Run(ctx context.Context) error {
	if err := validate(c.Kafka); err != nil {
		return err
	}
	f := deadletter.Filter{Reason: c.Reason, Since: c.Since.Time}
	for _, name := range c.State {
		state, _ := deadletter.ParseState(name)
		f.States = append(f.States, state)
	}
	return withBox(c.Process, c.Kafka, func(box *deadletter.Box) error {
		letters, err := box.List(ctx, f)
		if err != nil {
			return err
		}
		return printLetters(os.Stdout, letters, c.Limit)
	})
}

func printLetters(to io.Writer, letters []deadletter.Letter, limit int) error {
	shown := letters
	if limit > 0 {
		shown = letters[:min(limit, len(letters))]
	}
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ORIGIN\tSINCE\tTOPIC\tBYTES\tREASON\tSTATE\tERROR")
	for _, l := range shown {
		fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\t%s\n", l.Origin, l.At.Format(time.RFC3339), printable(l.Topic), l.Bytes,
			printable(l.Reason), l.State, printable(l.Error))
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if more := len(letters) - len(shown); more > 0 {
		fmt.Fprintf(to, "and %d more (--limit)\n", more)
	}
	return nil
}

// printable quotes characters that could control a terminal: any writer to Kafka may have chosen
// them.
func printable(s string) string {
	if q := fmt.Sprintf("%+q", s); q[1:len(q)-1] != s {
		return q
	}
	return s
}

type deadLettersShowCommand struct {
	Process processConfig `embed:""`
	Kafka   kafka.Config  `embed:""`
	Origin  string        `arg:"" help:"Origin of the dead letter, as shown by list."`
	Raw     bool          `name:"raw" help:"Also show data about the visitor, and the record's bytes."`
}

// Run shows a dead letter.
func (c *deadLettersShowCommand) Run(ctx context.Context) error {
	if err := validate(c.Kafka); err != nil {
		return err
	}
	origin, err := deadletter.ParseOrigin(c.Origin)
	if err != nil {
		return err
	}
	return withBox(c.Process, c.Kafka, func(box *deadletter.Box) error {
		l, record, err := box.Read(ctx, origin)
		if err != nil {
			return err
		}
		return printLetter(os.Stdout, l, record, c.Raw)
	})
}

func printLetter(to io.Writer, l deadletter.Letter, record []byte, raw bool) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "origin\t%s\ntopic\t%s\nsince\t%s\nreason\t%s\nerror\t%s\nstate\t%s\n",
		l.Origin, printable(l.Topic), l.At.Format(time.RFC3339), printable(l.Reason), printable(l.Error), l.State)
	if l.State != deadletter.Open {
		fmt.Fprintf(w, "done\t%s: %s\n", l.Done.Format(time.RFC3339), printable(l.Why))
	}
	fields, rest := deadletter.Fields(record, raw)
	fmt.Fprintf(w, "record\t%d bytes, of which %d cannot be read\n", len(record), rest)
	for _, f := range fields {
		name := f.Name
		if name == "" {
			name = "unknown"
		}
		fmt.Fprintf(w, "  %d %s\t%s\n", f.Number, name, f.Value)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	if !raw {
		fmt.Fprintln(to, "Values about a visitor are withheld; --raw shows them, and the record's bytes.")
		return nil
	}
	fmt.Fprint(to, hex.Dump(record))
	return nil
}

type deadLettersReplayCommand struct {
	Process  processConfig   `embed:""`
	Kafka    kafka.Config    `embed:""`
	Postgres postgres.Config `embed:""`
	Producer producer.Config `embed:""`
	Origins  []string        `arg:"" optional:"" name:"origin" help:"Origins of the dead letters, as shown by list. Discarded dead letters are replayed too."`
	All      bool            `name:"all" env:"-" help:"Replay every open dead letter, or with --reason every open one with that reason."`
	Reason   string          `name:"reason" help:"Only dead letters with this reason: malformed, unsupported_version or invalid."`
}

func (c *deadLettersReplayCommand) check() error {
	err := validate(c.Kafka, c.Postgres)
	if c.All == (len(c.Origins) > 0) {
		err = errors.Join(err, config.InvalidFlag("--all", "is not clear", "give either origins or --all"))
	}
	if c.Reason != "" && !c.All {
		err = errors.Join(err, config.Invalid("--reason", "is for --all", "leave it out when origins are given"))
	}
	return err
}

// Run replays dead letters.
func (c *deadLettersReplayCommand) Run(ctx context.Context) (err error) {
	if err := c.check(); err != nil {
		return err
	}
	f := deadletter.Filter{Reason: c.Reason, States: []deadletter.State{deadletter.Open}}
	if !c.All {
		f.States = nil
		if f.Origins, err = parseOrigins(c.Origins); err != nil {
			return err
		}
	}
	return withBox(c.Process, c.Kafka, func(box *deadletter.Box) error {
		return withProducer(ctx, c.Process, c.Kafka, c.Postgres, c.Producer,
			func(to *producer.Producer, pool *postgres.Pool) error {
				replayer := deadletter.Replayer{Box: box, Writer: to, Pool: pool, Log: c.Process.logger()}
				r, err := replayer.Replay(ctx, f)
				fmt.Printf("written to their topic again: %d\nstill cannot be decoded: %d\n", r.Written, r.Undecoded)
				if r.Unknown > 0 {
					fmt.Printf("from a topic that this build does not store: %d\n", r.Unknown)
				}
				if left := r.Undecoded + r.Unknown; err == nil && left > 0 {
					return fmt.Errorf("%d requested dead letters were not replayed", left)
				}
				return err
			})
	})
}

type deadLettersDiscardCommand struct {
	Process processConfig `embed:""`
	Kafka   kafka.Config  `embed:""`
	Origins []string      `arg:"" name:"origin" help:"Origins of the dead letters, as shown by list."`
	Why     string        `name:"why" env:"-" required:"" help:"Why they are not worth replaying, for later readers of the list."`
}

// Run discards dead letters.
func (c *deadLettersDiscardCommand) Run(ctx context.Context) error {
	if err := validate(c.Kafka); err != nil {
		return err
	}
	origins, err := parseOrigins(c.Origins)
	if err != nil {
		return err
	}
	if strings.TrimSpace(c.Why) == "" {
		return config.InvalidFlag("--why", "is empty", "say why they are not worth replaying")
	}
	return withBox(c.Process, c.Kafka, func(box *deadletter.Box) error {
		n, err := box.Discard(ctx, origins, c.Why)
		if err != nil {
			return err
		}
		fmt.Printf("discarded: %d\n", n)
		return nil
	})
}

func parseOrigins(texts []string) ([]deadletter.Origin, error) {
	var origins []deadletter.Origin
	var errs []error
	for _, text := range texts {
		o, err := deadletter.ParseOrigin(text)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		origins = append(origins, o)
	}
	return origins, errors.Join(errs...)
}

func withKafka(p processConfig, k kafka.Config, fn func(*kgo.Client) error) error {
	client, err := kgo.NewClient(k.Options(p.logger())...)
	if err != nil {
		return fmt.Errorf("make Kafka client: %w", err)
	}
	defer client.Close()
	return fn(client)
}
