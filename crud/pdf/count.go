// Package pdf tells whether a file is a PDF and how many pages it has.
//
// A hostile file can make any reader of PDFs loop, swell or crash. So it is read by a process of
// its own, the same program started again, which the system ends when it takes too long or too
// much memory.
package pdf

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"
)

// Limits of reading one file.
const (
	timeout    = 20 * time.Second
	maxMemory  = 768 << 20
	maxPages   = 1_000_000
	maxReaders = 2
)

// childArgument is the one argument of the process that reads.
const childArgument = "__count-pdf-pages"

// verdict is what the process that reads writes to its output.
type verdict struct {
	Pages   int    `json:"pages"`
	Invalid string `json:"invalid,omitempty"`
}

// invalidError is about the file. Its text completes a sentence that begins with "the file".
type invalidError struct{ reason string }

func (e *invalidError) Error() string { return e.reason }

// IsInvalid reports whether an error is about the file, and then what is wrong with it, to
// complete a sentence that begins with its name.
func IsInvalid(err error) (reason string, yes bool) {
	if e, ok := errors.AsType[*invalidError](err); ok {
		return e.reason, true
	}
	return "", false
}

// Counter counts the pages of files. It is safe for concurrent use: two files are read at a time,
// the others wait.
type Counter struct {
	program string
	slots   chan struct{}
}

// NewCounter returns a counter that runs this program again. Its main function must begin with
// Main, or every file is taken for invalid.
func NewCounter() (*Counter, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program to read PDFs with: %w", err)
	}
	return &Counter{program: program, slots: make(chan struct{}, maxReaders)}, nil
}

// Pages returns the number of pages of a file, at least 1. IsInvalid tells of a file that is no
// PDF, is damaged or locked by a password, or takes too much to read.
func (c *Counter) Pages(ctx context.Context, file *os.File) (int, error) {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return 0, fmt.Errorf("wait to read the PDF: %w", ctx.Err())
	}
	if err := ctx.Err(); err != nil {
		return 0, fmt.Errorf("read the PDF: %w", err)
	}
	if !hasSignature(file) {
		return 0, &invalidError{"is not a PDF: it does not begin as one"}
	}
	bounded, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(bounded, c.program, childArgument)
	cmd.Env = []string{"GOMAXPROCS=1", fmt.Sprintf("GOMEMLIMIT=%d", maxMemory/2)} // none of our secrets
	cmd.Stdin, cmd.Stdout = file, &out
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return 0, fmt.Errorf("start to read the PDF: %w", err)
	}
	err := cmd.Wait()
	if ctx.Err() != nil {
		return 0, fmt.Errorf("read the PDF: %w", ctx.Err())
	}
	var v verdict
	if err != nil || json.Unmarshal(out.Bytes(), &v) != nil {
		return 0, &invalidError{"could not be read as a PDF within the limits of time and memory"}
	}
	if v.Invalid != "" {
		return 0, &invalidError{v.Invalid}
	}
	return v.Pages, nil
}

// hasSignature reports whether a file begins as PDFs do, within the first 1024 bytes as readers
// allow. It leaves the file at its beginning.
func hasSignature(file *os.File) bool {
	head := make([]byte, 1024)
	n, err := file.ReadAt(head, 0)
	if n == 0 && err != nil {
		return false
	}
	if _, err := file.Seek(0, 0); err != nil {
		return false
	}
	return bytes.Contains(head[:n], []byte("%PDF-"))
}
