package pdf

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"

	"lodestone/crud/sandbox"
)

// Main does the work of the process that reads a PDF, if this is one, and then ends it. It is the
// first thing that the program's main function does, and in tests TestMain.
func Main() {
	cacheDir := os.Getenv(cacheSetting)
	sandbox.Main(sandbox.Task{Name: taskName, CPUSeconds: readSeconds, Run: func(file *os.File, out io.Writer) error {
		return answer(cacheDir, file, out)
	}})
	sandbox.Main(sandbox.Task{Name: pagesName, CPUSeconds: pagesSeconds, Run: func(file *os.File, out io.Writer) error {
		return answerPages(cacheDir, os.Getenv(pagesSetting), file, out)
	}})
	sandbox.Main(sandbox.Task{Name: stampName, CPUSeconds: stampSeconds, Run: func(file *os.File, out io.Writer) error {
		return answerStamped(cacheDir, file, out)
	}})
	sandbox.Main(sandbox.Task{Name: compileName, CPUSeconds: compileSeconds, Run: func(*os.File, io.Writer) error {
		e, err := startEngine(cacheDir)
		if err != nil {
			return err
		}
		return e.close()
	}})
}

// open starts an engine, and opens a file in it.
func open(cacheDir string, file *os.File) (*engine, verdict, error) {
	e, err := startEngine(cacheDir)
	if err != nil {
		return nil, verdict{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, verdict{}, fmt.Errorf("measure the file: %w", err)
	}
	return e, e.count(file, info.Size()), nil
}

// answer writes what a file is. Only the process that reads calls it: it may loop or crash.
func answer(cacheDir string, file *os.File, out io.Writer) error {
	e, v, err := open(cacheDir, file)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(out)
	if err := encoder.Encode(v); err != nil {
		return fmt.Errorf("tell the pages: %w", err)
	}
	if v.Invalid != "" {
		return nil
	}
	// The pages are known whatever comes now.
	if f, ok := out.(interface{ Flush() error }); ok {
		if err := f.Flush(); err != nil {
			return fmt.Errorf("tell the pages: %w", err)
		}
	}
	sandbox.LimitCPU(renderSeconds)
	if err := encoder.Encode(contents{e.outline(v.Pages), e.author(), e.title()}); err != nil {
		return fmt.Errorf("write the table of contents: %w", err)
	}
	for i, index := range append([]int{0}, insidePages(v.Pages)...) {
		width := InsideWidth
		if i == 0 {
			width = CoverWidth
		}
		if err := e.answerPage(encoder, out, index, width); err != nil {
			return err
		}
	}
	return nil
}

// answerPage writes the size of a rendered page, and its pixels: a size without a height if there
// are none.
func (e *engine) answerPage(encoder *json.Encoder, out io.Writer, index, width int) error {
	if f, ok := out.(interface{ Flush() error }); ok { // what is known is known, whatever comes now
		if err := f.Flush(); err != nil {
			return fmt.Errorf("write a page: %w", err)
		}
	}
	pixels, c, err := e.render(index, width)
	if err != nil {
		return err
	}
	if err := encoder.Encode(c); err != nil {
		return fmt.Errorf("write the size of a page: %w", err)
	}
	_, err = out.Write(pixels)
	return err
}

// insidePages returns the indices of the pages that stand for the inside of a document: none of one
// so short that they would be most of it.
func insidePages(pages int) []int {
	switch {
	case pages < 3:
		return nil
	case pages == 3:
		return []int{1}
	default:
		return []int{pages / 4, pages / 2, 3 * pages / 4}
	}
}

// explain returns what is wrong with a file that could not be opened.
func explain(err error) string {
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword):
		return "is locked by a password: send it without one"
	case errors.Is(err, pdfiumerrors.ErrSecurity):
		return "is locked in a way that cannot be read: send it without a lock"
	default:
		return "is damaged: it cannot be read as a PDF"
	}
}
