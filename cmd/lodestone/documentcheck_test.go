package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"mvdan.cc/sh/v3/syntax"

	"lodestone/pkg/config"
)

// block is a block of code of a page.
type block struct {
	page     string
	line     int
	language string
	text     string
	calls    []call // of a shell
	failed   error  // the shell's syntax
}

// call is a simple command: its words, and the variables that it sets.
type call struct {
	words, sets []string
}

func blocksOf(page, text string) (blocks []block) {
	var open *block
	for i, line := range strings.Split(text, "\n") {
		fence := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(fence, "```"):
			open = &block{page: page, line: i + 1, language: strings.TrimPrefix(fence, "```")}
		case open != nil && strings.HasPrefix(fence, "```"):
			if open.language == "sh" {
				open.calls, open.failed = callsOf(open.text)
			}
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	return blocks
}

// callsOf returns the simple commands of a script, also those in functions and substitutions.
func callsOf(script string) (calls []call, err error) {
	file, err := syntax.NewParser().Parse(strings.NewReader(script), "")
	if err != nil {
		return nil, err
	}
	syntax.Walk(file, func(node syntax.Node) bool {
		if c, ok := node.(*syntax.CallExpr); ok {
			var one call
			for _, a := range c.Assigns {
				one.sets = append(one.sets, a.Name.Value)
			}
			for _, w := range c.Args {
				one.words = append(one.words, wordOf(w.Parts))
			}
			calls = append(calls, one)
		}
		if d, ok := node.(*syntax.DeclClause); ok { // export
			var one call
			for _, a := range d.Args {
				if a.Name != nil {
					one.sets = append(one.sets, a.Name.Value)
				}
			}
			calls = append(calls, one)
		}
		return true
	})
	return calls, nil
}

// wordOf is a word as the program gets it, with $NAME for a variable, and $() for what a command
// prints.
func wordOf(parts []syntax.WordPart) string {
	var text strings.Builder
	for _, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			text.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			text.WriteString(wordOf(p.Parts))
		case *syntax.ParamExp:
			text.WriteString("$" + p.Param.Value)
		default:
			text.WriteString("$()")
		}
	}
	return text.String()
}

// programs are the names of the programs that a block runs.
func (b block) programs() (names []string) {
	for _, c := range b.calls {
		if len(c.words) > 0 && (c.words[0] != "node" || !strings.HasPrefix(c.words[1], "-")) { // a line of JavaScript
			names = append(names, path.Base(c.words[0]))
		}
	}
	return names
}

// checker checks what commands name.
type checker struct {
	t         *testing.T
	root      string
	settings  map[string]bool // variables
	functions map[string]bool // of shells, in any block
	services  map[string]bool // of docker-compose.yml
	targets   map[string]bool // of the Makefile
	compose   string
	requests  []request
}

// request is a request to the API that a command sends.
type request struct {
	at, method, path string
}

func newChecker(t *testing.T, root string, blocks []block) *checker {
	t.Helper()
	c := &checker{t: t, root: root, settings: map[string]bool{}, functions: map[string]bool{},
		services: map[string]bool{}, targets: map[string]bool{}}
	parser, err := newParser(&commands{}, &config.Files{Getenv: func(string) string { return "" }})
	require.NoError(t, err)
	for _, name := range others {
		c.settings[name] = true
	}
	for _, command := range parser.Model.Leaves(false) {
		for _, group := range command.AllFlags(false) {
			for _, f := range group {
				c.settings[config.EnvName(f.Name)], c.settings[config.EnvName(f.Name)+"_FILE"] = true, true
			}
		}
	}
	c.settings["LODESTONE_RELEASE_PASSWORD"] = true // of cmd/lodestone-release
	for _, b := range blocks {
		for _, m := range regexp.MustCompile(`(?m)^(\w+)\(\)`).FindAllStringSubmatch(b.text, -1) {
			c.functions[m[1]] = true
		}
	}
	for _, m := range regexp.MustCompile(`(?m)^([a-z][\w-]*):`).FindAllStringSubmatch(c.read("Makefile"), -1) {
		c.targets[m[1]] = true
	}
	c.compose = c.read("docker-compose.yml")
	var file struct{ Services map[string]any }
	require.NoError(t, yaml.Unmarshal([]byte(c.compose), &file))
	for name := range file.Services {
		c.services[name] = true
	}
	return c
}

// holdsf fails the test, which goes on, so that it reports everything that is wrong.
func (c *checker) holdsf(ok bool, format string, args ...any) {
	c.t.Helper()
	if !ok {
		c.t.Errorf(format, args...)
	}
}

