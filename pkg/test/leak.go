// Package test has what only tests use, and packages of such things that import more.
package test

import (
	"time"

	"go.uber.org/goleak"
)

// leakTimeout bounds the wait for goroutines that are ending, on a busy machine.
const leakTimeout = 30 * time.Second

// LeakMain runs a package's tests, fails if goroutines are left over, and ends the process.
func LeakMain(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(leakWaiter{m, options}, options...)
}

// leakWaiter looks for goroutines before goleak does, which waits for half a second only; goleak
// then reports those still left.
type leakWaiter struct {
	m       goleak.TestingM
	options []goleak.Option
}

// Run implements goleak.TestingM.
func (p leakWaiter) Run() int {
	code := p.m.Run()
	if code != 0 {
		return code
	}
	for begin := time.Now(); time.Since(begin) < leakTimeout; {
		if goleak.Find(p.options...) == nil { // each call waits for up to half a second
			break
		}
	}
	return code
}
