package sandbox

import (
	"bufio"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

const (
	exitFailed = 1
	exitMemory = 3
	maxStack   = 64 << 20
)

// Main does the task that this process was started for, if it is this one, and then ends it. Calls
// of it are the first thing that the program's main function does, and in tests TestMain.
func Main(task Task) {
	if len(os.Args) != 2 || os.Args[1] != task.Name {
		return
	}
	debug.SetMaxStack(maxStack)
	dieFirst()
	limitProcess(task.CPUSeconds)
	go watchMemory()
	os.Exit(run(task)) //nolint:forbidigo // this is main of the process that reads
}

func run(task Task) (code int) {
	out := bufio.NewWriterSize(os.Stdout, 1<<16)
	defer func() {
		if recover() != nil {
			code = exitFailed
		}
		if out.Flush() != nil {
			code = exitFailed
		}
	}()
	if task.Run(os.Stdin, out) != nil {
		return exitFailed
	}
	return 0
}

// watchMemory ends the process when the heap grows too large, on systems that do not.
func watchMemory() {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/stacks:bytes"}}
	for range time.Tick(10 * time.Millisecond) {
		metrics.Read(sample)
		if sample[0].Value.Uint64()+sample[1].Value.Uint64() > maxMemory {
			os.Exit(exitMemory) //nolint:forbidigo // the work cannot be stopped otherwise
		}
	}
}
