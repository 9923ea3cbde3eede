package chaos

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/cmd/lodestone-lab/chaos/ledger"
	"lodestone/pkg/email"
	"lodestone/pkg/token"
)

const (
	// giveUp bounds how long a sender repeats a request. The window of repeats is counted in
	// records, and a sender that came back later than it reaches would count twice by design.
	giveUp        = 45 * time.Second
	clientTimeout = 8 * time.Second
)

// link is an access link that events are sent for, or a generic link whose landing page is viewed.
type link struct {
	account, magnet, id uuid.UUID
	token               string
}

// load sends events to the collectors and records their answers.
type load struct {
	ids        ledger.IDs
	links      []link   // access links
	landings   []link   // generic links
	collectors []string // base addresses
	ledger     *ledger.Ledger
	rate       int // events a second, 0 for as many as are taken
	batch      int // events of each request, 0 for the sizes below

	next    atomic.Uint64 // number of the next event
	step    atomic.Int64  // of the schedule
	paused  atomic.Bool
	busy    atomic.Int64 // requests under way
	skewed  atomic.Int64 // requests of clients whose clock is wrong
	refused atomic.Int64 // answers other than 202
	wait    sync.WaitGroup
	failed  chan error
}

// linkOf and sessionOf say where an event belongs; the check works them out again.
func (l *load) linkOf(number uint64) int {
	h := number * 0x9e3779b97f4a7c15
	h ^= h >> 29
	if h%4 == 0 { // a quarter of the events on one link
		return 0
	}
	return int(h >> 3 % uint64(len(l.links)))
}

func (l *load) landingOf(number uint64) int {
	h := number * 0x9e3779b97f4a7c15
	return int(h >> 33 % uint64(len(l.landings)))
}

func (l *load) sessionOf(number uint64) uint64 { return number / uint64(len(l.links)) / 4 }

// kindOf returns the type of an event: one in ten is a download.
func kindOf(number uint64) string {
	switch number % 20 {
	case 18:
		return "download_started"
	case 19:
		return "download_completed"
	default:
		return "page_viewed"
	}
}

// sizes are those of the senders' requests, in turn.
var sizes = []int{1, 100, 20, 250, 1, 100, 50, 500}

// start lets so many senders work until ctx ends.
func (l *load) start(ctx context.Context, senders int) {
	l.failed = make(chan error, senders)
	sizes := sizes
	if l.batch > 0 {
		sizes = []int{l.batch}
	}
	mean := 0
	for i := range senders {
		mean += sizes[i%len(sizes)]
	}
	for i := range senders {
		// Each sender makes requests at the same rate, whatever their size.
		var pause time.Duration
		if l.rate > 0 {
			pause = time.Duration(float64(time.Second) * float64(mean) / float64(l.rate))
		}
		l.wait.Go(func() {
			s := &sender{
				load: l, size: sizes[i%len(sizes)], thrice: i%4 == 1, views: i%4 == 2, skew: i%5 == 3, bot: i%7 == 3, pause: pause,
				http: &http.Client{Transport: &http.Transport{}, Timeout: clientTimeout},
			}
			defer s.http.CloseIdleConnections()
			if err := s.run(ctx); err != nil {
				l.failed <- err
			}
		})
	}
}

