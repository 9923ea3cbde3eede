package sandbox

import (
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent makes the system end the process when this one is gone, also when it was killed.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// dieFirst makes the system choose this process when it, or the container, runs out of memory.
func dieFirst() {
	_ = os.WriteFile("/proc/self/oom_score_adj", []byte("1000"), 0) // the other limits hold where this cannot be set
}
