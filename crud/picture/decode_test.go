package picture

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/file"
	"lodestone/pkg/test/enginetest"
)

var (
	red   = color.NRGBA{200, 20, 20, 255}
	green = color.NRGBA{20, 160, 20, 255}
)

// halves returns a picture that is red on the left and green on the right.
func halves(width, height int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	for y := range height {
		for x := range width {
			out.SetNRGBA(x, y, red)
			if x >= width/2 {
				out.SetNRGBA(x, y, green)
			}
		}
	}
	return out
}

func encoded(t testing.TB, encode func(*bytes.Buffer) error) []byte {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, encode(&out))
	return out.Bytes()
}

func pngOf(t testing.TB, i image.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, i) })
}

func jpegOf(t testing.TB, i image.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, i, &jpeg.Options{Quality: 95}) })
}

// newThumbnailer returns a thumbnailer that has as long as a busy machine takes.
func newThumbnailer() *Thumbnailer {
	r := NewThumbnailer(file.NewIntake(MaxBytes), slog.New(slog.DiscardHandler))
	r.timeout = enginetest.Timeout
	return r
}

// A decoder that panics leaves a line in the log, and the process goes on.
func TestAPanicOfADecoderIsLogged(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	r := newThumbnailer()
	r.log = slog.New(slog.NewTextHandler(&log, nil))
	r.decode = func(context.Context, []byte, Box) (*image.NRGBA, string) { panic("index out of range") }
	_, err := r.Read(t.Context(), uuid.Nil, strings.NewReader("x"), LogoBox)
	reason, invalid := IsInvalid(err)
	require.True(t, invalid, "%v", err)
	require.Equal(t, damaged, reason)
	require.Contains(t, log.String(), "index out of range")
}

// read reads a picture as an upload does.
func read(t *testing.T, content []byte, box Box) (*image.NRGBA, string) {
	t.Helper()
	pixels, err := newThumbnailer().Read(t.Context(), uuid.Nil, bytes.NewReader(content), box)
	if reason, invalid := IsInvalid(err); invalid {
		return nil, reason
	}
	require.NoError(t, err)
	return pixels, ""
}

func requireNear(t *testing.T, want color.NRGBA, got color.NRGBA, message string) {
	t.Helper()
	for i, w := range []uint8{want.R, want.G, want.B, want.A} {
		g := []uint8{got.R, got.G, got.B, got.A}[i]
		require.InDelta(t, w, g, 12, "%s: want %v, got %v", message, want, got)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	original := halves(400, 200)
	animation := &gif.GIF{Delay: []int{1, 1}}
	for _, c := range []color.Color{green, red} {
		animation.Image = append(animation.Image, image.NewPaletted(image.Rect(0, 0, 400, 200), color.Palette{c}))
	}
	for name, content := range map[string][]byte{
		"png": pngOf(t, original), "jpeg": jpegOf(t, original),
		"gif": encoded(t, func(b *bytes.Buffer) error { return gif.EncodeAll(b, animation) }),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pixels, invalid := read(t, content, Box{200, 200})
			require.Empty(t, invalid)
			require.Equal(t, image.Rect(0, 0, 200, 100), pixels.Rect)
			requireNear(t, green, pixels.NRGBAAt(150, 50), "right half")
		})
	}
	webp, err := os.ReadFile("testdata/canvas.webp") // of Chromium: green, and half transparent red
	require.NoError(t, err)
	pixels, invalid := read(t, webp, LogoBox)
	require.Empty(t, invalid)
	require.Equal(t, image.Rect(0, 0, 40, 24), pixels.Rect)
	requireNear(t, color.NRGBA{0, 170, 0, 255}, pixels.NRGBAAt(5, 5), "left")
	requireNear(t, color.NRGBA{200, 0, 0, 128}, pixels.NRGBAAt(35, 5), "right")
}

// header returns a PNG that claims a size and has nothing else.
func header(width, height uint32) []byte {
	chunk := append([]byte("IHDR"), binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, width), height)...)
	chunk = append(chunk, 8, 6, 0, 0, 0)
	out := binary.BigEndian.AppendUint32([]byte("\x89PNG\r\n\x1a\n"), uint32(len(chunk)-4))
	return binary.BigEndian.AppendUint32(append(out, chunk...), crc32.ChecksumIEEE(chunk))
}

