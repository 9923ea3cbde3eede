package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/experimental"
)

// wasmPages is how much memory PDFium may have, in pages of 64 KiB: 512 MiB, enough for a page that
// is a scan in full colour. The process has a little more.
const wasmPages = 512 << 4

// engine is PDFium with one file. Only the process that reads has one.
type engine struct {
	pool     pdfium.Pool
	pdfium   pdfium.Pdfium
	document references.FPDF_DOCUMENT
	form     references.FPDF_FORMHANDLE // "": there is none
}

const renderFlags = enums.FPDF_RENDER_FLAG_ANNOT | enums.FPDF_RENDER_FLAG_REVERSE_BYTE_ORDER |
	enums.FPDF_RENDER_FLAG_RENDER_LIMITEDIMAGECACHE

// startEngine returns an engine, from the cache if it is there and else compiled and put into it.
func startEngine(cacheDir string) (*engine, error) {
	compiled, err := wazero.NewCompilationCacheWithDir(cacheDir)
	if err != nil {
		return nil, fmt.Errorf("open the cache of the reader: %w", err)
	}
	pool, err := webassembly.Init(webassembly.Config{
		Context:  experimental.WithMemoryAllocator(context.Background(), memoryAllocator()),
		MaxIdle:  1,
		MaxTotal: 1,
		FSConfig: wazero.NewFSConfig(), // no files
		Stdout:   io.Discard, Stderr: io.Discard,
		RandomSource:  noRandom{}, // what is written of a file is the same each time
		RuntimeConfig: wazero.NewRuntimeConfig().WithMemoryLimitPages(wasmPages).WithCompilationCache(compiled),
	})
	if err != nil {
		return nil, fmt.Errorf("start PDFium: %w", err)
	}
	instance, err := pool.GetInstanceWithContext(context.Background())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start PDFium: %w", err), pool.Close())
	}
	return &engine{pool: pool, pdfium: instance}, nil
}

// noRandom is zeros.
type noRandom struct{}

func (noRandom) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func (e *engine) close() error {
	if err := errors.Join(e.pdfium.Close(), e.pool.Close()); err != nil {
		return fmt.Errorf("stop PDFium: %w", err)
	}
	return nil
}

// content is the readable content of a file.
type content interface {
	io.ReadSeeker
	io.ReaderAt
}

// count opens a file of size bytes and returns its verdict.
func (e *engine) count(file content, size int64) verdict {
	opened, err := e.pdfium.OpenDocument(&requests.OpenDocument{FileReader: file, FileReaderSize: size})
	if err == nil {
		e.document = opened.Document
	}
	if (errors.Is(err, pdfiumerrors.ErrPassword) || e.isLocked()) && isStrange(file, size) {
		err = pdfiumerrors.ErrSecurity
	}
	if err != nil {
		return verdict{Invalid: explain(err)}
	}
	if err := e.openForm(); err != nil {
		return verdict{Invalid: explain(err)}
	}
	claimed, err := e.pdfium.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: e.document})
	if err != nil {
		return verdict{Invalid: explain(err)}
	}
	switch pages := e.reachable(claimed.PageCount); {
	case claimed.PageCount <= 0:
		return verdict{Invalid: e.without()}
	case pages == 0:
		return verdict{Invalid: "is damaged: its pages cannot be found"}
	case pages > maxPages:
		return verdict{Invalid: fmt.Sprintf("has more than %d pages", maxPages)}
	default:
		return verdict{Pages: pages}
	}
}

// isLocked reports whether the open file is one that was locked.
func (e *engine) isLocked() bool {
	if e.document == "" {
		return false
	}
	lock, err := e.pdfium.FPDF_GetSecurityHandlerRevision(&requests.FPDF_GetSecurityHandlerRevision{Document: e.document})
	return err == nil && lock.SecurityHandlerRevision >= 0
}

// without says why a file that could be opened has no pages: what is locked in a way that PDFium
// does not know looks empty.
func (e *engine) without() string {
	if e.isLocked() {
		return explain(pdfiumerrors.ErrSecurity)
	}
	return "has no pages"
}

// reachable returns how many pages there are of those that a file claims to have.
func (e *engine) reachable(claimed int) int {
	missing := func(index int) bool {
		_, err := e.pdfium.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: e.document, Index: index})
		return err != nil
	}
	if claimed <= 0 || !missing(claimed-1) {
		return max(claimed, 0)
	}
	return sort.Search(claimed, missing)
}

// render returns a page as RGBA, opaque, on white, and so wide. It may have none to return.
func (e *engine) render(number, width int) ([]byte, cover, error) {
	index := requests.Page{ByIndex: &requests.PageByIndex{Document: e.document, Index: number}}
	size, err := e.pdfium.FPDF_GetPageSizeByIndex(&requests.FPDF_GetPageSizeByIndex{Document: e.document, Index: number})
	if err != nil {
		return nil, cover{}, fmt.Errorf("measure a page: %w", err)
	}
	whole := math.Round(size.Height / size.Width * float64(width))
	if !(whole >= minHeight(width) && whole < 1<<20) { // nor is it NaN
		return nil, cover{Width: width}, nil
	}
	if e.lacksFonts(index) {
		return nil, cover{Width: width}, nil
	}
	c := cover{Width: width, Height: min(int(whole), maxHeight(width))}
	bitmap, err := e.pdfium.FPDFBitmap_Create(&requests.FPDFBitmap_Create{Width: c.Width, Height: c.Height})
	if err != nil {
		return nil, cover{}, fmt.Errorf("render a page: %w", err)
	}
	_, err = e.pdfium.FPDFBitmap_FillRect(&requests.FPDFBitmap_FillRect{Bitmap: bitmap.Bitmap, Width: c.Width,
		Height: c.Height, Color: 0xffffffff})
	if err != nil {
		return nil, cover{}, fmt.Errorf("render a page: %w", err)
	}
	_, err = e.pdfium.FPDF_RenderPageBitmap(&requests.FPDF_RenderPageBitmap{
		Bitmap: bitmap.Bitmap, Page: index, SizeX: c.Width, SizeY: int(whole),
		Flags: renderFlags,
	})
	if err != nil {
		return nil, cover{}, fmt.Errorf("render a page: %w", err)
	}
	if err := e.drawForm(bitmap.Bitmap, index, c.Width, int(whole)); err != nil {
		return nil, cover{}, err
	}
	pixels, err := e.pdfium.FPDFBitmap_GetBuffer(&requests.FPDFBitmap_GetBuffer{Bitmap: bitmap.Bitmap})
	if err != nil {
		return nil, cover{}, fmt.Errorf("render a page: %w", err)
	}
	if len(pixels.Buffer) != 4*c.Width*c.Height {
		return nil, cover{}, errors.New("render a page: unexpected form of the bitmap")
	}
	return pixels.Buffer, c, nil
}
