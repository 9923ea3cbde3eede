// Command lodestone-clickhouse runs the ClickHouse server inside libchdb as a child of lodestone.
// It is a program of its own because loading a library at run time makes a binary dynamically
// linked.
package main

import (
	"fmt"
	"os"
	"runtime"
)

func main() {
	runtime.LockOSThread()
	if err := run(os.Getenv(libraryVariable), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lodestone-clickhouse:", err)
		os.Exit(1)
	}
}
