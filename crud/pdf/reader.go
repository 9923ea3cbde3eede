// Package pdf tells whether a file is a PDF, how many pages it has, and what the first one looks
// like.
//
// The file is read by PDFium, compiled to WebAssembly: it has no files, no network and no clock but
// what we give it, and its memory is its own. Scripts in a file are not executed: there is nothing
// in it that could. A PDF can still make it loop or swell, so it runs in a sandbox's process.
package pdf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"io"
	"os"
	"sync"

	"github.com/google/uuid"

	"lodestone/crud/sandbox"
)

// Limits of reading one file.
const (
	readSeconds    = 20 // processor time
	renderSeconds  = 4  // of these, for the first page's picture, without which a document is as good
	compileSeconds = 60
	maxPages       = 1_000_000
	maxReaders     = 2
)

// The picture of the first page is CoverWidth wide, and as high as the page, but cut off at
// MaxCoverHeight. A page so flat that less than minCoverHeight would be left has none.
const (
	CoverWidth     = 960
	MaxCoverHeight = 1600
	minCoverHeight = 48
)

// InsideWidth is the width of the pictures of inside pages: too narrow to read text in them.
const InsideWidth = 120

func minHeight(width int) float64 { return float64(minCoverHeight*width) / CoverWidth }

func maxHeight(width int) int { return MaxCoverHeight * width / CoverWidth }

// taskName and compileName are the arguments of the processes that read.
const (
	taskName     = "__read-pdf"
	compileName  = "__compile-pdf-reader"
	cacheSetting = "LODESTONE_PDF_CACHE" // where the reader is kept, compiled
)

// verdict is the first line of what the process that reads writes. Then come the contents, and for
// the first page and each inside page a cover and its pixels, as far as they could be rendered.
type verdict struct {
	Pages   int    `json:"pages"`
	Invalid string `json:"invalid,omitempty"`
}

type contents struct {
	Outline []Entry `json:"outline"`
	Author  string  `json:"author,omitempty"`
	Title   string  `json:"title,omitempty"`
}

type cover struct {
	Width  int `json:"width"`
	Height int `json:"height"`
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

// Document is the extracted content of a file.
type Document struct {
	Pages int // at least 1
	// Cover is the first page, opaque. It is nil if the page cannot be rendered, or takes too much.
	Cover *image.RGBA
	// Inside are some other pages, InsideWidth wide.
	Inside []*image.RGBA
	// Outline is the table of contents; nil if there is none.
	Outline []Entry
	// Author is the full name of the person who wrote it, as the file says; "" if it says none.
	Author string
	// Title is the title for readers, as the file says; "" if it says none.
	Title string
}

// Reader reads files. It is safe for concurrent use: two files are read at a time, of different
// accounts, and accounts take turns.
type Reader struct {
	run *sandbox.Runner

	mu    sync.Mutex // while the reader is being compiled
	cache *cache     // nil until Prepare succeeded
}

// NewReader returns a reader. The program's main function must begin with Main, or every file is
// taken for invalid. Close removes what it leaves on the disk.
func NewReader() (*Reader, error) {
	run, err := sandbox.New(maxReaders)
	if err != nil {
		return nil, err
	}
	return &Reader{run: run}, nil
}

// Close removes the compiled reader if it is kept for this process only. No file may be read.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cache != nil {
		r.cache.close()
		r.cache = nil
	}
}

// Prepare compiles the reader, which takes some seconds once on a machine, so that the first file
// does not have to wait for it.
func (r *Reader) Prepare(ctx context.Context) error {
	_, err := r.prepare(ctx)
	return err
}

func (r *Reader) prepare(ctx context.Context) (dir string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.cache != nil {
		return r.cache.dir, nil
	}
	cache, err := openCache()
	if err != nil {
		return "", err
	}
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		cache.close()
		return "", fmt.Errorf("compile the reader of PDFs: %w", err)
	}
	defer func() { _ = nothing.Close() }()
	if _, err := r.run.Run(ctx, uuid.Nil, compileName, nothing, cacheSetting+"="+cache.dir); err != nil {
		cache.close()
		return "", fmt.Errorf("compile the reader of PDFs: %w", err)
	}
	r.cache = cache
	return cache.dir, nil
}

// Read returns what a file of an account is. IsInvalid tells of a file that is no PDF, is damaged
// or locked by a password, or takes too much to read.
func (r *Reader) Read(ctx context.Context, owner uuid.UUID, file *os.File) (Document, error) {
	if reason := foreign(file); reason != "" {
		return Document{}, &invalidError{reason}
	}
	dir, err := r.prepare(ctx)
	if err != nil {
		return Document{}, err
	}
	out, err := r.run.Run(ctx, owner, taskName, file, cacheSetting+"="+dir)
	if err != nil && !sandbox.IsDead(err) {
		return Document{}, err
	}
	d, ok := parse(out)
	if !ok {
		return Document{}, &invalidError{"could not be read as a PDF within the limits of time and memory"}
	}
	if d.Invalid != "" {
		return Document{}, &invalidError{d.Invalid}
	}
	return Document{Pages: d.Pages, Cover: d.cover, Inside: d.inside, Outline: d.outline, Author: d.author,
		Title: d.title}, nil
}

type result struct {
	verdict
	outline []Entry
	author  string
	title   string
	cover   *image.RGBA
	inside  []*image.RGBA
}

// parse reads what the process wrote. It believes nothing: that process read what a stranger sent.
func parse(out []byte) (t result, ok bool) {
	in := bufio.NewReader(bytes.NewReader(out))
	line, err := in.ReadSlice('\n')
	if err != nil || json.Unmarshal(line, &t.verdict) != nil {
		return result{}, false
	}
	if t.Invalid == "" && (t.Pages < 1 || t.Pages > maxPages) {
		return result{}, false
	}
	if t.Invalid != "" {
		return t, true
	}
	var c contents
	if line, err = in.ReadBytes('\n'); err != nil || json.Unmarshal(line, &c) != nil {
		return t, true
	}
	t.outline, t.author, t.title = complete(c.Outline, t.Pages), personOf(c.Author), titleOf(c.Title)
	if t.cover, err = parsePage(in, CoverWidth); err != nil {
		return t, true
	}
	for range insidePages(t.Pages) {
		page, err := parsePage(in, InsideWidth)
		if err != nil {
			return t, true
		}
		if page != nil {
			t.inside = append(t.inside, page)
		}
	}
	return t, true
}

var errPixels = errors.New("the process that reads wrote no such page")

// parsePage reads the size and the pixels of a page. It returns nil for a page without pixels.
func parsePage(in *bufio.Reader, width int) (*image.RGBA, error) {
	var c cover
	line, err := in.ReadSlice('\n')
	if err != nil || json.Unmarshal(line, &c) != nil || c.Width != width {
		return nil, errPixels
	}
	if c.Height == 0 {
		return nil, nil
	}
	if float64(c.Height) < minHeight(width) || c.Height > maxHeight(width) {
		return nil, errPixels
	}
	page := image.NewRGBA(image.Rect(0, 0, c.Width, c.Height))
	if _, err := io.ReadFull(in, page.Pix); err != nil {
		return nil, fmt.Errorf("read pixels: %w", err)
	}
	for i := 3; i < len(page.Pix); i += 4 {
		page.Pix[i] = 0xff
	}
	return trim(page), nil
}
