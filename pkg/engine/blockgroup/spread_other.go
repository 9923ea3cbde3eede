//go:build !linux

package blockgroup

func spread(string) error { return nil }
