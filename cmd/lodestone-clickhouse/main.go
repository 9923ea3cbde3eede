// Command lodestone-clickhouse runs the ClickHouse server inside libchdb as a child of lodestone.
package main

import (
	"fmt"
	"os"
	"runtime"

	"lodestone/pkg/engine/launcher"
)

func main() {
	runtime.LockOSThread()
	if err := launcher.Run(os.Getenv(launcher.LibraryVariable), os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "lodestone-clickhouse:", err)
		os.Exit(1)
	}
}
