package pdf

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"os"

	"github.com/google/uuid"

	"lodestone/crud/sandbox"
)

const (
	pagesName    = "__render-pdf-pages"
	pagesSetting = "LODESTONE_PDF_PAGES" // which pages, and how wide: a pageRange as JSON
	pagesSeconds = 10                    // processor time
)

// pageRange is the request to the rendering process.
type pageRange struct {
	First int `json:"first"` // index, from 0
	Count int `json:"count"`
	Width int `json:"width"`
}

// Pages returns pictures of so many pages of a file of an account from an index on, so wide. One
// that cannot be rendered is nil. Those for which there was no time are missing at the end.
func (r *Reader) Pages(ctx context.Context, owner uuid.UUID, file *os.File, first, count,
	width int) ([]*image.RGBA, error) {
	dir, err := r.prepare(ctx)
	if err != nil {
		return nil, err
	}
	asked, err := json.Marshal(pageRange{first, count, width})
	if err != nil {
		return nil, fmt.Errorf("ask for pages: %w", err)
	}
	out, err := r.run.Run(ctx, owner, pagesName, file, cacheSetting+"="+dir, pagesSetting+"="+string(asked))
	if err != nil && !sandbox.IsDead(err) {
		return nil, err
	}
	in := bufio.NewReader(bytes.NewReader(out))
	var pages []*image.RGBA
	for range count {
		page, err := parsePage(in, width)
		if err != nil {
			break // the process ended there
		}
		pages = append(pages, page)
	}
	return pages, nil //nolint:nilerr // a process that ended gave the pages before the one that ended it
}

// answerPages writes the size and the pixels of pages. Only the process that renders calls it.
func answerPages(cacheDir, asked string, file *os.File, out io.Writer) error {
	var want pageRange
	if err := json.Unmarshal([]byte(asked), &want); err != nil {
		return fmt.Errorf("read which pages are asked for: %w", err)
	}
	e, v, err := open(cacheDir, file)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	for index := want.First; index < min(want.First+want.Count, v.Pages); index++ {
		if err := e.answerPage(encoder, out, index, want.Width); err == nil {
			continue
		}
		if err := encoder.Encode(cover{Width: want.Width}); err != nil { // the next one may be better
			return fmt.Errorf("write the size of a page: %w", err)
		}
	}
	return nil
}
