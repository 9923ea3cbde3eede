// Package qr draws QR codes of addresses, for print and for screens.
package qr

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strconv"

	"github.com/boombuler/barcode/qr"
)

// QuietZone is the width of the empty margin around a code, in modules. ISO/IEC 18004 requires
// four.
const QuietZone = 4

// Code is the picture of a text: dark modules on a white ground with the quiet zone.
type Code struct {
	side int    // modules of a side, without the quiet zone
	dark []bool // by row
}

// New returns the code of a text. It is as small as level M (15 % of the code may be damaged)
// allows, since large modules survive print best. Within that size it has the highest level that
// fits: Q (25 %) or H (30 %). The error is one of a text that is too long.
func New(text string) (Code, error) {
	best, err := qr.Encode(text, qr.M, qr.Unicode)
	if err != nil {
		return Code{}, fmt.Errorf("encode QR code: %w", err)
	}
	side := best.Bounds().Dx()
	for _, level := range []qr.ErrorCorrectionLevel{qr.H, qr.Q} {
		if better, err := qr.Encode(text, level, qr.Unicode); err == nil && better.Bounds().Dx() == side {
			best = better
			break
		}
	}
	c := Code{side: side, dark: make([]bool, side*side)}
	for i := range c.dark {
		c.dark[i] = best.At(i%side, i/side) == color.Black
	}
	return c, nil
}

// MaxSide is the width of the largest code with its quiet zone, in modules.
const MaxSide = 177 + 2*QuietZone

func (c Code) isDark(x, y int) bool { return c.dark[y*c.side+x] }

// SVG returns the code as a picture of a width and height in pixels, which scales without loss.
func (c Code) SVG(size int) []byte {
	var out bytes.Buffer
	whole := strconv.Itoa(c.side + 2*QuietZone)
	width := strconv.Itoa(size)
	out.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" width="` + width + `" height="` + width +
		`" viewBox="0 0 ` + whole + " " + whole +
		`" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h` + whole + "v" + whole + `H0z"/><path d="`)
	for y := range c.side {
		for x := 0; x < c.side; {
			run := 0
			for x+run < c.side && c.isDark(x+run, y) {
				run++
			}
			if run > 0 {
				n := strconv.Itoa(run)
				out.WriteString("M" + strconv.Itoa(x+QuietZone) + " " + strconv.Itoa(y+QuietZone) + "h" + n + "v1h-" + n + "z")
			}
			x += run + 1
		}
	}
	out.WriteString("\"/></svg>\n")
	return out.Bytes()
}

// PNG returns the code as a picture of a width and height in pixels, at least MaxSide. Every module
// has the same whole number of pixels; what is left over widens the quiet zone.
func (c Code) PNG(size int) ([]byte, error) {
	picture := image.NewPaletted(image.Rect(0, 0, size, size), color.Palette{color.White, color.Black})
	scale := size / (c.side + 2*QuietZone)
	margin := (size - scale*c.side) / 2
	for y := range scale * c.side {
		row := picture.Pix[(margin+y)*picture.Stride+margin:]
		for x := range scale * c.side {
			if c.isDark(x/scale, y/scale) {
				row[x] = 1
			}
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		return nil, fmt.Errorf("encode picture of QR code: %w", err)
	}
	return out.Bytes(), nil
}
