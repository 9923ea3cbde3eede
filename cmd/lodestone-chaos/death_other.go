//go:build !linux

package main

import "syscall"

// dieWithParent does nothing: only Linux has it.
func dieWithParent(*syscall.SysProcAttr) {}
