package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"lodestone/pkg/config"
)

// reportCommand prints what was measured before.
type reportCommand struct {
	Files    []string `arg:"" name:"file" help:"Files that --json wrote. A case that is in several is taken from the last."`
	Markdown bool     `name:"markdown" help:"Print the tables in Markdown, as docs/bench/report.md has them."`
	Into     string   `name:"into" placeholder:"FILE" help:"Put the tables into this document, between the lines <!-- bench --> and <!-- /bench -->, instead of printing them."`
	Plots    string   `name:"plots" placeholder:"DIR" help:"Write the plots into this directory, as bench-NAME.svg."`
}

// Run prints, or writes.
func (c *reportCommand) Run() error {
	report := &Report{}
	for _, file := range c.Files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		var one Report
		if err := json.Unmarshal(text, &one); err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		report.merge(&one)
	}
	errs := []error{c.writePlots(report)}
	switch {
	case c.Into != "":
		errs = append(errs, report.writeInto(c.Into))
	case c.Markdown:
		errs = append(errs, report.writeMarkdown(os.Stdout))
	default:
		errs = append(errs, report.write(os.Stdout))
	}
	return errors.Join(errs...)
}

// writePlots writes each plot, and gives the report an image of it if there is a document to show it.
func (c *reportCommand) writePlots(r *Report) error {
	if c.Plots == "" {
		return nil
	}
	for _, plot := range plots(r.Results) {
		path := filepath.Join(c.Plots, "bench-"+plot+".svg")
		var b bytes.Buffer
		if err := writePlot(&b, r.Results, plot); err != nil {
			return err
		}
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil { //nolint:gosec // figures, for everybody
			return err
		}
		if c.Into == "" {
			continue
		}
		relative, err := filepath.Rel(filepath.Dir(c.Into), path)
		if err != nil {
			return err
		}
		r.images = append(r.images, fmt.Sprintf("![%s](%s)", axes[plot].title, filepath.ToSlash(relative)))
	}
	return nil
}

// merge takes over what a later report has.
func (r *Report) merge(later *Report) {
	results, others := r.Results, r.others
	if r.Command != "" {
		before := *r
		others = append(others, &before)
	}
	for _, result := range later.Results {
		if before := r.Result(result.Name); before != nil {
			*before = *result
			continue
		}
		results = append(results, result)
	}
	*r = *later
	r.Results, r.others = results, others
}

// The lines of a document that the tables stand between.
const (
	intoBegin = "<!-- bench -->\n"
	intoEnd   = "<!-- /bench -->\n"
)

func (r *Report) writeInto(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	head, rest, begins := bytes.Cut(text, []byte(intoBegin))
	_, tail, ends := bytes.Cut(rest, []byte(intoEnd))
	if !begins || !ends {
		return config.Invalid("--into", "is "+path+", which lacks the two lines", "write <!-- bench --> and <!-- /bench --> on lines of their own")
	}
	b := bytes.NewBuffer(bytes.Clone(head))
	b.WriteString(intoBegin)
	if err := r.writeMarkdown(b); err != nil {
		return err
	}
	b.WriteString(intoEnd)
	b.Write(tail)
	return os.WriteFile(path, b.Bytes(), 0o644) //nolint:gosec // a document, for everybody
}
