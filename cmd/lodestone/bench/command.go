package bench

import (
	"context"
	"os"
	"strings"
)

// Command is `lodestone bench`: a subcommand a suite, all of them, and hidden ones that are run as child
// processes.
type Command struct {
	Collect collectCommand `cmd:"" help:"Measure the collector beside a server that only waits for Kafka, and one that does nothing."`
	All     allCommand     `cmd:"" help:"Measure everything."`

	Broker brokerCommand `cmd:"" hidden:"" help:"The embedded Kafka broker as a process."`
}

// allCommand runs every suite, each with its options.
type allCommand struct {
	Settings Settings       `embed:""`
	Collect  collectOptions `embed:""`
}

// Run measures everything.
func (c *allCommand) Run(ctx context.Context, v Version) error {
	return run(ctx, c.Settings, v, commandLine(),
		c.Collect.suite(),
	)
}

// commandLine is what was called, for the report.
func commandLine() string { return "lodestone " + strings.Join(os.Args[1:], " ") }
