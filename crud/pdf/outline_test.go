package pdf_test

import (
	"fmt"
	"image"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/pdf"
	"lodestone/pkg/test"
)

// outlined is a PDF of pages with a table of contents: entries as they stand in the file. The first
// is object 4 + 2·pages.
func outlined(pages int, first, last string, entries ...string) []byte {
	objects := []string{"<< /Type /Catalog /Pages 2 0 R /Outlines 3 0 R >>", "", ""}
	var kids strings.Builder
	for n := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 4+2*n)
		objects = append(objects, fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R >>",
			5+2*n), "<< /Length 0 >>\nstream\n\nendstream")
	}
	objects[1] = fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", pages, kids.String())
	objects[2] = fmt.Sprintf("<< /Type /Outlines /First %s /Last %s >>", first, last)
	return test.AssemblePDF(append(objects, entries...), 0)
}

func TestTheTableOfContentsIsRead(t *testing.T) {
	t.Parallel()
	// Objects 4, 6, 8 and 10 are pages; entries begin at 12.
	document, err := read(t, outlined(4, "12 0 R", "15 0 R",
		"<< /Title (Why guides  work) /Parent 3 0 R /Next 14 0 R /First 13 0 R /Last 13 0 R /Dest [4 0 R /Fit] >>",
		"<< /Title (A first\nexample) /Parent 12 0 R /A << /S /GoTo /D [6 0 R /XYZ 0 0 0] >> >>",
		"<< /Title <FEFF00DC00620065007200730069006300680074> /Parent 3 0 R /Prev 12 0 R /Next 15 0 R /Dest [8 0 R /Fit] >>",
		"<< /Title (Elsewhere) /Parent 3 0 R /Prev 14 0 R /A << /S /URI /URI (https://example.com/) >> >>",
	))
	require.NoError(t, err)
	require.Equal(t, []pdf.Entry{{Level: 1, Title: "Why guides work", Page: 1}, {Level: 2, Title: "A first example",
		Page: 2}, {Level: 1, Title: "Übersicht", Page: 3}}, document.Outline)
	require.Len(t, document.Inside, 3)
	for _, page := range document.Inside {
		require.Equal(t, pdf.InsideWidth, page.Rect.Dx(), "too narrow to read")
	}
}

// Who wrote a file is read from its metadata, if that names a person: no account of a computer, and
// no program.
func TestTheAuthorIsRead(t *testing.T) {
	t.Parallel()
	for stated, want := range map[string]string{
		"(Ada Lovelace)": "Ada Lovelace", "(  Mary-Ann  O'Neill, Jr. )": "Mary-Ann O'Neill, Jr.",
		"<FEFF004A006F007300E9002000C1006C0076006100720065007A>": "José Álvarez",
		"(ada)": "", "(ada@example.com)": "", "(Microsoft Office User)": "", "(DESKTOP-4F2 user)": "",
		"(Ada <b>Lovelace</b>)": "", "()": "",
		"(" + strings.Repeat("Ada Maria ", 40) + ")": "",
	} {
		document, err := read(t, test.AuthoredPDF(stated))
		require.NoError(t, err)
		require.Equal(t, want, document.Author, stated)
	}
}

// A table of contents that goes round in circles, or is endless, is cut off.
func TestAnEndlessTableOfContentsIsCutOff(t *testing.T) {
	t.Parallel()
	document, err := read(t, outlined(1, "6 0 R", "6 0 R", "<< /Title ("+strings.Repeat("long ", 1000)+
		") /Parent 3 0 R /Next 6 0 R /First 6 0 R /Dest [4 0 R /Fit] >>"))
	require.NoError(t, err)
	require.LessOrEqual(t, len(document.Outline), 100)
	for _, e := range document.Outline {
		require.LessOrEqual(t, len(e.Title), 200)
	}
	require.Empty(t, document.Inside, "a single page is no inside")
}

// A dark page of 419.53 × 594.5 points in a box of 420 × 595 leaves its last pixels half white.
func TestACoverHasNoWhiteHairline(t *testing.T) {
	t.Parallel()
	dark := "0.06 0.1 0.17 rg 0 0.5 419.53 594.5 re f"
	document, err := read(t, test.AssemblePDF([]string{
		"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 595] /Contents 4 0 R >>",
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(dark), dark),
	}, 0))
	require.NoError(t, err)
	b := document.Cover.Rect
	require.InDelta(t, pdf.CoverWidth, b.Dx(), 4)
	inside := document.Cover.RGBAAt(b.Dx()/2, b.Dy()/2)
	for y := range b.Dy() {
		require.Equal(t, inside, document.Cover.RGBAAt(b.Max.X-1, y), "row %d", y)
	}
	for x := range b.Dx() {
		require.Equal(t, inside, document.Cover.RGBAAt(x, b.Max.Y-1), "column %d", x)
	}
	require.Equal(t, image.Point{}, b.Min)
}
