package bench

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/config"
	"lodestone/pkg/engine"
	"lodestone/pkg/service"
)

// upOptions are the settings of this suite alone.
type upOptions struct {
	Rows int64 `name:"up-rows" default:"10000000" help:"Events that lodestone up has taken in before it is started again."`
}

func (o upOptions) suite() suite {
	return suite{name: "up", bare: true, cases: []string{upEmpty, upFull}, run: o.run}
}

const (
	upEmpty   = "up/empty"
	upFull    = "up/full"
	readyTime = "seconds until ready"
	restBytes = "MiB at rest, everything"
	restCPU   = "% of a core at rest"
)

const (
	restAfter = 7 * time.Second // of start-up's leftovers
	restFor   = 5 * time.Second
)

// run starts `lodestone up` again and again on data that is there, empty and full. Its memory and CPU at
// rest are those of the process tree, engines included.
func (o upOptions) run(ctx context.Context, b *Bench, _ *Engines) error {
	full := o.Rows
	if b.Quick {
		full = min(full, 200_000)
	}
	for _, c := range []struct {
		name, title string
		rows        int64
		targets     []Target
	}{
		{upEmpty, "lodestone up, started again on an empty directory", 0, []Target{
			{What: "ready ≤ 2 s", Value: readyTime, Max: 2},
			{What: "≤ 450 MiB at rest", Value: restBytes, Max: 450},
		}},
		{upFull, "lodestone up, started again on " + number(float64(full)) + " events, a tenth of which are in Kafka as well", full, []Target{
			{What: "ready ≤ 5 s", Value: readyTime, Max: 5},
			{What: "≤ 450 MiB at rest", Value: restBytes, Max: 450},
		}},
	} {
		if !b.Wanted(c.name) {
			continue
		}
		u := &upRun{b: b, dir: b.File(strings.ReplaceAll(c.name, "/", "-"))}
		b.Sayf("%s: %d events", c.name, c.rows)
		if err := u.prepare(ctx, c.rows); err != nil {
			return err
		}
		err := b.Measure(ctx, Case{
			Name: c.name, Title: c.title, Targets: c.targets,
			Sides: []Side{{Name: "up", Run: u.run}},
		})
		if err = errors.Join(err, engine.RemoveDir(u.dir)); err != nil {
			return err
		}
	}
	return nil
}

// upRun is `lodestone up` on one directory.
type upRun struct {
	b   *Bench
	dir string
}

// start starts it and returns how long it took until it was ready.
func (u *upRun) start(ctx context.Context) (*Process, time.Duration, error) {
	var ports [3]string
	for i := range ports {
		address, err := FreeAddress()
		if err != nil {
			return nil, 0, err
		}
		ports[i] = address
	}
	begin := time.Now()
	p, err := u.b.Start(ctx, "up", u.b.program, nil, ready(ports[2]), "up",
		"--data="+u.dir, "--listen="+ports[0], "--collector-listen="+ports[1], "--admin-listen="+ports[2],
		"--postgres-port=0", "--kafka-port=0", "--clickhouse-port=0", "--clickhouse-http-port=0", "--engine-cache="+u.b.Cache)
	if err != nil {
		return nil, 0, err
	}
	p.Admin = ports[2]
	return p, time.Since(begin), nil
}

// prepare makes the directory and stores events. A tenth of them come by Kafka, which keeps a week, and by the
// consumer; those of the months before are put straight into the table.
func (u *upRun) prepare(ctx context.Context, rows int64) (err error) {
	p, _, err := u.start(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
	if rows == 0 {
		return nil
	}
	var given map[string]string // what `up` tells other programs
	if err := await(ctx, func() (bool, error) {
		text, err := os.ReadFile(filepath.Join(u.dir, "lodestone.env"))
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil // the file is written soon after
		}
		given = map[string]string{}
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			given[strings.TrimPrefix(name, config.EnvPrefix+"_")] = value
		}
		return given["KAFKA_BROKERS"] != "" && given["CLICKHOUSE_URL"] != "", err
	}); err != nil {
		return fmt.Errorf("find the engines of lodestone up: %w", err)
	}
	login := scram.Auth{User: given["KAFKA_SASL_USER"], Pass: given["KAFKA_SASL_PASSWORD"]}
	recent := rows / 10
	if err := insertEvents(ctx, given["CLICKHOUSE_URL"], pastYear(u.b.Seed, rows-recent), rows-recent); err != nil {
		return err
	}
	if err := (&Engines{Brokers: strings.Split(given["KAFKA_BROKERS"], ","), Login: []kgo.Opt{kgo.SASL(login.AsSha256Mechanism())}}).fill(ctx, u.b.Seed+1, recent); err != nil {
		return err
	}
	return await(ctx, func() (bool, error) {
		stored, err := probe.Metric(ctx, p.Admin, "lodestone_consumer_rows_total")
		return stored >= recent, err
	})
}

func (u *upRun) run(ctx context.Context) (s Sample, err error) {
	p, took, err := u.start(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.Stop(context.WithoutCancel(ctx))) }()
	if err := service.Sleep(ctx, restAfter); err != nil {
		return nil, err
	}
	watch, err := Watch(p.Metered())
	if err != nil {
		return nil, err
	}
	err = service.Sleep(ctx, restFor)
	use, watchErr := watch.Stop()
	if err = errors.Join(err, watchErr); err != nil {
		return nil, err
	}
	s = Sample{readyTime: took.Seconds(), restCPU: 100 * use["up"].CPU.Seconds() / restFor.Seconds()}
	s[restBytes], err = p.Metered().share()
	return s, err
}
