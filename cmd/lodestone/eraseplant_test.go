package main

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/ingest/producer"
	"lodestone/ingest/spool"
	"lodestone/pkg/client"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/test/clienttest"
)

// markedAgent calls itself a browser that is known, and bobsAgent is that of someone else.
const (
	markedAgent = adasAgent + " " + marker
	bobsAgent   = "bob-agent"
)

// planted is a person whose data has the marker wherever it can be.
type planted struct {
	address string
	link    client.AccessLink
	gate    string      // id of a generic link whose lists have the address
	spooled event.Event // was acknowledged before the erasure, while Kafka was away
}

// plant lets a person leave the marker in everything that has a field for it, and others write
// about the person. A second person, Bob, leaves the same things.
func (u *up) plant(t *testing.T, s stores, magnet string) planted {
	t.Helper()
	p := planted{address: marker + "@" + marker + ".example"}
	c := clienttest.New(client.Config{URL: u.env["LODESTONE_URL"], Key: u.env["LODESTONE_API_KEY"]})
	owner := asker{u.env["LODESTONE_URL"], u.env["LODESTONE_API_KEY"]}
	v := visitor{t, &http.Client{Timeout: time.Minute}}
	u.listen(t, owner)

	// The form, with and without a mail that confirms the address.
	for _, verified := range []bool{true, false} {
		link, err := c.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: magnet, CollectName: true,
			RequireVerification: verified})
		require.NoError(t, err)
		owner.must(t, "PATCH", "/api/v1/generic-links/"+link.ID,
			`{"fields":[{"key":"company","kind":"company","label":"Company"}]}`)
		v.submit(link.URL, url.Values{
			"field.company": {marker},
			"email":         {p.address}, "name": {marker}, "ref": {"https://" + marker + ".example/" + marker},
			"utm_source": {marker}, "utm_medium": {marker}, "utm_campaign": {marker},
			"utm_content": {marker}, "utm_term": {marker},
		})
		if !verified {
			v.submit(link.URL, url.Values{"email": {"bob@example.com"}, "name": {"Bob Byron"}})
			owner.must(t, "POST", "/api/v1/generic-links/"+link.ID+"/recipients",
				`{"recipients":[{"email":"`+p.address+`","name":"`+marker+`"},{"email":"bob@example.com","name":"Bob"}]}`)
		}
	}
	// Links by the API: for a list of people, for one with a key that names the person, and one that
	// is deleted, whose event stays.
	made, err := c.CreateAccessLinks(t.Context(), magnet,
		clienttest.NewAccessLinks{Emails: []string{strings.ToUpper(marker) + "@" + marker + ".example", "bob@example.com"}})
	require.NoError(t, err)
	p.link = made[0]
	owner.must(t, "PATCH", "/api/v1/people/"+p.link.ID, `{"name":"`+marker+`","note":"`+marker+`"}`)
	owner.must(t, "POST", "/api/v1/views",
		`{"screen":"readers","name":"One person","query":"q=`+url.QueryEscape(p.address)+`"}`)
	owner.must(t, "POST", "/api/v1/views", `{"screen":"readers","name":"`+strings.ToUpper(p.address)+`","query":"finished=true"}`)
	p.gate = owner.must(t, "POST", "/api/v1/generic-links", `{"lead_magnet_id":"`+magnet+
		`","gate":{"allow":["`+p.address+`"],"block":["`+p.address+`","example.org"]}}`)["id"].(string)
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, owner.base+"/api/v1/access-links",
		strings.NewReader(`{"lead_magnet_id":"`+magnet+`","email":"`+p.address+`"}`))
	require.NoError(t, err)
	r.Header = http.Header{"Authorization": {"Bearer " + owner.key}, "Content-Type": {"application/json"},
		"Idempotency-Key": {"invite-" + p.address}}
	answer, err := v.http.Do(r)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusCreated, answer.StatusCode)
	deleted, err := c.CreateAccessLinks(t.Context(), magnet, clienttest.NewAccessLinks{Emails: []string{p.address}})
	require.NoError(t, err)
	u.read(t, deleted[0], markedAgent)
	require.NoError(t, c.DeleteAccessLink(t.Context(), deleted[0].ID))

	u.read(t, made[0], markedAgent)
	u.read(t, made[1], bobsAgent)
	u.download(t, made[0], markedAgent)
	p.spooled = s.event(t, made[0])
	u.bury(t, s.event(t, made[0]))
	_, err = s.pool.Unscoped().Exec(t.Context(), "ANALYZE")
	require.NoError(t, err)
	return p
}

