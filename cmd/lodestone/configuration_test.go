package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/config"
)

var update = flag.Bool("update", false, "write docs/configuration.md anew")

const (
	configurationDocument = "../../docs/configuration.md"
	configurationIntro    = `# Configuration

<!-- Written by a program: ` + "`make generate`" + ` writes it again. -->

A setting reaches a process by the first of these that is given:

1. its flag, such as ` + "`--postgres-url`" + `;
2. the environment variable of the same words, such as ` + "`LODESTONE_POSTGRES_URL`" + `;
3. for secrets, the file that the variable with ` + "`_FILE`" + ` appended names, such as
   ` + "`LODESTONE_POSTGRES_URL_FILE=/run/secrets/postgres-url`" + ` (giving both is refused);
4. its default.

A wrong setting ends the process at its start, with exit code 2 and every problem in one go. Durations are
written as ` + "`500ms`, `20s`, `5m`" + `. Settings of which it says *Secret* appear in no log and no error.
`
)

// documented is a flag with one meaning, and the commands that have it.
type documented struct {
	flag     *kong.Flag
	commands []string
}

func TestConfigurationDocument(t *testing.T) {
	t.Parallel()
	want := configuration(t)
	if *update {
		require.NoError(t, os.WriteFile(configurationDocument, want, 0o644))
		return
	}
	got, err := os.ReadFile(configurationDocument)
	require.NoError(t, err)
	is, should := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
	for i := range min(len(is), len(should)) { // the whole would fill screens
		require.Equal(t, should[i], is[i], "docs/configuration.md is not what the flags say: make generate")
	}
	require.Len(t, is, len(should), "docs/configuration.md is not what the flags say: make generate")
}

func configuration(t *testing.T) []byte {
	t.Helper()
	parser, err := newParser(&commands{}, &config.Files{Getenv: func(string) string { return "" }})
	require.NoError(t, err)
	var all []*documented
	for _, command := range parser.Model.Leaves(true) {
		for _, group := range command.AllFlags(true) {
			for _, f := range group {
				if f.Name == "help" {
					continue
				}
				i := slices.IndexFunc(all, func(s *documented) bool {
					return s.flag.Name == f.Name && s.flag.Help == f.Help && s.flag.Default == f.Default
				})
				if i < 0 {
					i = len(all)
					all = append(all, &documented{flag: f})
				}
				if name := command.Path(); !slices.Contains(all[i].commands, name) {
					all[i].commands = append(all[i].commands, name)
				}
			}
		}
	}

	var doc bytes.Buffer
	doc.WriteString(configurationIntro)
	written := 0
	section := func(title string, of func(s *documented) bool) {
		var rows []*documented
		for _, s := range all {
			if of(s) {
				rows = append(rows, s)
			}
		}
		if len(rows) == 0 {
			return
		}
		fmt.Fprintf(&doc, "\n## %s\n\n| Setting | Default | Used by | Meaning |\n|---|---|---|---|\n", title)
		for _, s := range rows {
			written++
			s.write(&doc)
		}
	}
	for i, group := range sections {
		section(group.title, func(s *documented) bool { return s.section() == i })
	}
	section("`lodestone up`", func(s *documented) bool { return s.section() < 0 && slices.Equal(s.commands, []string{"up"}) })
	section("Other commands", func(s *documented) bool {
		return s.section() < 0 && !slices.Equal(s.commands, []string{"up"})
	})
	require.Equal(t, len(all), written)
	return doc.Bytes()
}

// section returns the index of the section that the setting belongs to, or -1. Settings that only
// `up` has are listed with it.
func (s *documented) section() int {
	if slices.Equal(s.commands, []string{"up"}) {
		return -1
	}
	return sectionOf(s.flag.Name)
}

func (s *documented) write(doc *bytes.Buffer) {
	name := "--" + s.flag.Name
	value := "–"
	if s.flag.HasDefault && s.flag.Default != "" {
		value = "`" + s.flag.Default + "`"
	}
	if s.flag.Required {
		value = "required"
	}
	meaning := strings.ReplaceAll(s.flag.Help, "|", "\\|")
	fmt.Fprintf(doc, "| `%s`<br>`%s` | %s | %s | %s |\n", name, config.EnvName(name), value, strings.Join(s.commands, ", "), meaning)
}