// interlaced returns such a PNG that has 16 bits a channel, in passes.
func interlaced(png []byte) []byte {
	png[24], png[28] = 16, 1
	binary.BigEndian.PutUint32(png[29:], crc32.ChecksumIEEE(png[12:29]))
	return png
}

// progressiveHeader returns a JPEG of several scans that claims a size, and has no scan.
func progressiveHeader(width, height uint16) []byte {
	out := []byte("\xff\xd8\xff\xc2\x00\x11\x08")
	out = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(out, height), width)
	return append(out, "\x03\x01\x11\x00\x02\x11\x00\x03\x11\x00\xff\xda\x00\x02"...)
}

func TestRefusedPictures(t *testing.T) {
	t.Parallel()
	whole := pngOf(t, halves(64, 64))
	for name, refused := range map[string]struct {
		content []byte
		reason  string
	}{
		"svg": {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`),
			"is an SVG, which can carry scripts"},
		"svg with head":  {[]byte("\xef\xbb\xbf<?xml version=\"1.0\"?>\n<!-- x -->\n<SVG/>"), "is an SVG"},
		"web page":       {[]byte("<html><img src=x></html>"), "is not a picture that can be read"},
		"pdf":            {[]byte("%PDF-1.7"), "is not a picture that can be read"},
		"pixel bomb":     {header(60_000, 60_000), "is too large: it has 60000 × 60000 pixels"},
		"thin bomb":      {header(1_000_000, 16), "is too large"},
		"overflow":       {header(1<<31-1, 1<<31-1), "is"},
		"just too large": {header(7_100, 7_100), "is too large"},
		"memory bomb":    {progressiveHeader(7_000, 7_000), tooHard},
		"fill byte":      {slices.Insert(progressiveHeader(7_000, 7_000), 2, 0xff), tooHard},
		"stray byte":     {slices.Insert(progressiveHeader(7_000, 7_000), 2, 0xff, 0xfe, 0x00, 0x02, 0x41), tooHard},
		"restart marker": {slices.Insert(progressiveHeader(7_000, 7_000), 2, 0xff, 0xd0), tooHard},
		"passes":         {interlaced(header(7_000, 7_000)), tooHard},
		"dot":            {pngOf(t, halves(1, 1)), "is too small"},
		"cut off":        {whole[:len(whole)/2], "is damaged"},
		"header alone":   {header(64, 64), "is damaged"},
		"animated webp": {[]byte("RIFF\x20\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00\x40\x00\x00\x40\x00\x00"),
			"is an animated WebP"},
		"empty": {nil, "is not a picture"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, invalid := read(t, refused.content, ThumbnailBox)
			require.Contains(t, invalid, refused.reason)
		})
	}
}

// A picture whose decoding takes too long is given up, and is the file's fault; a request that
// ended is not.
func TestReadingIsBoundedInTime(t *testing.T) {
	t.Parallel()
	content := jpegOf(t, halves(640, 480))
	slow := newThumbnailer()
	slow.timeout = 0
	_, err := slow.Read(t.Context(), uuid.Nil, bytes.NewReader(content), ThumbnailBox)
	reason, invalid := IsInvalid(err)
	require.True(t, invalid, err)
	require.Contains(t, reason, "could not be read within the limits of time and memory")

	ended, cancel := context.WithCancel(t.Context())
	reader := &endingReader{bytes.NewReader(content), cancel}
	_, err = newThumbnailer().Read(ended, uuid.Nil, reader, ThumbnailBox)
	require.ErrorIs(t, err, context.Canceled)
}

// endingReader ends the request while the file is read.
type endingReader struct {
	*bytes.Reader
	end func()
}

func (r *endingReader) Read(p []byte) (int, error) {
	r.end()
	return r.Reader.Read(p)
}

// A photo of a large camera is read within the limits.
func TestLargePhoto(t *testing.T) {
	t.Parallel()
	photo := image.NewYCbCr(image.Rect(0, 0, 8064, 6048), image.YCbCrSubsampleRatio420)
	content := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, photo, &jpeg.Options{Quality: 30}) })
	require.Less(t, len(content), MaxBytes)
	pixels, invalid := read(t, content, ThumbnailBox)
	require.Empty(t, invalid)
	require.Equal(t, image.Rect(0, 0, 960, 720), pixels.Rect)
}

// withOrientation returns a JPEG with EXIF that says how it lies.
func withOrientation(content []byte, orientation byte, order binary.AppendByteOrder, mark string) []byte {
	tiff := []byte(mark)
	tiff = order.AppendUint16(tiff, 42)
	tiff = order.AppendUint32(tiff, 8)
	tiff = order.AppendUint16(tiff, 1)
	tiff = order.AppendUint16(tiff, 0x0112)
	tiff = order.AppendUint16(tiff, 3)
	tiff = order.AppendUint32(tiff, 1)
	tiff = order.AppendUint16(tiff, uint16(orientation))
	tiff = append(tiff, 0, 0, 0, 0, 0, 0)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	out := append([]byte{0xff, 0xd8, 0xff, 0xe1}, binary.BigEndian.AppendUint16(nil, uint16(len(segment)+2))...)
	return append(append(out, segment...), content[2:]...)
}

func TestOrientation(t *testing.T) {
	t.Parallel()
	content := jpegOf(t, halves(64, 32)) // red on the left
	for orientation, red := range map[byte][2]int{
		1: {4, 16}, 2: {60, 16}, 3: {60, 16}, 4: {4, 16}, 5: {16, 4}, 6: {16, 4}, 7: {16, 60}, 8: {16, 60}, 9: {4, 16},
	} {
		for mark, order := range map[string]binary.AppendByteOrder{"II": binary.LittleEndian, "MM": binary.BigEndian} {
			pixels, invalid := decode(t.Context(), withOrientation(content, orientation, order, mark), ThumbnailBox)
			require.Empty(t, invalid)
			message := fmt.Sprint(mark, orientation)
			require.Equal(t, orientation >= 5 && orientation <= 8, pixels.Rect.Dx() < pixels.Rect.Dy(), message)
			requireNear(t, halves(2, 1).NRGBAAt(0, 0), pixels.NRGBAAt(red[0], red[1]), message)
		}
	}
}

// Nothing of the file itself is in what is made of it.
func TestNothingOfTheFileIsKept(t *testing.T) {
	t.Parallel()
	secret := "GPS 51.5 N, 0.1 W"
	script := "<script>alert(document.domain)</script>"
	content := append(withOrientation(jpegOf(t, halves(300, 200)), 1, binary.LittleEndian, "II"), script...)
	content = bytes.Replace(content, []byte("\xff\xd8"), []byte("\xff\xd8\xff\xfe\x00\x13"+secret), 1)
	require.Contains(t, string(content), secret)
	pixels, invalid := read(t, content, ThumbnailBox)
	require.Empty(t, invalid)
	thumbnails, err := newThumbnailer().Thumbnails(t.Context(), pixels)
	require.NoError(t, err)
	logos, err := newThumbnailer().Logo(t.Context(), pixels)
	require.NoError(t, err)
	for _, m := range append(thumbnails, logos...) {
		for _, part := range []string{"GPS", "script", "Exif"} {
			require.NotContains(t, string(m.bytes), part)
		}
		decoded, format, err := image.Decode(bytes.NewReader(m.bytes))
		require.NoError(t, err)
		require.Equal(t, "image/"+format, m.contentType)
		require.Equal(t, image.Pt(m.width, m.height), decoded.Bounds().Size())
	}
}

func FuzzDecode(f *testing.F) {
	small := halves(20, 18)
	f.Add(pngOf(f, small))
	f.Add(jpegOf(f, small))
	f.Add(withOrientation(jpegOf(f, small), 6, binary.BigEndian, "MM"))
	f.Add(encoded(f, func(b *bytes.Buffer) error { return gif.Encode(b, small, nil) }))
	f.Add([]byte(strings.Repeat(" ", 100) + "<svg>"))
	webp, err := os.ReadFile("testdata/canvas.webp")
	require.NoError(f, err)
	f.Add(webp)
	f.Fuzz(func(t *testing.T, content []byte) {
		if size, _, err := image.DecodeConfig(bytes.NewReader(content)); err == nil && size.Width*size.Height > 1<<20 {
			return // takes long, and is bounded elsewhere
		}
		pixels, invalid := decode(t.Context(), content, LogoBox)
		if invalid != "" {
			require.Nil(t, pixels)
			return
		}
		require.LessOrEqual(t, pixels.Rect.Dx(), LogoBox.Width)
		require.LessOrEqual(t, pixels.Rect.Dy(), LogoBox.Height)
		require.Len(t, pixels.Pix, 4*pixels.Rect.Dx()*pixels.Rect.Dy())
	})
}
