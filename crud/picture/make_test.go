package picture

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"
)

func kinds(set Set) map[string]variant {
	out := map[string]variant{}
	for _, m := range set {
		out[m.kind] = m
	}
	return out
}

func TestThumbnails(t *testing.T) {
	t.Parallel()
	for name, page := range map[string]struct {
		size         image.Point
		large, small image.Point
	}{
		"page":      {image.Pt(960, 1358), image.Pt(960, 1358), image.Pt(480, 679)},
		"slide":     {image.Pt(960, 540), image.Pt(960, 540), image.Pt(480, 270)},
		"tiny":      {image.Pt(40, 30), image.Pt(40, 30), image.Pt(40, 30)},
		"receipt":   {image.Pt(100, 1600), image.Pt(100, 1600), image.Pt(100, 1600)},
		"panorama":  {image.Pt(960, 48), image.Pt(960, 48), image.Pt(480, 24)},
		"one pixel": {image.Pt(1, 1), image.Pt(1, 1), image.Pt(1, 1)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set, err := makeThumbnails(halves(page.size.X, page.size.Y))
			require.NoError(t, err)
			got := kinds(set)
			require.Len(t, got, 3)
			require.Equal(t, page.large, image.Pt(got[large].width, got[large].height))
			require.Equal(t, page.small, image.Pt(got[small].width, got[small].height))
			require.Equal(t, image.Pt(PreviewWidth, PreviewHeight), image.Pt(got[preview].width, got[preview].height))
			for _, m := range set {
				require.Less(t, len(m.bytes), 300<<10, m.kind)
			}
		})
	}
}

// A preview shows the page in the middle, not as a whole if it is upright, with an edge.
func TestPreview(t *testing.T) {
	t.Parallel()
	page := flatten(halves(960, 1358))
	out := compose(page)
	require.Equal(t, color.RGBA{200, 20, 20, 255}, out.RGBAAt(400, 300))
	require.Equal(t, color.RGBA{20, 160, 20, 255}, out.RGBAAt(800, 300))
	require.Equal(t, color.RGBA{200, 20, 20, 255}, out.RGBAAt(400, PreviewHeight-1), "the page goes on below")
	require.Equal(t, table, out.RGBAAt(20, 300))
	require.Equal(t, edge, out.RGBAAt(289, 300))
	require.Equal(t, table, out.RGBAAt(PreviewWidth-20, 300))
}

func TestTransparency(t *testing.T) {
	t.Parallel()
	glass := image.NewNRGBA(image.Rect(0, 0, 64, 32))
	logos, err := makeLogo(glass)
	require.NoError(t, err)
	require.Len(t, logos, 1)
	require.Equal(t, typePNG, logos[0].contentType)
	decoded, _, err := image.Decode(bytes.NewReader(logos[0].bytes))
	require.NoError(t, err)
	_, _, _, alpha := decoded.At(10, 10).RGBA()
	require.Zero(t, alpha)

	thumbnails, err := makeThumbnails(glass)
	require.NoError(t, err)
	white, _, err := image.Decode(bytes.NewReader(kinds(thumbnails)[large].bytes))
	require.NoError(t, err)
	require.Equal(t, color.RGBAModel.Convert(color.White), color.RGBAModel.Convert(white.At(10, 10)))
}

// Flat colours become PNG, which is smaller and exact; what a photo is like becomes JPEG.
func TestFormatOfThumbnails(t *testing.T) {
	t.Parallel()
	flat, err := makeThumbnails(halves(960, 1358))
	require.NoError(t, err)
	require.Equal(t, typePNG, kinds(flat)[large].contentType)
	photo := image.NewNRGBA(image.Rect(0, 0, 960, 1358))
	for i := range photo.Pix {
		photo.Pix[i] = uint8(i * i >> 7)
		if i%4 == 3 {
			photo.Pix[i] = 255
		}
	}
	rich, err := makeThumbnails(photo)
	require.NoError(t, err)
	require.Equal(t, typeJPEG, kinds(rich)[large].contentType)
}
