package manual

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/muesli/roff"
)

// section is that of the manual for programs.
const section = 1

// Pages writes a manual page for the program and one for each command into a directory, dated by
// the day of the build's commit.
func Pages(dir string, app *kong.Application, version string, day time.Time) error {
	all := commands(app)
	var errs []error
	for _, c := range all {
		name := strings.Join(append([]string{app.Name}, c.path...), "-")
		page := c.page(app, all, name, version, day)
		errs = append(errs, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s.%d", name, section)), []byte(page), 0o644)) //nolint:gosec // everyone reads a manual
	}
	return errors.Join(errs...)
}

func (c command) page(app *kong.Application, all []command, name, version string, day time.Time) string {
	d := roff.NewDocument()
	help := c.help
	if len(c.path) == 0 {
		help = app.Help
	}
	summary, _, _ := strings.Cut(help, ". ")
	d.Heading(section, strings.ToUpper(name), app.Name+" "+version, day)
	d.Section("Name")
	d.Text(literal(name + " - " + strings.TrimSuffix(summary, ".")))
	d.Section("Synopsis")
	d.TextBold(strings.Join(append([]string{app.Name}, c.path...), " "))
	d.Text(literal(c.arguments()))
	d.Section("Description")
	d.Text(literal(help))
	if len(c.next) > 0 {
		d.Section("Commands")
		for _, other := range all {
			if len(other.path) == len(c.path)+1 && strings.HasPrefix(other.slashed()+"/", strings.TrimSuffix(c.slashed(), "/")+"/") {
				d.TaggedParagraph(-1)
				d.TextBold(name + "-" + other.path[len(other.path)-1] + fmt.Sprintf("(%d)", section))
				d.EndSection()
				d.Text(literal(other.help))
			}
		}
	}
	if len(c.flags) > 0 {
		d.Section("Options")
		for _, f := range c.flags {
			option(d, f)
		}
	}
	if len(c.path) == 0 {
		d.Section("Environment")
		d.Text(literal("Each option has an environment variable, shown beside it. A variable with _FILE appended names a file that holds the value."))
		d.Section("Exit status")
		d.Text(literal("0 if everything was done, 1 if it failed, 2 if the settings are wrong so that starting again will not help, 3 if a comparison is not complete."))
	}
	return d.String() + "\n"
}

func (c command) arguments() string {
	parts := []string{" [options]"}
	for _, p := range c.node.Positional {
		parts = append(parts, p.Summary())
	}
	if len(c.next) > 0 {
		parts = append(parts, "command")
	}
	return strings.Join(parts, " ")
}

func option(d *roff.Document, f *kong.Flag) {
	d.TaggedParagraph(-1)
	d.TextBold("--" + f.Name)
	if !f.IsBool() {
		d.Text(" ")
		d.TextItalic(literal(f.FormatPlaceHolder()))
	}
	d.EndSection() // of the line
	text := f.Help
	if f.HasDefault && f.Default != "" && !f.IsBool() {
		text += " Default: " + f.Default + "."
	}
	if len(f.Envs) > 0 {
		text += " Variable: " + strings.Join(f.Envs, ", ") + "."
	}
	d.Text(literal(text))
}

// literal keeps the library from taking a text for a format.
func literal(text string) string { return strings.ReplaceAll(text, "%", "%%") }
