package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"

	scale "golang.org/x/image/draw"
)

// Quality of JPEG: text stays clean at 88, and more doubles the size. A preview is mostly one slow
// gradient, which shows steps of hue at that.
const (
	quality        = 88
	previewQuality = 93
	pageQuality    = 75 // small, and beside numbers
)

// Set is the variants of one original, ready to be stored.
type Set []variant

type variant struct {
	kind, contentType string
	width, height     int
	bytes             []byte
}

func makeThumbnails(original image.Image) (Set, error) {
	page := flatten(original)
	var set Set
	for _, one := range []struct {
		kind  string
		image *image.RGBA
	}{
		{large, fit(page, LargeWidth)},
		{small, fit(page, SmallWidth)},
		{preview, compose(page)},
	} {
		m, err := encode(one.kind, one.image)
		if err != nil {
			return nil, err
		}
		set = append(set, m)
	}
	return set, nil
}

// insideWidth is the width of a picture of an inside page. It has the detail of a much smaller one.
const insideWidth = 360

// makeInside returns the pictures of inside pages, which are small: on a page they are blurred.
func makeInside(pages []*image.RGBA) (Set, error) {
	var set Set
	for i, p := range pages[:min(len(pages), len(insides))] {
		height := max(1, int(math.Round(float64(p.Rect.Dy())*insideWidth/float64(p.Rect.Dx()))))
		m, err := encode(insides[i], resize(p, insideWidth, height))
		if err != nil {
			return nil, err
		}
		set = append(set, m)
	}
	return set, nil
}

func makeLogo(original image.Image) (Set, error) {
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	if err := encoder.Encode(&out, original); err != nil {
		return nil, fmt.Errorf("encode logo: %w", err)
	}
	b := original.Bounds()
	return Set{{logo, typePNG, b.Dx(), b.Dy(), out.Bytes()}}, nil
}

// flatten returns a picture on white.
func flatten(original image.Image) *image.RGBA {
	b := original.Bounds()
	out := image.NewRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, original, b.Min, draw.Over)
	return out
}

// fit returns a picture that is at most so wide.
func fit(original *image.RGBA, width int) *image.RGBA {
	b := original.Rect
	if b.Dx() <= width {
		return original
	}
	return resize(original, width, max(1, int(math.Round(float64(b.Dy())*float64(width)/float64(b.Dx())))))
}

func resize(original *image.RGBA, width, height int) *image.RGBA {
	out := image.NewRGBA(image.Rect(0, 0, width, height))
	scale.CatmullRom.Scale(out, out.Rect, original, original.Rect, draw.Src, nil)
	return out
}

// encode returns an opaque picture as JPEG, or as PNG where that is smaller, which it is for flat
// colours, and sharper.
func encode(kind string, original *image.RGBA) (variant, error) {
	m := variant{kind: kind, contentType: typeJPEG, width: original.Rect.Dx(), height: original.Rect.Dy()}
	q := quality
	switch kind {
	case preview:
		q = previewQuality
	case page:
		q = pageQuality
	}
	var out bytes.Buffer
	if err := jpeg.Encode(&out, original, &jpeg.Options{Quality: q}); err != nil {
		return variant{}, fmt.Errorf("encode picture: %w", err)
	}
	m.bytes = out.Bytes()
	if flat, few := paletted(original); few {
		var exact bytes.Buffer
		encoder := png.Encoder{CompressionLevel: png.BestCompression}
		if err := encoder.Encode(&exact, flat); err != nil {
			return variant{}, fmt.Errorf("encode picture: %w", err)
		}
		if exact.Len() < len(m.bytes) {
			m.contentType, m.bytes = typePNG, exact.Bytes()
		}
	}
	return m, nil
}

// paletted returns the same picture with a palette, if it has at most 256 colours.
func paletted(original *image.RGBA) (*image.Paletted, bool) {
	out := image.NewPaletted(original.Rect, nil)
	index := make(map[[4]byte]uint8, 256)
	for y := range original.Rect.Dy() {
		for x := range original.Rect.Dx() {
			at := y*original.Stride + 4*x
			c := [4]byte(original.Pix[at : at+4])
			i, known := index[c]
			if !known {
				if len(index) == 256 {
					return nil, false
				}
				i = uint8(len(index))
				index[c] = i
				out.Palette = append(out.Palette, color.RGBA{c[0], c[1], c[2], c[3]})
			}
			out.Pix[y*out.Stride+x] = i
		}
	}
	return out, true
}
