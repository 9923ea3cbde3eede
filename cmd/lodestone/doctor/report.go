// Package doctor examines what an installation stands on and what its processes cannot tell by
// themselves: whether engines answer, clocks, disks and certificates. It changes nothing.
package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Status is how a finding is judged.
type Status string

// The statuses, from the best to the worst.
const (
	OK   Status = "ok"
	Warn Status = "warn" // it works, and may not for long
	Fail Status = "fail" // something does not work
)

// Finding is one line of a report.
type Finding struct {
	Status Status `json:"status"`
	Area   string `json:"area"`  // "postgres", "clock"
	Found  string `json:"found"` // a sentence without its full stop
	Remedy string `json:"remedy,omitempty"`
}

// Report lists the findings.
type Report struct {
	Findings []Finding `json:"findings"`
}

func (r *Report) add(s Status, area, remedy, found string, args ...any) {
	r.Findings = append(r.Findings, Finding{s, area, fmt.Sprintf(found, args...), remedy})
}

func (r *Report) ok(area, found string, args ...any) { r.add(OK, area, "", found, args...) }

// Count returns how many findings have a status.
func (r *Report) Count(s Status) (n int) {
	for _, f := range r.Findings {
		if f.Status == s {
			n++
		}
	}
	return n
}

// Print writes a line for each finding, with what to do below it.
func (r *Report) Print(to io.Writer) error {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	for _, f := range r.Findings {
		fmt.Fprintf(w, "%s\t%s\t%s\n", f.Status, f.Area, strings.Join(strings.Fields(f.Found), " "))
		if f.Remedy != "" {
			fmt.Fprintf(w, "\t\t-> %s\n", f.Remedy)
		}
	}
	fmt.Fprintf(w, "\n%d ok, %d warn, %d fail\n", r.Count(OK), r.Count(Warn), r.Count(Fail))
	return w.Flush()
}

// PrintJSON writes the report as a document.
func (r *Report) PrintJSON(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
