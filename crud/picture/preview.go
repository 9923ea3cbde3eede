package picture

import (
	"image"
	"image/color"
	"math"
)

// How a preview is composed, in pixels. A page that is higher than wide stands at the lower edge and is
// cut off there, so that its upper half can be read; another one lies in the middle, whole.
const (
	uprightWidth = 620
	uprightTop   = 60
	flatWidth    = 944
	flatHeight   = 506
	corner       = 6.0
)

// compose returns a page on a calm background, with a soft shadow.
func compose(page *image.RGBA) *image.RGBA {
	frame := place(page.Rect.Dx(), page.Rect.Dy())
	scaled := page
	if frame.Size() != page.Rect.Size() {
		scaled = resize(page, frame.Dx(), frame.Dy())
	}
	out := image.NewRGBA(image.Rect(0, 0, PreviewWidth, PreviewHeight))
	upper, lower := background(page)
	// Two shadows, as a sheet on a table has them: one close and dark, one wide and faint.
	near := shadow{rect: frame.Add(image.Pt(0, 2)), blur: 3, strength: 0.14}
	far := shadow{rect: frame.Add(image.Pt(0, 18)), blur: 34, strength: 0.22}
	near.prepare()
	far.prepare()
	for y := range PreviewHeight {
		t := float64(y) / (PreviewHeight - 1)
		for x := range PreviewWidth {
			cover := coverage(frame, x, y)
			if cover == 1 { // most of the picture: nothing shines through
				out.SetRGBA(x, y, scaled.RGBAAt(x-frame.Min.X, y-frame.Min.Y))
				continue
			}
			var c [3]float64
			shade := (1 - near.at(x, y)) * (1 - far.at(x, y))
			for i := range c {
				c[i] = (upper[i] + (lower[i]-upper[i])*t) * shade
			}
			if cover > 0 {
				p := scaled.RGBAAt(x-frame.Min.X, y-frame.Min.Y)
				for i, v := range [3]uint8{p.R, p.G, p.B} {
					c[i] += (float64(v) - c[i]) * cover
				}
			}
			n := noise(x, y)
			out.SetRGBA(x, y, color.RGBA{dither(c[0], n), dither(c[1], n), dither(c[2], n), 0xff})
		}
	}
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

// background returns the colours of the upper and the lower edge: light grey with a touch of what
// the page is coloured in.
func background(page *image.RGBA) (upper, lower [3]float64) {
	var sum [3]float64
	var weight float64
	for y := 0; y < page.Rect.Dy(); y += 4 {
		for x := 0; x < page.Rect.Dx(); x += 4 {
			at := y*page.Stride + 4*x
			r, g, b := float64(page.Pix[at]), float64(page.Pix[at+1]), float64(page.Pix[at+2])
			strong := math.Max(r, math.Max(g, b)) - math.Min(r, math.Min(g, b)) // grey says nothing
			sum[0], sum[1], sum[2] = sum[0]+r*strong, sum[1]+g*strong, sum[2]+b*strong
			weight += strong
		}
	}
	upper, lower = [3]float64{246, 247, 249}, [3]float64{229, 231, 235}
	if weight == 0 {
		return upper, lower
	}
	area := float64(page.Rect.Dx()*page.Rect.Dy()) / 16
	touch := 0.16 * math.Min(1, weight/area/48) // a page with little colour gives little of it
	for i := range sum {
		upper[i] += (sum[i]/weight - upper[i]) * touch
		lower[i] += (sum[i]/weight - lower[i]) * touch
	}
	return upper, lower
}

// shadow is a rectangle blurred as by a Gaussian: the product of what it is along either side.
type shadow struct {
	rect           image.Rectangle
	blur, strength float64
	across, down   []float64
}

func (s *shadow) prepare() {
	edge := func(from, to, at int) float64 {
		k := s.blur * math.Sqrt2
		return (math.Erf((float64(at)+0.5-float64(from))/k) - math.Erf((float64(at)+0.5-float64(to))/k)) / 2
	}
	s.across, s.down = make([]float64, PreviewWidth), make([]float64, PreviewHeight)
	for x := range s.across {
		s.across[x] = edge(s.rect.Min.X, s.rect.Max.X, x)
	}
	for y := range s.down {
		s.down[y] = edge(s.rect.Min.Y, s.rect.Max.Y, y)
	}
}

func (s *shadow) at(x, y int) float64 { return s.strength * s.across[x] * s.down[y] }

// coverage returns how much of a pixel lies in a rectangle with round corners.
func coverage(r image.Rectangle, x, y int) float64 {
	if !(image.Point{X: x, Y: y}).In(r) {
		return 0
	}
	outside := func(at, low, high int) float64 {
		centre := float64(at) + 0.5
		return math.Max(0, math.Max(float64(low)+corner-centre, centre-(float64(high)-corner)))
	}
	distance := math.Hypot(outside(x, r.Min.X, r.Max.X), outside(y, r.Min.Y, r.Max.Y))
	return math.Min(1, math.Max(0, corner+0.5-distance))
}

// noise is a number from 0 up to 1 for each pixel, such that neighbours differ (interleaved gradient noise,
// Jorge Jimenez, "Next Generation Post Processing in Call of Duty: Advanced Warfare", 2014).
func noise(x, y int) float64 {
	fraction := func(v float64) float64 { return v - math.Floor(v) }
	return fraction(52.9829189 * fraction(0.06711056*float64(x)+0.00583715*float64(y)))
}

// dither rounds a value up or down by the noise of its pixel, so that a slow gradient has no steps.
func dither(v, noise float64) uint8 {
	return uint8(math.Min(255, math.Max(0, math.Floor(v+noise))))
}
