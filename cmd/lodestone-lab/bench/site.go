package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"

	"github.com/google/uuid"

	"lodestone/cmd/lodestone/demo"
	"lodestone/pkg/client"
)

// site is a process of crud with a document, a landing page and an access link, and a collector beside it.
type site struct {
	b               *Bench
	e               *Engines
	http            *http.Client
	collector, crud *Process
	origin          string

	key     string
	magnet  string // id
	landing string // address
	reading string // address of the access link
}

// start starts the processes, with limits that one address of many visitors does not reach, and makes what is
// visited.
func (s *site) start(ctx context.Context) (err error) {
	collector, err := FreeAddress()
	if err != nil {
		return err
	}
	if s.collector, err = s.b.Lodestone(ctx, s.e, "collector", "COLLECTOR_LISTEN="+collector, "SPOOL_DIR="+filepath.Join(s.e.dir, "serve-spool")); err != nil {
		return err
	}
	address, err := FreeAddress()
	if err != nil {
		return err
	}
	if s.crud, err = s.b.Lodestone(ctx, s.e, "crud", "LISTEN="+address, "COLLECTOR_URL=http://"+collector,
		"LIMIT_REQUESTS_PER_MINUTE=10000000", "VIEWER_OPENINGS_PER_HOUR=1000000"); err != nil {
		return err
	}
	s.origin = "http://" + address
	if _, s.key, err = s.e.makeAccount(ctx); err != nil {
		return err
	}
	api := client.New(s.origin, s.key, s.http)
	magnet, err := api.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: "The field guide"})
	if err != nil {
		return fmt.Errorf("create the lead magnet: %w", err)
	}
	s.magnet = magnet.ID
	if _, err := api.UploadFile(ctx, magnet.ID, "guide.pdf", bytes.NewReader(demo.Guide())); err != nil {
		return fmt.Errorf("upload the PDF: %w", err)
	}
	generic, err := api.CreateGenericLink(ctx, client.NewGenericLink{LeadMagnetID: magnet.ID})
	if err != nil {
		return fmt.Errorf("create the generic link: %w", err)
	}
	access, err := api.CreateAccessLink(ctx, client.NewAccessLink{LeadMagnetID: magnet.ID, Email: "reader@example.com"})
	if err != nil {
		return fmt.Errorf("create the access link: %w", err)
	}
	s.landing, s.reading = generic.URL, access.URL
	return nil
}

func (s *site) stop(ctx context.Context) error {
	s.http.CloseIdleConnections()
	return errors.Join(s.crud.Stop(ctx), s.collector.Stop(ctx))
}

// visit is one visitor's way, and for every fourth what the business does meanwhile.
func (s *site) visit(ctx context.Context, v *visitor) error {
	v.visits++
	if _, err := v.fetch(ctx, s.http, http.MethodGet, s.landing, "", nil); err != nil {
		return err
	}
	if _, err := v.fetch(ctx, s.http, http.MethodGet, s.reading, "", nil); err != nil {
		return err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make id: %w", err)
	}
	text, err := v.fetch(ctx, s.http, http.MethodPost, s.reading+"/sessions", "", []byte(`{"session_id":"`+id.String()+`"}`))
	if err != nil || text == nil {
		return err
	}
	var session struct {
		Download string `json:"download"`
	}
	if err := json.Unmarshal(text, &session); err != nil || session.Download == "" {
		return fmt.Errorf("a session has no document: %s", text)
	}
	if _, err := v.fetch(ctx, s.http, http.MethodGet, s.origin+session.Download+"&d="+id.String(), "", nil); err != nil {
		return err
	}
	if v.visits%4 != 0 {
		return nil
	}
	link, err := json.Marshal(client.NewAccessLink{LeadMagnetID: s.magnet, Email: id.String() + "@example.com"})
	if err != nil {
		return fmt.Errorf("write an access link: %w", err)
	}
	if _, err := v.fetch(ctx, s.http, http.MethodPost, s.origin+"/api/v1/access-links", s.key, link); err != nil {
		return err
	}
	_, err = v.fetch(ctx, s.http, http.MethodGet, s.origin+"/api/v1/access-links?per_page=100", s.key, nil)
	return err
}

// visitor is one of those that make full load: one goroutine's.
type visitor struct {
	latencies Latencies
	refused   int64 // answers that said to come back later
	visits    int64
}

// fetch sends a request and reads the answer to its end. One that says to come back later is counted, and nil.
func (v *visitor) fetch(ctx context.Context, via *http.Client, method, address, key string, body []byte) ([]byte, error) {
	r, err := exchange(ctx, via, method, address, key, body)
	if err != nil {
		return nil, err
	}
	v.latencies.Add(r.took)
	switch {
	case r.later:
		v.refused++
		return nil, nil
	case r.status/100 != 2:
		return nil, fmt.Errorf("%s %s: %d %s: %.200s", method, address, r.status, http.StatusText(r.status), r.body)
	}
	return r.body, nil
}