func (c *checker) read(name string) string {
	text, err := os.ReadFile(filepath.Join(c.root, name))
	require.NoError(c.t, err)
	return string(text)
}

// block checks one block of code.
func (c *checker) block(b block) {
	at := b.page + ":" + strconv.Itoa(b.line)
	if pagesElsewhere[b.page] != "" {
		return
	}
	switch b.language {
	case "json":
		c.holdsf(json.Valid([]byte(b.text)), "%s is not JSON", at)
	case "yaml":
		c.yaml(at, b.text)
	case "sh":
		c.holdsf(b.failed == nil, "%s is no shell: %v", at, b.failed)
		for _, one := range b.calls {
			c.sets(at, one.sets)
			if len(one.words) > 0 {
				c.call(at, one.words)
			}
		}
	}
}

// sets checks the names of variables of ours.
func (c *checker) sets(at string, names []string) {
	for _, name := range names {
		if strings.HasPrefix(name, "LODESTONE_") {
			c.holdsf(c.settings[name], "%s sets %s, which is no setting", at, name)
		}
		if strings.HasPrefix(name, "STACK_") {
			c.holdsf(strings.Contains(c.compose, "${"+name), "%s sets %s, which docker-compose.yml does not use", at, name)
		}
	}
}

// known lists programs whose arguments are not checked.
var known = []string{
	"source", "set", "echo", "until", "sleep", "grep", "printf", "cut", "openssl", "minisign", "skopeo", "tar",
	"git", "sha256sum", "cd", "kind",
	"kafka-configs.sh", "kafka-consumer-groups.sh", "kafka-topics.sh", "rpk", "npm", "pip", "psql",
	"install", "systemd-sysusers",
}

// call checks a command by its program.
func (c *checker) call(at string, words []string) {
	name := path.Base(words[0])
	switch name {
	case "lodestone":
		c.lodestone(at, words[1:])
	case "curl", "api":
		c.curl(at, words[1:])
	case "sudo":
		rest := words[1:]
		if rest[0] == "-u" {
			rest = rest[2:]
		}
		c.call(at, rest)
	case "cp":
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "deploy/") {
				c.exists(at, w)
			}
		}
	case "jq":
		for _, w := range words[1:] {
			c.arguments(at, w)
		}
	case "make":
		for _, w := range words[1:] {
			c.holdsf(strings.Contains(w, "=") || c.targets[w], "%s: make has no target %s", at, w)
		}
	case "docker":
		c.docker(at, words[1:])
	case "helm":
		c.helm(at, words[1:])
	case "kubectl":
		c.kubectl(at, words[1:])
	case "systemctl":
		for _, w := range words[2:] {
			if !strings.HasPrefix(w, "-") {
				c.exists(at, "deploy/systemd/"+w+".service")
			}
		}
	case "go":
		for _, w := range words[1:] {
			if strings.HasPrefix(w, "./") {
				c.exists(at, strings.TrimSuffix(w, "/..."))
			}
		}
	case "node":
		if !strings.HasPrefix(words[1], "-") {
			c.exists(at, words[1])
		}
	case "lodestone-release", "lodestone-lab":
		c.exists(at, "cmd/"+name)
	default:
		c.holdsf(c.functions[name] || slices.Contains(known, name),
			"%s runs %s: add it to `known` if there is nothing to check, and to `elsewhere` of document_test.go if it cannot run in a test", at, name)
	}
}

func (c *checker) exists(at, name string) {
	_, err := os.Stat(filepath.Join(c.root, name))
	c.holdsf(err == nil, "%s names a file that is not there", at)
}

// placeholder is a word that a reader replaces, such as ACCOUNT_ID or NUMBER...
var placeholder = regexp.MustCompile(`^(\$\w*|\$\(\)|[A-Z][A-Z_]*(\.\.\.)?|[0-9a-f]{8}-…)$`)

// lodestone checks a command line of the program: its commands and flags exist, and take such
// values.
func (c *checker) lodestone(at string, words []string) {
	var err error
	for _, stand := range []string{"0191d3c5-8a4e-7c1f-9b1d-3f2f6f0a7e55", "1"} {
		args := slices.Clone(words)
		for i, w := range args {
			if placeholder.MatchString(w) {
				args[i] = stand
			}
		}
		parser, made := newParser(&commands{}, &config.Files{Getenv: func(string) string { return "" }})
		require.NoError(c.t, made)
		parser.Stdout, parser.Stderr = io.Discard, io.Discard
		_, err = parser.Parse(shorthand(args))
		var parse *kong.ParseError
		if err == nil || config.IsInvalid(err) || !errors.As(err, &parse) ||
			strings.HasPrefix(err.Error(), "missing flags: ") {
			return // what is missing comes from the environment
		}
	}
	c.holdsf(err == nil, "%s: lodestone %s: %v", at, strings.Join(words, " "), err)
}

