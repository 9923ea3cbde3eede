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

// endTimeout is for goroutines that were told to end, on a busy machine.
const endTimeout = 30 * time.Second

// Main runs a package's tests, fails if goroutines are left over, and ends the process.
func Main(m goleak.TestingM, options ...goleak.Option) {
	goleak.VerifyTestMain(patient{m, options}, options...)
}

// patient looks for goroutines before goleak does, which waits for half a second only; what is left then is found once more.
type patient struct {
	m       goleak.TestingM
	options []goleak.Option
}

// Run implements goleak.TestingM.
func (p patient) Run() int {
	code := p.m.Run()
	if code != 0 {
		return code
	}
	for begin := time.Now(); time.Since(begin) < endTimeout; {
		if goleak.Find(p.options...) == nil { // each look is patient for half a second
			break
		}
	}
	return code
}
