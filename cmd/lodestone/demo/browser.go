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
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/certificate"
	"lodestone/pkg/client"
)

// browser is the client of one visitor: no key, an address of its own, and only the public endpoints.
type browser struct {
	http      *http.Client
	userAgent string
	origin    string // of the site
	collector string
	sent      *tally
}

// session is the answer that starts a session of the reading page.
type session struct {
	SessionID     string `json:"session_id"`
	TrackingToken string `json:"tracking_token"`
	Download      string `json:"download"`
}

// come plays one visitor: to the landing page, and if it is a reader, through the form to the document.
func (d *Demo) come(ctx context.Context, i int, v *visit, reads bool) error {
	b, err := d.newBrowser(i, v.userAgent)
	if err != nil {
		return err
	}
	defer b.http.CloseIdleConnections()
	page := d.pages[v.page]
	text, err := b.look(ctx, page.URL, v)
	if err != nil || !reads {
		return err
	}
	path, err := b.ask(ctx, page.URL, text, v)
	if errors.Is(err, errTooMany) { // the limit holds for the demo as for everybody
		path, err = d.invite(ctx, v)
	}
	if err != nil {
		return err
	}
	if v.bot {
		b.userAgent = crawlers[i%len(crawlers)]
	}
	in, err := b.open(ctx, path)
	if err != nil {
		return err
	}
	if err := b.readAloud(ctx, v, in); err != nil {
		return err
	}
	return b.download(ctx, v, in)
}

// newBrowser returns the browser of a visitor. On this machine every visitor has an address of their own, as in
// life: all of 127.0.0.0/8 is this machine. Elsewhere they share one, and its limits; then each has a user agent of its
// own, since a landing page counts an address with a user agent once a minute.
func (d *Demo) newBrowser(i int, userAgent string) (*browser, error) {
	site, err := url.Parse(d.cfg.URL)
	if err != nil {
		return nil, fmt.Errorf("parse the address of the API: %w", err)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	transport := &http.Transport{MaxIdleConnsPerHost: 2, DialContext: dialer.DialContext}
	if ip := net.ParseIP(site.Hostname()).To4(); ip != nil && ip.IsLoopback() {
		dialer.LocalAddr = &net.TCPAddr{IP: net.IPv4(127, 77, byte(i>>8), byte(i))}
	} else {
		userAgent = fmt.Sprintf("%s Visitor/%d", userAgent, i)
	}
	return &browser{
		http: &http.Client{
			Timeout: 30 * time.Second, Transport: certificate.HTTP(transport),
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		userAgent: userAgent, origin: site.Scheme + "://" + site.Host, collector: strings.TrimRight(d.cfg.CollectorURL, "/"), sent: d.sent,
	}, nil
}

// answered is an answer that was read.
type answered struct {
	StatusCode int
	Status     string
	Header     http.Header
	location   *url.URL // nil: none
}

// do sends a request and reads the answer to its end.
func (b *browser) do(ctx context.Context, method, address, kind string, body []byte, header http.Header) (*answered, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, nil, fmt.Errorf("make request: %w", err)
	}
	maps.Copy(req.Header, header)
	req.Header.Set("User-Agent", b.userAgent)
	if method == http.MethodPost {
		req.Header.Set("Content-Type", kind)
		req.Header.Set("Origin", b.origin)
	}
	res, err := b.http.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }() // it is read to its end
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, nil, fmt.Errorf("read answer: %w", err)
	}
	to, _ := res.Location() // most answers have none
	return &answered{res.StatusCode, res.Status, res.Header, to}, text, nil
}

var (
	viewToken = regexp.MustCompile(`\{token: "([^"]+)"`)
	pixel     = regexp.MustCompile(`<img class="pixel" src="([^"]+)"`)
	hidden    = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)"`)
)

