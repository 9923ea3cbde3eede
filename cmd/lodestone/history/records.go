package history

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/url"
	"time"

	"github.com/google/uuid"
	"lukechampine.com/blake3"

	"lodestone/ingest/producer"
	"lodestone/pkg/bot"
	"lodestone/pkg/event"
)

// batchRecords is how many records are written at a time, as many as a request to the collector may have.
const batchRecords = 500

// recorder turns what happens into records, as the collector does with requests.
type recorder struct {
	*ids
	account uuid.UUID
	rules   map[string]string     // of programs, by user agent
	salt    [32]byte              // of the address hashes, for this run
	events  map[*action]uuid.UUID // so that what is sent again has the same id
}

func newRecorder(account uuid.UUID, n *ids) (*recorder, error) {
	rules, err := bot.NewRules()
	if err != nil {
		return nil, fmt.Errorf("read the rules of programs: %w", err)
	}
	r := &recorder{ids: n, account: account, rules: map[string]string{}, events: map[*action]uuid.UUID{}}
	for _, agent := range agents() {
		r.rules[agent] = rules.Classify(bot.Request{UserAgent: []byte(agent)})
	}
	_, _ = rand.Read(r.salt[:]) // never fails
	return r, nil
}

// writeRecords writes the events and views to Kafka, in the order in which they were received.
func (h *History) writeRecords(ctx context.Context, p *plan, n *ids) error {
	r, err := newRecorder(h.cfg.Account, n)
	if err != nil {
		return err
	}
	var batch []producer.Record
	entries := p.entries()
	for i := range entries {
		record, err := r.record(&entries[i])
		if err != nil {
			return err
		}
		if batch = append(batch, record); len(batch) < batchRecords && i+1 < len(entries) {
			continue
		}
		if err := h.deps.Kafka.Write(ctx, batch); err != nil {
			return fmt.Errorf("write the past to Kafka: %w", err)
		}
		batch = batch[:0]
	}
	return nil
}

func (r *recorder) record(e *entry) (producer.Record, error) {
	if e.view != nil {
		return r.viewRecord(e.view)
	}
	s, a := e.session, e.action
	id, known := r.events[a]
	if !known {
		var err error
		if id, err = idAt(a.at); err != nil {
			return producer.Record{}, err
		}
		r.events[a] = id
	}
	key := r.links[s.link]
	ev := event.Event{
		AccountID: r.account, LeadMagnetID: r.magnets[s.link.document], GenericLinkID: r.landing(s.link), AccessLinkID: key,
		SessionID: r.sessions[s], EventID: id, MagnetVersion: uint32(s.version), Type: a.kind,
		IPHash: r.hash(s.visitor, e.received), UserAgent: r.agent(s.visitor), Bot: r.rules[s.visitor.agent],
		Origin:    origin(s.visitor),
		CreatedAt: a.at.UnixMilli(), ReceivedAt: e.received.UnixMilli(),
	}
	switch {
	case s.isScan(): // it loads the image of a page that runs no script
		ev.SessionID = uuid.Nil
	case a.kind == event.PageViewed:
		ev.Page, ev.DurationMS = uint32(a.page), uint32(a.duration.Milliseconds())
		ev.Data = fmt.Appendf(nil, `{"page":%d,"duration_ms":%d}`, ev.Page, ev.DurationMS)
	case a.kind == event.DownloadCompleted: // the server reports it, whose address says nothing
		ev.IPHash = [16]byte{}
	}
	if err := ev.Validate(); err != nil {
		return producer.Record{}, fmt.Errorf("make event: %w", err)
	}
	return producer.Record{Topic: event.Topic, Key: key[:], Value: ev.Append(nil)}, nil
}

func (r *recorder) viewRecord(v *view) (producer.Record, error) {
	id, err := idAt(v.at)
	if err != nil {
		return producer.Record{}, err
	}
	key := r.landings[v.landing]
	lv := event.LinkView{
		AccountID: r.account, LeadMagnetID: r.magnets[documentOf[v.landing]], GenericLinkID: key, EventID: id,
		IPHash: r.hash(v.visitor, v.at), UserAgent: r.agent(v.visitor), Bot: r.rules[v.visitor.agent],
		Origin:    origin(v.visitor),
		CreatedAt: v.at.UnixMilli(), ReceivedAt: v.at.UnixMilli(),
	}
	if !v.visitor.private && !v.visitor.bot {
		c, address := &campaigns[v.campaign], r.urls[v.landing]
		query := url.Values{}
		for name, value := range c.parameters() {
			query.Set(name, value)
		}
		if len(query) > 0 {
			address += "?" + query.Encode()
		}
		lv.URL, lv.Referrer = []byte(address), []byte(c.referrer)
	}
	if err := lv.Validate(); err != nil {
		return producer.Record{}, fmt.Errorf("make view: %w", err)
	}
	return producer.Record{Topic: event.LinkViewTopic, Key: key[:], Value: lv.Append(nil)}, nil
}

// hash returns what stands for a visitor's address on a day of UTC. There is no address behind it.
func (r *recorder) hash(v *visitor, at time.Time) (sum [16]byte) {
	if v.private {
		return sum
	}
	h := blake3.New(len(sum), r.salt[:])
	_ = binary.Write(h, binary.BigEndian, []int64{int64(v.number), at.Unix() / 86400}) // a hash takes everything
	h.Sum(sum[:0])
	return sum
}

func origin(v *visitor) (o event.Origin) {
	if v.private || v.bot {
		return o
	}
	o.Language = event.FirstLanguage([]byte(v.place.language))
	o.Country, _ = event.ParseCountry(v.place.country)
	return o
}

func (r *recorder) agent(v *visitor) []byte {
	if v.private {
		return nil
	}
	return []byte(v.agent)
}
