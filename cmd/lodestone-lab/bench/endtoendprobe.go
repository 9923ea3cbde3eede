package bench

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/event"
	"lodestone/pkg/service"
	"lodestone/pkg/token"
)

// probes are single events whose way is followed: each is sent as a reader's browser would send it, and looked for
// in the list of the lead magnet that only they are of.
type probes struct {
	door     string // of the collector
	list     *listClient
	client   *http.Client
	messages *messages
	account  uuid.UUID
	magnet   uuid.UUID

	mu   sync.Mutex
	sent map[uuid.UUID]*probe
}

type probe struct {
	made               time.Time
	acknowledged, seen time.Time // zero: not yet
}

const (
	probeInterval = 50 * time.Millisecond // between two probes
	// askInterval is the time between two looks. What is seen was there for up to that long already: the latencies
	// have it in them.
	askInterval   = 50 * time.Millisecond
	probePage     = 100 // of a list: the probes of five seconds
	probePatience = 30 * time.Second
	// probeDisorder is more than the collector corrects the time of a probe by, which is that on the way: by so much a probe
	// may stand among older ones.
	probeDisorder = time.Second
)

func newProbes(door string, list *listClient, tokens *token.Ring, account uuid.UUID) *probes {
	return &probes{
		door: "http://" + door + "/v1/events", list: list, client: &http.Client{Timeout: probePatience},
		messages: &messages{tokens: tokens}, account: account, magnet: uuid.New(),
	}
}

// run sends probes for a while and returns how long each took from its acknowledgement until it was in an
// answer.
func (p *probes) run(ctx context.Context, after, long time.Duration) (*Latencies, error) {
	p.sent = map[uuid.UUID]*probe{}
	if err := service.Sleep(ctx, after); err != nil {
		return nil, err
	}
	sending, stopSending := context.WithTimeout(ctx, long)
	defer stopSending()
	var sends sync.WaitGroup
	failed := make(chan error, 1)
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
	}
	sends.Go(func() {
		for service.Sleep(sending, probeInterval) == nil {
			sends.Go(func() {
				if err := p.send(ctx); err != nil {
					fail(err)
				}
			})
		}
	})
	for end := time.Now().Add(long + probePatience); ; {
		if err := p.look(ctx); err != nil {
			fail(err)
		}
		select {
		case err := <-failed:
			stopSending()
			sends.Wait()
			return nil, err
		default:
		}
		if sending.Err() != nil {
			sends.Wait()
			if left := p.left(); left == 0 {
				return p.latencies(), nil
			} else if time.Now().After(end) {
				return nil, fmt.Errorf("%d probes that were acknowledged did not appear within %s", left, probePatience)
			}
		}
		if err := service.Sleep(ctx, askInterval); err != nil {
			fail(err)
		}
	}
}

// send sends one probe and notes its acknowledgement.
func (p *probes) send(ctx context.Context) error {
	e := event.Event{
		AccountID: p.account, LeadMagnetID: p.magnet, AccessLinkID: uuid.New(), SessionID: uuid.New(), EventID: uuid.New(),
		MagnetVersion: 1, Type: event.PageViewed, Page: 1, DurationMS: 1000,
	}
	one := &probe{made: time.Now()}
	p.mu.Lock()
	p.sent[e.EventID] = one
	p.mu.Unlock()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.door, bytes.NewReader(p.messages.appendEvent(nil, &e, one.made)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		return fmt.Errorf("send a probe: %w", err)
	}
	said, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close() // it was read
	if err != nil || resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("send a probe: %s: %s", resp.Status, said)
	}
	p.mu.Lock()
	one.acknowledged = time.Now()
	p.mu.Unlock()
	return nil
}

// look asks for the newest probes, and for older ones while any of these is awaited, and notes those that it sees for the first
// time.
func (p *probes) look(ctx context.Context) error {
	for cursor := ""; ; {
		answer, err := p.list.get(ctx, fmt.Sprintf("lead_magnet_id=%s&per_page=%d%s", p.magnet, probePage, cursor))
		if err != nil {
			return fmt.Errorf("look for probes: %w", err)
		}
		if !p.note(answer, time.Now()) {
			return nil
		}
		cursor = "&cursor=" + url.QueryEscape(*answer.Pagination.NextCursor)
	}
}

// note notes what an answer has, and reports whether a probe that is awaited may be behind it.
func (p *probes) note(answer listAnswer, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, item := range answer.Data {
		if one := p.sent[item.ID]; one != nil && one.seen.IsZero() {
			one.seen = now
		}
	}
	if answer.Pagination.NextCursor == nil || len(answer.Data) == 0 {
		return false
	}
	last := p.sent[answer.Data[len(answer.Data)-1].ID]
	if last == nil {
		return false // it is of a run before this one
	}
	for _, one := range p.sent {
		if one.seen.IsZero() && one.made.Before(last.made.Add(probeDisorder)) {
			return true
		}
	}
	return false
}

// left returns how many were not seen yet.
func (p *probes) left() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.sent {
		if one.seen.IsZero() {
			n++
		}
	}
	return n
}

func (p *probes) latencies() *Latencies {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := &Latencies{}
	for _, one := range p.sent {
		l.Add(max(0, one.seen.Sub(one.acknowledged)))
	}
	return l
}
