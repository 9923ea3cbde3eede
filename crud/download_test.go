package crud_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
)

// A download is complete when every byte went out, however it came to that.
func TestDownloadIsCompleteWithItsLastByte(t *testing.T) {
	t.Parallel()
	for name, play := range map[string]func(r *reading, url string){
		"at once": func(r *reading, url string) {
			_, body := r.ask("GET", url, "")
			require.Equal(r.t, r.file, body)
		},
		"twice": func(r *reading, url string) {
			r.ask("GET", url, "")
			r.ask("GET", url, "")
		},
		"broken off and resumed": func(r *reading, url string) {
			got := r.abort(url, 200<<10)
			require.Empty(r.t, r.ears.all())
			r.ask("GET", url, "", "Range", fmt.Sprintf("bytes=%d-", got))
		},
		"in parallel parts": func(r *reading, url string) {
			var wg sync.WaitGroup
			for i := range 4 {
				first, last := i*len(r.file)/4, (i+1)*len(r.file)/4-1
				wg.Go(func() {
					req, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.fixture.url+url, http.NoBody)
					if err != nil {
						return
					}
					req.Header.Set("Range", fmt.Sprintf("bytes=%d-%d", first, last))
					req.Header.Set("User-Agent", "Mozilla/5.0 Reader/1")
					if res, err := r.fixture.http.Do(req); err == nil {
						_, _ = io.Copy(io.Discard, res.Body)
						_ = res.Body.Close()
					}
				})
			}
			wg.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			size := 1 << 20
			if name == "broken off and resumed" {
				size = 24 << 20 // more than the sockets of both sides take before anybody reads
			}
			r := newReading(t, size)
			id, path := r.link("")
			_, o := r.open(path, "{}")
			play(r, o.Download+"&d="+uuid.Must(uuid.NewV7()).String())
			require.Eventually(t, func() bool { return len(r.ears.all()) > 0 }, testTimeout, 20*time.Millisecond)
			heard := r.ears.all()
			require.Len(t, heard, 1)
			event, header := heard[0].event, heard[0].header
			require.Equal(t, "download_completed", event["event_type"])
			require.Equal(t, o.SessionID.String(), event["session_id"])
			claims, err := r.fixture.tokens.Verify([]byte(event["token"].(string)))
			require.NoError(t, err)
			require.Equal(t, id, claims.AccessLinkID.String())
			require.Equal(t, "Mozilla/5.0 Reader/1", header.Get("User-Agent"))
			require.Equal(t, "for=unknown", header.Get("Forwarded"))
			require.Empty(t, header.Get("Sec-GPC"))
			require.Empty(t, header.Get("X-Forwarded-For"))
			require.Equal(t, "DE", header.Get("Lodestone-Country"))
		})
	}
}

// abort reads so many bytes of an answer and breaks the connection.
func (r *reading) abort(url string, want int) int {
	r.t.Helper()
	ctx, cancel := context.WithCancel(r.t.Context())
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.fixture.url+url, http.NoBody)
	require.NoError(r.t, err)
	res, err := r.fixture.http.Do(req)
	require.NoError(r.t, err)
	got, err := io.ReadFull(res.Body, make([]byte, want))
	require.NoError(r.t, err)
	cancel()
	_ = res.Body.Close()
	return got
}

// Visitors who take a file slowly, or not at all, take up a bounded number of places, and one of
// them not all of those.
func TestStalledDownloads(t *testing.T) {
	t.Parallel()
	r := newReadingAlone(t, 24<<20, func(c *crud.Config) {
		c.Viewer.Sending, c.Viewer.PerAddr = 3, 2
		c.Addresses.TrustedProxies = []string{"127.0.0.0/8"}
	})
	_, path := r.link("")
	_, o := r.open(path, "{}")
	start := func(from, url string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.fixture.url+url, http.NoBody)
		require.NoError(t, err)
		req.Header.Set("X-Forwarded-For", from)
		res, err := r.fixture.http.Do(req)
		require.NoError(t, err)
		t.Cleanup(func() { _ = res.Body.Close() })
		return res
	}
	const busy, second, third = "203.0.113.1", "203.0.113.2", "2001:db8::1"
	reading := start(busy, o.File)
	require.Equal(t, 200, reading.StatusCode)
	require.Equal(t, 200, start(busy, o.Download+"&d="+uuid.NewString()).StatusCode)
	for _, url := range []string{o.File, o.Download} {
		refused := start(busy, url)
		require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
		require.Equal(t, "5", refused.Header.Get("Retry-After"))
	}
	require.Equal(t, 200, start(second, o.File).StatusCode)
	full := start(third, o.File)
	require.Equal(t, http.StatusServiceUnavailable, full.StatusCode)
	require.Equal(t, "5", full.Header.Get("Retry-After"))
	_ = reading.Body.Close()
	require.Eventually(t, func() bool { return start(third, o.File).StatusCode == http.StatusOK },
		testTimeout, 10*time.Millisecond)
}

