package webhook

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/api"
	"lodestone/pkg/dialguard"
)

const (
	// maxAnswer is how much of an answer is read, and maxExcerpt how much of it is kept, in bytes.
	maxAnswer  = 64 << 10
	maxExcerpt = 1 << 10
	userAgent  = "Lodestone-Webhooks/1"
)

// Attempt is one try to deliver a message, as the log keeps and the API shows it.
type Attempt struct {
	AttemptedAt api.Time `json:"attempted_at" doc:"When the attempt began."`
	URL         string   `json:"url" doc:"URL that the message was sent to."`
	StatusCode  *int     `json:"status_code" doc:"HTTP status of the answer; null if there was none."`
	LatencyMS   int64    `json:"latency_ms" doc:"Duration of the attempt in milliseconds."`
	Error       *string  `json:"error" doc:"Why it failed; null if it succeeded."`
	Response    *string  `json:"response" doc:"Beginning of the answer's body; null if there was no answer."`

	retryAfter time.Duration // that the answer asked for, or 0
}

func (a *Attempt) delivered() bool { return a.Error == nil }

// gone reports whether an endpoint wants no more messages. A chat program answers 404 as well if
// its webhook was deleted.
func (a *Attempt) gone(f Format) bool {
	return a.StatusCode != nil && (*a.StatusCode == http.StatusGone || *a.StatusCode == http.StatusNotFound && f != JSON)
}

// messageID is the header webhook-id of an event.
func messageID(event uuid.UUID) string { return "msg_" + event.String() }

// send makes one attempt. It returns within the timeout, whatever the endpoint does. Its error,
// which only the end of ctx brings about, says that the outcome is unknown.
func (w *Webhooks) send(ctx context.Context, address string, event uuid.UUID, body string,
	secrets [][]byte) (*Attempt, error) {
	at := w.now()
	a := &Attempt{AttemptedAt: api.TimeOf(at), URL: address}
	bounded, cancel := context.WithTimeout(ctx, w.config.Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(bounded, http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		a.fail("The URL cannot be used.")
		return a, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("User-Agent", userAgent)
	if len(secrets) > 0 { // a chat program has none
		id := messageID(event)
		req.Header.Set("Webhook-Id", id)
		req.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
		req.Header.Set("Webhook-Signature", sign(secrets, id, at, body))
	}
	begin := time.Now()
	answer, err := w.client.Do(req)
	if err == nil {
		a.read(answer)
	}
	a.LatencyMS = time.Since(begin).Milliseconds()
	w.metrics.took.Observe(time.Since(begin).Seconds())
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		a.fail(explain(err))
	}
	return a, nil
}

// read takes over what an answer says. Its status decides; the body is only for the log.
func (a *Attempt) read(answer *http.Response) {
	text, _ := io.ReadAll(io.LimitReader(answer.Body, maxAnswer)) // what came until it broke off
	_ = answer.Body.Close()                                       // nothing more is wanted of it
	a.StatusCode = &answer.StatusCode
	// Postgres takes no null character, and neither does it take half of a character.
	excerpt := strings.ReplaceAll(strings.ToValidUTF8(string(text[:min(len(text), maxExcerpt)]), "\ufffd"), "\x00",
		"\ufffd")
	a.Response = &excerpt
	switch status := answer.StatusCode; {
	case status >= 300 && status < 400:
		a.fail("It answered with a redirect, and redirects are not followed: change the URL of the webhook.")
	case status < 200 || status >= 300:
		a.fail("It answered with " + strconv.Itoa(status) + ".")
	}
	a.retryAfter = retryAfter(answer.Header.Get("Retry-After"), a.AttemptedAt.Time)
}

func (a *Attempt) fail(why string) { a.Error = &why }

// retryAfter reads the header Retry-After: seconds, or a date. It is 0 for anything else.
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// explain says to the owner of an endpoint why it could not be reached. What it does not know it
// says nothing about: the text of an error may tell of our own network.
func explain(err error) string {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	var address *url.Error
	var network *net.OpError
	switch {
	case dialguard.IsRefused(err):
		return "It has no address on the public internet, or none that may be reached by this URL."
	case errors.As(err, &dns):
		return "Its name could not be resolved."
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &address) && address.Timeout():
		return "It did not answer in time."
	case errors.As(err, &certificate), errors.As(err, &unknown):
		return "Its certificate is not valid: " + limited(certificateProblem(err))
	case errors.Is(err, http.ErrSchemeMismatch), errors.As(err, &record):
		return "It does not speak TLS."
	case errors.As(err, &network) && network.Op == "dial":
		return "The connection failed."
	default:
		return "The connection broke off."
	}
}

func certificateProblem(err error) string {
	var certificate *tls.CertificateVerificationError
	if errors.As(err, &certificate) && certificate.Err != nil {
		return certificate.Err.Error()
	}
	return "signed by an unknown authority"
}

func limited(text string) string {
	const most = 300
	return strings.ToValidUTF8(text[:min(len(text), most)], "")
}
