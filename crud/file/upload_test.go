package file

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

// A stalled upload is ended long before the time for uploads is over, and gives its place back.
func TestStalledUploadEnds(t *testing.T) {
	t.Parallel()
	const form = "multipart/form-data; boundary=b"
	rules := UploadRules{What: "the PDF", Types: []string{"application/pdf"}, MaxBytes: 1 << 20, Timeout: time.Hour,
		Intake: NewIntake(1 << 20), Stall: 20 * time.Millisecond}
	for name, begin := range map[string][2]string{
		"nothing":        {"application/pdf", ""},
		"a part":         {"application/pdf", "%PDF-1.7"},
		"form":           {form, "--b\r\n"},
		"a part in form": {form, "--b\r\nContent-Disposition: form-data; name=\"file\"\r\n\r\n%PDF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			account, ended := uuid.New(), make(chan error, 1)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				f, err := rules.Receive(w, r, account)
				if err == nil {
					f.Discard()
				}
				ended <- err
			}))
			defer server.Close()
			body, more := io.Pipe()
			defer func() { _ = more.Close() }()
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, server.URL,
				io.MultiReader(strings.NewReader(begin[1]), body))
			require.NoError(t, err)
			req.Header.Set("Content-Type", begin[0])
			done := make(chan struct{})
			go func() {
				defer close(done)
				if res, err := server.Client().Do(req); err == nil {
					_ = res.Body.Close()
				}
			}()
			err = <-ended
			require.True(t, problem.Is(err, problem.ValidationError), "%v", err)
			require.ErrorContains(t, errors.Unwrap(err), "timeout")
			p := problem.From(err)
			require.Contains(t, p.Errors[0].Message, "too slowly")
			release, err := rules.Intake.reserve(account, 2<<20)
			require.NoError(t, err, "its place is free")
			release()
			_ = more.Close()
			<-done
		})
	}
}

// An account receives so many files, and so many bytes, at a time, and never takes all that there
// is.
func TestIntake(t *testing.T) {
	t.Parallel()
	in := NewIntake(100)
	busy, other, third := uuid.New(), uuid.New(), uuid.New()
	small, err := in.reserve(busy, 1)
	require.NoError(t, err)
	for range maxAccountUploads - 1 {
		_, err = in.reserve(busy, 1)
		require.NoError(t, err)
	}
	_, err = in.reserve(busy, 1)
	require.True(t, problem.Is(err, problem.RateLimited), "%v", err)
	require.Equal(t, "5", problem.From(err).Header().Get("Retry-After"))
	small()
	_, err = in.reserve(busy, 194)
	require.True(t, problem.Is(err, problem.RateLimited), "%v", err)
	_, err = in.reserve(busy, 193)
	require.NoError(t, err)
	_, err = in.reserve(other, 200)
	require.NoError(t, err, "half of the space is for others")
	_, err = in.reserve(third, 1)
	require.True(t, problem.Is(err, problem.Unavailable), "%v", err)
	require.Equal(t, "5", problem.From(err).Header().Get("Retry-After"))
}

// The limit is named as people say it: in megabytes, or in bytes where those are not whole.
func TestTooLargeNamesTheLimit(t *testing.T) {
	t.Parallel()
	for limit, want := range map[int64]string{
		1: "1 bytes", 1000: "1000 bytes", 1 << 20: "1 MB", 1<<20 + 1: "1048577 bytes", 50 << 20: "50 MB", 2 << 30: "2048 MB",
	} {
		rules := UploadRules{What: "the PDF", Types: []string{"application/pdf"}, MaxBytes: limit,
			Timeout: time.Hour, Intake: NewIntake(1 << 40)}
		r := httptest.NewRequest(http.MethodPut, "/", strings.NewReader(""))
		r.Header.Set("Content-Type", "application/pdf")
		r.ContentLength = limit + formRoom + 1
		_, err := rules.Receive(httptest.NewRecorder(), r, uuid.New())
		require.True(t, problem.Is(err, problem.PayloadTooLarge), "%v", err)
		require.Equal(t, "The file may have at most "+want+".", problem.From(err).Detail)
	}
}
