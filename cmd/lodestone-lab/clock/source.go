package clock

import (
	"embed"

	"lodestone/cmd/lodestone-lab/overlay"
)

//go:embed clock.go follow_linux_amd64.go follow_other.go
var files embed.FS

// start lets a program follow the file that Variable names, from before its main function on.
const start = `package main

import (
	"fmt"
	"os"

	"lodestone/clock"
)

func init() {
	path := os.Getenv(clock.Variable)
	if path == "" {
		return
	}
	if err := clock.Follow(path); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
`

// Sources are this package as lodestone/clock of the product, and in each program a file that
// follows Variable. Programs are named by their paths from the product's root.
func Sources(programs ...string) (overlay.Sources, error) {
	all := overlay.Sources{}
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if all["clock/"+e.Name()], err = files.ReadFile(e.Name()); err != nil {
			return nil, err
		}
	}
	for _, p := range programs {
		all[p+"/clock_chaos.go"] = []byte(start)
	}
	return all, nil
}
