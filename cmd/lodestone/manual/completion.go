// Package manual writes the manual pages and the completion of shells from the commands and flags
// that the program has.
package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells are those that Completion knows.
const Shells = "bash,zsh,fish"

// Completion writes the completion of commands and flags for a shell. It is a list, so that
// completing starts no program.
func Completion(to io.Writer, app *kong.Application, shell string) error {
	write := map[string]func(io.Writer, *kong.Application) error{"bash": bash, "zsh": zsh, "fish": fish}[shell]
	if write == nil {
		return fmt.Errorf("there is no completion for %q, only for %s", shell, Shells)
	}
	return write(to, app)
}

// command is a command, or a command of a command, as it is typed.
type command struct {
	path  []string
	help  string
	flags []*kong.Flag
	next  []string // the commands that may follow
	node  *kong.Node
}

// commands returns all that are not hidden, the program itself first.
func commands(app *kong.Application) []command {
	var all []command
	var walk func(node *kong.Node, path []string)
	walk = func(node *kong.Node, path []string) {
		c := command{path: path, help: node.Help, flags: visible(node), node: node}
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

func visible(node *kong.Node) (flags []*kong.Flag) {
	for _, group := range node.AllFlags(true) {
		flags = append(flags, group...)
	}
	return flags
}

// words are what may be typed after a command.
func (c command) words() string {
	words := append([]string{}, c.next...)
	for _, f := range c.flags {
		words = append(words, "--"+f.Name)
	}
	return strings.Join(words, " ")
}

func (c command) slashed() string { return "/" + strings.Join(c.path, "/") }

// follow is the part of a shell's script that finds out which command the words before the cursor
// are, and then does something for each.
func follow(to io.Writer, all []command, indent, each string) error {
	var paths []string
	for _, c := range all[1:] {
		paths = append(paths, c.slashed())
	}
	_, err := fmt.Fprintf(to, "%[1]s    case \"$at/$word\" in\n%[1]s        %[2]s) at=\"$at/$word\" ;;\n%[1]s    esac\n%[1]sdone\n%[1]scase \"$at\" in\n", indent, strings.Join(paths, "|"))
	for _, c := range all {
		if err == nil {
			_, err = fmt.Fprintf(to, "%s    %q) "+each+" ;;\n", indent, strings.TrimSuffix(c.slashed(), "/"), c.words())
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(to, "%sesac\n", indent)
	}
	return err
}

func bash(to io.Writer, app *kong.Application) error {
	if _, err := fmt.Fprintf(to, "# Completion of %[1]s for bash.\n_%[1]s() {\n    local at= word words=\n    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n", app.Name); err != nil {
		return err
	}
	if err := follow(to, commands(app), "    ", "words=%q"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\")\n}\ncomplete -o default -F _%[1]s %[1]s\n", app.Name)
	return err
}

func zsh(to io.Writer, app *kong.Application) error {
	if _, err := fmt.Fprintf(to, "#compdef %[1]s\n# Completion of %[1]s for zsh.\n_%[1]s() {\n    local at= word\n    for word in \"${(@)words[2,CURRENT-1]}\"; do\n", app.Name); err != nil {
		return err
	}
	if err := follow(to, commands(app), "    ", "compadd -- ${=:-%q}"); err != nil {
		return err
	}
	_, err := fmt.Fprintf(to, "    _files\n}\nif [ \"$funcstack[1]\" = \"_%[1]s\" ]; then _%[1]s \"$@\"; else compdef _%[1]s %[1]s; fi\n", app.Name)
	return err
}

func fish(to io.Writer, app *kong.Application) error {
	_, err := fmt.Fprintf(to, "# Completion of %s for fish.\n", app.Name)
	for _, c := range commands(app) {
		condition := "__fish_use_subcommand"
		if len(c.path) > 0 {
			seen := make([]string, len(c.path))
			for i, name := range c.path {
				seen[i] = "__fish_seen_subcommand_from " + name
			}
			condition = strings.Join(seen, "; and ")
		}
		for _, name := range c.next {
			if err == nil {
				further := condition
				if len(c.path) > 0 {
					further += "; and not __fish_seen_subcommand_from " + strings.Join(c.next, " ")
				}
				_, err = fmt.Fprintf(to, "complete -c %s -n '%s' -f -a %s -d %s\n", app.Name, further, name, quoted(child(c.node, name).Help))
			}
		}
		if len(c.path) == 0 || len(c.next) > 0 {
			continue
		}
		for _, f := range c.flags {
			if err == nil {
				value := " -r"
				if f.IsBool() {
					value = ""
				}
				_, err = fmt.Fprintf(to, "complete -c %s -n '%s' -l %s%s -d %s\n", app.Name, condition, f.Name, value, quoted(f.Help))
			}
		}
	}
	return err
}

func child(node *kong.Node, name string) *kong.Node {
	for _, c := range node.Children {
		if c.Name == name {
			return c
		}
	}
	return node
}

// quoted is the first sentence of a help, as a shell takes it literally.
func quoted(help string) string {
	sentence, _, _ := strings.Cut(help, ". ")
	return "'" + strings.ReplaceAll(strings.ReplaceAll(strings.TrimSuffix(sentence, "."), `\`, `\\`), "'", `\'`) + "'"
}
