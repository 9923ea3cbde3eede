package chaos

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// What a quantity may grow by before it counts as growth: a share of what it was, and an amount
// below which it is noise.
const (
	growthShare     = 0.2
	residentNoise   = 24 << 20 // bytes
	goroutineNoise  = 40
	descriptorNoise = 40
	minSamples      = 9 // of a calm time after its warm-up, three in each third
	minCalm         = 2 // of a calm time, in warm-ups
	minCalmTime     = 2 * time.Minute
	mebibyte        = 1 << 20
)

// calm is a process in a time in which nothing happened to it or to anything else, after a warm-up.
type calm struct {
	process string
	pid     int
	long    time.Duration // with the warm-up
	samples []sample
}

// calms returns the calm times of the processes, in order. One begins when a process has started
// and the system has recovered from the last operation or fault; it is left out unless it is longer
// than a few warm-ups.
func (s *samples) calms(warmUp time.Duration) (all []calm) {
	type key struct {
		process string
		pid     int
	}
	began, at := map[key]time.Duration{}, map[key]int{} // of the calm time that lasts
	for _, one := range s.all {
		k := key{one.process, one.pid}
		if one.engine {
			continue
		}
		if _, lasts := began[k]; !lasts || one.step != "" {
			began[k] = one.at
			delete(at, k)
		}
		if one.step != "" || one.at-began[k] < warmUp {
			continue
		}
		i, known := at[k]
		if !known {
			i, at[k] = len(all), len(all)
			all = append(all, calm{process: one.process, pid: one.pid})
		}
		all[i].samples = append(all[i].samples, one)
		all[i].long = one.at - began[k]
	}
	return slices.DeleteFunc(all, func(c calm) bool { return len(c.samples) < minSamples || c.long < minLong(warmUp) })
}

// minLong is how long a calm time has to be, with its warm-up.
func minLong(warmUp time.Duration) time.Duration { return max(minCalm*warmUp, minCalmTime) }

// unmeasured returns a sentence for each process without a calm time: nothing shows that its memory
// is flat.
func (s *samples) unmeasured(all []calm, warmUp time.Duration) (sentences []string) {
	measured := map[string]bool{}
	for _, one := range s.all {
		if !one.engine {
			measured[one.process] = false
		}
	}
	for _, c := range all {
		measured[c.process] = true
	}
	for _, process := range slices.Sorted(maps.Keys(measured)) {
		if !measured[process] {
			sentences = append(sentences, fmt.Sprintf("%s: no calm time of %v or longer", process, minLong(warmUp)))
		}
	}
	if len(measured) == 0 {
		sentences = append(sentences, "no process was measured")
	}
	return sentences
}

// quantity is something that is to stay as it is.
type quantity struct {
	name  string
	noise float64
	of    func(s sample) float64
	text  func(v float64) string
}

var quantities = []quantity{
	{"resident memory", residentNoise, func(s sample) float64 { return float64(s.resident) },
		func(v float64) string { return fmt.Sprintf("%.0f MiB", v/mebibyte) }},
	{"goroutines", goroutineNoise, func(s sample) float64 { return float64(s.goroutines) },
		func(v float64) string { return fmt.Sprintf("%.0f", v) }},
	{"descriptors", descriptorNoise, func(s sample) float64 { return float64(s.descriptors) },
		func(v float64) string { return fmt.Sprintf("%.0f", v) }},
}

// median of a quantity, which collections of garbage and bursts do not move.
func (q quantity) median(all []sample) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = q.of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// grown reports whether a quantity is not flat.
func (q quantity) grown(before, after float64) bool {
	return after-before > max(q.noise, growthShare*before)
}

// flat returns a sentence for everything that grows: of a process from the first to the last third
// of a calm time, and of all processes of a kind together from their first calm times to their last
// ones. Between calm times partitions move from one consumer to another, with what they need.
// Restarts and recoveries are between calm times as well, so they hide nothing and count for
// nothing.
func flat(all []calm) (growing []string) {
	for _, c := range all {
		for _, q := range quantities {
			third := len(c.samples) / 3
			from, to := q.median(c.samples[:third]), q.median(c.samples[len(c.samples)-third:])
			if q.grown(from, to) {
				growing = append(growing, q.sentence(c.process, "in a calm time of "+c.long.Round(time.Second).String(), from, to))
			}
		}
	}
	of := byProcess(all)
	for _, q := range quantities {
		from, to := map[string]float64{}, map[string]float64{}
		for process, calms := range of {
			kind := strings.TrimRight(process, "0123456789")
			from[kind] += q.median(calms[0].samples)
			to[kind] += q.median(calms[len(calms)-1].samples)
		}
		for _, kind := range slices.Sorted(maps.Keys(from)) {
			if q.grown(from[kind], to[kind]) {
				growing = append(growing, q.sentence("every "+kind, "from the first calm time to the last", from[kind], to[kind]))
			}
		}
	}
	return growing
}

// byProcess returns the calm times of each process, in order.
func byProcess(all []calm) map[string][]calm {
	of := map[string][]calm{}
	for _, c := range all {
		of[c.process] = append(of[c.process], c)
	}
	return of
}

func (q quantity) sentence(process, where string, before, after float64) string {
	return fmt.Sprintf("%s: %s grow %s: from %s to %s", process, q.name, where, q.text(before), q.text(after))
}

// table is markdown: of each process the median in its first and in its last calm time.
func table(all []calm) string {
	var b strings.Builder
	b.WriteString("| Process | Calm times | Resident memory: first | last | Goroutines: first | last | Descriptors: first | last |\n|---|---|--:|--:|--:|--:|--:|--:|\n")
	of := byProcess(all)
	for _, process := range slices.Sorted(maps.Keys(of)) {
		var long []string
		for _, c := range of[process] {
			long = append(long, c.long.Round(time.Second).String())
		}
		fmt.Fprintf(&b, "| %s | %s |", process, strings.Join(long, ", "))
		for _, q := range quantities {
			first, last := of[process][0], of[process][len(of[process])-1]
			fmt.Fprintf(&b, " %s | %s |", q.text(q.median(first.samples)), q.text(q.median(last.samples)))
		}
		b.WriteString("\n")
	}
	return b.String()
}
