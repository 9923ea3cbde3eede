package bench

import (
	"context"
)

type collectCommand struct {
	Settings Settings       `embed:""`
	Options  collectOptions `embed:""`
}

// Run measures the collector.
func (c *collectCommand) Run(ctx context.Context, v Version) error {
	return run(ctx, c.Settings, v, commandLine(), c.Options.suite())
}

// collectOptions are the settings of this suite alone.
type collectOptions struct{}

func (o collectOptions) suite() suite {
	return suite{name: "collect", kafka: true, run: o.measure}
}

func (o collectOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	p, err := b.Lodestone(ctx, e, "collector")
	if err != nil {
		return err
	}
	return p.Stop(context.WithoutCancel(ctx))
}
