package pdf

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/structs"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test"
)

// stamped returns a document with words in its mark.
func stamped(t *testing.T, r *Reader, content []byte, text string) []byte {
	t.Helper()
	from, err := os.Create(filepath.Join(t.TempDir(), "from"))
	require.NoError(t, err)
	defer func() { require.NoError(t, from.Close()) }()
	_, err = from.Write(content)
	require.NoError(t, err)
	to, err := os.Create(filepath.Join(t.TempDir(), "to"))
	require.NoError(t, err)
	defer func() { require.NoError(t, to.Close()) }()
	place, err := r.Stamp(t.Context(), uuid.Nil, from, to)
	require.NoError(t, err)
	out, err := os.ReadFile(to.Name())
	require.NoError(t, err)
	require.Len(t, Mark(text), len(Mark("")))
	copy(out[place:], Mark(text))
	return out
}

// textOf returns the text of each page, and how the pages look.
func textOf(t *testing.T, dir string, content []byte) (texts []string, looks [][]byte) {
	t.Helper()
	e, err := startEngine(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, e.close()) }()
	v := e.count(bytes.NewReader(content), int64(len(content)))
	require.Empty(t, v.Invalid)
	for i := range v.Pages {
		page := requests.Page{ByIndex: &requests.PageByIndex{Document: e.document, Index: i}}
		text, err := e.pdfium.GetPageText(&requests.GetPageText{Page: page})
		require.NoError(t, err)
		texts = append(texts, text.Text)
		pixels, _, err := e.render(i, InsideWidth)
		require.NoError(t, err)
		looks = append(looks, bytes.Clone(pixels))
	}
	return texts, looks
}

// Whatever program wrote a document, each page names the reader, and looks as before otherwise.
func TestEveryPageIsStamped(t *testing.T) {
	t.Parallel()
	r, err := NewReader()
	require.NoError(t, err)
	t.Cleanup(r.Close)
	dir, err := r.prepare(t.Context())
	require.NoError(t, err)
	paths, err := filepath.Glob("testdata/*.pdf")
	require.NoError(t, err)
	const strips = "strips"
	documents := map[string][]byte{strips: test.StripPDF(3, 0)}
	for _, path := range paths {
		if documents[path], err = os.ReadFile(path); err != nil || strings.Contains(path, "locked") {
			delete(documents, path)
		}
	}
	const text = "ann@example.com · 2026-11-30 20:15 UTC"
	for name, content := range documents {
		before, blank := textOf(t, dir, content)
		marked := stamped(t, r, content, text)
		after, drawn := textOf(t, dir, marked)
		require.Len(t, after, len(before), name)
		for i := range after {
			require.Contains(t, after[i], text, name)
			require.NotEqual(t, blank[i], drawn[i], name)
			if words := strings.Fields(before[i]); len(words) > 0 {
				require.Contains(t, after[i], words[0], name)
			}
		}
		if name != strips {
			continue
		}
		require.Equal(t, marked, stamped(t, r, content, text), "a part of it may come from another process")
		other, _ := textOf(t, dir, stamped(t, r, content, "(bob)\\@example.com · 例"))
		require.Contains(t, other[0], `(bob)\@example.com · %E4%BE%8B`)
		_, unmarked := textOf(t, dir, stamped(t, r, content, ""))
		require.Equal(t, blank, unmarked, "the words are the mark")
	}
}

func TestTheMarkFitsThePage(t *testing.T) {
	t.Parallel()
	at := func(m structs.FPDF_FS_MATRIX, x, y float32) [2]int {
		return [2]int{int(m.A*x + m.C*y + m.E + .5), int(m.B*x + m.D*y + m.F + .5)}
	}
	upright := places(structs.FPDF_FS_RECTF{Left: 0, Bottom: 0, Right: 600, Top: 800}, 0)
	require.Len(t, upright, 1)
	require.Equal(t, [2]int{300, 400}, at(upright[0], 500, 500))
	require.Equal(t, [2]int{-100 + 1, 0}, [2]int{at(upright[0], 0, 0)[0], at(upright[0], 0, 0)[1]})
	turned := places(structs.FPDF_FS_RECTF{Left: 0, Bottom: 0, Right: 600, Top: 800}, 1)
	require.Equal(t, [2]int{300, 400}, at(turned[0], 500, 500))
	require.Equal(t, [2]int{300, 800}, at(turned[0], 1000, 500), "who turns the page reads to the right")
	strip := places(structs.FPDF_FS_RECTF{Left: 10, Bottom: 10, Right: 110, Top: 1510}, 0)
	require.Len(t, strip, 10)
	require.Equal(t, [2]int{60, 85}, at(strip[0], 500, 500))
	require.Equal(t, [2]int{60, 1435}, at(strip[9], 500, 500))
}
