package pdf

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klippa-app/go-pdfium/requests"
	"github.com/stretchr/testify/require"
)

// A file that is locked in a way that its readers do not know is refused, and called locked so:
// PDFium takes some for files with a password, some for files without pages, and opens some whose
// pages no browser can show.
func TestUnknownLocksAreNamed(t *testing.T) {
	t.Parallel()
	cache, err := openCache()
	require.NoError(t, err)
	t.Cleanup(cache.close)
	e, err := startEngine(cache.dir)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, e.close()) })
	invalid := func(file []byte) string {
		v := e.count(bytes.NewReader(file), int64(len(file)))
		if e.document != "" {
			_, err := e.pdfium.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: e.document})
			require.NoError(t, err)
			e.document = ""
		}
		return v.Invalid
	}
	paths, err := filepath.Glob("testdata/*ed-*-*.pdf")
	require.NoError(t, err)
	tried := 0
	for _, path := range paths {
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		if !bytes.Contains(file, []byte("/Encrypt ")) {
			continue
		}
		versions := map[string][]byte{path: file}
		if bytes.Contains(file, []byte("trailer <<")) {
			versions[path+", its table a stream"] = withStream(t, file)
		}
		for name, file := range versions {
			as := ""
			if strings.Contains(name, "locked") {
				as = "is locked by a password: send it without one"
			}
			require.Equal(t, as, invalid(file), name)
			for _, change := range [][2]string{
				{`/Filter /Standard `, "/Filter /Custom42 "},
				{`/V \d >>`, "/V 3 >>"}, {`/V \d >>`, "/V 7 >>"}, {`/V \d >>`, "     >>"},
				{`/R \d /`, "/R 1 /"}, {`/R \d /`, "/R 8 /"}, {`/R \d /`, "     /"},
				{`(/CFM /\w*)\d `, "${1}9 "}, {`/CFM /AESV\d `, "/CFM /None  "}, {`/CFM /V2 `, "         "},
				{`/StmF /StdCF `, "/StmF /Other "}, {`/StrF /StdCF `, "/StrF /Other "},
				{`/StmF /StdCF /StrF /StdCF `, "/StmF /Other /StrF /Other "},
				{`/StmF /StdCF /StrF /StdCF `, "/StmF/Identity/StrF/StdCF "},
			} {
				if changed := regexp.MustCompile(change[0]).ReplaceAll(file, []byte(change[1])); !bytes.Equal(file, changed) {
					require.Len(t, changed, len(file))
					require.Equal(t, "is locked in a way that cannot be read: send it without a lock",
						invalid(changed), "%s: %q", name, change[1])
					tried++
				}
			}
		}
	}
	require.Greater(t, tried, 100)
}

// A file whose attachments alone are locked can be read.
func TestLocksOfAttachments(t *testing.T) {
	t.Parallel()
	const lock = "5 0 obj\n<< /Filter /Standard /V 4 /R 4 /CF << /StdCF << /CFM /AESV2 >> >> /StmF /%s /StrF /%s /EFF /StdCF >>\nendobj\ntrailer << /Encrypt 5 0 R >>"
	strange := func(stream, text string) bool {
		file := fmt.Sprintf(lock, stream, text)
		return isStrange(strings.NewReader(file), int64(len(file)))
	}
	require.False(t, strange("StdCF", "StdCF"))
	require.True(t, strange("Identity", "StdCF"))
	require.False(t, strange("Identity", "Identity"))
}

// withStream returns a file whose table of objects, at its end, is a stream.
func withStream(t *testing.T, file []byte) []byte {
	t.Helper()
	at := bytes.LastIndex(file, []byte("xref\n0 "))
	rows := regexp.MustCompile(`(?m)^(\d{10}) \d{5} ([nf]) `).FindAllSubmatch(file[at:], -1)
	rest := regexp.MustCompile(`(?s)trailer << (.*) >>\s+startxref`).FindSubmatch(file[at:])
	require.NotNil(t, rest)
	table := []byte{0, 0, 0, 0}
	for _, row := range rows[1:] {
		place, err := strconv.Atoi(string(row[1]))
		require.NoError(t, err)
		table = append(table, 1, byte(place>>16), byte(place>>8), byte(place))
	}
	table = append(table, 1, byte(at>>16), byte(at>>8), byte(at))
	dictionary := bytes.Replace(rest[1], fmt.Appendf(nil, "/Size %d", len(rows)),
		fmt.Appendf(nil, "/Size %d", len(rows)+1), 1)
	return slices.Concat(file[:at], fmt.Appendf(nil, "%d 0 obj\n<< /Type /XRef /W [ 1 3 0 ] /Length %d %s >>\nstream\n",
		len(rows), len(table), dictionary), table,
		fmt.Appendf(nil, "\nendstream\nendobj\nstartxref\n%d\n%%%%EOF\n", at))
}
