package client_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/client"
)

// A page of the site asks the API of the same process.
func TestTransport(t *testing.T) {
	t.Parallel()
	next := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Header().Set("X-From", r.RemoteAddr+" "+r.Header.Get("X-Forwarded-For")+" "+r.RequestURI)
		w.WriteHeader(http.StatusCreated)
		_, _ = w.Write(body)
	})
	mux.HandleFunc("GET /empty", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("GET /stream", func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "first")
		select {
		case <-next:
		case <-r.Context().Done():
		}
		_, _ = io.WriteString(w, "second")
	})
	mux.HandleFunc("GET /cut", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "half")
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("GET /broken", func(http.ResponseWriter, *http.Request) { panic(errors.New("broken")) })

	visitor := httptest.NewRequest(http.MethodGet, "/dashboard", http.NoBody)
	visitor.RemoteAddr = "192.0.2.7:1234"
	visitor.Header.Set("X-Forwarded-For", "198.51.100.9")
	c := &http.Client{Transport: &client.Transport{Handler: mux, For: visitor}}
	send := func(method, path, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://lodestone"+path, strings.NewReader(body))
		require.NoError(t, err)
		res, err := c.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, res.Body.Close()) })
		return res
	}
	read := func(res *http.Response) string {
		t.Helper()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return string(text)
	}

	res := send("POST", "/echo?a=b", "hello")
	require.Equal(t, http.StatusCreated, res.StatusCode)
	require.Equal(t, "192.0.2.7:1234 198.51.100.9 /echo?a=b", res.Header.Get("X-From"))
	require.Equal(t, "hello", read(res))

	res = send("GET", "/empty", "")
	require.Equal(t, http.StatusOK, res.StatusCode)
	require.Empty(t, read(res))
	require.Equal(t, http.StatusNotFound, send("GET", "/none", "").StatusCode)
	require.Equal(t, http.StatusInternalServerError, send("GET", "/broken", "").StatusCode)

	res = send("GET", "/stream", "")
	first := make([]byte, 5)
	_, err := io.ReadFull(res.Body, first)
	require.NoError(t, err)
	require.Equal(t, "first", string(first), "an answer arrives while it is written")
	close(next)
	require.Equal(t, "second", read(res))

	_, err = io.ReadAll(send("GET", "/cut", "").Body)
	require.ErrorContains(t, err, "cut off", "half an answer does not look whole")
}
