package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/pdf"
	"lodestone/pkg/test"
)

// onePage returns a file with one page of this size in points, which shows what the content says.
// More are entries of its catalog.
func onePage(width, height float64, content, resources, more string, objects ...string) []byte {
	return test.AssemblePDF(append([]string{
		"<< /Type /Catalog /Pages 2 0 R " + more + " >>",
		"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
		fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %g %g] /Contents 4 0 R /Resources << %s >> >>", width,
			height, resources),
		fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content),
	}, objects...), 0)
}

const square = "0.8 0.1 0.1 rg 100 100 200 200 re f"

// packed returns a stream object that unpacks to so many times a text.
func packed(t *testing.T, entries, text string, times int) string {
	t.Helper()
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	block := []byte(strings.Repeat(text, 1<<20/len(text)))
	var sizes []int
	for range 3 {
		_, err := w.Write(block)
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		sizes = append(sizes, out.Len())
	}
	// The last part unpacks to another block wherever it stands.
	all := append(bytes.Clone(out.Bytes()), bytes.Repeat(out.Bytes()[sizes[1]:sizes[2]], times*len(text)/len(block))...)
	return fmt.Sprintf("<< %s /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream", entries, len(all), all)
}

// What a first page is made of may be too much to render. The file is taken all the same, without
// a picture, and no one waits for long.
func TestPagesThatTakeTooMuch(t *testing.T) {
	t.Parallel()
	for name, content := range map[string][]byte{
		"content that unpacks to 2 GiB": test.AssemblePDF([]string{
			"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
			"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Contents 4 0 R /Resources << >> >>",
			packed(t, "", "0 0 600 800 re f\n", 2<<30/17),
		}, 0),
		"picture of 40,000 × 40,000": onePage(600, 800, "600 0 0 800 0 0 cm /I Do", "/XObject << /I 5 0 R >>", "",
			packed(t, "/Type /XObject /Subtype /Image /Width 40000 /Height 40000 /BitsPerComponent 8 /ColorSpace /DeviceRGB",
				"\x00", 1<<28)),
		"form that shows itself": onePage(600, 800, "/F Do", "/XObject << /F 5 0 R >>", "",
			"<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /F 5 0 R >> >> /Length 5 >>\nstream\n/F Do\nendstream"),
		"forms that show each other, 2^40 times": onePage(600, 800, "/F Do", "/XObject << /F 5 0 R >>", "", doubling(40)...),
		"infinitely flat":                        onePage(1e9, 0.001, square, "", ""),
		"without a size":                         onePage(0, 0, square, "", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document, err := read(t, content)
			require.NoError(t, err)
			require.Equal(t, 1, document.Pages)
		})
	}
}

// doubling returns forms. Each shows the next one twice.
func doubling(depth int) []string {
	var forms []string
	for i := range depth {
		forms = append(forms,
			fmt.Sprintf("<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Resources << /XObject << /F %d 0 R >> >> /Length 11 >>\nstream\n/F Do /F Do\nendstream", 6+i))
	}
	return append(forms,
		fmt.Sprintf("<< /Type /XObject /Subtype /Form /BBox [0 0 600 800] /Length %d >>\nstream\n%s\nendstream", len(square),
			square))
}

func TestPagesOfAnySize(t *testing.T) {
	t.Parallel()
	const kilometre = 72 / 0.0254 * 1000
	for name, page := range map[string]struct{ width, height float64 }{
		"10 km": {10 * kilometre, 10 * kilometre},
		"a dot": {3, 3},
		"strip": {600, 60_000},
		"wide":  {6000, 400},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			content := fmt.Sprintf("0.8 0.1 0.1 rg 0 %g %g %g re f", page.height-page.width/30, page.width/3, page.width/30)
			document, err := read(t, onePage(page.width, page.height, content, "", ""))
			require.NoError(t, err)
			requireCover(t, document)
			require.LessOrEqual(t, document.Cover.Rect.Dy(), pdf.MaxCoverHeight)
		})
	}
}

func TestClaimedPages(t *testing.T) {
	t.Parallel()
	whole := test.PDF(3, 0)
	for claim, want := range map[string]int{"/Count 3 /Kids": 3, "/Count 100000 /Kids": 3, "/Count 0 /Kids": 3,
		"/Count -7 /Kids": 3, "/Count 9999999999 /Kids": 3} {
		n, err := count(t, bytes.Replace(whole, []byte("/Count 3 /Kids"), []byte(claim), 1))
		require.NoError(t, err, claim)
		require.Equal(t, want, n, claim)
	}
}

func TestManyPages(t *testing.T) {
	t.Parallel()
	n, err := count(t, test.PDF(30_000, 0))
	require.NoError(t, err)
	require.Equal(t, 30_000, n)
}

// Nothing in a file is executed, and what asks for it is no reason to refuse the file.
func TestActionsDoNothing(t *testing.T) {
	t.Parallel()
	made := filepath.Join(t.TempDir(), "made")
	for name, action := range map[string]string{
		"script":       "/OpenAction << /S /JavaScript /JS (while \\(true\\) {} app.alert\\('x'\\);) >>",
		"named script": "/Names << /JavaScript << /Names [(a) << /S /JavaScript /JS (this.exportDataObject\\(\\)) >>] >> >>",
		"launch": "/OpenAction << /S /Launch /F (/bin/sh) /Win << /F (cmd.exe) >> /Unix << /F (touch " + made +
			") >> >>",
		"address":    "/OpenAction << /S /URI /URI (http://127.0.0.1:1/) >>",
		"form":       "/OpenAction << /S /SubmitForm /F (http://127.0.0.1:1/) >> /AcroForm << /Fields [] /XFA (<xdp/>) >>",
		"other file": "/OpenAction << /S /GoToR /F (" + made + ") /D [0 /Fit] >>",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document, err := read(t, onePage(600, 800, square, "", action))
			require.NoError(t, err)
			require.Equal(t, 1, document.Pages)
			requireCover(t, document)
			require.NoFileExists(t, made)
		})
	}
}
