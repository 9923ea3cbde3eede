package pdf_test

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/crud/pdf"
)

// produced are the files of testdata, which make.sh there made, and their pages. The locked ones
// have none that we may see.
var produced = map[string]int{
	"cairo.pdf":                             3,
	"chromium.pdf":                          3,
	"encrypted-aes-128-object-streams.pdf":  3,
	"encrypted-aes-128.pdf":                 3,
	"encrypted-aes-256-object-streams.pdf":  3,
	"encrypted-aes-256.pdf":                 3,
	"encrypted-rc4-128.pdf":                 3,
	"encrypted-rc4-40.pdf":                  3,
	"encrypted-rc4-v4.pdf":                  3,
	"ghostscript.pdf":                       3,
	"locked-aes-256.pdf":                    0,
	"locked-rc4-128.pdf":                    0,
	"mutool-incremental-object-streams.pdf": 4,
	"mutool-incremental.pdf":                4,
	"mutool.pdf":                            2,
	"pdftex.pdf":                            3,
	"poppler-pdfunite.pdf":                  6,
	"qpdf-2.0.pdf":                          3,
	"qpdf-classic.pdf":                      3,
	"qpdf-linearised-object-streams.pdf":    3,
	"qpdf-linearised.pdf":                   3,
	"qpdf-object-streams.pdf":               3,
	"reportlab.pdf":                         3,
	"weasyprint.pdf":                        3,
}

func TestFilesOfManyProducers(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("testdata/*.pdf")
	require.NoError(t, err)
	var names []string
	for _, path := range paths {
		names = append(names, filepath.Base(path))
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(produced)), names)
	for name, want := range produced {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			document, err := read(t, testdata(t, name))
			if want == 0 {
				reason, _ := pdf.IsInvalid(err)
				require.Equal(t, "is locked by a password: send it without one", reason)
				return
			}
			require.NoError(t, err)
			require.Equal(t, want, document.Pages)
			requireCover(t, document)
		})
	}
}

// What mail programs, web servers, editors and Word do to files does not make them unreadable.
func TestOddFiles(t *testing.T) {
	t.Parallel()
	classic, streams := testdata(t, "qpdf-classic.pdf"), testdata(t, "qpdf-object-streams.pdf")
	for name, content := range map[string][]byte{
		"zeros after":            append(bytes.Clone(classic), make([]byte, 1500)...),
		"web page after":         append(bytes.Clone(classic), strings.Repeat("<!-- made in 0.3 s -->\n", 20)...),
		"lines changed to CR LF": bytes.ReplaceAll(classic, []byte("\n"), []byte("\r\n")),
		"wrong place of the table": append(bytes.Clone(classic[:bytes.LastIndex(classic, []byte("startxref"))]),
			"startxref\n17\n%%EOF\n"...),
		"table lost": slices.Concat(classic[:bytes.LastIndex(classic, []byte("xref\n0 "))],
			classic[bytes.LastIndex(classic, []byte("trailer")):]),
		"table that updates a table":   update(t, classic),
		"table that updates a stream":  update(t, streams),
		"hybrid, as Word writes it":    hybrid(t, classic),
		"many updates, one on another": update(t, update(t, update(t, classic))),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, err := count(t, content)
			require.NoError(t, err)
			require.Equal(t, 3, n)
		})
	}
}

func testdata(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", name))
	require.NoError(t, err)
	return content
}

// update returns a file with an object more, added behind its end with a classic table of it.
func update(t *testing.T, file []byte) []byte {
	t.Helper()
	root, size, previous := trailer(t, file)
	object := len(file)
	file = fmt.Appendf(bytes.Clone(file), "%d 0 obj\n<< /Note (added) >>\nendobj\n", size)
	table := len(file)
	return fmt.Appendf(file,
		"xref\n%d 1\n%010d 00000 n \ntrailer\n<< /Size %d /Root %s /Prev %d >>\nstartxref\n%d\n%%%%EOF\n",
		size, object, size+1, root, previous, table)
}

// hybrid returns a file with a stream of the table added for readers that know such, and behind it
// an empty classic table that leads the others to the old one.
func hybrid(t *testing.T, file []byte) []byte {
	t.Helper()
	root, size, previous := trailer(t, file)
	stream := len(file)
	row := []byte{1, byte(stream >> 16), byte(stream >> 8), byte(stream), 0}
	file = fmt.Appendf(bytes.Clone(file),
		"%d 0 obj\n<< /Type /XRef /Size %d /Index [%d 1] /W [1 3 1] /Root %s /Length %d >>\nstream\n%s\nendstream\nendobj\n",
		size, size+1, size, root, len(row), row)
	table := len(file)
	return fmt.Appendf(file, "xref\n0 0\ntrailer\n<< /Size %d /Root %s /Prev %d /XRefStm %d >>\nstartxref\n%d\n%%%%EOF",
		size+1, root, previous, stream, table)
}

// trailer returns what the last trailer of a file says: its catalog, the number of its objects,
// and where its table is.
func trailer(t *testing.T, file []byte) (root string, size, table int) {
	t.Helper()
	last := func(pattern string) string {
		all := regexp.MustCompile(pattern).FindAllSubmatch(file, -1)
		require.NotEmpty(t, all, pattern)
		return string(all[len(all)-1][1])
	}
	number := func(pattern string) int {
		n, err := strconv.Atoi(last(pattern))
		require.NoError(t, err)
		return n
	}
	return last(`/Root (\d+ 0 R)`), number(`/Size (\d+)`), number(`startxref\s+(\d+)`)
}
