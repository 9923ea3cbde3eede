package crud_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/crud/session"
	"lodestone/pkg/client"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test"
	"lodestone/pkg/test/clienttest"
	"lodestone/pkg/test/countrytest"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

// reported is a request that the collector received.
type reported struct {
	header http.Header
	event  map[string]any
}

// ears is a collector that remembers what it received.
type ears struct {
	mu    sync.Mutex
	heard []reported
	fail  int // so many requests are answered with 503
}

func (e *ears) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var event map[string]any
	if err := json.UnmarshalRead(r.Body, &event); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	e.heard = append(e.heard, reported{r.Header.Clone(), event})
	if len(e.heard) <= e.fail {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

func (e *ears) all() []reported {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

// reading is the service with its queue at work, an account, and a document.
type reading struct {
	*user
	t      *testing.T
	ears   *ears
	magnet client.LeadMagnet
	file   []byte
}

// readings is the service that readings share, with a database of their own, and a collector that
// hears each account for itself.
var readings struct {
	sync.Mutex
	f    *fixture
	ears map[uuid.UUID]*ears
}

// listen is the collector of the readings.
func listen(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var event struct {
		Token string `json:"token"`
	}
	if err == nil {
		err = json.Unmarshal(body, &event)
	}
	readings.Lock()
	claims, refused := readings.f.tokens.Verify([]byte(event.Token))
	heard := readings.ears[claims.AccountID]
	readings.Unlock()
	if err != nil || refused != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	heard.ServeHTTP(w, r)
}

// newReading returns a reading of an account of its own, with a document of at least so many bytes.
func newReading(t *testing.T, size int) *reading {
	t.Helper()
	r := sharedReadings(t).reading(t, size)
	readings.Lock()
	defer readings.Unlock()
	readings.ears[r.account] = r.ears
	return r
}

func sharedReadings(t *testing.T) *fixture {
	t.Helper()
	readings.Lock()
	defer readings.Unlock()
	if readings.f != nil {
		return readings.f
	}
	db, err := postgres.Open(context.Background(), postgres.Config{URL: enginetest.MigratedPostgresURL(t), MaxConns: 12})
	require.NoError(t, err)
	enginetest.AtEnd(db.Close)
	dir, err := os.MkdirTemp("", "lodestone-erasures-")
	require.NoError(t, err)
	enginetest.AtEnd(func() { _ = os.RemoveAll(dir) })
	collector := httptest.NewServer(http.HandlerFunc(listen))
	enginetest.AtEnd(collector.Close)
	country := countrytest.Germany(t, "127.0.0.0/8") // which is read once
	f := newFixture(t, db, enginetest.AtEnd, func(c *crud.Config) {
		c.CollectorURL, c.MaxFileBytes, c.Erasure.Log, c.Country.Database = collector.URL, 32<<20, dir, country
	})
	require.NoError(t, f.service.Queue().Start(context.Background()))
	enginetest.AtEnd(func() { _ = f.service.Queue().Stop(context.Background()) })
	readings.f, readings.ears = f, map[uuid.UUID]*ears{}
	return f
}

// newReadingAlone returns a reading of a service of its own.
func newReadingAlone(t *testing.T, size int, change ...func(*crud.Config)) *reading {
	t.Helper()
	heard := &ears{}
	collector := httptest.NewServer(heard)
	t.Cleanup(collector.Close)
	f := startAlone(t, append(change, func(c *crud.Config) { c.CollectorURL, c.MaxFileBytes = collector.URL, 32<<20 })...)
	enginetest.Run(t, f.service.Queue())
	r := f.reading(t, size)
	r.ears = heard
	return r
}

func (f *fixture) reading(t *testing.T, size int) *reading {
	t.Helper()
	r := &reading{t: t, ears: &ears{}, file: test.StripPDF(3, size), user: f.user(t, account.Team)}
	r.magnet = r.user.magnet(t)
	put := r.send(t, "PUT", "/api/v1/lead-magnets/"+r.magnet.ID+"/file", bytes.NewReader(r.file),
		"Content-Type", "application/pdf", "Content-Disposition", `attachment; filename="guide.pdf"`)
	require.Equal(t, 200, put.status, put.body)
	return r
}

// A new first key of the tokens, with the old one kept, ends no session and no preview.
func TestRotatedKeysEndNothing(t *testing.T) {
	t.Parallel()
	keys := token.NewKeys(1).Keys
	ring := func(keys string) *token.Ring {
		r, err := token.Config{Keys: keys}.Ring()
		require.NoError(t, err)
		return r
	}
	r := newReading(t, 0)
	id, path := r.link("")
	before := session.New(session.Deps{Postgres: r.fixture.db, Site: site, Tokens: ring(keys)})
	after := session.New(session.Deps{Postgres: r.fixture.db, Site: site,
		Tokens: ring(token.NewKeys(2).Keys + "," + keys)})
	link, err := before.Find(t.Context(), strings.TrimPrefix(path, "/a/"))
	require.NoError(t, err)
	require.Equal(t, id, link.ID.String())
	in, err := before.Start(t.Context(), link, uuid.Nil, session.Opener{})
	require.NoError(t, err)
	same, err := after.Enter(t.Context(), link, in.Pass())
	require.NoError(t, err)
	require.Equal(t, in.ID, same.ID)
	preview, _ := before.PreviewToken(link.ID)
	require.True(t, after.IsPreview(link, preview))
	preview, _ = after.PreviewToken(link.ID)
	require.False(t, before.IsPreview(link, preview), "a key that is not known")
}

// link makes an access link and returns its id and path.
func (r *reading) link(fields string) (id, path string) {
	r.t.Helper()
	made := r.post(r.t, "/api/v1/access-links", fmt.Sprintf(`{"lead_magnet_id":%q,"email":"ada@example.com"%s}`,
		r.magnet.ID, fields)).object(r.t)
	return made["id"].(string), strings.TrimPrefix(made["url"].(string), site)
}

// ask makes a request as a browser's page would.
func (r *reading) ask(method, path, body string, header ...string) (got, []byte) {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.fixture.url+path, strings.NewReader(body))
	require.NoError(r.t, err)
	req.Header.Set("User-Agent", "Mozilla/5.0 Reader/1")
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	plain := &http.Client{Transport: r.fixture.http.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := plain.Do(req)
	require.NoError(r.t, err)
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)
	require.NoError(r.t, err)
	return got{res.StatusCode, res.Header}, text
}

// got is an answer but for its body.
type got struct {
	StatusCode int
	Header     http.Header
}

// opened is the answer to who opens a link.
type opened struct {
	SessionID     uuid.UUID `json:"session_id"`
	TrackingToken string    `json:"tracking_token"`
	Collector     string    `json:"collector"`
	File          string    `json:"file"`
	Download      string    `json:"download"`
	FileName      string    `json:"file_name"`
	Size          int64     `json:"size"`
	Pages         int32     `json:"pages"`
	Resumed       bool      `json:"resumed"`
	Failure       string    `json:"failure"`
	State         string    `json:"state"`
}

func (r *reading) open(path, body string) (int, opened) {
	r.t.Helper()
	res, text := r.ask("POST", path+"/sessions", body, "Content-Type", "application/json")
	var o opened
	require.NoError(r.t, json.Unmarshal(text, &o), string(text))
	return res.StatusCode, o
}

func (r *reading) openedCount(id string) (n int) {
	r.t.Helper()
	require.NoError(r.t, r.fixture.db.Unscoped().QueryRow(r.t.Context(),
		"SELECT opened_count FROM access_links WHERE id = $1", id).Scan(&n))
	return n
}

// The page itself opens nothing, whoever asks for it; a session by POST does, once, and a reload
// goes on with it.
func TestOpeningCounts(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	id, path := r.link("")
	for range 3 {
		res, text := r.ask("GET", path, "")
		require.Equal(t, 200, res.StatusCode)
		require.Contains(t, string(text), r.magnet.Title)
		require.Equal(t, "no-store", res.Header.Get("Cache-Control"))
		require.Contains(t, res.Header.Get("X-Robots-Tag"), "noindex")
		require.Empty(t, res.Header.Values("Set-Cookie"))
	}
	require.Zero(t, r.openedCount(id))

	wanted := uuid.Must(uuid.NewV7())
	status, first := r.open(path, fmt.Sprintf(`{"session_id":%q}`, wanted))
	require.Equal(t, 201, status)
	require.Equal(t, wanted, first.SessionID)
	require.False(t, first.Resumed)
	require.Equal(t, int64(len(r.file)), first.Size)
	require.Equal(t, int32(3), first.Pages)
	claims, err := r.fixture.tokens.Verify([]byte(first.TrackingToken))
	require.NoError(t, err)
	require.Equal(t, token.Claims{AccountID: r.account, LeadMagnetID: uuid.MustParse(r.magnet.ID),
		AccessLinkID: uuid.MustParse(id), MagnetVersion: claims.MagnetVersion}, claims)
	_, again := r.open(path, fmt.Sprintf(`{"session_id":%q}`, wanted))
	require.Equal(t, wanted, again.SessionID)
	require.True(t, again.Resumed)
	require.Equal(t, first.File, again.File, "what the browser has, it need not fetch again")
	require.Equal(t, 1, r.openedCount(id))

	// Others get sessions of their own, also who names one that is not of this link, or no UUID of
	// time.
	_, other := r.link("")
	for _, name := range []string{wanted.String(), uuid.NewString(), "rubbish", ""} {
		status, o := r.open(other, fmt.Sprintf(`{"session_id":%q}`, name))
		require.Equal(t, 201, status)
		require.NotEqual(t, wanted, o.SessionID)
		require.False(t, o.Resumed)
	}
	require.NotContains(t, r.fixture.log.String(), strings.TrimPrefix(path, "/a/"), "the log has no secret")

	// After a while it is another visit.
	_, err = r.fixture.db.Unscoped().Exec(t.Context(),
		"UPDATE sessions SET last_active_at = now() - interval '31 minutes' WHERE id = $1", wanted)
	require.NoError(t, err)
	_, later := r.open(path, fmt.Sprintf(`{"session_id":%q}`, wanted))
	require.NotEqual(t, wanted, later.SessionID)
	require.Equal(t, 2, r.openedCount(id))
}

// A program that says that it is one spends no view, its webhooks say so, and no one goes on with
// its session.
func TestProgramsSpendNoView(t *testing.T) {
	t.Parallel()
	const headless = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/140.0.0.0 Safari/537.36"
	r := newReading(t, 0)
	_, err := r.CreateWebhook(t.Context(), clienttest.NewWebhook{URL: "http://127.0.0.1:9/",
		Kinds: []string{"link.accessed", "download.completed"}})
	require.NoError(t, err)
	id, path := r.link(`,"max_views":1`)
	wanted := uuid.Must(uuid.NewV7())
	body := fmt.Sprintf(`{"session_id":%q}`, wanted)
	for i := range 3 {
		res, text := r.ask("POST", path+"/sessions", body, "Content-Type", "application/json", "User-Agent", headless)
		require.Equal(t, 201, res.StatusCode)
		var o opened
		require.NoError(t, json.Unmarshal(text, &o))
		require.Equal(t, i > 0, o.Resumed)
		require.Equal(t, wanted, o.SessionID)
	}
	res, _ := r.ask("POST", path+"/open", "as=download", "Content-Type",
		"application/x-www-form-urlencoded", "User-Agent", headless)
	require.Equal(t, 303, res.StatusCode)
	res, text := r.ask("GET", res.Header.Get("Location"), "", "User-Agent", headless)
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, r.file, text)
	require.Zero(t, r.openedCount(id))
	require.Eventually(t, func() bool { return strings.Count(r.fixture.deliveries(t, r.account), `"bot":true`) == 3 },
		testTimeout, 20*time.Millisecond)
	require.Equal(t, 2, strings.Count(r.fixture.deliveries(t, r.account), `"type":"link.accessed"`))

	// The view is the person's, who gets a session of their own.
	status, mine := r.open(path, body)
	require.Equal(t, 201, status)
	require.NotEqual(t, wanted, mine.SessionID)
	require.False(t, mine.Resumed)
	require.Equal(t, 1, r.openedCount(id))
	require.Equal(t, 1, strings.Count(r.fixture.deliveries(t, r.account), `"bot":false`))

	// Then nothing is left, for a program neither. Its session keeps the link open for no one.
	_, err = r.fixture.db.Unscoped().Exec(t.Context(),
		"UPDATE sessions SET last_active_at = now() - interval '31 minutes' WHERE NOT bot AND account_id = $1", r.account)
	require.NoError(t, err)
	res, _ = r.ask("GET", path, "")
	require.Equal(t, 410, res.StatusCode)
	res, _ = r.ask("POST", path+"/sessions", "{}", "Content-Type", "application/json", "User-Agent", headless)
	require.Equal(t, 410, res.StatusCode)
}

