package webhook_test

import (
	"bytes"
	"context"
	"net/http"
	"net/mail"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	letters "lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/queue"
	"lodestone/crud/web"
	"lodestone/crud/webhook"
	"lodestone/pkg/token"
)

// postRig is a rig that receives the mails to its owner.
type postRig struct {
	*rig
	mu    sync.Mutex
	mails [][]byte
}

// Forget implements mail.Mailbox. Nothing calls it here.
func (*postRig) Prune(time.Time) error { return nil }

// Deliver implements mail.Mailbox.
func (r *postRig) Deliver(m letters.RenderedMail) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mails = append(r.mails, m.Source)
	return nil
}

func newPostRig(t *testing.T) *postRig {
	t.Helper()
	r := &postRig{rig: newQuietRig(t)}
	jobs, err := queue.New(queue.Config{Poll: 100 * time.Millisecond}, queue.Deps{Postgres: r.db, Log: r.logger(),
		Registerer: prometheus.NewRegistry()})
	require.NoError(t, err)
	mails, err := letters.New(letters.Config{From: "hello@example.com"}, letters.Deps{Queue: jobs, Tokens: r.tokens,
		Site: "https://links.example.com", Log: r.logger(), Registerer: prometheus.NewRegistry(), Mailbox: r})
	require.NoError(t, err)
	tokens, err := token.NewKeys(1).Ring()
	require.NoError(t, err)
	pages, err := web.New(web.Deps{Site: "https://links.example.com", Log: r.logger()})
	require.NoError(t, err)
	owners, err := notice.New(notice.Deps{Postgres: r.db, Queue: jobs, Mail: mails, Tokens: tokens,
		Pages: pages, Log: r.logger()})
	require.NoError(t, err)
	require.NoError(t, jobs.Start(t.Context()))
	r.t.Cleanup(func() { require.NoError(t, jobs.Stop(context.WithoutCancel(t.Context()))) })
	r.hooks, err = webhook.New(settings(), webhook.Deps{Postgres: r.db, Tokens: r.tokens, Log: r.logger(),
		Now: r.clock.now, Notifier: owners})
	require.NoError(t, err)
	t.Cleanup(r.hooks.Close)
	r.deliver(r.hooks)
	return r
}

func (r *postRig) set(notify string, to any) {
	r.t.Helper()
	_, err := r.db.Unscoped().Exec(r.t.Context(),
		"UPDATE accounts SET notify = $2, notify_email = $3, notify_confirmed_at = now() WHERE id = $1", r.owner, notify, to)
	require.NoError(r.t, err)
}

// queued returns how many mails are in the queue, or were sent within the last minute.
func (r *postRig) queued() (n int) {
	r.t.Helper()
	require.NoError(r.t, r.db.Unscoped().QueryRow(r.t.Context(),
		"SELECT count(*) FROM river_job WHERE kind = 'sealed_mail'").Scan(&n))
	return n
}

// arrived waits for so many mails and returns the newest.
func (r *postRig) arrived(n int) *mail.Message {
	r.t.Helper()
	var mails [][]byte
	require.Eventually(r.t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		mails = slices.Clone(r.mails)
		return len(mails) >= n
	}, testTimeout, 20*time.Millisecond)
	require.Len(r.t, mails, n)
	m, err := mail.ReadMessage(bytes.NewReader(mails[n-1]))
	require.NoError(r.t, err)
	return m
}

// disabled waits until an endpoint is, and until nothing waits for it that would be sent once it is
// enabled again.
func (r *postRig) disabled(id string) {
	r.t.Helper()
	require.Eventually(r.t, func() bool {
		return r.must("GET", "/"+id, "")["is_active"] == false && r.total(id, "pending") == 0
	}, testTimeout, 20*time.Millisecond)
}

// The owner gets one mail each time that an endpoint is disabled because it fails, however many
// messages found that out.
func TestOwnerIsNotifiedOfDisabledWebhook(t *testing.T) {
	t.Parallel()
	r := newPostRig(t)
	r.set(notice.Daily, "owner@example.com")
	to := newReceiver(t, status(http.StatusGone))
	id, _ := r.create(to.url)
	r.emit(5) // two of them at once
	r.disabled(id)
	m := r.arrived(1)
	require.Equal(t, "<owner@example.com>", m.Header.Get("To"))
	require.Equal(t, "A webhook was disabled: "+strings.TrimSuffix(strings.TrimPrefix(to.url, "http://"),
		"/hook"), m.Header.Get("Subject"))
	require.NotEmpty(t, m.Header.Get("List-Unsubscribe"))

	r.must("PATCH", "/"+id, `{"is_active":true}`)
	r.emit(1)
	r.disabled(id)
	r.arrived(2)

	r.must("PATCH", "/"+id, `{"is_active":true}`)
	r.must("PATCH", "/"+id, `{"is_active":false}`)
	r.must("PATCH", "/"+id, `{"is_active":true}`)
	for _, none := range []struct {
		notify string
		to     any
	}{{notice.None, "owner@example.com"}, {notice.Each, nil}, {notice.Each, "no address"}} {
		r.set(none.notify, none.to)
		r.emit(1)
		r.disabled(id)
		r.must("PATCH", "/"+id, `{"is_active":true}`)
	}
	r.set(notice.Each, "other@example.com")
	r.emit(1)
	r.disabled(id)
	m = r.arrived(3)
	require.Equal(t, "<other@example.com>", m.Header.Get("To"),
		"neither what the owner switched off, nor where no one gets notices, made a mail")
}

// An endpoint that fails for days makes one mail, when it is disabled.
func TestOwnerIsNotifiedWhenAWebhookFailedForDays(t *testing.T) {
	t.Parallel()
	r := newPostRig(t)
	r.set(notice.Each, "owner@example.com")
	to := newReceiver(t, status(http.StatusBadGateway))
	id, _ := r.create(to.url)
	r.emit(10)
	for range 10 {
		to.next(t)
	}
	require.Zero(t, r.queued())
	r.clock.advance(121 * time.Hour)
	r.disabled(id)
	r.arrived(1)
}

// An owner whose webhooks are disabled again and again gets as many mails as of leads, and no more.
func TestMailsOfDisabledWebhooksAreBounded(t *testing.T) {
	t.Parallel()
	r := newPostRig(t)
	r.set(notice.Each, "owner@example.com")
	_, err := r.db.Unscoped().Exec(t.Context(),
		"UPDATE accounts SET notices_sent = $2, notices_since = now() WHERE id = $1", r.owner, notice.HourlyNotices)
	require.NoError(t, err)
	to := newReceiver(t, status(http.StatusGone))
	id, _ := r.create(to.url)
	r.emit(1)
	r.disabled(id)
	require.Zero(t, r.queued())
}
