package child

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// instance is one process of a child.
type instance struct {
	cmd    *exec.Cmd
	stdin  *os.File
	record string
	done   chan struct{} // closed when the process has ended and was reaped
	err    error         // of the wait; read after done
}

// live starts the process and stays on its thread until the process has ended: the kernel's
// parent-death signal is sent when the thread that forked ends, not when the process does.
func (i *instance) live(started chan<- error) {
	defer close(i.done)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := i.cmd.Start(); err != nil {
		i.err = err
		started <- err
		return
	}
	started <- nil
	i.err = i.cmd.Wait()
}

func (i *instance) pid() int {
	if i == nil || i.cmd.Process == nil {
		return 0
	}
	return i.cmd.Process.Pid
}

// cause returns how the process ended; call it after done.
func (i *instance) cause() error {
	if i.err == nil {
		return errors.New("exit status 0")
	}
	return i.err
}

// end asks the process to end by the given steps, then by SIGKILL to its process group, and returns
// when it has ended. It is a no-op for a process that has ended, and for nil.
func (i *instance) end(steps []Step) {
	if i == nil {
		return
	}
	for _, s := range steps {
		if i.ended(0) {
			break
		}
		if s.Signal == 0 {
			i.closeInput()
		} else {
			i.signal(s.Signal)
		}
		if i.ended(s.Wait) {
			break
		}
	}
	if !i.ended(0) {
		i.killGroup()
	}
	<-i.done
	i.closeInput()
	removeRecord(i.record)
}

func (i *instance) ended(within time.Duration) bool {
	select {
	case <-i.done:
		return true
	default:
	}
	if within == 0 {
		return false
	}
	select {
	case <-i.done:
		return true
	case <-time.After(within):
		return false
	}
}

func (i *instance) closeInput() {
	// Closing twice is harmless and returns an error.
	_ = i.stdin.Close()
}

func (i *instance) signal(s syscall.Signal) {
	// It fails only when the process has ended, which done reports.
	_ = i.cmd.Process.Signal(s)
}

func (i *instance) killGroup() {
	// The leader is not reaped yet (done is open), so the group's number is still its own.
	if err := syscall.Kill(-i.cmd.Process.Pid, syscall.SIGKILL); err != nil {
		i.signal(syscall.SIGKILL)
	}
}
