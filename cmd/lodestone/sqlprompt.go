package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

const sqlHelp = `A query ends with ; (a table) or \G (a line a column).
  \d         what can be queried
  \d NAME    its columns
  \q         leave; also Ctrl-D
`

// promptSQL answers queries at the terminal until the person leaves or ctx ends. An interrupt while
// a query runs ends it, and the program.
func promptSQL(ctx context.Context, client *sqlClient, format string) error {
	fd := int(os.Stdin.Fd())
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{os.Stdin, os.Stdout}, "")
	fmt.Printf("Reading from %s as %s. \\h for help, \\q to leave.\n", client.address.Host, client.user)
	p := &sqlPrompt{
		format: format,
		out:    os.Stdout,
		ask:    func(query, format string) error { return client.show(ctx, query, format, os.Stdout) },
		read:   func(prompt string) (string, error) { return readLine(ctx, fd, terminal, prompt) },
	}
	err := p.run()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}

// readLine reads a line with editing and history. The terminal is in its usual mode outside of it.
func readLine(ctx context.Context, fd int, terminal *term.Terminal, prompt string) (line string, err error) {
	state, err := term.MakeRaw(fd)
	if err != nil {
		return "", fmt.Errorf("use the terminal: %w", err)
	}
	defer func() { err = errors.Join(err, term.Restore(fd, state)) }()
	if width, height, err := term.GetSize(fd); err == nil {
		_ = terminal.SetSize(width, height) // without it lines only look odd
	}
	terminal.SetPrompt(prompt)
	terminal.SetBracketedPasteMode(true)
	defer terminal.SetBracketedPasteMode(false)
	type result struct {
		line string
		err  error
	}
	done := make(chan result, 1) // whoever is left waiting for a key ends with the process
	go func() {
		line, err := terminal.ReadLine()
		done <- result{line, err}
	}()
	select {
	case r := <-done:
		if errors.Is(r.err, term.ErrPasteIndicator) {
			r.err = nil
		}
		return r.line, r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// sqlPrompt puts lines together to queries.
type sqlPrompt struct {
	format string
	out    io.Writer
	ask    func(query, format string) error
	read   func(prompt string) (string, error) // io.EOF when the person leaves
}

func (p *sqlPrompt) run() error {
	var query strings.Builder
	for {
		prompt := "lodestone> "
		if query.Len() > 0 {
			prompt = "      ...> "
		}
		line, err := p.read(prompt)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		text := strings.TrimSpace(line)
		if query.Len() == 0 {
			if text == "" {
				continue
			}
			command, leave := promptCommand(text)
			if leave {
				return nil
			}
			if command != "" {
				text = command
			}
			line = text
		}
		query.WriteString(line + "\n")
		format, ended := p.format, false
		switch {
		case strings.HasSuffix(text, ";"):
			ended = true
		case strings.HasSuffix(text, `\G`):
			format, ended = sqlFormats["vertical"], true
		}
		if !ended {
			continue
		}
		sql := strings.TrimSuffix(strings.TrimSpace(query.String()), `\G`)
		query.Reset()
		if err := p.answer(sql, format); err != nil {
			return err
		}
	}
}

// answer prints what a query gives or why it gives nothing.
func (p *sqlPrompt) answer(sql, format string) error {
	if sql == sqlHelpQuery {
		_, err := io.WriteString(p.out, sqlHelp)
		return err
	}
	err := p.ask(sql, format)
	if errors.Is(err, context.Canceled) {
		return err
	}
	if err != nil {
		_, err = fmt.Fprintln(p.out, err)
	}
	return err
}

// sqlHelpQuery stands for the help.
const sqlHelpQuery = `\h;`

// promptCommand returns the query that a short form stands for, or "", and whether it means to leave.
func promptCommand(text string) (query string, leave bool) {
	words := strings.Fields(strings.TrimSuffix(text, ";"))
	if len(words) == 0 {
		return "", false
	}
	switch strings.ToLower(words[0]) {
	case `\q`, "exit", "quit":
		return "", true
	case `\h`, "help", `\?`:
		return sqlHelpQuery, false
	case `\d`:
		if len(words) == 1 {
			return "SHOW TABLES;", false
		}
		return "SELECT name, type FROM system.columns WHERE database = currentDatabase() AND table = '" +
			strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(words[1]) + "' ORDER BY position;", false
	}
	return "", false
}
