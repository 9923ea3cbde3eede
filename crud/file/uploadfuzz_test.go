package file

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

// Whatever a request carries, and however it says so: either a file comes out, within its limit,
// whole and with its hash, or a problem that puts the fault where it is.
func FuzzReceive(f *testing.F) {
	form := func(disposition, body string) []byte {
		return fmt.Appendf(nil, "--b\r\nContent-Disposition: %s\r\n\r\n%s\r\n--b--\r\n", disposition, body)
	}
	const multipart = "multipart/form-data; boundary=b"
	f.Add("application/pdf", "attachment; filename=a.pdf", []byte("%PDF-1.7"))
	f.Add("application/pdf; charset=x", "attachment; filename*=utf-8''%e2%82%ac.pdf", []byte(""))
	f.Add(multipart, "", form(`form-data; name="file"; filename="a.pdf"`, "%PDF-1.7"))
	f.Add(multipart, "", form(`form-data; name="other"`, "x"))
	f.Add(multipart, "", form(`form-data; name=file; filename="../../etc/passwd"`, ""))
	f.Add(multipart, "",
		[]byte("--b\r\nContent-Disposition: form-data; name=\"file\"\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\na=\r\n--b--"))
	f.Add(multipart, "", append(form(`form-data; name="other"`, "x")[:40], form(`form-data; name="file"`, "y")...))
	f.Add("multipart/form-data; boundary=\"\"", "", []byte("--\r\n\r\n----"))
	f.Add("multipart/form-data; boundary="+string(bytes.Repeat([]byte("b"), 100)), "", []byte("--b"))
	f.Add("multipart/mixed; boundary=b", "", []byte("--b"))
	f.Add("", "", []byte("%PDF"))
	rules := UploadRules{What: "the PDF", Types: []string{"application/pdf"}, MaxBytes: 64,
		Timeout: time.Minute, Intake: NewIntake(64)}
	f.Fuzz(func(t *testing.T, contentType, disposition string, body []byte) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPut, "/", bytes.NewReader(body))
		r.Header["Content-Type"] = []string{contentType}
		r.Header["Content-Disposition"] = []string{disposition}
		got, err := rules.Receive(httptest.NewRecorder(), r, uuid.Nil)
		if err != nil {
			require.Nil(t, got)
			known := problem.Is(err, problem.UnsupportedMediaType) || problem.Is(err, problem.PayloadTooLarge) ||
				problem.Is(err, problem.ValidationError)
			require.True(t, known, "%v", err)
			return
		}
		defer got.Discard()
		_, err = got.Temp.Seek(0, io.SeekStart)
		require.NoError(t, err)
		text, err := io.ReadAll(got.Temp)
		require.NoError(t, err)
		require.EqualValues(t, len(text), got.Size)
		require.NotZero(t, got.Size)
		require.LessOrEqual(t, got.Size, rules.MaxBytes)
		sum := sha256.Sum256(text)
		require.Equal(t, sum[:], got.SHA256)
		require.LessOrEqual(t, len(text), len(body), "nothing is made up")
	})
}
