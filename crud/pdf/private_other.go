//go:build !unix

package pdf

// private says no: who may write to a directory is not known here.
func private(string) bool { return false }
