package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/certificate"
	"lodestone/pkg/client"
	"lodestone/pkg/event"
	"lodestone/pkg/service"
)

const (
	readersAtOnce = 16
	batchEvents   = 5 // that a reader's browser sends at once
)

// play lets everybody look at the landing pages, and the readers read.
func (d *Demo) play(ctx context.Context) error {
	if err := d.offer(ctx); err != nil {
		return err
	}
	site, err := url.Parse(d.cfg.URL)
	if err != nil {
		return fmt.Errorf("parse the address of the API: %w", err)
	}
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readersAtOnce)
	for _, v := range d.plan.visits {
		group.Go(func() error {
			if err := d.come(ctx, site, v); err != nil {
				return err
			}
			if n := done.Add(1); n%100 == 0 {
				fmt.Fprintf(d.deps.Out, "Visitors      %d of %d\n", n, len(d.plan.visits))
			}
			return nil
		})
	}
	return group.Wait()
}

// come plays one visitor: to the landing page and, with an address, through the form to the
// document.
func (d *Demo) come(ctx context.Context, site *url.URL, v *visit) error {
	b := d.newBrowser(site, v.visitor)
	defer b.http.CloseIdleConnections()
	page, err := b.look(ctx, d.urls[v.landing], v)
	if err != nil || v.email == "" {
		return err
	}
	link, err := b.ask(ctx, d.urls[v.landing], page, v.email)
	if errors.Is(err, errTooMany) { // the limit holds for the demo as for everybody
		v.invited = true
		link, err = d.invite(ctx, v.email)
	}
	if err != nil {
		return err
	}
	for _, s := range v.sessions {
		reader := *b
		reader.agent = s.visitor.agent
		if err := reader.read(ctx, link, s); err != nil {
			return err
		}
	}
	return nil
}

// browser is the client of one visitor: no key, an address of its own, and only the public
// endpoints.
type browser struct {
	http      *http.Client
	agent     string
	site      string
	collector string
}

// newBrowser returns the browser of a visitor. On this machine every visitor has an address of
// their own, as in life: all of 127.0.0.0/8 is this machine. Elsewhere they share one, and its
// limits; then each has a user agent of its own, since a landing page counts an address with a user
// agent once a minute.
func (d *Demo) newBrowser(site *url.URL, v *visitor) *browser {
	b := &browser{
		agent: v.agent, site: site.Scheme + "://" + site.Host, collector: strings.TrimRight(d.cfg.CollectorURL, "/"),
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if ip := net.ParseIP(site.Hostname()).To4(); ip != nil && ip.IsLoopback() {
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 77, byte(v.number>>8), byte(v.number))}
	} else {
		b.agent = fmt.Sprintf("%s Visitor/%d", v.agent, v.number)
	}
	b.http = &http.Client{
		Timeout:       30 * time.Second,
		Transport:     certificate.HTTP(&http.Transport{MaxIdleConnsPerHost: 2, DialContext: dialer.DialContext}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return b
}

// answer is the status of an HTTP answer and the headers that the demo reads.
type answer struct {
	status     int    // 0 if there was none
	retryAfter string // header
	location   string // where it leads, as an absolute address
}

// do sends a request, and reads the answer to its end. The answer has the status that is wanted, or
// there is an error.
func (b *browser) do(
	ctx context.Context, method, address string, body []byte, header http.Header, want int,
) (answer, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return answer{}, nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", b.agent)
	if method == http.MethodPost {
		req.Header.Set("Origin", b.site)
	}
	res, err := b.http.Do(req)
	if err != nil {
		return answer{}, nil, errors.New("there was no answer") // an address may be a secret
	}
	defer func() { _ = res.Body.Close() }() // it is read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return answer{}, nil, fmt.Errorf("read answer: %w", err)
	}
	if res.StatusCode != want {
		err = fmt.Errorf("the answer was %s", res.Status)
	}
	got := answer{status: res.StatusCode, retryAfter: res.Header.Get("Retry-After")}
	if to, failed := res.Location(); failed == nil {
		got.location = to.String()
	}
	return got, text, err
}

