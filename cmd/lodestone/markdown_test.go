package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// commandPage is a command, or a command of a command, as it is typed.
type commandPage struct {
	path  []string
	help  string
	flags []*kong.Flag
	next  []string // the commands that may follow
	node  *kong.Node
}

// commandPages returns all that are not hidden, the program itself first.
func commandPages(app *kong.Application) []commandPage {
	var all []commandPage
	var walk func(node *kong.Node, path []string)
	walk = func(node *kong.Node, path []string) {
		c := commandPage{path: path, help: node.Help, flags: slices.Concat(node.AllFlags(true)...), node: node}
		at := len(all)
		all = append(all, c)
		for _, child := range node.Children {
			if child.Type == kong.CommandNode && !child.Hidden {
				all[at].next = append(all[at].next, child.Name)
				walk(child, append(append([]string{}, path...), child.Name))
			}
		}
	}
	walk(app.Node, nil)
	return all
}

// settingsOf says what a page of all commands leaves to the page of settings: the section that a
// flag is in, or "".
type settingsOf func(flag *kong.Flag) (section string)

// markdown returns the commands as one page: a table, then each with its arguments and its own
// flags. Flags that a section of the settings has are named by that section.
func markdown(app *kong.Application, settings settingsOf) string {
	all := commandPages(app)[1:]
	var doc strings.Builder
	var group string
	for _, c := range all {
		if len(c.next) > 0 {
			continue
		}
		if g := c.group(); g != group {
			group = g
			fmt.Fprintf(&doc, "\n## %s\n\n| Command | What it does |\n|---|---|\n", strings.TrimSuffix(g, ":"))
			for _, other := range all {
				if other.group() == g && len(other.next) == 0 {
					summary, _, _ := strings.Cut(other.help, ". ")
					fmt.Fprintf(&doc, "| [%s](#%s) | %s. |\n", other.name(app), strings.ReplaceAll(other.name(app), " ", "-"),
						cell(strings.TrimSuffix(summary, ".")))
				}
			}
		}
		c.write(&doc, app, settings)
	}
	return doc.String()
}

// group is the title under which the help lists the command, or the command that it belongs to.
func (c commandPage) group() string {
	for node := c.node; node != nil; node = node.Parent {
		if node.Group != nil {
			return node.Group.Title
		}
	}
	return ""
}

func (c commandPage) name(app *kong.Application) string {
	return app.Name + " " + strings.Join(c.path, " ")
}

func (c commandPage) write(doc *strings.Builder, app *kong.Application, settings settingsOf) {
	fmt.Fprintf(doc, "\n### %s\n\n%s\n\n```text\n%s%s\n```\n", c.name(app), prose(c.help), c.name(app),
		strings.TrimRight(c.arguments(), " "))
	var rows []string
	for _, p := range c.node.Positional {
		rows = append(rows, fmt.Sprintf("| `%s` | – | %s |\n", p.Summary(), cell(p.Help)))
	}
	var sections []string
	for _, f := range c.flags {
		section := settings(f)
		switch {
		case f.Name == "help":
		case section == "":
			rows = append(rows, flagRow(f))
		case !slices.Contains(sections, section):
			sections = append(sections, section)
		}
	}
	if len(rows) > 0 {
		fmt.Fprintf(doc, "\n| Argument | Default | Meaning |\n|---|---|---|\n%s", strings.Join(rows, ""))
	}
	if len(sections) > 0 {
		for i, s := range sections {
			sections[i] = fmt.Sprintf("[%s](configuration.md#%s)", s, strings.ReplaceAll(strings.ToLower(s), " ", "-"))
		}
		fmt.Fprintf(doc, "\nSettings: %s.\n", strings.Join(sections, ", "))
	}
}

func flagRow(f *kong.Flag) string {
	name, value := "--"+f.Name, "–"
	if !f.IsBool() {
		name += "=" + strings.ReplaceAll(strings.Trim(f.FormatPlaceHolder(), `"`), "|", `\|`)
		if f.HasDefault && f.Default != "" {
			name, value = "--"+f.Name, "`"+f.Default+"`"
		}
	}
	if f.Required {
		value = "required"
	}
	text := f.Help
	if len(f.Envs) == 0 {
		text += " Has no environment variable."
	}
	return fmt.Sprintf("| `%s` | %s | %s |\n", name, value, cell(text))
}

// cell is a text in a table; prose one that stands by itself. Both take angle brackets literally.
func cell(text string) string  { return strings.ReplaceAll(prose(text), "|", `\|`) }
func prose(text string) string { return strings.ReplaceAll(text, "<", `\<`) }

func (c commandPage) arguments() string {
	parts := []string{" [options]"}
	for _, p := range c.node.Positional {
		parts = append(parts, p.Summary())
	}
	if len(c.next) > 0 {
		parts = append(parts, "command")
	}
	return strings.Join(parts, " ")
}
