//go:build chaos_clock

package main

import (
	"fmt"
	"os"

	"lodestone/pkg/engine/clock"
)

// In the chaos runner's builds the clock of the process can be moved, from its first moment on.
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
