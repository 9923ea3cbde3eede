package picture

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"math"
	"mime"

	"golang.org/x/image/draw"
	"golang.org/x/image/webp"
)

// format is a kind of picture that we read.
type format struct {
	begins func(content []byte) bool
	size   func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

func begins(with string) func([]byte) bool {
	return func(content []byte) bool { return bytes.HasPrefix(content, []byte(with)) }
}

var formats = []format{
	{begins("\x89PNG\r\n\x1a\n"), png.DecodeConfig, png.Decode},
	{begins("\xff\xd8\xff"), jpeg.DecodeConfig, jpeg.Decode},
	{begins("GIF8"), gif.DecodeConfig, gif.Decode},
	{func(c []byte) bool { return len(c) > 12 && string(c[:4]) == "RIFF" && string(c[8:12]) == "WEBP" },
		webp.DecodeConfig, decodeWebP},
}

const (
	damaged = "is damaged: it cannot be read as a picture"
	tooHard = "could not be read within the limits of time and memory: send it smaller"
	isSVG   = "is an SVG, which can carry scripts: send it as PNG, JPEG, WebP or GIF"
)

// decode returns the picture in content, upright and at most as large as the box, or the reason why
// it cannot be used. The decoder takes at most maxMemory, and stops reading when ctx ends: what a
// decoder does between two reads is bounded by the number of pixels, but a JPEG may repeat it in
// any number of scans.
func decode(ctx context.Context, content []byte, box Box) (_ *image.NRGBA, invalid string) {
	for _, f := range formats {
		if !f.begins(content) {
			continue
		}
		if animatedWebP(content) {
			return nil, "is an animated WebP: send a still picture"
		}
		size, err := f.size(bytes.NewReader(content))
		if err != nil {
			return nil, damaged
		}
		// From the header, before memory is taken for any pixel.
		switch {
		case size.Width < minSide || size.Height < minSide:
			return nil, fmt.Sprintf("is too small: it has %d × %d pixels, and must have at least %d × %d", size.Width,
				size.Height, minSide, minSide)
		case size.Width > maxSide || size.Height > maxSide || size.Width*size.Height > maxPixels:
			return nil, fmt.Sprintf("is too large: it has %d × %d pixels, and may have %d million, and %d on a side",
				size.Width, size.Height, maxPixels/1_000_000, maxSide)
		}
		if size.Width*size.Height > maxMemory/bytesPerPixel(content, size) {
			return nil, tooHard
		}
		picture, err := f.decode(contextReader{ctx, bytes.NewReader(content)})
		if ctx.Err() != nil {
			return nil, tooHard
		}
		if err != nil {
			return nil, damaged
		}
		small := shrink(ctx, picture, box, orientation(content))
		if ctx.Err() != nil {
			return nil, tooHard
		}
		return turn(small, orientation(content)), ""
	}
	if looksLikeSVG(content) {
		return nil, isSVG
	}
	return nil, "is not a picture that can be read: send a PNG, JPEG, WebP or GIF"
}

// contextReader is a reader that fails once its context has ended.
type contextReader struct {
	ctx context.Context //nolint:containedctx // of one call
	io.Reader
}

func (b contextReader) Read(p []byte) (int, error) {
	if err := b.ctx.Err(); err != nil {
		return 0, err
	}
	// A JPEG's scan can take a few bytes and many operations, so the context is looked at often.
	return b.Reader.Read(p[:min(len(p), 256)])
}

// bytesPerPixel returns an upper bound on the memory that a decoder takes for each pixel, read from
// the code of Go's decoders.
func bytesPerPixel(content []byte, size image.Config) int {
	deep := size.ColorModel == color.RGBA64Model || size.ColorModel == color.NRGBA64Model ||
		size.ColorModel == color.Gray16Model
	switch {
	case bytes.HasPrefix(content, []byte("\x89PNG")):
		bytes := 4
		if deep {
			bytes = 8
		}
		if interlaced := len(content) > 28 && content[28] != 0; interlaced {
			bytes *= 2 // each pass is a picture of its own
		}
		return bytes
	case bytes.HasPrefix(content, []byte("RIFF")):
		return 10 // pixels, their transformation, and alpha
	case !bytes.HasPrefix(content, []byte("\xff\xd8")):
		return 4
	case !isBaseline(content):
		return 24 // all coefficients, of 4 bytes each, until the last scan; and planes, and pixels
	case size.ColorModel == color.YCbCrModel || size.ColorModel == color.GrayModel:
		return 4
	default:
		return 8 // planes and pixels
	}
}

// decodeWebP decodes a WebP, whose lossy form has values from 16 to 235, and 240 for colour, where
// the decoder takes them for 0 to 255: black would be grey.
func decodeWebP(file io.Reader) (image.Image, error) {
	picture, err := webp.Decode(file)
	if err != nil {
		return nil, err
	}
	var planes *image.YCbCr
	switch p := picture.(type) {
	case *image.YCbCr:
		planes = p
	case *image.NYCbCrA:
		planes = &p.YCbCr
	default:
		return picture, nil
	}
	for i, y := range planes.Y {
		planes.Y[i] = widen(int(y)-16, 219, 0)
	}
	for _, plane := range [][]uint8{planes.Cb, planes.Cr} {
		for i, c := range plane {
			plane[i] = widen(int(c)-128, 224, 128)
		}
	}
	return picture, nil
}

// widen returns a value of a narrow range on the whole one, around its middle.
func widen(v, narrow, middle int) uint8 {
	return uint8(min(255, max(0, int(math.Round(float64(v)*255/float64(narrow)))+middle)))
}

func animatedWebP(content []byte) bool {
	const animation = 0x02
	return len(content) > 20 && string(content[8:16]) == "WEBPVP8X" && content[20]&animation != 0
}

// isSVGType reports whether a content type is that of SVG.
func isSVGType(contentType string) bool {
	kind, _, err := mime.ParseMediaType(contentType)
	return err == nil && kind == "image/svg+xml"
}

func looksLikeSVG(content []byte) bool {
	head := bytes.ToLower(content[:min(len(content), 4096)])
	return bytes.Contains(head, []byte("<svg"))
}

// shrink returns a picture that fits the box when it is turned. It returns early when ctx ends.
func shrink(ctx context.Context, picture image.Image, box Box, orientation int) *image.NRGBA {
	if orientation >= 5 { // lies on its side
		box.Width, box.Height = box.Height, box.Width
	}
	b := picture.Bounds()
	factor := math.Min(1, math.Min(float64(box.Width)/float64(b.Dx()), float64(box.Height)/float64(b.Dy())))
	size := func(pixels, limit int) int {
		return min(limit, max(1, int(math.Round(float64(pixels)*factor))))
	}
	out := image.NewNRGBA(image.Rect(0, 0, size(b.Dx(), box.Width), size(b.Dy(), box.Height)))
	if factor == 1 {
		draw.Draw(out, out.Rect, picture, b.Min, draw.Src)
		return out
	}
	// The good scaler takes 32 bytes for each pixel of the result's width and the source's height.
	// Halves, whose pixels are means of four, take one byte for each pixel of the source.
	for ; b.Dx() >= 4*out.Rect.Dx() && b.Dy() >= 4*out.Rect.Dy() && ctx.Err() == nil; b = picture.Bounds() {
		half := image.NewRGBA(image.Rect(0, 0, b.Dx()/2, b.Dy()/2))
		draw.ApproxBiLinear.Scale(half, half.Rect, picture, b, draw.Src, nil)
		picture = half
	}
	if ctx.Err() == nil {
		draw.CatmullRom.Scale(out, out.Rect, picture, b, draw.Src, nil)
	}
	return out
}

// turn returns a picture as its orientation, a value of EXIF, wants to be seen.
func turn(picture *image.NRGBA, orientation int) *image.NRGBA {
	if orientation < 2 || orientation > 8 {
		return picture
	}
	w, h := picture.Rect.Dx(), picture.Rect.Dy()
	size := image.Rect(0, 0, w, h)
	if orientation >= 5 {
		size = image.Rect(0, 0, h, w)
	}
	out := image.NewNRGBA(size)
	for y := range size.Dy() {
		for x := range size.Dx() {
			fromX, fromY := x, y
			switch orientation {
			case 2:
				fromX = w - 1 - x
			case 3:
				fromX, fromY = w-1-x, h-1-y
			case 4:
				fromY = h - 1 - y
			case 5:
				fromX, fromY = y, x
			case 6:
				fromX, fromY = y, h-1-x
			case 7:
				fromX, fromY = w-1-y, h-1-x
			case 8:
				fromX, fromY = w-1-y, x
			}
			out.SetNRGBA(x, y, picture.NRGBAAt(fromX, fromY))
		}
	}
	return out
}
