// Package leaktest fails a package's tests if goroutines are left when they have run.
//
// A package that uses it says so once:
//
//	func TestMain(m *testing.M) { leaktest.Main(m) }
package leaktest

import (
	"time"

	"go.uber.org/goleak"
)

// endTimeout bounds the wait for goroutines that are ending, on a busy machine.
const endTimeout = 30 * time.Second

// Main runs a package's tests, fails if goroutines are left over, and ends the process.
func Main(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(waiter{m, options}, options...)
}

// waiter looks for goroutines before goleak does, which waits for half a second only; goleak then
// reports those still left.
type waiter struct {
	m       goleak.TestingM
	options []goleak.Option
}

// Run implements goleak.TestingM.
func (p waiter) Run() int {
	code := p.m.Run()
	if code != 0 {
		return code
	}
	for begin := time.Now(); time.Since(begin) < endTimeout; {
		if goleak.Find(p.options...) == nil { // each call waits for up to half a second
			break
		}
	}
	return code
}