// Of many who want the last openings at the same moment, as many get them as there are.
func TestMaxViewsHoldsAgainstManyAtOnce(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	id, path := r.link(`,"max_views":3`)
	var wg sync.WaitGroup
	codes := make([]int, 24)
	for i := range codes {
		wg.Go(func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
				r.fixture.url+path+"/sessions", strings.NewReader("{}"))
			if err != nil {
				return
			}
			if res, err := r.fixture.http.Do(req); err == nil {
				codes[i] = res.StatusCode
				_ = res.Body.Close()
			}
		})
	}
	wg.Wait()
	slices.Sort(codes)
	require.Equal(t, slices.Concat(slices.Repeat([]int{201}, 3), slices.Repeat([]int{410}, 21)), codes)
	require.Equal(t, 3, r.openedCount(id))
	var sessions int
	require.NoError(t, r.fixture.db.Unscoped().QueryRow(t.Context(),
		"SELECT count(*) FROM sessions WHERE access_link_id = $1", id).Scan(&sessions))
	require.Equal(t, 3, sessions)
	_, o := r.open(path, "{}")
	require.Equal(t, "used_up", o.State)
}

func TestLinksThatDoNotOpen(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	db := r.fixture.db.Unscoped()
	expired, expiredPath := r.link("")
	_, err := db.Exec(t.Context(), "UPDATE access_links SET expires_at = now() - interval '1 second' WHERE id = $1",
		expired)
	require.NoError(t, err)
	inactive, inactivePath := r.link("")
	r.patch(t, "/api/v1/access-links/"+inactive, `{"is_active":false}`)
	deleted, deletedPath := r.link("")
	r.remove(t, "/api/v1/access-links/"+deleted)
	_, used := r.link(`,"max_views":1`)
	r.open(used, "{}")
	_, err = db.Exec(t.Context(),
		"UPDATE sessions SET last_active_at = now() - interval '31 minutes' WHERE account_id = $1", r.account)
	require.NoError(t, err)
	empty := r.user.magnet(t)
	bare := r.post(t, "/api/v1/access-links",
		fmt.Sprintf(`{"lead_magnet_id":%q,"email":"ada@example.com"}`, empty.ID)).object(t)

	for path, want := range map[string]struct {
		status int
		state  string
	}{
		expiredPath: {410, "expired"}, inactivePath: {410, "inactive"}, deletedPath: {404, "unknown"}, used: {410, "used_up"},
		"/a/aaaaaaaaaaaaaaaaaaaaaaaaaa": {404, "unknown"}, "/a/x": {404, "unknown"},
		strings.TrimPrefix(bare["url"].(string), site): {404, "not_ready"},
	} {
		res, text := r.ask("GET", path, "")
		require.Equal(t, want.status, res.StatusCode, path)
		require.Contains(t, res.Header.Get("Content-Type"), "text/html")
		require.Contains(t, string(text), "<h1>")
		status, o := r.open(path, "{}")
		require.Equal(t, want.status, status, path)
		require.Equal(t, want.state, o.State)
		res, _ = r.ask("POST", path+"/open", "as=read", "Content-Type", "application/x-www-form-urlencoded")
		require.Equal(t, want.status, res.StatusCode, path)
	}
	res, _ := r.ask("GET", used+"/", "")
	require.Equal(t, []any{301, used}, []any{res.StatusCode, res.Header.Get("Location")})
	res, text := r.ask("GET", used+"/elsewhere", "")
	require.Equal(t, 404, res.StatusCode)
	require.Contains(t, string(text), "<h1>")
	_, one := r.ask("GET", "/a/aaaaaaaaaaaaaaaaaaaaaaaaaa", "")
	_, two := r.ask("GET", deletedPath, "")
	require.Len(t, two, len(one), "what is unknown looks the same")
}

