package bench

import "context"

// suite is the cases of one subcommand.
type suite struct {
	name string
	// kafka says that the figures depend on which Kafka it is: the suite runs once for each.
	kafka bool
	// bare says that it needs no engines: run gets none.
	bare bool
	// run measures its cases by Bench.Measure.
	run func(ctx context.Context, b *Bench, e *Engines) error
}