// quiet stops the senders from beginning anything and returns when nothing is under way.
func (l *load) quiet(ctx context.Context) error {
	l.paused.Store(true)
	for l.busy.Load() > 0 {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

func (l *load) resume() { l.paused.Store(false) }

// sender is one client.
type sender struct {
	load   *load
	size   int
	thrice bool // sends everything three times
	views  bool // of landing pages, else events
	skew   bool // its clock is an hour off
	bot    bool
	pause  time.Duration
	http   *http.Client
	body   []byte
}

func (s *sender) run(ctx context.Context) error {
	l := s.load
	due := time.Now()
	for ctx.Err() == nil {
		if s.pause > 0 {
			due = due.Add(s.pause)
			if late := time.Since(due); late > 2*time.Second {
				due = time.Now() // an outage is not made up for at once
			}
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(time.Until(due)):
			}
		}
		l.busy.Add(1)
		if l.paused.Load() {
			l.busy.Add(-1)
			select {
			case <-ctx.Done():
			case <-time.After(50 * time.Millisecond):
			}
			continue
		}
		err := s.send(ctx)
		l.busy.Add(-1)
		if err != nil {
			return err
		}
	}
	return nil
}

// send posts new events until they are acknowledged or the sender gives up. A request that was
// begun is seen through to its end even if ctx ends meanwhile, so that the ledger has all of them.
func (s *sender) send(ctx context.Context) error {
	l := s.load
	first := l.next.Add(uint64(s.size)) - uint64(s.size)
	s.build(first)
	deadline := time.Now().Add(giveUp)
	wait := 30 * time.Millisecond
	for {
		acked, err := s.post(ctx)
		if err != nil {
			return err
		}
		if acked {
			if err := l.ledger.Write(true, s.views, int(l.step.Load()), first, s.size); err != nil {
				return err
			}
			break
		}
		l.refused.Add(1)
		if time.Now().After(deadline) {
			return l.ledger.Write(false, s.views, int(l.step.Load()), first, s.size)
		}
		<-time.After(wait + time.Duration(rand.Int64N(int64(wait)))) // also after ctx has ended: see above
		wait = min(2*wait, 2*time.Second)
	}
	if s.thrice {
		for range 2 {
			if _, err := s.post(ctx); err != nil { // whatever the answer is
				return err
			}
		}
	}
	return nil
}

var errAnswer = errors.New("the collector gave an answer that it never should")

// post sends the body once to one of the collectors.
func (s *sender) post(ctx context.Context) (acked bool, err error) {
	address := s.load.collectors[rand.IntN(len(s.load.collectors))]
	path := "/v1/events"
	if s.views {
		path = "/v1/link-views"
	}
	req, err := http.NewRequestWithContext(context.WithoutCancel(ctx), http.MethodPost,
		address+path, bytes.NewReader(s.body))
	if err != nil {
		return false, err
	}
	req.Header.Set("Content-Type", "application/json")
	if s.bot {
		req.Header.Set("User-Agent", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)")
	} else {
		req.Header.Set("User-Agent", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
	}
	resp, err := s.http.Do(req)
	if err != nil {
		return false, nil
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err != nil {
		return false, nil
	}
	switch {
	case resp.StatusCode == http.StatusAccepted &&
		string(bytes.TrimSpace(text)) == fmt.Sprintf(`{"accepted":%d,"rejected":[]}`, s.size):
		return true, nil
	case resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusTooManyRequests,
		resp.StatusCode == http.StatusRequestTimeout: // it came too slowly, through a network that is spoilt
		return false, nil
	default:
		return false, fmt.Errorf("%w: %d %s", errAnswer, resp.StatusCode, text)
	}
}

// build writes the request's body: a single event, or an array.
func (s *sender) build(first uint64) {
	l := s.load
	b := s.body[:0]
	now := time.Now().UTC()
	if s.skew {
		l.skewed.Add(1)
		if first%2 == 0 {
			now = now.Add(time.Hour)
		} else {
			now = now.Add(-time.Hour)
		}
	}
	sent := now.Format(time.RFC3339Nano)
	if s.size > 1 {
		b = append(b, '[')
	}
	for n := first; n < first+uint64(s.size); n++ {
		if n > first {
			b = append(b, ',')
		}
		if s.views {
			b = l.appendView(b, n)
		} else {
			b = l.appendEvent(b, n, sent)
		}
	}
	if s.size > 1 {
		b = append(b, ']')
	}
	s.body = b
}

func (l *load) appendView(b []byte, n uint64) []byte {
	return fmt.Appendf(b,
		`{"token":"%s","event_id":"%s","referrer":"https://example.org/","url":"https://example.com/l/guide"}`,
		l.landings[l.landingOf(n)].token, l.ids.View(n))
}

func (l *load) appendEvent(b []byte, n uint64, sent string) []byte {
	kind, data := kindOf(n), "{}"
	if kind == "page_viewed" {
		data = fmt.Sprintf(`{"page":%d,"duration_ms":%d}`, n%40+1, n%30000)
	}
	return fmt.Appendf(b,
		`{"token":"%s","event_type":"%s","event_id":"%s","session_id":"%s","created_at":"%s","sent_at":"%s","event_data":%s}`,
		l.links[l.linkOf(n)].token, kind, l.ids.Event(n), l.ids.Session(l.sessionOf(n)), sent, sent, data)
}

// emailOf returns the address of a link's reader. Each link has its own.
func emailOf(account, reader int) string {
	return fmt.Sprintf("reader%d@account%d.example", reader, account+1)
}

// makeLinks puts accounts, lead magnets and access links into Postgres.
func (w *world) makeLinks(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, w.postgres.URL())
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	for a := range accounts {
		account, magnet := uuid.New(), uuid.New()
		if _, err := conn.Exec(ctx, "INSERT INTO accounts (id, name, plan) VALUES ($1, $2, 'team')", account,
			fmt.Sprint("Account ", a+1)); err != nil {
			return err
		}
		if _, err := conn.Exec(ctx, "INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')",
			magnet, account); err != nil {
			return err
		}
		for i := range linksInAll / accounts {
			l := link{account: account, magnet: magnet, id: uuid.New()}
			if _, err := conn.Exec(ctx,
				"INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key) VALUES ($1, $2, $3, $4, $4, sha256($5::text::bytea), '', 0)",
				l.id, account, magnet, emailOf(a, i), email.Key(emailOf(a, i))); err != nil {
				return err
			}
			l.token = w.ring.Sign(token.Claims{AccountID: account, LeadMagnetID: magnet, AccessLinkID: l.id})
			w.links = append(w.links, l)
		}
		for range landingsInAll / accounts {
			l := link{account: account, magnet: magnet, id: uuid.New()}
			if _, err := conn.Exec(ctx,
				"INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, $4)",
				l.id, account, magnet, l.id.String()); err != nil {
				return err
			}
			l.token = w.ring.Sign(token.Claims{AccountID: account, LeadMagnetID: magnet, GenericLinkID: l.id})
			w.landings = append(w.landings, l)
		}
	}
	return nil
}
