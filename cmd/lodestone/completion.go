package main

import (
	"embed"
	"fmt"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// completions are the scripts for the shells. Each asks the program for the words that may follow.
//
//go:embed completion
var completions embed.FS

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Run prints the completion, to be evaluated by the shell or put where it looks for completions.
func (c completionCommand) Run() error {
	text, err := completions.ReadFile("completion/" + c.Shell)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(text)
	return err
}

type completeCommand struct {
	Typed []string `arg:"" optional:"" passthrough:""`
}

// Run prints what may follow the words that are typed: commands, each with its help, and flags.
func (c completeCommand) Run(app *kong.Kong) error {
	node := app.Model.Node
	for _, word := range c.Typed {
		for _, child := range node.Children {
			if child.Name == word && !child.Hidden {
				node = child
				break
			}
		}
	}
	for _, child := range node.Children {
		if !child.Hidden {
			help, _, _ := strings.Cut(child.Help, ". ")
			fmt.Printf("%s\t%s\n", child.Name, strings.TrimSuffix(help, "."))
		}
	}
	for _, group := range node.AllFlags(true) {
		for _, f := range group {
			fmt.Printf("--%s\t%s\n", f.Name, f.Help)
		}
	}
	return nil
}
