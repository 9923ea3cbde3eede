package picture

import (
	"image"
	"image/color"
	"image/draw"
	"math"
)

// How a preview is composed, in pixels. A page that is higher than wide stands at the lower edge
// and is cut off there, so that its upper half can be read; another one lies in the middle, whole.
const (
	uprightWidth = 620
	uprightTop   = 60
	flatWidth    = 944
	flatHeight   = 506
)

var (
	table = color.RGBA{0xed, 0xef, 0xf3, 0xff}
	edge  = color.RGBA{0xcd, 0xd2, 0xda, 0xff}
)

// compose returns a page with an edge of two pixels, on a calm background.
func compose(page *image.RGBA) *image.RGBA {
	frame := place(page.Rect.Dx(), page.Rect.Dy())
	scaled := page
	if frame.Size() != page.Rect.Size() {
		scaled = resize(page, frame.Dx(), frame.Dy())
	}
	out := image.NewRGBA(image.Rect(0, 0, PreviewWidth, PreviewHeight))
	draw.Draw(out, out.Rect, image.NewUniform(table), image.Point{}, draw.Src)
	draw.Draw(out, frame.Inset(-2), image.NewUniform(edge), image.Point{}, draw.Src)
	draw.Draw(out, frame, scaled, scaled.Rect.Min, draw.Src)
	return out
}

// place returns where a page of this size goes.
func place(width, height int) image.Rectangle {
	ratio := float64(height) / float64(width)
	w := float64(flatWidth)
	if ratio > 1 {
		// A very high one, such as a receipt, is narrower, so that it is still seen as one.
		w = math.Min(uprightWidth, 2.2*PreviewHeight/ratio)
	} else {
		w = math.Min(w, flatHeight/ratio)
	}
	h := math.Max(1, math.Round(w*ratio))
	w = math.Max(1, math.Round(w))
	x := (PreviewWidth - int(w)) / 2
	y := (PreviewHeight - int(h)) / 2
	if ratio > 1 {
		y = uprightTop
	}
	return image.Rect(x, y, x+int(w), y+int(h))
}
