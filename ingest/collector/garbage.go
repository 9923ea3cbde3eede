package collector

import (
	"os"
	"runtime/debug"
)

// eagerCollection is the garbage that a process may have, in percent of what it uses. Of what a collector makes, little
// lives longer than a request, so that looking for it sooner costs next to nothing.
const eagerCollection = 50

// CollectEagerly lets the garbage collector of the whole process run sooner than it does by default, unless GOGC says otherwise.
func CollectEagerly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(eagerCollection)
	}
}
