package export_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// objectStore speaks as much of the S3 protocol as an archive uses.
type objectStore struct {
	url     string
	bucket  string
	mu      sync.Mutex
	objects map[string][]byte
	written []string
}

func newStore(t *testing.T, bucket string) *objectStore {
	t.Helper()
	s := &objectStore{bucket: bucket, objects: map[string][]byte{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = server.URL
	return s
}

func (s *objectStore) get(path string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	object, ok := s.objects[path]
	return object, ok
}

// puts returns the names of what was written, in this order.
func (s *objectStore) puts() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.written...)
}

// ServeHTTP implements http.Handler.
func (s *objectStore) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	refuse := func(status int, code string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(w, "<Error><Code>%s</Code></Error>", code)
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if !strings.HasPrefix(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=access/") {
		refuse(http.StatusForbidden, "AccessDenied")
		return
	}
	if bucket != s.bucket {
		refuse(http.StatusNotFound, "NoSuchBucket")
		return
	}
	w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef"`)
	w.Header().Set("Last-Modified", "Wed, 25 Nov 2026 00:00:00 GMT")
	switch r.Method {
	case http.MethodPut:
		object, err := body(r)
		if err != nil {
			refuse(http.StatusBadRequest, "InvalidRequest")
			return
		}
		s.mu.Lock()
		s.objects[r.URL.Path], s.written = object, append(s.written, r.URL.Path)
		s.mu.Unlock()
	case http.MethodHead:
	default:
		object, ok := s.get(r.URL.Path)
		if !ok {
			refuse(http.StatusNotFound, "NoSuchKey")
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(object)))
		_, _ = w.Write(object)
	}
}

// body reads what is sent in signed chunks.
func body(r *http.Request) ([]byte, error) {
	if !strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return io.ReadAll(r.Body)
	}
	var all []byte
	for reader := bufio.NewReader(r.Body); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return nil, err
		}
		digits, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		n, err := strconv.ParseInt(digits, 16, 64)
		if err != nil || n == 0 {
			return all, err
		}
		part := make([]byte, n+2)
		if _, err := io.ReadFull(reader, part); err != nil {
			return nil, err
		}
		all = append(all, part[:n]...)
	}
}