// Switching a link off ends what is being read; a new file does not change it.
func TestFileOfASession(t *testing.T) {
	t.Parallel()
	r := newReading(t, 3<<20)
	id, path := r.link("")
	_, o := r.open(path, "{}")
	res, whole := r.ask("GET", o.File, "")
	require.Equal(t, 200, res.StatusCode)
	require.Equal(t, r.file, whole)
	require.Equal(t, "application/pdf", res.Header.Get("Content-Type"))
	require.Contains(t, res.Header.Get("Cache-Control"), "private")
	require.Equal(t, "bytes", res.Header.Get("Accept-Ranges"))
	tag := res.Header.Get("ETag")

	res, part := r.ask("GET", o.File, "", "Range", "bytes=1048570-1048600")
	require.Equal(t, 206, res.StatusCode)
	require.Equal(t, r.file[1048570:1048601], part)
	_, part = r.ask("GET", o.File, "", "Range", "bytes=-7", "If-Range", tag)
	require.Equal(t, r.file[len(r.file)-7:], part)
	res, part = r.ask("GET", o.File, "", "Range", "bytes=0-7", "If-Range", `"other"`)
	require.Equal(t, 200, res.StatusCode)
	require.Len(t, part, len(r.file))
	res, _ = r.ask("GET", o.File, "", "If-None-Match", tag)
	require.Equal(t, 304, res.StatusCode)

	other := test.StripPDF(5, 0)
	put := r.send(t, "PUT", "/api/v1/lead-magnets/"+r.magnet.ID+"/file", bytes.NewReader(other),
		"Content-Type", "application/pdf")
	require.Equal(t, 200, put.status)
	_, whole = r.ask("GET", o.File, "")
	require.Equal(t, r.file, whole, "who reads goes on with the file that was begun")
	_, fresh := r.open(path, "{}")
	_, whole = r.ask("GET", fresh.File, "")
	require.Equal(t, other, whole)

	// A pass opens one link's file, and only as it was made.
	_, stranger := r.link("")
	for _, bad := range []string{
		stranger + strings.TrimPrefix(o.File, path), path + "/file", path + "/file?s=", path + "/file?s=rubbish",
		o.File[:len(o.File)-1], o.File + "A",
		strings.Replace(o.File, "?s=A", "?s=B", 1),
	} {
		res, _ := r.ask("GET", bad, "")
		require.Equal(t, 410, res.StatusCode, bad)
	}
	r.patch(t, "/api/v1/access-links/"+id, `{"is_active":false}`)
	res, _ = r.ask("GET", o.File, "")
	require.Equal(t, 410, res.StatusCode)
}

