package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
	"unsafe"

	"github.com/creack/pty"
	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// libraryVariable is the environment variable that names the library's file, as pkg/engine sets it.
const libraryVariable = "LODESTONE_CLICKHOUSE_LIBRARY"

// run loads the library, whose ClickHouse server takes over the process, and serves until standard
// input ends, which it does when the parent closes its end of the pipe or is killed. args are
// ClickHouse's own, such as --config-file=FILE. Call it once, from the main goroutine with its
// thread locked, and end the process after it: the library leaves threads and signal handlers
// behind.
func run(library string, args []string) error {
	if library == "" {
		return errors.New(libraryVariable + " is not set: this program is started by lodestone, not by hand")
	}
	terminal, parent, err := privateTerminal()
	if err != nil {
		return err
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW|purego.RTLD_GLOBAL)
	if err != nil {
		return fmt.Errorf("load %s: %w", library, err)
	}
	var serve func(argc int32, argv unsafe.Pointer) uintptr
	purego.RegisterLibFunc(&serve, handle, "chdb_query_cmdline")
	var failure func(result uintptr) string
	purego.RegisterLibFunc(&failure, handle, "chdb_result_error")

	go discard(terminal) // what the prompt writes
	go func() {
		discard(parent)
		// End of file on an empty line makes the prompt exit cleanly. Sent before there is a prompt, as
		// when the server has just begun to listen, it becomes part of a line: so the line is cleared
		// first, and both are sent again until the process ends. If they cannot be sent, the process must
		// still not outlive its parent.
		const emptyLine, endOfFile = 'U' - '@', 'D' - '@' // as keys, with Ctrl
		for again := time.NewTicker(100 * time.Millisecond); ; <-again.C {
			if _, err := terminal.Write([]byte{emptyLine, endOfFile}); err != nil {
				os.Exit(1) // the library holds the main goroutine, which cannot return an error
			}
		}
	}()
	argv, unpin := cStrings(append(append([]string{"clickhouse"}, args...),
		"--interactive", "--disable_suggestion", "--progress=off", "--progress-table=off", "--highlight=0",
		"--query", "SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP"))
	defer unpin()
	result := serve(int32(len(argv)-1), unsafe.Pointer(&argv[0]))
	if text := failure(result); text != "" {
		return errors.New(text)
	}
	return nil
}

// privateTerminal puts a terminal of our own on standard input, nothing on standard output, and
// returns the terminal's other end and the original standard input. ClickHouse aborts on the first
// failed native login when it runs unattended; with a terminal it treats such errors as a server
// does.
func privateTerminal() (terminal, parent *os.File, err error) {
	terminal, inner, err := pty.Open()
	if err != nil {
		return nil, nil, fmt.Errorf("open a private terminal: %w", err)
	}
	original, err := unix.Dup(0)
	if err != nil {
		return nil, nil, fmt.Errorf("keep standard input: %w", err)
	}
	unix.CloseOnExec(original)
	if err := unix.Dup2(int(inner.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("put the terminal on standard input: %w", err)
	}
	// The output of the prompt is discarded; errors go elsewhere.
	null, err := unix.Open(os.DevNull, unix.O_WRONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open %s: %w", os.DevNull, err)
	}
	if err := unix.Dup2(null, 1); err != nil {
		return nil, nil, fmt.Errorf("silence the prompt: %w", err)
	}
	if err := inner.Close(); err != nil {
		return nil, nil, fmt.Errorf("close the spare end of the terminal: %w", err)
	}
	return terminal, os.NewFile(uintptr(original), "stdin"), nil
}

// discard reads until the end or an error.
func discard(r io.Reader) { _, _ = io.Copy(io.Discard, r) }

// cStrings lays out arguments as C expects them, pinned until unpin is called.
func cStrings(args []string) (argv []*byte, unpin func()) {
	var pin runtime.Pinner
	argv = make([]*byte, len(args)+1)
	for i, a := range args {
		b := append([]byte(a), 0)
		argv[i] = &b[0]
		pin.Pin(argv[i])
	}
	pin.Pin(&argv[0])
	return argv, pin.Unpin
}
