package bench

import "context"

// suite is the cases of one subcommand.
type suite struct {
	name string
	// kafka says that the figures depend on which Kafka it is: the suite runs once for each.
	kafka bool
	// bare says that it needs no engines: run gets none.
	bare bool
	// cases are the names of its cases: where none is wanted, nothing is started. nil: it starts in any case.
	cases func(kafka string) []string
	// apart says that it reads and writes tables of its own alone, which may be there from before: engines that are given
	// need not be empty for it, and are not emptied.
	apart bool
	// run measures its cases by Bench.Measure.
	run func(ctx context.Context, b *Bench, e *Engines) error
}

// empties reports whether it begins with engines that are emptied, if they are given.
func (s suite) empties() bool { return !s.bare && !s.apart }
