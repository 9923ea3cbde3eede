//go:build !linux || !amd64

package clock

// Follow moves the clock of this process by what the file says: not on this system.
func Follow(string) error { return ErrUnsupported }
