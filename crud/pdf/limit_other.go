//go:build !unix

package pdf

func limitProcess() {}