// Without scripts a form does all.
func TestOpenWithoutScripts(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	id, path := r.link("")
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	res, _ := r.ask("POST", path+"/open", "as=read", form...)
	require.Equal(t, 303, res.StatusCode)
	res, body := r.ask("GET", res.Header.Get("Location"), "")
	require.Equal(t, r.file, body)
	require.Equal(t, `inline; filename=guide.pdf`, res.Header.Get("Content-Disposition"))
	res, _ = r.ask("POST", path+"/open", "as=download", form...)
	require.Equal(t, 303, res.StatusCode)
	res, body = r.ask("GET", res.Header.Get("Location"), "")
	require.Equal(t, r.file, body)
	require.Equal(t, `attachment; filename=guide.pdf`, res.Header.Get("Content-Disposition"))
	require.Eventually(t, func() bool { return len(r.ears.all()) == 2 }, testTimeout, 20*time.Millisecond)
	kinds := []any{r.ears.all()[0].event["event_type"], r.ears.all()[1].event["event_type"]}
	require.ElementsMatch(t, []any{"download_started", "download_completed"}, kinds)
	require.Equal(t, 2, r.openedCount(id))
	res, _ = r.ask("POST", path+"/open", "as=read", append(form, "Origin", "https://evil.example")...)
	require.Equal(t, 403, res.StatusCode)
	require.Equal(t, 2, r.openedCount(id))
}

