package mail

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/crud/queue"
	"lodestone/pkg/postgres"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

// fixture is a process that sends mails.
type fixture struct {
	t       *testing.T
	db      *postgres.Pool
	jobs    *queue.Queue
	mails   *Queue
	metrics *prometheus.Registry
	log     *enginetest.Log
	account uuid.UUID
}

var keys = func() *token.Ring {
	ring, err := token.NewKeys(1).Ring()
	if err != nil {
		panic(err)
	}
	return ring
}()

func start(t *testing.T, db *postgres.Pool, url string) *fixture {
	t.Helper()
	f := &fixture{t: t, db: db, metrics: prometheus.NewRegistry(), log: &enginetest.Log{}, account: uuid.New()}
	log := slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	f.jobs, err = queue.New(queue.Config{Poll: 100 * time.Millisecond},
		queue.Deps{Postgres: db, Log: log, Registerer: f.metrics})
	require.NoError(t, err)
	f.mails, err = New(Config{URL: url, From: "Example <hello@example.com>"},
		Deps{Queue: f.jobs, Tokens: keys, Site: "https://links.example.com/", Log: log, Registerer: f.metrics, Postgres: db})
	require.NoError(t, err)
	require.NoError(t, f.jobs.Start(t.Context()))
	t.Cleanup(f.stop)
	return f
}

func (f *fixture) stop() { require.NoError(f.t, f.jobs.Stop(context.WithoutCancel(f.t.Context()))) }

// send sends in a transaction of the account.
func (f *fixture) send(m Message) error {
	if m.AccountID == uuid.Nil {
		m.AccountID = f.account
	}
	return f.db.Account(f.t.Context(), f.account, func(tx pgx.Tx) error { return f.mails.Send(f.t.Context(), tx, m) })
}

func document(to string) Message {
	return Message{Kind: KindDocument, To: to, URL: "https://links.example.com/a/SECRET"}
}

// settled waits until the newest job is in a state, and returns its errors.
func (f *fixture) settled(state string) string {
	f.t.Helper()
	var got, errs string
	require.Eventually(f.t, func() bool {
		require.NoError(f.t, f.db.Unscoped().QueryRow(f.t.Context(),
			"SELECT state, coalesce(errors::text, '') FROM river_job WHERE kind = 'sealed_mail' ORDER BY id DESC LIMIT 1").Scan(
			&got, &errs))
		return got == state
	}, 3*time.Minute, 10*time.Millisecond)
	return errs
}

// hurry makes what waits for its next try due.
func (f *fixture) hurry() {
	f.t.Helper()
	_, err := f.db.Unscoped().Exec(f.t.Context(),
		"UPDATE river_job SET state = 'available', scheduled_at = now() WHERE state = 'retryable'")
	require.NoError(f.t, err)
}

func (f *fixture) outcome(name string) (n int) {
	f.t.Helper()
	families, err := f.metrics.Gather()
	require.NoError(f.t, err)
	for _, family := range families {
		for _, m := range family.GetMetric() {
			for _, l := range m.GetLabel() {
				if family.GetName() == "lodestone_mail_attempts_total" && l.GetName() == "outcome" && l.GetValue() == name {
					n += int(m.GetCounter().GetValue())
				}
			}
		}
	}
	return n
}

func TestAMailIsSentIfItsTransactionCommits(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	f := start(t, enginetest.MigratedPostgres(t), "smtp://"+s.address)
	undone := errors.New("undone")
	require.ErrorIs(t, f.db.Account(t.Context(), f.account, func(tx pgx.Tx) error {
		m := document("never@example.com")
		m.AccountID = f.account
		require.NoError(t, f.mails.Send(t.Context(), tx, m))
		return undone
	}), undone)
	require.NoError(t, f.send(document("jo@example.com")))
	got := wait(t.Context(), t, s.got)
	require.Equal(t, "jo@example.com", got.to)
	f.settled("completed")
	require.Empty(t, s.got)
	require.Equal(t, 1, f.outcome("sent"))
	other := document("jo@example.com")
	other.AccountID = uuid.New()
	require.Error(t, f.send(other), "in the name of another account")
	require.NotContains(t, f.log.String(), "jo@example.com")
	require.NotContains(t, f.log.String(), "SECRET")
}

func TestAMailIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	f := start(t, enginetest.MigratedPostgres(t), "smtp://"+s.address)
	busy := &smtp.SMTPError{Code: 451, EnhancedCode: smtp.EnhancedCode{4, 7, 1},
		Message: "jo@example.com: come back later"}
	s.set(func() { s.rcpt, s.data, s.drop = []error{busy}, []error{busy}, 1 })
	require.NoError(t, f.send(document("jo@example.com")))
	for range 3 { // refused at RCPT, at DATA, and taken without an answer
		errs := f.settled("retryable")
		require.NotContains(t, errs, "jo@example.com")
		f.hurry()
	}
	f.settled("completed")
	// The server got it twice: no one can know. Its mailbox shows it once, as both are the same mail.
	first, second := open(t, wait(t.Context(), t, s.got).raw), open(t, wait(t.Context(), t, s.got).raw)
	require.Equal(t, first.header.Get("Message-Id"), second.header.Get("Message-Id"))
	require.Equal(t, first.header.Get("Date"), second.header.Get("Date"))
	require.Equal(t, first.text, second.text)
	require.Empty(t, s.got)
	require.Equal(t, 3, f.outcome("failed"))
	require.Equal(t, 1, f.outcome("sent"))
	require.NotContains(t, f.log.String(), "jo@example.com")
}

func TestARefusedMailEndsAndIsKept(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	f := start(t, enginetest.MigratedPostgres(t), "smtp://"+s.address)
	s.set(func() {
		s.rcpt = []error{&smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1},
			Message: "no jo@example.com here"}}
	})
	require.NoError(t, f.send(document("jo@example.com")))
	require.Contains(t, f.settled("cancelled"), "the SMTP server refused the receiver: 550 5.1.1")
	require.Equal(t, 1, f.outcome("refused"))
	require.Empty(t, s.got)
	require.NotContains(t, f.log.String(), "jo@example.com")
}

// A mail that a stopped process was about to send is sent by the next one.
func TestStoppedWhileTheServerSaysNothing(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	s.set(func() { s.mute = 1 })
	db := enginetest.MigratedPostgres(t)
	f := start(t, db, "smtp://"+s.address)
	require.NoError(t, f.send(document("jo@example.com")))
	<-s.started
	f.stop()
	f.settled("available")
	next := start(t, db, "smtp://"+s.address)
	require.Equal(t, "jo@example.com", wait(t.Context(), t, s.got).to)
	next.settled("completed")
}

func TestWhatIsNoLongerTrueIsNotSent(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	f := start(t, enginetest.MigratedPostgres(t), "smtp://"+s.address)
	require.NoError(t, f.send(Message{Kind: KindConfirm, To: "jo@example.com", URL: "https://links.example.com/v",
		Code: "123456", ExpiresAt: time.Now().Add(-time.Second)}))
	f.settled("cancelled")
	require.Equal(t, 1, f.outcome("expired"))
	require.Empty(t, s.got)
}

// Without a server mails wait for a process that has one.
func TestWithoutServer(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	f := start(t, db, "")
	require.NoError(t, f.send(document("jo@example.com")))
	require.Contains(t, f.settled("retryable"), "--smtp-url")
	f.stop()
	s := startServer(t, false)
	next := start(t, db, "smtp://"+s.address)
	next.hurry()
	require.Equal(t, "jo@example.com", wait(t.Context(), t, s.got).to)
}

func TestPause(t *testing.T) {
	t.Parallel()
	var total time.Duration
	for attempt := 1; attempt < maxAttempts; attempt++ {
		p := pause(attempt)
		require.GreaterOrEqual(t, p, firstPause*4/5)
		require.LessOrEqual(t, p, longestWait*6/5)
		total += p
	}
	require.InDelta(t, 24, total.Hours(), 8)
}

func TestMessagesThatCannotBeSent(t *testing.T) {
	t.Parallel()
	f := &fixture{t: t, db: enginetest.MigratedPostgres(t), account: uuid.New(), mails: &Queue{}}
	for name, m := range map[string]Message{
		"no receiver":         {Kind: KindDocument, URL: "https://x"},
		"a list of receivers": {Kind: KindDocument, To: "a@example.com, b@example.com", URL: "https://x"},
		"a header":            {Kind: KindDocument, To: "a@example.com\r\nBcc: b@example.com", URL: "https://x"},
		"no kind":             {To: "a@example.com", URL: "https://x"},
	} {
		require.Error(t, f.send(m), name)
	}
}

// The queue holds neither addresses nor links nor codes.
func TestTheQueueHoldsNoMailInClear(t *testing.T) {
	t.Parallel()
	db := enginetest.MigratedPostgres(t)
	f := start(t, db, "")
	require.NoError(t, f.send(Message{Kind: KindConfirm, To: "jo@example.com",
		URL: "https://links.example.com/verify/SECRET", Code: "123456", ExpiresAt: time.Now().Add(time.Hour)}))
	var dump string
	require.NoError(t, db.Unscoped().QueryRow(t.Context(), "SELECT string_agg(j::text, '') FROM river_job j").Scan(&dump))
	require.Contains(t, dump, "confirm")
	for _, secret := range []string{"example.com", "SECRET", "123456"} {
		require.NotContains(t, dump, secret)
	}
}
