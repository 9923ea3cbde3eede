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
	sandbox.Main(sandbox.Task{Name: compileName, CPUSeconds: compileSeconds, Run: func(*os.File, io.Writer) error {
		e, err := startEngine(cacheDir)
		if err != nil {
			return err
		}
		return e.close()
	}})
}

// answer writes what a file is. Only the process that reads calls it: it may loop or crash.
func answer(cacheDir string, file *os.File, out io.Writer) error {
	e, err := startEngine(cacheDir)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("measure the file: %w", err)
	}
	v := e.count(file, info.Size())
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
	pixels, c, err := e.render()
	if err != nil || c.Height == 0 {
		return err
	}
	if err := encoder.Encode(c); err != nil {
		return fmt.Errorf("tell the first page: %w", err)
	}
	_, err = out.Write(pixels)
	return err
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