// The owner's look counts nowhere, and works for links that do not open.
func TestPreviewCountsNowhere(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	id, path := r.link(`,"max_views":1`)
	r.patch(t, "/api/v1/access-links/"+id, `{"is_active":false}`)
	made := r.post(t, "/api/v1/access-links/"+id+"/preview", "").object(t)
	u, err := url.Parse(made["url"].(string))
	require.NoError(t, err)
	res, text := r.ask("GET", u.RequestURI(), "")
	require.Equal(t, 200, res.StatusCode)
	require.Contains(t, string(text), "nothing is counted")
	status, o := r.open(path, fmt.Sprintf(`{"preview":%q}`, u.Query().Get("preview")))
	require.Equal(t, 201, status)
	require.Empty(t, o.TrackingToken)
	require.Equal(t, uuid.Nil, o.SessionID)
	_, body := r.ask("GET", o.File, "")
	require.Equal(t, r.file, body)
	_, body = r.ask("GET", o.Download+"&d="+uuid.Must(uuid.NewV7()).String(), "")
	require.Equal(t, r.file, body)
	// Neither does it where no scripts run.
	require.Contains(t, string(text), `name="preview" value="`+u.Query().Get("preview")+`"`)
	form := []string{"Content-Type", "application/x-www-form-urlencoded"}
	for _, as := range []string{"read", "download"} {
		res, _ = r.ask("POST", path+"/open", "as="+as+"&preview="+u.Query().Get("preview"), form...)
		require.Equal(t, 303, res.StatusCode)
		_, body = r.ask("GET", res.Header.Get("Location"), "")
		require.Equal(t, r.file, body)
	}
	require.Empty(t, r.ears.all())
	require.Zero(t, r.openedCount(id))
	var rows int
	require.NoError(t, r.fixture.db.Unscoped().QueryRow(t.Context(),
		"SELECT (SELECT count(*) FROM sessions WHERE account_id = $1) + (SELECT count(*) FROM downloads WHERE account_id = $1)", r.account).Scan(&rows))
	require.Zero(t, rows)
	status, _ = r.open(path, `{"preview":"rubbish"}`)
	require.Equal(t, 410, status)
	_, other := r.link(`,"max_views":1`)
	_, o = r.open(other, fmt.Sprintf(`{"preview":%q}`, u.Query().Get("preview")))
	require.NotEmpty(t, o.TrackingToken, "a preview is of one link")
}

