package chat

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river"

	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/pkg/api"
	"lodestone/pkg/auth"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

const (
	queueName   = "chat"
	connections = 4
	// maxAttempts, with firstPause doubled up to longestPause, go on for about a day.
	maxAttempts  = 20
	firstPause   = 10 * time.Second
	longestPause = 2 * time.Hour
	testTimeout  = 30 * time.Second
	// sendTimeout is longer than an attempt of webhooks may take.
	sendTimeout = time.Minute

	sealingMessages = "chat messages" // the context is the id of the message
)

const (
	sent    = "sent"
	failed  = "failed"
	refused = "refused"
)

// message is a notice in the queue for one channel. It is sealed, as mails are.
type message struct {
	AccountID uuid.UUID `json:"account_id"`
	ChannelID uuid.UUID `json:"channel_id"`
	ID        uuid.UUID `json:"id"`
	Sealed    []byte    `json:"sealed"` // mail.Words
}

// Kind implements river.JobArgs.
func (message) Kind() string { return "chat-message" }

// Tell implements notice.Teller.
func (c *Channels) Tell(ctx context.Context, tx pgx.Tx, n notice.Notice) error {
	about := subjectOf(n.Kind)
	if about == "" {
		return nil
	}
	channels, err := store.New(tx).ChatChannelsAbout(ctx, store.ChatChannelsAboutParams{AccountID: n.AccountID, About: string(about)})
	if err != nil || len(channels) == 0 {
		return err
	}
	text, err := json.Marshal(n.Words)
	if err != nil {
		return fmt.Errorf("encode notice: %w", err)
	}
	for _, channel := range channels {
		m := message{AccountID: n.AccountID, ChannelID: channel, ID: uuid.New()}
		if m.Sealed, err = c.deps.Tokens.Seal(sealingMessages, text, m.ID[:]); err != nil {
			return fmt.Errorf("seal notice: %w", err)
		}
		if err := c.deps.Queue.Insert(ctx, tx, m, &river.InsertOpts{Queue: queueName, MaxAttempts: maxAttempts}); err != nil {
			return err
		}
	}
	return nil
}

// worker sends messages.
type worker struct {
	river.WorkerDefaults[message]
	*Channels
}

// Timeout implements river.Worker.
func (*worker) Timeout(*river.Job[message]) time.Duration { return sendTimeout }

// NextRetry implements river.Worker.
func (*worker) NextRetry(j *river.Job[message]) time.Time {
	return time.Now().Add(min(firstPause<<min(j.Attempt-1, 20), longestPause))
}

// Work implements river.Worker.
func (w *worker) Work(ctx context.Context, j *river.Job[message]) error {
	text, err := w.deps.Tokens.Open(sealingMessages, j.Args.Sealed, j.Args.ID[:])
	if err != nil {
		return fmt.Errorf("open chat message: %w", err)
	}
	var words mail.Words
	if err := json.Unmarshal(text, &words); err != nil {
		return river.JobCancel(fmt.Errorf("read chat message: %w", err))
	}
	row, err := store.New(w.deps.Postgres.Unscoped()).ChatChannelToSend(ctx, j.Args.ChannelID)
	if errors.Is(err, pgx.ErrNoRows) || err == nil && !row.IsActive {
		return river.JobCancel(errors.New("the channel was deleted or switched off"))
	}
	if err != nil {
		return fmt.Errorf("read chat channel: %w", err)
	}
	o, err := w.send(ctx, row, words)
	switch {
	case err != nil:
		return err
	case o.err == "":
		return nil
	case o.gone:
		return river.JobCancel(errors.New(o.err))
	case o.retryAfter > 0:
		return river.JobSnooze(min(o.retryAfter, longestPause))
	default:
		return errors.New(o.err)
	}
}

// outcome is how an attempt went. It never repeats the URL.
type outcome struct {
	err        string // "": it was sent
	gone       bool   // there is no such webhook any more
	retryAfter time.Duration
}

