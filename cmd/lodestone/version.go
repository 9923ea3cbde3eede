package main

import (
	"fmt"
	"runtime"
)

type versionCommand struct{}

// Run prints the version.
func (versionCommand) Run() error {
	fmt.Printf("lodestone %s %s %s/%s\n", version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}
