package pdf_test

import (
	"fmt"
	"image/color"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
)

// pageWith returns a file of one page with the entries given, and with objects from the fourth on.
func pageWith(catalog, entries string, objects ...string) []byte {
	return test.AssemblePDF(append([]string{
		"<< /Type /Catalog /Pages 2 0 R " + catalog + " >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] " + entries + " >>",
	}, objects...), 0)
}

// A form is on the cover as readers show it: values, ticks, and fields whose look the file leaves
// to the reader.
func TestAFormIsOnTheCover(t *testing.T) {
	t.Parallel()
	const font = "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
	red := "<< /Type /XObject /Subtype /Form /BBox [0 0 200 200] /Length 25 >>\nstream\n1 0 0 rg 0 0 200 200 re f\nendstream"
	for name, c := range map[string]struct {
		form, field string
		want        color.RGBA
	}{
		"its own look": {"", "/FT /Tx /T (name) /V (Ada) /AP << /N 5 0 R >>", color.RGBA{0xff, 0, 0, 0xff}},
		"a tick": {"", "/FT /Btn /T (agree) /V /Yes /AS /Yes /AP << /N << /Yes 5 0 R >> >>",
			color.RGBA{0xff, 0, 0, 0xff}},
		"left to the reader": {"/NeedAppearances true",
			"/FT /Tx /T (name) /V (Ada) /DA (/F1 24 Tf 0 g) /MK << /BG [0 0 1] >>", color.RGBA{0, 0, 0xff, 0xff}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document, err := read(t,
				pageWith("/AcroForm << /Fields [4 0 R] "+c.form+" /DR << /Font << /F1 6 0 R >> >> >>", "/Annots [4 0 R]",
					"<< /Type /Annot /Subtype /Widget /F 4 /P 3 0 R /Rect [200 300 400 500] "+c.field+" >>", red, font))
			require.NoError(t, err)
			require.NotNil(t, document.Cover)
			got := document.Cover.RGBAAt(document.Cover.Rect.Dx()*390/612, document.Cover.Rect.Dy()*(792-310)/792)
			require.Equal(t, c.want, got)
		})
	}
}

// Browsers have letters for fonts that a file only names, and the reader of covers does not: a page
// without its text is no cover.
func TestAPageWithoutItsTextIsNoCover(t *testing.T) {
	t.Parallel()
	japanese := func(text string) []byte {
		content := "BT /F1 24 Tf 72 700 Td " + text + " Tj ET"
		return pageWith("", "/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>",
			fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
			"<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiMin-W3 /Encoding /UniJIS-UCS2-H /DescendantFonts [6 0 R] >>",
			"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiMin-W3 /CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor 7 0 R >>",
			"<< /Type /FontDescriptor /FontName /HeiseiMin-W3 /Flags 4 /FontBBox [0 -200 1000 900] /ItalicAngle 0 /Ascent 800 /Descent -200 /CapHeight 700 /StemV 80 >>")
	}
	document, err := read(t, japanese("<65E5672C8A9E>"))
	require.NoError(t, err)
	require.Equal(t, 1, document.Pages)
	require.Nil(t, document.Cover)
	document, err = read(t, japanese("<004100640061>")) // Latin letters, which it can draw in a font of its own
	require.NoError(t, err)
	requireCover(t, document)
}
