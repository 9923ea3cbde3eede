package pdf

import (
	"image"
	"image/draw"
)

// A page whose size is not a whole number of points ends within its last row and column of pixels,
// which are then half white: a line along a dark cover.
const (
	trimDepth = 4   // rows and columns at an edge that may be paler
	paler     = 6   // of 255
	covered   = 0.5 // share of an edge that has to be coloured
	agreeing  = 0.95
)

// trim returns a picture without the rows and columns at its right and lower edge that its page
// covers only in part.
func trim(page *image.RGBA) *image.RGBA {
	b := page.Rect
	if b.Dx() < 8*trimDepth || b.Dy() < 8*trimDepth {
		return page
	}
	right := edge(b.Dy(), func(depth, i int) int { return brightness(page, b.Max.X-1-depth, b.Min.Y+i) })
	lower := edge(b.Dx()-right, func(depth, i int) int { return brightness(page, b.Min.X+i, b.Max.Y-1-depth) })
	if right == 0 && lower == 0 {
		return page
	}
	out := image.NewRGBA(image.Rect(0, 0, b.Dx()-right, b.Dy()-lower))
	draw.Draw(out, out.Rect, page, b.Min, draw.Src)
	return out
}

// edge returns how many lines of so many pixels at an edge are paler than the line within. at
// returns the brightness of a pixel of a line, which is counted from the edge.
func edge(length int, at func(depth, i int) int) int {
	for depth := trimDepth - 1; depth >= 0; depth-- {
		dark, pale := 0, 0
		for i := range length {
			inside := at(trimDepth, i)
			if inside > 255-4*paler {
				continue
			}
			dark++
			if at(depth, i) >= inside+paler {
				pale++
			}
		}
		if float64(dark) > covered*float64(length) && float64(pale) >= agreeing*float64(dark) {
			return depth + 1
		}
	}
	return 0
}

func brightness(page *image.RGBA, x, y int) int {
	at := page.PixOffset(x, y)
	return (299*int(page.Pix[at]) + 587*int(page.Pix[at+1]) + 114*int(page.Pix[at+2])) / 1000
}
