//go:build !linux

package machine

import "syscall"

// dieWithParent does nothing: only Linux can tie a process to its parent.
func dieWithParent(*syscall.SysProcAttr) {}