// Who asks for links that do not exist has to wait, and others with the same address read on.
func TestGuessingIsSlow(t *testing.T) {
	t.Parallel()
	r := newReadingAlone(t, 0)
	_, path := r.link("")
	last := 0
	for i := range 40 {
		res, _ := r.ask("GET", fmt.Sprintf("/a/guess%021d", i), "")
		if last = res.StatusCode; last == 429 {
			require.NotEmpty(t, res.Header.Get("Retry-After"))
			break
		}
		require.Equal(t, 404, last)
	}
	require.Equal(t, 429, last)
	res, _ := r.ask("GET", path, "")
	require.Equal(t, 200, res.StatusCode)
	status, _ := r.open(path, "{}")
	require.Equal(t, 201, status)
	status, o := r.open("/a/guess000000000000000000099", "{}")
	require.Equal(t, 429, status)
	require.Equal(t, "wait", o.State)
}

// One address cannot make views without end, nor the messages to webhooks that come with them.
func TestOpeningOverAndOverIsSlow(t *testing.T) {
	t.Parallel()
	r := newReading(t, 0)
	id, path := r.link("")
	_, other := r.link("")
	for range openings {
		status, _ := r.open(path, "{}")
		require.Equal(t, 201, status)
	}
	status, o := r.open(path, "{}")
	require.Equal(t, 429, status)
	require.Equal(t, "wait", o.State)
	require.Equal(t, openings, r.openedCount(id))
	status, _ = r.open(other, "{}")
	require.Equal(t, 201, status, "the count is of one link")
}
