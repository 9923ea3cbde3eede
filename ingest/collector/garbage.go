package collector

import (
	"os"
	"runtime/debug"
)

// eagerCollection is the garbage that a process which only collects may have, in percent of what it uses. Little lives
// there longer than a request, so that looking for it sooner costs next to nothing.
const eagerCollection = 50

// CollectEagerly lets the garbage collector run sooner than it does by default, unless GOGC says otherwise. It is for a
// process that does nothing else.
func CollectEagerly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(eagerCollection)
	}
}
