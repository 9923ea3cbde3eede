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
}

// Side is one of the things that a case compares.
type Side struct {
	Name string
	// Run is one run. It is called from one goroutine.
	Run func(ctx context.Context) (Sample, error)
}

// Target is what a case should reach: an absolute value, or a ratio.
type Target struct {
	// What is the target in words: "≥ 90 % of fasthttp + producer".
	What string
	// Value names the value of the first side that is judged.
	Value string
	// Against names the side that the value is divided by, run by run; "": the value stands alone.
	Against string
	// Min and Max bound the median; 0: no bound.
	Min, Max float64
}

// Memory that processes may hold, in whichever case they run.
var (
	clickhouseMemory = Target{What: "ClickHouse ≤ 2 GiB", Value: Peak("clickhouse"), Max: 2048}
	queryMemory      = Target{What: "query ≤ 100 MiB", Value: Peak("query"), Max: 100}
	consumerMemory   = Target{What: "consumer ≤ 250 MiB", Value: Peak("consumer"), Max: 250}
	collectorMemory  = Target{What: "collector ≤ 100 MiB", Value: Peak("collector"), Max: 100}
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

// AddUse adds what processes used in a run, per event.
func (s Sample) AddUse(use map[string]Use, events int64) {
	for name, u := range use {
		s[CPU(name)] = float64(u.CPU.Microseconds()) / float64(max(events, 1))
		s[Peak(name)] = float64(u.Peak) / (1 << 20)
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
	result := &Result{Name: c.Name, Title: c.Title, Show: c.Show}
	for _, s := range c.Sides {
		result.Sides = append(result.Sides, &SideResult{Name: s.Name})
	}
	begin := time.Now()
	for run := -c.Warm; run < runs; run++ {
		order := make([]int, len(c.Sides))
		for i := range order {
			order[i] = i
		}
		if run%2 != 0 {
			slices.Reverse(order)
		}
		for _, i := range order {
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
	b.Sayf("%s", result.markdown())
	return b.report.save(b.JSON) // now, too: the run may be cut off
}
