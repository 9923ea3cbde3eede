package attachment_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/attachment"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

func TestMain(m *testing.M) { test.LeakMain(m) }

// Before HTTP/1.1, the end of a connection is the end of a file, so that one that is cut off looks
// complete.
func TestFilesNeedHTTP11(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out, err := attachment.Create(w, r, "things", attachment.Choice{Format: attachment.CSV})
		if problem.Is(err, problem.InvalidParameter) {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(out, "id\n") // the client sees it
	}))
	t.Cleanup(server.Close)
	for version, status := range map[string]string{"1.0": "400", "1.1": "200"} {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(server.URL, "http://"))
		require.NoError(t, err)
		_, err = io.WriteString(conn, "GET / HTTP/"+version+"\r\nHost: x\r\nConnection: close\r\n\r\n")
		require.NoError(t, err)
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		require.Contains(t, string(answer), " "+status+" ")
		require.NoError(t, conn.Close())
	}
}

func TestNameAndTypeOfAFile(t *testing.T) {
	t.Parallel()
	for format, want := range map[attachment.Format]string{
		attachment.CSV: "text/csv; charset=utf-8; header=present", attachment.NDJSON: "application/x-ndjson",
		attachment.Parquet: "application/vnd.apache.parquet",
	} {
		w := httptest.NewRecorder()
		out, err := attachment.Create(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", http.NoBody),
			"things", attachment.Choice{Format: format})
		require.NoError(t, err)
		require.Empty(t, w.Header(), "a problem can still be the answer")
		_, err = out.Write(nil)
		require.NoError(t, err)
		require.Equal(t, want, w.Header().Get("Content-Type"))
		require.Regexp(t, `^attachment; filename="lodestone-things-\d{8}T\d{6}Z\.`+string(format)+`"$`,
			w.Header().Get("Content-Disposition"))
	}
}

// Excel takes a CSV file for UTF-8 only if it begins with a byte order mark.
func TestByteOrderMark(t *testing.T) {
	t.Parallel()
	for choice, want := range map[attachment.Choice]string{
		{Format: attachment.CSV, BOM: true}: "\ufeffname\nJörg\n", {Format: attachment.CSV}: "name\nJörg\n",
		{Format: attachment.NDJSON, BOM: true}: "name\nJörg\n",
	} {
		w := httptest.NewRecorder()
		out, err := attachment.Create(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/",
			http.NoBody), "things", choice)
		require.NoError(t, err)
		for _, text := range []string{"name\n", "Jörg\n"} {
			n, err := io.WriteString(out, text)
			require.NoError(t, err)
			require.Equal(t, len(text), n)
		}
		require.Equal(t, want, w.Body.String())
	}
}
