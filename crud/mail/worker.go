package mail

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/mail"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/riverqueue/river"
	gomail "github.com/wneessen/go-mail"

	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/pkg/postgres"
	"lodestone/pkg/token"
)

const (
	// Tries follow each other after 15 s, 30 s, 1 min, … and in the end every four hours, so that the
	// last one is about a day after the first: greylisting takes minutes, an outage hours.
	firstPause  = 15 * time.Second
	longestWait = 4 * time.Hour
	maxAttempts = 16

	// connections is how many mails one process sends at the same time.
	connections = 4

	// attemptTimeout is longer than the dialogue with the server, which has its own bound.
	attemptTimeout = 50 * time.Second
)

// Deps are the dependencies of mails. Mailbox and Roots may be nil; all others are required.
type Deps struct {
	Queue      *queue.Queue
	Tokens     *token.Ring // seals mails in the queue
	Site       string      // public address of the installation, which mails name
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Postgres   *postgres.Pool // has the brands of accounts; nil: mails look like the installation
	Mailbox    Mailbox        // takes mails if there is no SMTP server; nil: they stay in the queue
	Roots      *x509.CertPool // certificates that may vouch for the SMTP server; nil: the system's
}

// sender hands over mails. Errors say nothing about a mail's content or receiver; isPermanent
// classifies them.
type sender interface {
	send(ctx context.Context, kind Kind, m *gomail.Msg) error
}

// New returns the mails of a process, whose worker it registers in the queue.
func New(c Config, d Deps) (*Queue, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	render, err := newRenderer()
	if err != nil {
		return nil, err
	}
	texts, err := web.VisitorTexts()
	if err != nil {
		return nil, err
	}
	w := &worker{site: strings.TrimRight(d.Site, "/"), render: render, texts: texts, postgres: d.Postgres,
		tokens: d.Tokens, log: d.Log, mails: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "lodestone_mail_attempts_total",
			Help: "Emails handed to the SMTP server, by kind and outcome: sent, refused (permanently), expired (no longer useful before it could be sent), failed (will be retried).",
		}, []string{"kind", "outcome"})}
	for _, k := range kinds {
		for _, outcome := range []string{sent, refused, expired, failed} {
			w.mails.WithLabelValues(string(k), outcome)
		}
	}
	d.Registerer.MustRegister(w.mails)
	if w.from, w.replyTo, err = c.senders(); err != nil {
		return nil, err
	}
	switch {
	case c.Enabled():
		w.sender, err = newSMTPSender(c, d.Roots)
	case d.Mailbox != nil:
		w.sender = mailboxSender{d.Mailbox}
	}
	if err != nil {
		return nil, err
	}
	if err := d.Queue.AddQueue(queueName, connections); err != nil {
		return nil, err
	}
	if err := queue.Register(d.Queue, w); err != nil {
		return nil, err
	}
	return &Queue{jobs: d.Queue, tokens: d.Tokens, texts: texts, site: w.site, sender: w.sender}, nil
}

type worker struct {
	river.WorkerDefaults[job]
	sender   sender // nil: there is no SMTP server
	from     *mail.Address
	replyTo  *mail.Address // may be nil
	site     string
	render   *renderer
	postgres *postgres.Pool // may be nil
	texts    *web.Catalogue
	tokens   *token.Ring
	log      *slog.Logger
	mails    *prometheus.CounterVec
}

var errNoServer = errors.New("there is no SMTP server: give --smtp-url")

// Timeout implements river.Worker.
func (w *worker) Timeout(*river.Job[job]) time.Duration { return attemptTimeout }

// NextRetry implements river.Worker. The jitter keeps mails that failed together from coming
// together.
func (w *worker) NextRetry(j *river.Job[job]) time.Time { return time.Now().Add(pause(j.Attempt)) }

