package qr_test

import (
	"bytes"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"strconv"
	"strings"
	"testing"

	"github.com/makiuchi-d/gozxing"
	"github.com/makiuchi-d/gozxing/qrcode"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/qr"
)

// read returns the text of a picture, and its level of error correction, as a phone reads them.
func read(t *testing.T, picture image.Image) (text, level string) {
	t.Helper()
	bitmap, err := gozxing.NewBinaryBitmapFromImage(picture)
	require.NoError(t, err)
	found, err := qrcode.NewQRCodeReader().Decode(bitmap, nil)
	require.NoError(t, err)
	return found.GetText(), found.GetResultMetadata()[gozxing.ResultMetadataType_ERROR_CORRECTION_LEVEL].(string)
}

func TestPNGIsReadAsTheAddress(t *testing.T) {
	t.Parallel()
	for address, levels := range map[string][]string{
		"https://links.example.com/l/guide": {"M", "Q", "H"},
		"https://links.example.com/l/guide?utm_source=fair&utm_medium=print&utm_campaign=spring+%26+summer": {"M", "Q", "H"},
		"https://links.example.com/l/guide?utm_campaign=" + strings.Repeat("x", 1500):                       {"M", "Q", "H"},
	} {
		for _, size := range []int{256, 1024, 1025} {
			code, err := qr.New(address)
			require.NoError(t, err)
			file, err := code.PNG(size)
			require.NoError(t, err)
			picture, err := png.Decode(bytes.NewReader(file))
			require.NoError(t, err)
			require.Equal(t, image.Rect(0, 0, size, size), picture.Bounds())
			for i := range size { // a quiet zone on each side
				for _, at := range []image.Point{{i, 0}, {i, size - 1}, {0, i}, {size - 1, i}} {
					require.Equal(t, color.RGBA{255, 255, 255, 255}, color.RGBAModel.Convert(picture.At(at.X, at.Y)))
				}
			}
			text, level := read(t, picture)
			require.Equal(t, address, text)
			require.Contains(t, levels, level)
		}
	}
}

// A short address has room for more correction within the same size.
func TestCorrectionUsesTheSize(t *testing.T) {
	t.Parallel()
	code, err := qr.New("https://links.example.com/l/a")
	require.NoError(t, err)
	file, err := code.PNG(512)
	require.NoError(t, err)
	picture, err := png.Decode(bytes.NewReader(file))
	require.NoError(t, err)
	_, level := read(t, picture)
	require.NotEqual(t, "M", level)
	require.NotEqual(t, "L", level)
}

// The SVG has the modules of the PNG: its path is drawn again, and read.
func TestSVGIsReadAsTheAddress(t *testing.T) {
	t.Parallel()
	const address = "https://links.example.com/l/guide?utm_source=fair"
	code, err := qr.New(address)
	require.NoError(t, err)
	var svg struct {
		Width   int    `xml:"width,attr"`
		ViewBox string `xml:"viewBox,attr"`
		Paths   []struct {
			D string `xml:"d,attr"`
		} `xml:"path"`
	}
	require.NoError(t, xml.Unmarshal(code.SVG(600), &svg))
	require.Equal(t, 600, svg.Width)
	side, err := strconv.Atoi(strings.Fields(svg.ViewBox)[2])
	require.NoError(t, err)
	const scale = 4
	picture := image.NewGray(image.Rect(0, 0, side*scale, side*scale))
	for i := range picture.Pix {
		picture.Pix[i] = 255
	}
	require.Len(t, svg.Paths, 2)
	for run := range strings.SplitSeq(strings.Trim(svg.Paths[1].D, "Mz"), "zM") {
		numbers := strings.FieldsFunc(run, func(r rune) bool { return strings.ContainsRune(" hv-", r) })
		x, errX := strconv.Atoi(numbers[0])
		y, errY := strconv.Atoi(numbers[1])
		width, errWidth := strconv.Atoi(numbers[2])
		require.NoError(t, errX)
		require.NoError(t, errY)
		require.NoError(t, errWidth)
		require.GreaterOrEqual(t, min(x, y), qr.QuietZone)
		require.LessOrEqual(t, x+width, side-qr.QuietZone)
		for px := x * scale; px < (x+width)*scale; px++ {
			for py := y * scale; py < (y+1)*scale; py++ {
				picture.SetGray(px, py, color.Gray{})
			}
		}
	}
	text, _ := read(t, picture)
	require.Equal(t, address, text)
}

func TestTooLongIsAnError(t *testing.T) {
	t.Parallel()
	_, err := qr.New(strings.Repeat("x", 3000))
	require.Error(t, err)
}
