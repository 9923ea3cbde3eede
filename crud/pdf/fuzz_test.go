package pdf

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/klippa-app/go-pdfium/requests"
	"github.com/stretchr/testify/require"
)

// FuzzRead gives any bytes to what the process that reads does. Whatever they are, there is an
// answer, or the WebAssembly machine stops, which is an error as well.
func FuzzRead(f *testing.F) {
	paths, err := filepath.Glob("testdata/*.pdf")
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(content)
	}
	cache, err := openCache()
	require.NoError(f, err)
	f.Cleanup(cache.close)
	start := func() *engine {
		e, err := startEngine(cache.dir)
		require.NoError(f, err)
		return e
	}
	e := start()
	f.Cleanup(func() { require.NoError(f, e.close()) })
	f.Fuzz(func(t *testing.T, content []byte) {
		v := e.count(bytes.NewReader(content), int64(len(content)))
		require.LessOrEqual(t, v.Pages, maxPages)
		require.Equal(t, v.Invalid == "", v.Pages > 0, "%+v", v)
		if v.Invalid == "" {
			pixels, c, err := e.render(0, CoverWidth)
			require.Len(t, pixels, 4*c.Width*c.Height)
			if err != nil {
				require.Zero(t, c)
			}
			require.LessOrEqual(t, c.Height, MaxCoverHeight)
		}
		if e.document != "" {
			_, err := e.pdfium.FPDF_CloseDocument(&requests.FPDF_CloseDocument{Document: e.document})
			e.document = ""
			if err != nil { // the machine has stopped
				_ = e.close()
				e = start()
			}
		}
	})
}

// FuzzParse gives any bytes to what believes nothing of the process that reads.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "{}\n", `{"pages":3}` + "\n", `{"pages":0,"invalid":"has no pages"}` + "\n", `{"pages":-1}` + "\n",
		`{"pages":1}` + "\n" + `{"outline":[{"level":1,"title":"a","page":1}]}` + "\n" + `{"width":960,"height":48}` +
			"\nabc", `{"pages":1}` + "\n" + `{"outline":[{"level":1,"title":"a","page":1}]}` + "\n" +
			`{"width":960,"height":99999999}` + "\n",
	} {
		f.Add([]byte(seed))
	}
	f.Add(append([]byte(`{"pages":1}`+"\n"+`{"outline":null}`+"\n"+`{"width":960,"height":48}`+"\n"),
		make([]byte, 4*960*48)...))
	f.Fuzz(func(t *testing.T, out []byte) {
		d, ok := parse(out)
		if !ok {
			require.Nil(t, d.cover)
			return
		}
		require.True(t, d.Invalid != "" || d.Pages >= 1 && d.Pages <= maxPages)
		if d.cover != nil {
			require.Empty(t, d.Invalid)
			require.True(t, d.cover.Opaque())
			require.LessOrEqual(t, d.cover.Rect.Dy(), MaxCoverHeight)
		}
	})
}
