package asset

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the typeface
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"net/http"
	"strconv"
	"sync"

	"golang.org/x/image/vector"
)

// fontFile is the typeface: Inter, under the SIL Open Font License (inter-LICENSE.txt), one
// variable file with the weights 400 to 700 and the letters of the languages that pages are in.
// `make font` writes it.
//
//go:embed inter.woff2
var fontFile []byte

// Paths of what is served. Those with a hash of the content are kept by browsers for good.
var (
	FontPath = "/assets/look/inter-" + contentHash(fontFile) + ".woff2"
	IconPath = "/assets/look/mark-" + contentHash([]byte(markSVG)) + ".svg"
)

// Mark is the mark of the product as an SVG path in a square of 32, with the even-odd rule: a stone
// with a needle in it.
const Mark = "M16 2 28 9V23L16 30 4 23V9ZM21.5 8 13.6 13.6 10.5 24 18.4 18.4Z"

const markSVG = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><style>path{fill:#2f5bd0}@media(prefers-color-scheme:dark){path{fill:#8fb0ff}}</style>` +
	`<path fill-rule="evenodd" d="` + Mark + `"/></svg>`

// robots keeps crawlers away from addresses without pages. Pages that must not be listed say so
// themselves, for which a crawler has to read them.
const robots = "User-agent: *\nDisallow: /api/\nDisallow: /dashboard\n"

func contentHash(content []byte) string {
	s := sha256.Sum256(content)
	return hex.EncodeToString(s[:6])
}

// FontCSS returns the rule that loads the typeface from below a prefix of paths. A page never waits
// for it: one that is late serves the next page.
func FontCSS(prefix string) string {
	return `@font-face{font-family:Inter;font-style:normal;font-weight:400 700;font-display:optional;src:url("` +
		prefix + FontPath + `") format("woff2")}`
}

// FontStack is the family and what stands in for it.
const FontStack = `Inter, ui-sans-serif, system-ui, "Segoe UI", Roboto, "Helvetica Neue", "Noto Sans", sans-serif`

// MountLook serves what all pages of an installation share and browsers fetch by themselves: the
// typeface, the mark of the product as an icon, and what crawlers ask for.
func MountLook(handle func(pattern string, handler http.Handler)) {
	const forGood, forADay = "public, max-age=31536000, immutable", "public, max-age=86400"
	handle("GET "+FontPath, fixedFile("font/woff2", forGood, func() []byte { return fontFile }))
	handle("GET "+IconPath, fixedFile("image/svg+xml", forGood, func() []byte { return []byte(markSVG) }))
	handle("GET /favicon.ico", fixedFile("image/x-icon", forADay, sync.OnceValue(markICO)))
	handle("GET /robots.txt", fixedFile("text/plain; charset=utf-8", forADay, func() []byte { return []byte(robots) }))
}

func fixedFile(kind, cache string, content func() []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := content()
		h := w.Header()
		h.Set("Content-Type", kind)
		h.Set("Content-Length", strconv.Itoa(len(body)))
		h.Set("Cache-Control", cache)
		// of the SVG, where it is opened by itself
		h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		h.Set("X-Content-Type-Options", "nosniff")
		if r.Method != http.MethodHead {
			_, _ = w.Write(body) // a reader that left needs no answer
		}
	})
}

// markICO returns the mark as browsers ask for it that know no SVG: a PNG of 32 pixels in the frame
// of an icon.
func markICO() []byte {
	const size = 32
	out := image.NewNRGBA(image.Rect(0, 0, size, size))
	drawMark(out, color.NRGBA{0x2f, 0x5b, 0xd0, 0xff})
	var picture bytes.Buffer
	if err := png.Encode(&picture, out); err != nil {
		return nil // a buffer takes everything
	}
	head := struct {
		Reserved, Kind, Count        uint16
		Width, Height, Colours, Zero uint8
		Planes, Bits                 uint16
		Length, Offset               uint32
	}{Kind: 1, Count: 1, Width: size, Height: size, Planes: 1, Bits: 32, Length: uint32(picture.Len()), Offset: 22}
	var file bytes.Buffer
	_ = binary.Write(&file, binary.LittleEndian, head) // a buffer takes everything
	_, _ = file.Write(picture.Bytes())
	return file.Bytes()
}

// drawMark fills the mark. The needle runs against the stone's outline, so that it stays free in a
// rasterizer that adds windings.
func drawMark(out *image.NRGBA, fill color.NRGBA) {
	mark := vector.NewRasterizer(out.Rect.Dx(), out.Rect.Dy())
	for _, outline := range [][][2]float32{
		{{16, 2}, {28, 9}, {28, 23}, {16, 30}, {4, 23}, {4, 9}},
		{{21.5, 8}, {13.6, 13.6}, {10.5, 24}, {18.4, 18.4}},
	} {
		mark.MoveTo(outline[0][0], outline[0][1])
		for _, p := range outline[1:] {
			mark.LineTo(p[0], p[1])
		}
		mark.ClosePath()
	}
	mark.Draw(out, out.Rect, image.NewUniform(fill), image.Point{})
}

// IconLink returns the element of a page's head that names its icon: the mark, below a prefix of
// paths.
func IconLink(prefix string) string {
	return fmt.Sprintf(`<link rel="icon" href="%s%s" type="image/svg+xml">`, prefix, IconPath)
}
