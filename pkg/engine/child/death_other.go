//go:build !linux

package child

import "syscall"

// setDeathSignal does nothing: only Linux signals a child when its parent ends. Elsewhere a child
// that reads its standard input notices, and the next start stops one that does not.
func setDeathSignal(*syscall.SysProcAttr, syscall.Signal) {}