// docker checks the services of docker-compose.yml and the files that a command names.
func (c *checker) docker(at string, words []string) {
	if words[0] == "build" {
		for i, w := range words {
			if w == "--file" {
				c.exists(at, words[i+1])
			}
		}
		return
	}
	if words[0] != "compose" {
		return
	}
	takesValue := []string{"--user", "--volume", "--entrypoint", "--env", "--format"}
	for i := 2; i < len(words); i++ {
		w := words[i]
		if slices.Contains(takesValue, w) {
			i++
			continue
		}
		if strings.HasPrefix(w, "-") {
			continue
		}
		c.holdsf(c.services[w], "%s: docker-compose.yml has no service %s", at, w)
		rest := words[i+1:]
		switch {
		case words[1] == "run":
			if len(rest) > 0 { // else the service has its own
				c.lodestone(at, rest)
			}
			return
		case words[1] == "exec" && rest[0] == "/lodestone":
			c.lodestone(at, rest[1:])
			return
		case words[1] == "exec": // a program of the image
			return
		}
	}
}

// arguments checks the command of ours that a filter of jq gives to a container.
func (c *checker) arguments(at, filter string) {
	for _, m := range regexp.MustCompile(`\.args = (\[[^\]]*\])`).FindAllStringSubmatch(filter, -1) {
		var words []string
		if err := json.Unmarshal([]byte(m[1]), &words); err != nil {
			c.t.Errorf("%s: %s is no list of arguments: %v", at, m[1], err)
			continue
		}
		c.lodestone(at, words)
	}
}

// helm checks the chart, the files of values, and the names of the values that a command sets.
func (c *checker) helm(at string, words []string) {
	var values map[string]any
	require.NoError(c.t, yaml.Unmarshal([]byte(c.read("deploy/helm/values.yaml")), &values))
	for i, w := range words {
		switch {
		case strings.HasPrefix(w, "deploy/"):
			c.exists(at, w)
		case w == "--set":
			name, _, _ := strings.Cut(words[i+1], "=")
			at2, found := any(values), true
			for part := range strings.SplitSeq(name, ".") {
				m, ok := at2.(map[string]any)
				if at2, found = m[part]; !ok || !found {
					break
				}
			}
			c.holdsf(found, "%s: deploy/helm/values.yaml has no %s", at, name)
		}
	}
}

// kubectl checks the files that a command applies, and a command of ours that it runs in a pod.
func (c *checker) kubectl(at string, words []string) {
	for i, w := range words {
		switch {
		case w == "-f" && words[i+1] != "-": // not from another command
			c.yaml(at, c.read(words[i+1]))
		case w == "--" && words[i+1] == "/lodestone":
			c.lodestone(at, words[i+2:])
			return
		}
	}
}

func (c *checker) yaml(at, text string) {
	decoder := yaml.NewDecoder(strings.NewReader(text))
	for {
		var document any
		err := decoder.Decode(&document)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(c.t, err, "%s is not YAML", at) // the decoder goes no further
	}
}

// curl notes the requests to the API that a command sends.
func (c *checker) curl(at string, words []string) {
	method := "get"
	for i, w := range words {
		switch {
		case w == "-X":
			method = strings.ToLower(words[i+1])
		case (w == "-d" || w == "--json" || w == "--data-binary") && method == "get":
			method = "post"
		}
		for _, origin := range []string{"$LODESTONE_URL", "http://127.0.0.1:8080"} {
			if to, ours := strings.CutPrefix(w, origin); ours && strings.HasPrefix(to, "/api/") {
				to, _, _ = strings.Cut(to, "?")
				c.requests = append(c.requests, request{at, method, to})
			}
		}
	}
}

// paths checks the requests against the description of the API.
func (c *checker) paths(spec string) {
	var d struct {
		Paths map[string]map[string]any
	}
	require.NoError(c.t, json.Unmarshal([]byte(spec), &d))
	require.NotEmpty(c.t, c.requests)
	for _, r := range c.requests {
		found := r.path == "/api/v1/openapi.json"
		for described, methods := range d.Paths {
			form := regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(described), `[^/]+`)
			found = found || methods[r.method] != nil && regexp.MustCompile("^"+form+"$").MatchString(r.path)
		}
		c.holdsf(found, "%s: the API has no %s %s", r.at, strings.ToUpper(r.method), r.path)
	}
}