// listen has webhooks, one of a chat program, whose answers repeat what they were sent: one takes
// it, the others refuse, so that it waits.
func (u *up) listen(t *testing.T, owner asker) {
	t.Helper()
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		if r.URL.Path == "/refuse" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write(text)
	}))
	t.Cleanup(echo.Close)
	for _, path := range []string{"/take", "/refuse"} {
		owner.must(t, "POST", "/api/v1/webhooks",
			`{"url":"`+echo.URL+path+`","kinds":["link.created","link.accessed","form.submitted","download.completed"]}`)
	}
	owner.must(t, "POST", "/api/v1/webhooks", `{"format":"slack","url":"`+echo.URL+
		`/refuse","kinds":["notice.leads","notice.readers"]}`)
}

// download opens a link in the viewer and downloads the document, by a browser that calls itself
// so.
func (u *up) download(t *testing.T, l client.AccessLink, agent string) {
	t.Helper()
	ask := func(method, address, body string) []byte {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		require.NoError(t, err)
		r.Header = http.Header{"Content-Type": {"application/json"}, "User-Agent": {agent}}
		answer, err := http.DefaultClient.Do(r)
		require.NoError(t, err)
		defer func() { require.NoError(t, answer.Body.Close()) }()
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.Less(t, answer.StatusCode, 300, "%s %s: %s", method, address, text)
		return text
	}
	var session struct{ Download string }
	require.NoError(t, json.Unmarshal(ask(http.MethodPost, l.URL+"/sessions", "{}"), &session))
	ask(http.MethodGet, u.env["LODESTONE_URL"]+session.Download+"&d="+uuid.NewString(), "")
}

// event returns an event of a link as the collector sends it to Kafka.
func (s stores) event(t *testing.T, l client.AccessLink) event.Event {
	t.Helper()
	claims, err := s.keys.Verify([]byte(l.TrackingToken))
	require.NoError(t, err)
	at := time.Now().UnixMilli()
	return event.Event{
		AccountID: claims.AccountID, LeadMagnetID: claims.LeadMagnetID, AccessLinkID: claims.AccessLinkID,
		MagnetVersion: claims.MagnetVersion,
		EventID:       uuid.New(), Type: event.PageViewed, Page: 1, Data: []byte(`{"page":1,"note":"` + marker + `"}`),
		IPHash: [16]byte{1}, UserAgent: []byte(markedAgent), Origin: event.Origin{Language: event.Language{'h', 'i'}},
		CreatedAt: at, ReceivedAt: at,
	}
}

// kafka returns how to reach the Kafka of a running `lodestone up`.
func (u *up) kafka() kafka.Config {
	plain := func(name string) string { return strings.Trim(u.env[name], "'") }
	return kafka.Config{
		Brokers: strings.Split(plain("LODESTONE_KAFKA_BROKERS"), ","),
		Login: kafka.Login{Mechanism: plain("LODESTONE_KAFKA_SASL_MECHANISM"), User: plain("LODESTONE_KAFKA_SASL_USER"),
			Password: plain("LODESTONE_KAFKA_SASL_PASSWORD")},
	}
}

// bury makes an event a dead letter of a log that was replaced since, as a consumer that could not
// decode it did.
func (u *up) bury(t *testing.T, e event.Event) {
	t.Helper()
	c, err := kgo.NewClient(u.kafka().Options(slog.New(slog.DiscardHandler))...)
	require.NoError(t, err)
	defer c.Close()
	require.NoError(t, c.ProduceSync(t.Context(), &kgo.Record{
		Topic: event.DeadLetterTopic, Key: []byte(uuid.NewString() + "/0/0"), Value: e.Append(nil),
		Headers: []kgo.RecordHeader{
			{Key: "reason", Value: []byte("unsupported_version")},
			{Key: "error", Value: []byte("unsupported schema version: 9")}, {Key: "topic", Value: []byte(event.Topic)},
		},
	}).FirstErr())
}

// away is a Kafka that takes nothing.
type away struct{}

func (away) Write(context.Context, []producer.Record) error { return producer.ErrFull }

func (away) Send(context.Context, []producer.Record, func(int, error)) error { return producer.ErrFull }

// spool writes an event to the spool of `lodestone up`, which does not run, as a collector does
// while Kafka is away.
func (u *up) spool(t *testing.T, e event.Event) {
	t.Helper()
	s, err := spool.New(spool.Config{
		Dir: filepath.Join(u.dir, "data", "spool"), MaxBytes: 64 << 20, SegmentBytes: 1 << 20,
		DrainBytes: 1 << 20, After: time.Second,
		Age: spool.Age{MaxAge: 24 * time.Hour},
	}, spool.Deps{Kafka: away{}, Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	require.NoError(t, s.Start(t.Context()))
	require.NoError(t, s.Write(t.Context(),
		[]producer.Record{{Topic: event.Topic, Key: e.AccessLinkID[:], Value: e.Append(nil)}}))
	require.NoError(t, s.Stop(t.Context()))
}
