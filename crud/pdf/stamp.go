package pdf

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/google/uuid"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"

	"lodestone/crud/sandbox"
)

const (
	stampName    = "__stamp-pdf"
	stampSeconds = 120 // processor time
	// MaxStamped is how many pages of a document can be stamped: the time for a page grows with them.
	MaxStamped = 1000
	// What was compressed together is written one by one, so a file may become so many times as large,
	// and so many bytes.
	stampedTimes  = 8
	stampedBeyond = 16 << 20
)

// MaxStampedBytes returns how large a file of some size becomes at most when it is stamped.
func MaxStampedBytes(size int64) int64 { return stampedTimes*size + stampedBeyond }

// IsHostile reports whether an error says that a file cannot be stamped, whoever tries again.
func IsHostile(err error) bool { return sandbox.IsDead(err) || errors.Is(err, errNoPlace) }

var errNoPlace = errors.New("the stamped file has no place for words")

// Stamp writes a file with a mark on each of its pages to another one, and returns where the words
// of the mark go: there, in the stamped file, are len(Mark("")) bytes that Mark's take the place
// of. Without them the mark is not seen. A lock of the file is not kept, and the same file is
// written the same way each time.
func (r *Reader) Stamp(ctx context.Context, owner uuid.UUID, file, to *os.File) (place int64, err error) {
	dir, err := r.prepare(ctx)
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("measure the file: %w", err)
	}
	err = r.run.RunTo(ctx, owner, stampName, file, to, MaxStampedBytes(info.Size()), cacheSetting+"="+dir)
	if err != nil {
		return 0, fmt.Errorf("stamp the file: %w", err)
	}
	return find(to, Mark(""))
}

// find returns where in a file some bytes are, which must be there once.
func find(file *os.File, wanted []byte) (int64, error) {
	info, err := file.Stat()
	if err != nil {
		return 0, fmt.Errorf("measure the stamped file: %w", err)
	}
	const step = 4 << 20
	found := int64(-1)
	part := make([]byte, step+len(wanted)-1)
	for at := int64(0); at < info.Size(); at += step {
		n, err := file.ReadAt(part, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, fmt.Errorf("read the stamped file: %w", err)
		}
		rest := part[:n]
		for base := at; ; {
			i := bytes.Index(rest, wanted)
			if i < 0 {
				break
			}
			if found >= 0 {
				return 0, errNoPlace
			}
			found = base + int64(i)
			base, rest = found+1, rest[i+1:]
		}
	}
	if found < 0 {
		return 0, errNoPlace
	}
	return found, nil
}

// answerStamped writes a file with a mark on each page. Only the process that stamps calls it.
func answerStamped(cacheDir string, file *os.File, out io.Writer) error {
	e, v, err := open(cacheDir, file)
	if err != nil {
		return err
	}
	if v.Invalid != "" {
		return &invalidError{v.Invalid}
	}
	if v.Pages > MaxStamped {
		return fmt.Errorf("the document has %d pages", v.Pages)
	}
	mark := markPage()
	source, err := e.pdfium.OpenDocument(&requests.OpenDocument{File: &mark})
	if err != nil {
		return fmt.Errorf("open the mark: %w", err)
	}
	// go-pdfium 1.19 hands the two documents to PDFium in the other order.
	made, err := e.pdfium.FPDF_NewXObjectFromPage(&requests.FPDF_NewXObjectFromPage{Source: e.document,
		Destination: source.Document})
	if err != nil {
		return fmt.Errorf("take over the mark: %w", err)
	}
	for index := range v.Pages {
		if err := e.stampPage(index, made.XObject); err != nil {
			return err
		}
	}
	_, err = e.pdfium.FPDF_SaveAsCopy(&requests.FPDF_SaveAsCopy{Document: e.document,
		Flags: requests.SaveFlagRemoveSecurity, FileWriter: out})
	if err != nil {
		return fmt.Errorf("write the stamped file: %w", err)
	}
	return nil
}

// stampPage draws the mark over a page.
func (e *engine) stampPage(index int, mark references.FPDF_XOBJECT) error {
	loaded, err := e.pdfium.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: e.document, Index: index})
	if err != nil {
		return fmt.Errorf("load a page: %w", err)
	}
	page := requests.Page{ByReference: &loaded.Page}
	box, err := e.pdfium.FPDF_GetPageBoundingBox(&requests.FPDF_GetPageBoundingBox{Page: page})
	if err != nil {
		return fmt.Errorf("measure a page: %w", err)
	}
	turned, err := e.pdfium.FPDFPage_GetRotation(&requests.FPDFPage_GetRotation{Page: page})
	if err != nil {
		return fmt.Errorf("measure a page: %w", err)
	}
	for _, place := range places(box.Rect, int(turned.PageRotation)) {
		object, err := e.pdfium.FPDF_NewFormObjectFromXObject(&requests.FPDF_NewFormObjectFromXObject{XObject: mark})
		if err != nil {
			return fmt.Errorf("make a mark: %w", err)
		}
		_, err = e.pdfium.FPDFPageObj_SetMatrix(&requests.FPDFPageObj_SetMatrix{PageObject: object.PageObject,
			Transform: place})
		if err != nil {
			return fmt.Errorf("place a mark: %w", err)
		}
		_, err = e.pdfium.FPDFPage_InsertObject(&requests.FPDFPage_InsertObject{Page: page, PageObject: object.PageObject})
		if err != nil {
			return fmt.Errorf("add a mark: %w", err)
		}
	}
	if _, err := e.pdfium.FPDFPage_GenerateContent(&requests.FPDFPage_GenerateContent{Page: page}); err != nil {
		return fmt.Errorf("write a page: %w", err)
	}
	if _, err := e.pdfium.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}); err != nil {
		return fmt.Errorf("close a page: %w", err)
	}
	return nil
}

// maxSquares bounds the marks of a page that is a long strip.
const maxSquares = 40

// places returns where the square of the mark goes on a page that is turned so many quarters: once
// over the whole page, and on a strip several times along it.
func places(box structs.FPDF_FS_RECTF, quarters int) (list []structs.FPDF_FS_MATRIX) {
	width, height := math.Abs(float64(box.Right-box.Left)), math.Abs(float64(box.Top-box.Bottom))
	long, short := max(width, height), min(width, height)
	side, squares := long, 1
	if long > 2*short && short > 0 {
		squares = min(int(math.Ceil(long/(1.5*short))), maxSquares)
		side = long / float64(squares)
	}
	left, bottom := float64(min(box.Left, box.Right)), float64(min(box.Top, box.Bottom))
	sin, cos := math.Sincos(float64(quarters) * math.Pi / 2)
	scale := side / markSide
	for i := range squares {
		x, y := left+width/2, bottom+height/2
		along := (float64(i) + 0.5) * side
		if squares > 1 && width > height {
			x = left + along
		} else if squares > 1 {
			y = bottom + along
		}
		a, b := scale*cos, scale*sin
		const half = markSide / 2
		list = append(list, structs.FPDF_FS_MATRIX{
			A: float32(a), B: float32(b), C: float32(-b), D: float32(a),
			E: float32(x - half*(a-b)), F: float32(y - half*(a+b)),
		})
	}
	return list
}

// Mark returns the words of a mark, which are those of a text, as they take their place in a
// stamped file.
func Mark(text string) []byte {
	content := make([]byte, markBytes)
	n := copy(content, wordsOf(text))
	for i := n; i < len(content); i++ {
		content[i] = ' '
	}
	out := make([]byte, hex.EncodedLen(markBytes))
	hex.Encode(out, content)
	return out
}