// look opens a landing page and does what its script does, or the image where scripts do not run. It returns the
// page.
func (b *browser) look(ctx context.Context, address string, v *visit) (text string, err error) {
	query := url.Values{}
	for name, value := range map[string]string{"utm_source": v.campaign.source, "utm_medium": v.campaign.medium, "utm_campaign": v.campaign.name} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	header := http.Header{}
	if v.campaign.referrer != "" {
		header.Set("Referer", v.campaign.referrer)
	}
	res, page, err := b.do(ctx, http.MethodGet, address, "", nil, header)
	if err != nil {
		return "", fmt.Errorf("open the landing page: %w", err)
	}
	text = string(page)
	token, image := viewToken.FindStringSubmatch(text), pixel.FindStringSubmatch(text)
	if res.StatusCode != http.StatusOK || token == nil || image == nil {
		return "", fmt.Errorf("open the landing page: it answered %s", res.Status)
	}
	if v.scripts {
		view := map[string]string{"token": token[1], "event_id": uuid.NewString(), "referrer": v.campaign.referrer, "url": address}
		if err := b.post(ctx, "/v1/link-views", view, 1, nil); err != nil {
			return "", err
		}
	} else {
		res, _, err := b.do(ctx, http.MethodGet, html.UnescapeString(image[1]), "", nil, nil)
		if err != nil {
			return "", fmt.Errorf("load the image that counts: %w", err)
		}
		if res.StatusCode != http.StatusOK {
			return "", fmt.Errorf("load the image that counts: it answered %s", res.Status)
		}
	}
	b.sent.looked()
	return text, nil
}

// errTooMany is the answer to a form of an address that sent many.
var errTooMany = errors.New("too many forms from one address")

// ask sends the form of a landing page, and returns the address of the personal link that it leads to.
func (b *browser) ask(ctx context.Context, address, text string, v *visit) (string, error) {
	form := url.Values{"email": {v.email}, "website": {""}}
	for _, field := range hidden.FindAllStringSubmatch(text, -1) {
		form.Set(field[1], html.UnescapeString(field[2]))
	}
	res, _, err := b.do(ctx, http.MethodPost, address, "application/x-www-form-urlencoded", []byte(form.Encode()), nil)
	if err != nil {
		return "", fmt.Errorf("send the form: %w", err)
	}
	if res.StatusCode == http.StatusTooManyRequests {
		return "", errTooMany
	}
	if res.StatusCode != http.StatusSeeOther || res.location == nil {
		return "", fmt.Errorf("send the form: it answered %s", res.Status)
	}
	b.sent.submitted(v.campaign.source)
	return res.location.String(), nil
}

// invite has the API make a reader's link.
func (d *Demo) invite(ctx context.Context, v *visit) (address string, err error) {
	err = whileLimited(ctx, func() error {
		link, err := d.api.CreateAccessLink(ctx, client.NewAccessLink{LeadMagnetID: d.magnet.ID, Email: v.email})
		address = link.URL
		return err
	})
	if err != nil {
		return "", fmt.Errorf("create an access link: %w", err)
	}
	d.sent.invite()
	return address, nil
}

// open opens the reading page, and starts a session as its script does.
func (b *browser) open(ctx context.Context, address string) (*session, error) {
	res, _, err := b.do(ctx, http.MethodGet, address, "", nil, nil)
	if err != nil {
		return nil, errors.New("open the personal link: no answer") // without its address, which is a secret
	}
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("open the personal link: it answered %s", res.Status)
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("make id: %w", err)
	}
	res, text, err := b.do(ctx, http.MethodPost, address+"/sessions", "application/json", []byte(`{"session_id":"`+id.String()+`"}`), nil)
	if err != nil {
		return nil, errors.New("start a session: no answer")
	}
	in := &session{}
	if err := json.Unmarshal(text, in); err != nil || res.StatusCode != http.StatusCreated {
		return nil, fmt.Errorf("start a session: it answered %s", res.Status)
	}
	return in, nil
}

// partBytes is the size that a reader downloads before cancelling.
const partBytes = "bytes=0-9999"

// download reads the file, or the beginning of it. The server reports completed downloads.
func (b *browser) download(ctx context.Context, v *visit, in *session) error {
	if v.download == none {
		return nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	header := http.Header{}
	if v.download == part {
		header.Set("Range", partBytes)
	}
	res, file, err := b.do(ctx, http.MethodGet, b.origin+in.Download+"&d="+id.String(), "", nil, header)
	if err != nil {
		return errors.New("download: no answer")
	}
	if v.download == part {
		if res.StatusCode != http.StatusPartialContent {
			return fmt.Errorf("download: a part was answered %s", res.Status)
		}
		return nil
	}
	if res.StatusCode != http.StatusOK || !bytes.Equal(file, guide) {
		return fmt.Errorf("download: %s, and %d of %d bytes", res.Status, len(file), len(guide))
	}
	b.sent.add(downloadCompleted, 0, 0, false)
	return nil
}
