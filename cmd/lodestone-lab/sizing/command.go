package sizing

import (
	"fmt"
	"os"
	"text/tabwriter"
)

// Command is `lodestone-lab size`.
type Command struct {
	Seconds float64 `name:"seconds" default:"300" help:"How long each row is simulated at its peak."`
	Seed    uint64  `name:"seed" default:"1" help:"What is drawn is drawn from it."`
}

// Run prints the table of sizes, and what a simulation of each row sees.
func (c *Command) Run() error {
	if _, err := fmt.Fprintln(os.Stdout, Table()); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	_, err := fmt.Fprintln(w, "events a day\tinserts/s\trows\tcores used\tp50 s\tp99 s\tparts to merge\t")
	for _, p := range Plans {
		r := Simulate(p, c.Seconds, c.Seed)
		if err == nil {
			_, err = fmt.Fprintf(w, "%s\t%.1f\t%s\t%.0f %%\t%.2f\t%.2f\t%d\t\n", count(p.PerDay), r.Inserts, group(r.Rows), 100*r.Used, r.P50, r.P99, r.Parts)
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return fmt.Errorf("print: %w", err)
	}
	return nil
}
