package chaos

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxMemory bounds the memory of each of our processes, at any time.
const maxMemory = 1 << 30

// report is the outcome of a run.
type report struct {
	options
	Duration time.Duration // of all of it, with start and check
	Loaded   time.Duration // while events were sent
	Acked    int64
	Figures  []string // of operations
	Asked    *asked   // with copies of the events
	Steps    []happened
	Findings *findings
	Memory   map[string]int64 // by kind of process, the most that one had
	Spooled  int64            // most records that were seen to wait in the spools
	Surplus  int              // ends of our processes that no fault asked for
	Skewed   int64            // requests of clients whose clock was an hour off
	Refused  int64            // requests that were not acknowledged
	Broken   []string         // rules that a fault saw broken itself
}

// ok reports whether the run found nothing wrong.
func (r *report) ok() bool {
	return r.Findings != nil && r.Findings.ok() && len(r.fat()) == 0 && len(r.Broken) == 0
}

// soon is how long the system should take at most to recover from a fault. It is reported and not
// required, since it depends on the machine.
const soon = 30 * time.Second

// fat returns the kinds of our processes that had too much memory.
func (r *report) fat() (kinds []string) {
	for _, kind := range []string{"collector", "consumer"} {
		if r.Memory[kind] > maxMemory {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// write prints the report as markdown.
func (r *report) write(out io.Writer) error {
	var b strings.Builder
	type line struct {
		times                int
		acked, lost, doubled int64
		took                 []time.Duration
		left                 error
	}
	lines, slow := map[string]*line{}, 0
	for i, h := range r.Steps {
		if h.Recover > soon {
			slow++
		}
		n := lines[h.Fault]
		if n == nil {
			n = &line{}
			lines[h.Fault] = n
		}
		n.acked += h.Acked
		if r.Findings != nil {
			n.lost += r.Findings.LostAt[i+1]
			n.doubled += r.Findings.DoubledAt[i+1]
		}
		if n.left = h.Err; h.Err == nil {
			n.times++
			n.took = append(n.took, h.Recover)
		}
	}
	b.WriteString("| Fault | Injected | Events acknowledged meanwhile | Lost | Doubled | Time to recover: median | longest |\n|---|--:|--:|--:|--:|--:|--:|\n")
	for _, f := range allFaults() {
		n := lines[f.name]
		switch {
		case n == nil:
		case n.times == 0 && n.left != nil:
			fmt.Fprintf(&b, "| %s | 0 (%v) | | | | | |\n", f.name, n.left)
		default:
			slices.Sort(n.took)
			lost, doubled := fmt.Sprint(n.lost), fmt.Sprint(n.doubled)
			if r.Findings == nil {
				lost, doubled = "not checked", "not checked"
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %s | %s |\n", f.name, n.times, thousands(n.acked), lost, doubled,
				seconds(n.took[len(n.took)/2]), seconds(n.took[len(n.took)-1]))
		}
	}
	b.WriteString("\n")
	fmt.Fprintf(&b, "Seed %d, %v in all. Faults from which the system took longer than %v to recover: %d of %d.\n",
		r.Seed, r.Duration.Round(time.Second), soon, slow, len(r.Steps))
	if f := r.Findings; f != nil {
		fmt.Fprintf(&b, "\n- events and link views acknowledged: %s; **lost: %d; doubled: %d**\n",
			thousands(f.Acked), f.Lost, f.Doubled)
		fmt.Fprintf(&b, "- events and link views that their sender gave up: %s, of which %s are stored, each once\n",
			thousands(f.Maybe), thousands(f.MaybeStored))
		fmt.Fprintf(&b, "- events and link views that Kafka was made to lose or to delete before they were stored, and that are not stored: %s\n", thousands(f.Gone))
		fmt.Fprintf(&b, "- rows in ClickHouse: %s events and %s link views; rows that no one sent: %d; rows that share a place in the log: %d\n", thousands(f.Rows), thousands(f.ViewRows), f.Strange, f.Places)
		r.writeServed(&b)
		fmt.Fprintf(&b, "- views counted in Postgres: %s, on %d access links, and %s, of the pages of %d generic links; counters that differ from ClickHouse: %d\n",
			thousands(f.Views), linksInAll, thousands(f.Landings), landingsInAll, f.Counters)
		fmt.Fprintf(&b, "- records that cannot become rows: %d written, %d dead letters, %d differences\n",
			f.Poison, f.DeadLetters, f.DeadWrong)
	}
	if r.Findings != nil {
		verdict := "no difference"
		if r.Findings.Verify != nil {
			verdict = "**differences**, see below"
		}
		fmt.Fprintf(&b, "- `lodestone verify` afterwards: %s\n", verdict)
	}
	fmt.Fprintf(&b, "- requests that were not acknowledged at first, and sent again: %s; requests of clients whose clock was an hour off: %s\n", thousands(r.Refused), thousands(r.Skewed))
	fmt.Fprintf(&b, "- processes of Lodestone that ended by themselves and were started again: %d\n", r.Surplus)
	fmt.Fprintf(&b, "- most records that were seen to wait in the collectors' spools: %s\n", thousands(r.Spooled))
	for _, text := range r.Figures {
		b.WriteString("- " + text + "\n")
	}
	b.WriteString("- most memory of one process:")
	for i, kind := range slices.Sorted(maps.Keys(r.Memory)) {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, " %s %d MiB", kind, r.Memory[kind]>>20)
	}
	b.WriteString("\n")
	for _, kind := range r.fat() {
		fmt.Fprintf(&b, "- **too much memory**: %s\n", kind)
	}
	for _, text := range r.Broken {
		b.WriteString("- **broken**: " + text + "\n")
	}
	if r.Findings != nil {
		for _, e := range r.Findings.Examples {
			b.WriteString("- " + e + "\n")
		}
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// writeServed prints what the processes that serve the API were asked for, if there were such.
func (r *report) writeServed(b *strings.Builder) {
	f := r.Findings
	if r.Cluster {
		fmt.Fprintf(b, "- rows of events on each shard: %s\n", eachThousands(f.ShardRows))
	}
	if r.Copies {
		r.Asked.write(b)
		for _, line := range f.Compared {
			fmt.Fprintf(b, "- `lodestone verify` afterwards: %s\n", line)
		}
	}
	if r.Cluster || r.Soak || r.Copies {
		fmt.Fprintf(b, "- reports compared with the rows: %d; different: %d\n", f.Asked, f.Differ)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

func eachThousands(numbers []int64) string {
	texts := make([]string, len(numbers))
	for i, n := range numbers {
		texts[i] = thousands(n)
	}
	return strings.Join(texts, ", ")
}

// thousands writes a number with spaces between its groups.
func thousands(n int64) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}