var (
	viewToken = regexp.MustCompile(`\{token: "([^"]+)"`)
	pixel     = regexp.MustCompile(`<img class="pixel" src="([^"]+)"`)
	hidden    = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// look opens a landing page and does what its script does, or the image where scripts do not run.
// It returns the page.
func (b *browser) look(ctx context.Context, address string, v *visit) (string, error) {
	address = withParameters(address, v.campaign)
	header := http.Header{}
	if v.campaign.referrer != "" {
		header.Set("Referer", v.campaign.referrer)
	}
	_, page, err := b.do(ctx, http.MethodGet, address, nil, header, http.StatusOK)
	if err != nil {
		return "", fmt.Errorf("open the landing page: %w", err)
	}
	token, image := viewToken.FindSubmatch(page), pixel.FindSubmatch(page)
	switch {
	case token == nil || image == nil:
		return "", errors.New("open the landing page: it counts no views")
	case v.scripts:
		err = b.post(ctx, "/v1/link-views", 1, func() any {
			return map[string]string{
				"token": string(token[1]), "event_id": uuid.NewString(), "referrer": v.campaign.referrer, "url": address,
			}
		})
	default:
		_, _, err = b.do(ctx, http.MethodGet, html.UnescapeString(string(image[1])), nil, nil, http.StatusOK)
	}
	if err != nil {
		return "", fmt.Errorf("count the view of a landing page: %w", err)
	}
	return string(page), nil
}

// withParameters returns the address that a campaign links to.
func withParameters(address string, c *campaign) string {
	query := url.Values{}
	for name, value := range c.parameters() {
		query.Set(name, value)
	}
	if len(query) == 0 {
		return address
	}
	return address + "?" + query.Encode()
}

// errTooMany is the answer to a form of an address that sent many.
var errTooMany = errors.New("too many forms from one address")

// ask sends the form of a landing page, and returns the address of the personal link that it leads
// to.
func (b *browser) ask(ctx context.Context, address, page, email string) (string, error) {
	form := url.Values{"email": {email}, "website": {""}}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
	res, _, err := b.do(ctx, http.MethodPost, address, []byte(form.Encode()), header, http.StatusSeeOther)
	if res.status == http.StatusTooManyRequests {
		return "", errTooMany
	}
	if err != nil {
		return "", fmt.Errorf("send the form: %w", err)
	}
	return res.location, nil
}

// invite has the API make a reader's link.
func (d *Demo) invite(ctx context.Context, email string) (string, error) {
	link, err := whileLimited(ctx, func() (client.AccessLink, error) {
		return d.deps.API.CreateAccessLink(ctx, client.NewAccessLink{LeadMagnetID: d.magnet.String(), Email: email})
	})
	if err != nil {
		return "", fmt.Errorf("create an access link: %w", err)
	}
	return link.URL, nil
}

// read opens the reading page, starts a session as its script does, and sends the events, page by
// page in small batches.
func (b *browser) read(ctx context.Context, address string, s *session) error {
	if _, _, err := b.do(ctx, http.MethodGet, address, nil, nil, http.StatusOK); err != nil {
		return fmt.Errorf("open the personal link: %w", err)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	header := http.Header{"Content-Type": {"application/json"}}
	body := []byte(`{"session_id":"` + id.String() + `"}`)
	_, text, err := b.do(ctx, http.MethodPost, address+"/sessions", body, header, http.StatusCreated)
	if err != nil {
		return fmt.Errorf("start a session: %w", err)
	}
	var started struct {
		SessionID     string `json:"session_id"`
		TrackingToken string `json:"tracking_token"`
		Download      string `json:"download"`
	}
	if err := json.Unmarshal(text, &started); err != nil {
		return fmt.Errorf("start a session: %w", err)
	}
	var events []map[string]any
	shift := time.Since(s.end()) // the reader has just finished
	for _, a := range s.actions {
		e := map[string]any{
			"token": started.TrackingToken, "session_id": started.SessionID, "event_id": uuid.NewString(),
			"event_type": a.kind.String(), "created_at": a.at.Add(shift).UTC(),
		}
		if a.kind == event.DownloadCompleted { // the server reports it
			continue
		}
		if a.kind == event.PageViewed {
			e["event_data"] = map[string]any{"page": a.page, "duration_ms": a.duration.Milliseconds()}
		}
		events = append(events, e)
	}
	for first := 0; first < len(events); first += batchEvents {
		batch := events[first:min(first+batchEvents, len(events))]
		times := 1
		if s.repeats && first == 0 {
			times = 2
		}
		for range times {
			err := b.post(ctx, "/v1/events", len(batch), func() any {
				for _, e := range batch {
					e["sent_at"] = time.Now().UTC()
				}
				return batch
			})
			if err != nil {
				return fmt.Errorf("send events: %w", err)
			}
		}
	}
	return b.download(ctx, started.Download, s)
}

// download reads the file, or the beginning of it. The server reports completed downloads.
func (b *browser) download(ctx context.Context, path string, s *session) error {
	if !s.has(event.DownloadStarted) {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	header, want, status := http.Header{}, guide, http.StatusOK
	if !s.has(event.DownloadCompleted) {
		header.Set("Range", "bytes=0-9999")
		want, status = guide[:10_000], http.StatusPartialContent
	}
	_, file, err := b.do(ctx, http.MethodGet, b.site+path+"&d="+id.String(), nil, header, status)
	if err == nil && !bytes.Equal(file, want) {
		err = errors.New("it is another file")
	}
	if err != nil {
		return fmt.Errorf("download: %w", err)
	}
	return nil
}

// post sends something to the collector until it is acknowledged.
func (b *browser) post(ctx context.Context, path string, elements int, what func() any) error {
	for {
		body, err := json.Marshal(what())
		if err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		header := http.Header{"Content-Type": {"text/plain"}}
		res, text, err := b.do(ctx, http.MethodPost, b.collector+path, body, header, http.StatusAccepted)
		var taken struct {
			Accepted int `json:"accepted"`
		}
		switch {
		case res.status == http.StatusServiceUnavailable || res.status == http.StatusTooManyRequests:
		case err != nil:
			return fmt.Errorf("%w: %s", err, text)
		case json.Unmarshal(text, &taken) != nil || taken.Accepted != elements:
			return fmt.Errorf("not everything was accepted: %s", text)
		default:
			return nil
		}
		seconds, _ := strconv.Atoi(res.retryAfter) // one second, if it says nothing
		if err := service.Sleep(ctx, time.Duration(max(seconds, 1))*time.Second); err != nil {
			return err
		}
	}
}
