package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"github.com/riverqueue/river"

	"lodestone/crud/queue"
	"lodestone/pkg/certificate"
	"lodestone/pkg/event"
	"lodestone/pkg/token"
)

// reportQueue is the queue of reports: a collector that is away holds up nothing else.
const reportQueue = "report"

// report is a job: an event that the server itself saw goes to the collector, under the same id at
// every try, until it is acknowledged.
type report struct {
	AccountID     uuid.UUID  `json:"account_id"`
	LeadMagnetID  uuid.UUID  `json:"lead_magnet_id"`
	GenericLinkID *uuid.UUID `json:"generic_link_id,omitzero"`
	AccessLinkID  uuid.UUID  `json:"access_link_id"`
	MagnetVersion int32      `json:"magnet_version"`
	SessionID     uuid.UUID  `json:"session_id"`
	EventID       uuid.UUID  `json:"event_id"`
	EventType     string     `json:"event_type"`
	At            time.Time  `json:"at"`
	UserAgent     string     `json:"user_agent"`
	Language      string     `json:"language,omitzero"`
	Country       string     `json:"country,omitzero"`
	Objects       bool       `json:"objects"`
}

func newReport(in Session, event uuid.UUID, kind string, at time.Time, v Visitor) report {
	return report{
		AccountID: in.Link.AccountID, LeadMagnetID: in.Link.LeadMagnetID,
		GenericLinkID: in.Link.GenericLinkID, AccessLinkID: in.Link.ID,
		MagnetVersion: in.File.Version, SessionID: in.ID, EventID: event, EventType: kind, At: at.UTC(),
		UserAgent: v.UserAgent, Objects: v.Objects,
		Language: string(v.Origin.Language.Text()), Country: string(v.Origin.Country.Text()),
	}
}

// Kind implements river.JobArgs.
func (report) Kind() string { return "report_event" }

// InsertOpts implements river.JobArgsWithInsertOpts.
func (report) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: reportQueue, MaxAttempts: maxReports}
}

// maxReports bounds the tries: with the pauses between them, they take two days. Older events the
// collector would date again.
const maxReports = 300

// Reporter does the jobs.
type Reporter struct {
	river.WorkerDefaults[report]
	url    string
	tokens *token.Ring
	client *http.Client
}

// ReportDeps are the dependencies of a Reporter.
type ReportDeps struct {
	Tokens *token.Ring
	Dialer *certificate.Dialer // connects to a URL of https
}

// Report lets a queue report events to a collector at a URL, without a slash at the end.
func Report(q *queue.Queue, url string, d ReportDeps) (*Reporter, error) {
	transport := d.Dialer.HTTP(&http.Transport{MaxIdleConnsPerHost: 2, IdleConnTimeout: time.Minute,
		ResponseHeaderTimeout: reportTimeout})
	r := &Reporter{url: url, tokens: d.Tokens, client: &http.Client{Transport: transport, Timeout: reportTimeout}}
	if err := q.AddQueue(reportQueue, 2); err != nil {
		return nil, fmt.Errorf("report events: %w", err)
	}
	return r, queue.Register(q, r)
}

const (
	reportTimeout = 10 * time.Second
	longestPause  = 10 * time.Minute
)

// Close closes the connections that are kept. No job may run.
func (r *Reporter) Close() { r.client.CloseIdleConnections() }

// NextRetry implements river.Worker: soon, then every ten minutes.
func (r *Reporter) NextRetry(job *river.Job[report]) time.Time {
	wait := time.Second << min(job.Attempt, 12)
	return time.Now().Add(min(wait, longestPause))
}

// Work implements river.Worker.
func (r *Reporter) Work(ctx context.Context, job *river.Job[report]) error {
	if r.url == "" {
		return errors.New("there is no --collector-url")
	}
	a := job.Args
	claims := token.Claims{AccountID: a.AccountID, LeadMagnetID: a.LeadMagnetID, AccessLinkID: a.AccessLinkID,
		MagnetVersion: uint32(a.MagnetVersion)}
	if a.GenericLinkID != nil {
		claims.GenericLinkID = *a.GenericLinkID
	}
	body, err := json.Marshal(map[string]string{
		"token": r.tokens.Sign(claims), "event_type": a.EventType, "event_id": a.EventID.String(),
		"session_id": a.SessionID.String(),
		"created_at": a.At.Format(timeForm), "sent_at": time.Now().UTC().Format(timeForm),
	})
	if err != nil {
		return fmt.Errorf("encode event: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/events", bytes.NewReader(body))
	if err != nil {
		return errors.New("the collector's URL cannot be used")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", a.UserAgent)
	// The connection comes from here, and says nothing about the visitor's address.
	req.Header.Set("Forwarded", "for=unknown")
	if a.Language != "" {
		req.Header.Set("Accept-Language", a.Language)
	}
	if a.Country != "" {
		req.Header.Set(event.CountryHeader, a.Country)
	}
	if a.Objects {
		req.Header.Set("Sec-GPC", "1")
	}
	res, err := r.client.Do(req)
	if err != nil {
		return fmt.Errorf("report event: %w", err)
	}
	defer func() { _ = res.Body.Close() }() // it is only read
	answer, err := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	if err != nil {
		return fmt.Errorf("report event: %w", err)
	}
	switch res.StatusCode {
	case http.StatusAccepted:
		return nil
	case http.StatusUnprocessableEntity:
		// No later try can be better; the cause is ours, such as keys that the collector does not have.
		return river.JobCancel(fmt.Errorf("the collector refused the event: %s", answer))
	default:
		return errors.New("the collector answered " + strconv.Itoa(res.StatusCode))
	}
}

const timeForm = "2006-01-02T15:04:05.000Z07:00"