// What a visitor makes a download remember is bounded.
func TestDownloadInCrumbs(t *testing.T) {
	t.Parallel()
	r := newReading(t, 1<<20)
	_, path := r.link("")
	_, o := r.open(path, "{}")
	id := uuid.Must(uuid.NewV7())
	url := o.Download + "&d=" + id.String()
	r.ask("GET", url, "", "Range", "bytes=0-0")
	db := r.fixture.db.Unscoped()
	_, err := db.Exec(t.Context(),
		`UPDATE downloads SET served = (SELECT range_agg(int8range(2 * n, 2 * n + 1)) FROM generate_series(0, 998) n) WHERE id = $1`, id)
	require.NoError(t, err)
	gaps := func() (n int) {
		require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM downloads, unnest(served) WHERE id = $1",
			id).Scan(&n))
		return n
	}
	for _, first := range []int{3000, 3002} {
		res, _ := r.ask("GET", url, "", "Range", fmt.Sprintf("bytes=%d-%d", first, first))
		require.Equal(t, 206, res.StatusCode)
		require.Eventually(t, func() bool { return gaps() == 1000 }, testTimeout, 20*time.Millisecond)
	}
	require.Empty(t, r.ears.all())
}

// What was begun and not finished, looked at, or read in the page is no download.
func TestWhatIsNoDownload(t *testing.T) {
	t.Parallel()
	r := newReading(t, 4<<20)
	_, path := r.link("")
	_, o := r.open(path, "{}")
	broken := uuid.Must(uuid.NewV7())
	r.ask("GET", o.Download+"&d="+broken.String(), "", "Range", "bytes=0-1000000")
	r.ask("GET", o.Download+"&d="+broken.String(), "", "Range", "bytes=1000002-") // one byte is missing
	r.ask("HEAD", o.Download+"&d="+uuid.Must(uuid.NewV7()).String(), "")
	r.ask("GET", o.File, "")
	r.ask("GET", o.Download, "") // names none
	var open, complete int
	require.NoError(t, r.fixture.db.Unscoped().QueryRow(t.Context(),
		"SELECT count(*), count(completed_at) FROM downloads WHERE account_id = $1", r.account).Scan(&open, &complete))
	require.Equal(t, []int{1, 0}, []int{open, complete})
	require.Empty(t, r.ears.all())
	// The byte that was missing makes it whole.
	r.ask("GET", o.Download+"&d="+broken.String(), "", "Range", "bytes=1000001-1000001")
	require.Eventually(t, func() bool { return len(r.ears.all()) == 1 }, testTimeout, 20*time.Millisecond)
}

// A report is sent until it is acknowledged, and is the same event each time.
func TestReportsAreRepeatedUntilTaken(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	r.ears.fail = 2
	_, path := r.link("")
	_, o := r.open(path, "{}")
	r.ask("GET", o.Download+"&d="+uuid.Must(uuid.NewV7()).String(), "", "Sec-GPC", "1")
	require.Eventually(t, func() bool { return len(r.ears.all()) == 3 }, testTimeout, 50*time.Millisecond)
	heard := r.ears.all()
	require.Equal(t, heard[0].event["event_id"], heard[2].event["event_id"])
	require.Equal(t, "1", heard[0].header.Get("Sec-GPC"), "whoever asks not to be tracked is not")
}

// A document that is for reading only is not downloaded by any way, and its readers see so in the
// brand and language of its account.
func TestDownloadSwitchedOff(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	r.patch(t, "/api/v1/account", `{"name":"Northwind Research","brand_color":"#a01030"}`)
	id, path := r.link("")
	_, before := r.open(path, "{}")
	changed := r.patch(t, "/api/v1/lead-magnets/"+r.magnet.ID, `{"downloadable":false}`).object(t)
	require.Equal(t, false, changed["downloadable"])
	for language, heading := range map[string]string{
		"en": "This document is read-only", "de": "Dieses Dokument ist zum Lesen da",
		"fr": "Ce document est à lire en ligne", "es": "Este documento es para leerlo en línea",
		"it": "Questo documento si legge online", "pt": "Este documento é para ler em linha",
		"nl": "Dit document is om te lezen", "pl": "Ten dokument jest do czytania",
	} {
		res, page := r.ask("GET", before.Download+"&d="+uuid.Must(uuid.NewV7()).String(), "", "Accept-Language", language)
		require.Equal(t, 403, res.StatusCode, language)
		require.Contains(t, res.Header.Get("Content-Type"), "text/html")
		for _, part := range []string{`lang="` + language + `"`, heading, "Northwind Research",
			"#a01030", `href="` + path + `"`} {
			require.Contains(t, string(page), part)
		}
	}
	// The session that had begun reads on, and those that begin get no address for a download.
	_, body := r.ask("GET", before.File, "")
	require.Equal(t, r.file, body)
	_, o := r.open(path, "{}")
	require.Empty(t, o.Download)
	_, body = r.ask("GET", o.File, "")
	require.Equal(t, r.file, body)
	_, page := r.ask("GET", path, "")
	for _, part := range []string{`id="download"`, `id="end-download"`, `id="print"`, `value="download"`} {
		require.NotContains(t, string(page), part)
	}
	count := r.openedCount(id)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	res, _ := r.ask("POST", path+"/open", "as=download", form...)
	require.Equal(t, 403, res.StatusCode)
	require.Equal(t, count, r.openedCount(id), "what is refused spends no view")
	preview := r.post(t, "/api/v1/access-links/"+id+"/preview", "").object(t)["url"].(string)
	_, o = r.open(path, fmt.Sprintf(`{"preview":%q}`, preview[strings.Index(preview, "=")+1:]))
	require.Equal(t, uuid.Nil, o.SessionID)
	require.Empty(t, o.Download, "owners see what readers see")
	require.Empty(t, r.ears.all())
	// On again, it is as it was.
	r.patch(t, "/api/v1/lead-magnets/"+r.magnet.ID, `{"downloadable":true}`)
	_, body = r.ask("GET", before.Download+"&d="+uuid.Must(uuid.NewV7()).String(), "")
	require.Equal(t, r.file, body)
}
