package bench

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Case is one thing that is measured: the system beside its limits.
type Case struct {
	// Name is unique in a run, such as "collect/embedded/one/512".
	Name string
	// Title says in a few words what is measured.
	Title string
	// Sides: the first is the system, the others are its limits.
	Sides []Side
	// Targets are what the system should reach.
	Targets []Target
	// Warm is how often each side runs before, without being counted.
	Warm int
	// Runs is how often each side runs; 0: as the settings say.
	Runs int
	// Show are the values to print, in this order; empty: all. The report's file has all in any case.
	Show []string
	// Plot, X and Line place the case in a plot: Plot is its name, such as "rows" (see axes in plot.go), X the value
	// on the axis, Line which of its lines. Cases without belong to none. PlotValues are what is plotted, a line
	// each; none: Rate.
	Plot       string
	X          float64
	Line       string
	PlotValues []string
	// Flags are what `lodestone bench SUITE` needs besides --only to measure this case.
	Flags string
}

// Side is one of the things that a case compares.
type Side struct {
	Name string
	// Run is one run. It is called from one goroutine.
	Run func(ctx context.Context) (Sample, error)
	// After names a side that this one needs what it found in the same run of: it runs after it, whatever the turn. That one
	// comes after none itself.
	After string
}

// Target is what a case should reach: an absolute value, or a ratio.
type Target struct {
	// What is the target in words: "≥ 90 % of fasthttp + producer".
	What string
	// Of names the side whose value is judged; "": the first.
	Of string
	// Value names the value.
	Value string
	// Against names the side that the value is divided by, run by run; "": the value stands alone.
	Against string
	// Beside names a side whose value is shown as the limit of a value that stands alone: what it is judged by is its
	// bound. Not with Against.
	Beside string
	// AgainstValue is the value of the side that Against or Beside names; "": the same as Value.
	AgainstValue string
	// AtLeast and AtMost bound the median; 0: no bound.
	AtLeast, AtMost float64
}

// What processes may hold, in whichever case they run.
var (
	clickhouseMemory = Target{What: "ClickHouse ≤ 2 GiB", Value: Peak("clickhouse"), AtMost: 2048}
	queryMemory      = Target{What: "query ≤ 100 MiB", Value: Peak("query"), AtMost: 100}
	consumerMemory   = Target{What: "consumer ≤ 250 MiB", Value: Peak("consumer"), AtMost: 250}
	collectorMemory  = Target{What: "collector ≤ 100 MiB", Value: Peak("collector"), AtMost: 100}
)

// Sample is what one run found: values by their names, which have the unit in them.
type Sample map[string]float64

// Rate is the name of a throughput.
const Rate = "events/s"

// Latency is the name of a percentile in milliseconds: Latency(0.99) is "p99 ms".
func Latency(q float64) string { return "p" + strconv.FormatFloat(q*100, 'f', -1, 64) + " ms" }

// CPU is the name of a process's CPU time, user and system, per event in microseconds.
func CPU(process string) string { return "CPU µs/event " + process }

// Peak is the name of the largest resident memory of a process during a run, in MiB.
func Peak(process string) string { return "peak MiB " + process }

// Steady is the name of the median resident memory of a process during a run, in MiB.
func Steady(process string) string { return "steady MiB " + process }

// AddUse adds what processes used in a run, per event.
func (s Sample) AddUse(use map[string]Use, events int64) {
	for name, u := range use {
		s[CPU(name)] = float64(u.CPU.Microseconds()) / float64(max(events, 1))
		s[Peak(name)] = float64(u.Peak) / (1 << 20)
		s[Steady(name)] = float64(u.Steady) / (1 << 20)
	}
}

// AddLatencies adds the percentiles.
func (s Sample) AddLatencies(l *Latencies) {
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999} {
		s[Latency(q)] = float64(l.Quantile(q)) / float64(time.Millisecond)
	}
}

// Measure runs the sides of a case in turn and puts what they find into the report. It does nothing if
// the case is not wanted.
func (b *Bench) Measure(ctx context.Context, c Case) error {
	if !b.Wanted(c.Name) {
		return nil
	}
	runs := cmp.Or(c.Runs, b.Runs)
	if b.Quick {
		runs = min(runs, quickRuns)
	}
	result := &Result{Name: c.Name, Title: c.Title, Show: c.Show, Plot: c.Plot, X: c.X, Line: c.Line, PlotValues: c.PlotValues, Flags: c.Flags}
	for _, s := range c.Sides {
		result.Sides = append(result.Sides, &SideResult{Name: s.Name})
	}
	begin := time.Now()
	for run := -c.Warm; run < runs; run++ {
		for _, i := range turn(c.Sides, run) {
			sample, err := c.Sides[i].Run(ctx)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", c.Name, c.Sides[i].Name, err)
			}
			if run >= 0 {
				result.Sides[i].Runs = append(result.Sides[i].Runs, sample)
			}
		}
	}
	for _, t := range b.judged(c.Targets) {
		verdict, err := judge(t, result)
		if err != nil {
			return fmt.Errorf("%s: %w", c.Name, err)
		}
		result.Targets = append(result.Targets, verdict)
	}
	result.Took = time.Since(begin).Seconds()
	b.report.Results = append(b.report.Results, result)
	result.print(b.progress)
	return b.report.save(b.JSON) // now, too: the run may be cut off
}

// turn is the order of the sides in a run: theirs in every other one, else the reverse, but that each comes after the one
// that it needs.
func turn(sides []Side, run int) []int {
	order := make([]int, 0, len(sides))
	for i := range sides {
		order = append(order, i)
	}
	if run%2 != 0 {
		slices.Reverse(order)
	}
	for i := range sides {
		at := slices.Index(order, i)
		needed := slices.IndexFunc(order, func(j int) bool { return sides[i].After != "" && sides[j].Name == sides[i].After })
		if needed > at {
			order = slices.Insert(slices.Delete(order, at, at+1), needed, i)
		}
	}
	return order
}
