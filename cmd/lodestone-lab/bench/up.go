package bench

import (
	"context"
	"errors"
	"time"

	"lodestone/cmd/lodestone-lab/probe"
	"lodestone/pkg/service"
)

// upOptions has no settings of this suite alone.
type upOptions struct{}

func (o upOptions) suite() suite {
	return suite{name: "up", bare: true, cases: []string{upCase}, run: o.run}
}

const (
	upCase    = "up"
	readyTime = "seconds until ready"
	restBytes = "MiB at rest, everything"
	restCPU   = "% of a core at rest"
)

const (
	restAfter = 7 * time.Second // of start-up's leftovers
	restFor   = 5 * time.Second
)

// run starts `lodestone up` again and again on data that is there. Its memory and CPU at rest are
// those of the process tree, engines included.
func (upOptions) run(ctx context.Context, b *Bench, _ *Engines) error {
	u := &upRun{b: b, dir: b.File("up")}
	return b.Measure(ctx, Case{
		Name: upCase, Title: "lodestone up, started again without events", Sides: []Side{{Name: "up", Run: u.run}},
		Warm: 1, // it makes the directory
	})
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
		address, err := probe.FreeAddress()
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
	return Sample{
		readyTime: took.Seconds(), restCPU: 100 * use["up"].CPU.Seconds() / restFor.Seconds(),
		restBytes: float64(use["up"].Peak) / (1 << 20),
	}, nil
}
