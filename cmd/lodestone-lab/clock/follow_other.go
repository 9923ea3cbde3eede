//go:build !linux || !amd64

package clock

// Supported reports whether the clock of a process can be moved.
const Supported = false

// Follow moves the clock of this process by what the file says: not on this system.
func Follow(string) error { return ErrUnsupported }