// send makes one attempt and records how it went.
func (c *Channels) send(ctx context.Context, row store.ChatChannel, words mail.Words) (o outcome, err error) {
	address, err := c.deps.Tokens.Open(sealing, row.UrlSealed, row.ID[:])
	if err != nil {
		c.cannotOpen(row.ID, err)
		return o, fmt.Errorf("open URL of chat channel: %w", err)
	}
	text, err := body(Kind(row.Kind), words)
	if err != nil {
		return o, err
	}
	a, err := c.webhooks.Post(ctx, string(address), text)
	if err != nil {
		return o, fmt.Errorf("send to chat channel: %w", err)
	}
	q := store.New(c.deps.Postgres.Unscoped())
	if a.Error == nil {
		c.messages.WithLabelValues(row.Kind, sent).Inc()
		return o, q.ChatSent(ctx, row.ID)
	}
	o.err, o.retryAfter = *a.Error, a.RetryAfter()
	if a.StatusCode != nil && (*a.StatusCode == http.StatusNotFound || *a.StatusCode == http.StatusGone) {
		o.gone, o.err = true, "It answered with "+strconv.Itoa(*a.StatusCode)+": there is no such webhook any more."
	}
	result := failed
	if o.gone {
		result = refused
		c.deps.Log.Info("a chat channel is gone and was switched off", "account_id", row.AccountID, "channel_id", row.ID, "status", *a.StatusCode)
	}
	c.messages.WithLabelValues(row.Kind, result).Inc()
	return o, q.ChatFailed(ctx, store.ChatFailedParams{ID: row.ID, Error: o.err, Gone: o.gone})
}

// Trial is how a test message went.
type Trial struct {
	Sent  bool    `json:"sent" doc:"Whether the channel took the message."`
	Error *string `json:"error" doc:"Why it did not; null if it did."`
}

func (c *Channels) test(ctx context.Context, in *idInput) (*api.Answer[Trial], error) {
	row, err := c.find(ctx, in.ID)
	if err != nil {
		return nil, fmt.Errorf("test chat channel: %w", err)
	}
	err = c.deps.Postgres.Account(ctx, auth.From(ctx).AccountID, func(pgx.Tx) error { return nil }) // which the audit log records
	if err != nil {
		return nil, fmt.Errorf("test chat channel: %w", err)
	}
	o, err := c.send(ctx, row, mail.Words{Subject: "Lodestone", Before: []string{"This is a test of the channel “" + row.Name + "”."}})
	if errors.Is(err, token.ErrSealed) {
		return nil, problem.New(problem.Conflict, "The URL of the channel cannot be decrypted: set it again.")
	}
	if err != nil {
		return nil, fmt.Errorf("test chat channel: %w", err)
	}
	t := Trial{Sent: o.err == ""}
	if !t.Sent {
		t.Error = &o.err
	}
	return api.OK(t), nil
}

func (c *Channels) cannotOpen(id uuid.UUID, err error) {
	c.deps.Log.Error("cannot open the URL of a chat channel: give the token key that sealed it, or set the URL again", "channel_id", id, "error", err)
}

// Seal seals with the first token key the URLs that are sealed under another one.
func (c *Channels) Seal(ctx context.Context, db *postgres.Pool) error {
	q := store.New(db.Unscoped())
	_, err := token.SealRows(ctx, func(ctx context.Context, after uuid.UUID, limit int64) ([]store.SomeChatChannelsRow, error) {
		return q.SomeChatChannels(ctx, store.SomeChatChannelsParams{After: after, RowLimit: limit})
	}, func(ctx context.Context, row store.SomeChatChannelsRow) (uuid.UUID, error) {
		sealed, err := c.deps.Tokens.Reseal(sealing, row.UrlSealed, row.ID[:])
		if errors.Is(err, token.ErrSealed) {
			c.cannotOpen(row.ID, err)
		}
		if err != nil || string(sealed) == string(row.UrlSealed) {
			return row.ID, err
		}
		return row.ID, q.ResealChatChannel(ctx, store.ResealChatChannelParams{ID: row.ID, Sealed: sealed, Was: row.UrlSealed})
	})
	if err != nil {
		return fmt.Errorf("seal URLs of chat channels: %w", err)
	}
	return nil
}