func pause(attempt int) time.Duration {
	d := min(firstPause<<min(attempt-1, 20), longestWait)
	return d - d/5 + rand.N(2*d/5)
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[job]) error {
	m, err := j.Args.open(w.tokens)
	if err != nil {
		if j.Attempt == 3 || j.Attempt == j.MaxAttempts {
			w.log.Error("cannot open a mail of the queue: add the token key that sealed it", "job_id", j.ID, "error", err)
		}
		return err
	}
	if m.Void {
		return nil
	}
	now := time.Now()
	if !m.ExpiresAt.IsZero() && now.After(m.ExpiresAt) {
		w.count(m, expired)
		return river.JobCancel(errors.New("what the mail says is no longer true"))
	}
	brand, err := w.brandOf(ctx, m)
	if err != nil {
		w.count(m, failed)
		return err
	}
	texts := w.texts.In(m.Language)
	l, err := write(m, texts, brand, w.site, now)
	if err != nil {
		w.count(m, refused) // by ourselves: a later version wrote it
		return river.JobCancel(err)
	}
	l.MessageID, l.Language = j.Args.ID.String(), texts.Language
	msg, err := w.compose(m.To, j.CreatedAt, l, brand)
	if err != nil {
		w.count(m, refused)
		return river.JobCancel(err)
	}
	switch err := w.handOver(ctx, m, msg, j.Attempt == j.MaxAttempts); {
	case err == nil:
		w.count(m, sent)
		return nil
	case errors.Is(err, errNotDue):
		w.count(m, expired)
		return nil
	case isPermanent(err):
		w.count(m, refused)
		w.log.Info("a mail cannot be delivered", "kind", m.Kind, "account_id", m.AccountID, "job_id", j.ID, "error", err)
		return river.JobCancel(err)
	default:
		w.count(m, failed)
		if j.Attempt == 3 || j.Attempt == j.MaxAttempts { // once it is no hiccup, and when it is over
			w.log.Warn("a mail cannot be sent", "kind", m.Kind, "account_id", m.AccountID, "job_id", j.ID, "attempt", j.Attempt,
				"max_attempts", j.MaxAttempts, "error", err)
		}
		return err
	}
}

// Outcomes of an attempt to send a mail.
const (
	sent    = "sent"
	refused = "refused"
	expired = "expired"
	failed  = "failed"
)

func (w *worker) count(m Message, outcome string) {
	w.mails.WithLabelValues(string(m.Kind), outcome).Inc()
}

// compose makes the mail. It is the same at every attempt.
func (w *worker) compose(to string, at time.Time, l letter, b Brand) (*gomail.Msg, error) {
	html, text, err := w.render.render(l, b)
	if err != nil {
		return nil, err
	}
	m := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	m.FromMailAddress(w.senderOf(b))
	receiver, err := wire(to)
	if err != nil {
		return nil, fmt.Errorf("read receiver: %w", err)
	}
	m.ToMailAddress(&mail.Address{Address: receiver}) // which quotes names that need it
	switch {
	case l.ReplyTo != "":
		if reply, err := wire(l.ReplyTo); err == nil {
			m.ReplyToMailAddress(&mail.Address{Address: reply})
		}
	case w.replyTo != nil:
		m.ReplyToMailAddress(w.replyTo)
	}
	m.Subject(l.Subject)
	m.SetDateWithValue(at.UTC())
	_, domain, _ := strings.Cut(w.from.Address, "@")
	m.SetMessageIDWithValue(l.MessageID + "@" + domain)
	// Absence notices do not come back, and lists do not answer.
	m.SetGenHeader("Auto-Submitted", "auto-generated")
	m.SetGenHeader("X-Auto-Response-Suppress", "All")
	if l.OneClick != "" {
		m.SetListUnsubscribe(l.OneClick)
		if strings.HasPrefix(l.OneClick, "https://") { // RFC 8058 asks for it
			m.SetListUnsubscribePost()
		}
	}
	m.SetBodyString(gomail.TypeTextPlain, text)
	m.AddAlternativeString(gomail.TypeTextHTML, html)
	return m, b.embed(m)
}
