// Package build says which build of Lodestone a program is.
package build

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"
)

// Info is a build.
type Info struct {
	Version  string `json:"version"`          // "0.1.0", "0.1.0-12-g5fd7f0a", or "devel"
	Commit   string `json:"commit,omitempty"` // the whole hash, if it is known
	Date     string `json:"date,omitempty"`   // of the commit, as RFC 3339, so that the same source is the same program
	Go       string `json:"go"`
	Platform string `json:"platform"` // "linux/amd64"
}

// The linker sets these: -X lodestone/pkg/build.version=0.1.0.
var version, commit, date string

// Current returns the build of this program: what the linker was given, else what the compiler
// recorded of the checkout.
func Current() Info {
	i := Info{Version: strings.TrimPrefix(version, "v"), Commit: commit, Date: date, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH}
	recorded, ok := debug.ReadBuildInfo()
	if ok {
		for _, s := range recorded.Settings {
			switch s.Key {
			case "vcs.revision":
				i.Commit = cmp.Or(i.Commit, s.Value)
			case "vcs.time":
				i.Date = cmp.Or(i.Date, s.Value)
			}
		}
		if v := recorded.Main.Version; v != "(devel)" {
			i.Version = cmp.Or(i.Version, strings.TrimPrefix(v, "v"))
		}
	}
	i.Version = cmp.Or(i.Version, "devel")
	return i
}
