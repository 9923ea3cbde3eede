package sandbox

import (
	"os/exec"
	"syscall"
)

// dieWithParent makes the system end the process when this one is gone, also when it was killed.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
