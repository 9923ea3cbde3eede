package pdf_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"fmt"
	"image/color"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud/pdf"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) {
	pdf.Main()
	test.LeakMain(closing{m})
}

// closing runs the tests, and then closes the reader that they share.
type closing struct{ *testing.M }

func (c closing) Run() int {
	code := c.M.Run()
	if r, err := shared(); err == nil {
		r.Close()
	}
	return code
}

var shared = sync.OnceValues(pdf.NewReader)

func count(t *testing.T, content []byte) (int, error) {
	t.Helper()
	document, err := read(t, content)
	return document.Pages, err
}

func read(t *testing.T, content []byte) (pdf.Document, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, content, 0o600))
	file, err := os.Open(path)
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	return reader(t).Read(t.Context(), uuid.Nil, file)
}

// requireCover checks that a first page was rendered, with something on it, on white.
func requireCover(t *testing.T, document pdf.Document) {
	t.Helper()
	require.NotNil(t, document.Cover)
	require.Equal(t, pdf.CoverWidth, document.Cover.Rect.Dx())
	require.True(t, document.Cover.Opaque())
	colours := map[color.RGBA]int{}
	for y := 0; y < document.Cover.Rect.Dy(); y += 2 { // a quarter of the pixels
		for x := 0; x < document.Cover.Rect.Dx(); x += 2 {
			colours[document.Cover.RGBAAt(x, y)]++
		}
	}
	require.Greater(t, len(colours), 1, "the page is blank")
	white := color.RGBA{0xff, 0xff, 0xff, 0xff}
	require.Greater(t, colours[white], len(document.Cover.Pix)/32, "the page is not white")
}

func reader(t *testing.T) *pdf.Reader {
	t.Helper()
	r, err := shared()
	require.NoError(t, err)
	return r
}

func TestPages(t *testing.T) {
	t.Parallel()
	for _, pages := range []int{1, 2, 300} {
		n, err := count(t, test.PDF(pages, 100))
		require.NoError(t, err)
		require.Equal(t, pages, n)
	}
}

// bomb is a file whose table of objects unpacks to 4 GiB.
func bomb(t *testing.T) []byte {
	t.Helper()
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	var sizes []int
	for range 3 {
		_, err := w.Write(zeros)
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		sizes = append(sizes, packed.Len())
	}
	block := packed.Bytes()[sizes[1]:sizes[2]] // unpacks to another MiB of zeros wherever it stands
	table := append(bytes.Clone(packed.Bytes()), bytes.Repeat(block, 4<<10)...)
	head := "%PDF-1.7\n"
	return fmt.Appendf(nil,
		"%s1 0 obj\n<< /Type /XRef /Size 10 /W [1 2 1] /Root 1 0 R /Filter /FlateDecode /Length %d >>\nstream\n%s\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n",
		head, len(table), table, len(head))
}

func TestHostileFiles(t *testing.T) {
	t.Parallel()
	whole := test.PDF(3, 0)
	for name, content := range map[string][]byte{
		"empty":           {},
		"text":            []byte("Dear customer, here is your guide."),
		"web page":        []byte("<html>%PDF</html>"),
		"disguised page":  []byte("%PDF-1.7\n<html><script>alert(1)</script></html>"),
		"signature alone": []byte("%PDF-1.7\n"),
		"half":            whole[:len(whole)/3],
		"no pages":        test.PDF(0, 0),
		"no catalog":      test.AssemblePDF([]string{"<< /Type /Font >>"}, 0),
		"endless tree": test.AssemblePDF([]string{"<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Count 1 /Kids [3 0 R] >>", "<< /Type /Pages /Count 1 /Kids [2 0 R] >>"}, 0),
		"own child": test.AssemblePDF([]string{"<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R] >>"}, 0),
		"lost pages": test.AssemblePDF([]string{"<< /Type /Catalog /Pages 9 0 R >>"}, 0),
		"deep dictionary": test.AssemblePDF([]string{"<< /Type /Catalog /Pages 2 0 R /X " + strings.Repeat("<< /A ",
			200_000) + strings.Repeat(">> ", 200_000) + " >>"}, 0),
		"deep list": test.AssemblePDF([]string{"<< /Type /Catalog /Pages 2 0 R /X " +
			strings.Repeat("[", 300_000) + " >>"}, 0),
		"circular length": test.AssemblePDF([]string{"<< /Type /Catalog /Pages 2 0 R >>",
			"<< /Length 2 0 R >>\nstream\nendstream"}, 0),
		"negative numbers": bytes.ReplaceAll(whole, []byte("/Size "), []byte("/Size -")),
		"no table":         bytes.SplitN(whole, []byte("xref\n0"), 2)[0],
		"bomb":             bomb(t),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := count(t, content)
			if err == nil {
				require.Positive(t, n) // read nonetheless: the readers of PDFs are lenient
				return
			}
			reason, invalid := pdf.IsInvalid(err)
			require.True(t, invalid, "%v", err)
			require.NotEmpty(t, reason)
		})
	}
}

// Damage of any kind gives an answer.
func TestDamagedFiles(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	whole := test.PDF(5, 0)
	for range 10 {
		content := bytes.Clone(whole)
		for range 1 + random.IntN(40) {
			content[random.IntN(len(content))] = byte(random.IntN(256))
		}
		if _, err := count(t, content); err != nil {
			_, invalid := pdf.IsInvalid(err)
			require.True(t, invalid, "%v", err)
		}
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	file, err := os.CreateTemp(t.TempDir(), "")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	_, err = file.Write(test.PDF(1, 0))
	require.NoError(t, err)
	_, err = reader(t).Read(ctx, uuid.Nil, file)
	require.ErrorIs(t, err, context.Canceled)
}

// What is no PDF is named, with what to do. What comes before the signature can be a script that a
// browser or a system takes the file for.
func TestFilesThatAreNoPDFAreNamed(t *testing.T) {
	t.Parallel()
	file := string(test.PDF(1, 0))
	for content, reason := range map[string]string{
		"<html><script>alert(1)</script>" +
			file: "has other bytes before its beginning: open it, save it as PDF again, and send that file",
		"\xef\xbb\xbf" + file: "has other bytes before its beginning: open it, save it as PDF again, and send that file",
		"\n" + file:           "has other bytes before its beginning: open it, save it as PDF again, and send that file",
		"PK\x03\x04\x14\x00\x06\x00word/document.xml": "is not a PDF but an archive or a document of an office program: export the document as PDF, and send that file",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":            "is not a PDF but a document of an office program: export it as PDF, and send that file",
		"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR":         "is not a PDF but a picture: save it as PDF, and send that file",
		"<!DOCTYPE html><p>Our guide</p>":             "is not a PDF but text or a web page: print it as PDF, and send that file",
		"\x00\x00\x00\x18ftypmp42":                    "is not a PDF: export or print the document as PDF, and send that file",
	} {
		_, err := count(t, []byte(content))
		got, invalid := pdf.IsInvalid(err)
		require.True(t, invalid, "%q", content)
		require.Equal(t, reason, got)
	}
}
