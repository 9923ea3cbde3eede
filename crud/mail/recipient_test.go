package mail

import (
	"testing"

	"github.com/emersion/go-smtp"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// recipient is what Postgres has of a recipient.
type recipient struct {
	Queued, Sent, Bounced, Reminded bool
	Failure                         string
}

// A mail to a recipient is handed over once: also if the process died while it was, and not if the
// recipient unsubscribed meanwhile or is gone. What the server says is on record.
func TestMailsToRecipients(t *testing.T) {
	t.Parallel()
	s := startServer(t, false)
	db := enginetest.MigratedPostgres(t)
	f := start(t, db, "smtp://"+s.address)
	id, link, magnet, person := uuid.New(), uuid.New(), uuid.New(), uuid.New()
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	exec(`INSERT INTO accounts (id, name, plan) VALUES ($1, 'Northwind', 'pro')`, f.account)
	exec(`INSERT INTO lead_magnets (id, account_id, title) VALUES ($1, $2, 'Guide')`, magnet, f.account)
	exec(`INSERT INTO generic_links (id, account_id, lead_magnet_id, slug) VALUES ($1, $2, $3, 'guide')`, link, f.account, magnet)
	exec(`INSERT INTO access_links (id, account_id, lead_magnet_id, email, email_key, token_hash, token_sealed, token_key)
		VALUES ($1, $2, $3, 'jo@example.com', 'jo@example.com', sha256('x'), '', 1)`, id, f.account, magnet)
	exec(`INSERT INTO recipients (id, account_id, generic_link_id, person_id) VALUES ($1, $2, $3, $4)`, id, f.account, link, person)
	is := func() (r recipient) {
		require.NoError(t, db.Unscoped().QueryRow(t.Context(), `SELECT queued_at IS NOT NULL, sent_at IS NOT NULL, bounced_at IS NOT NULL,
			reminded_at IS NOT NULL, coalesce(failure, '') FROM recipients`).Scan(&r.Queued, &r.Sent, &r.Bounced, &r.Reminded, &r.Failure))
		return r
	}
	m := Message{Kind: KindRecipient, AccountID: f.account, To: "jo@example.com",
		URL: "https://links.example.com/a/SECRET", Title: "Guide",
		Recipient: id, Own: &Own{Subject: "Hello", Before: "Read this:"},
		Unsubscribe: "https://links.example.com/unsubscribe/x"}
	exec(`UPDATE recipients SET queued_at = now()`)
	s.set(func() { s.rcpt = []error{&smtp.SMTPError{Code: 451, Message: "later"}} })
	require.NoError(t, f.send(m))
	f.settled("retryable")
	require.Equal(t, recipient{Queued: true, Failure: "the SMTP server refused the receiver: 451 4.0.0"}, is())
	f.hurry()
	got := open(t, wait(t.Context(), t, s.got).raw)
	f.settled("completed")
	require.Equal(t, recipient{Queued: true, Sent: true}, is())
	require.Equal(t, "<https://links.example.com/unsubscribe/x>", got.header.Get("List-Unsubscribe"))
	require.Equal(t, "List-Unsubscribe=One-Click", got.header.Get("List-Unsubscribe-Post"))

	// The process died before the job was known to be done: the queue runs it again.
	require.NoError(t, f.send(m))
	f.settled("completed")
	require.Empty(t, s.got)

	m.Kind = KindReminder
	exec(`INSERT INTO unsubscribes (account_id, person_id) VALUES ($1, $2)`, f.account, person)
	require.NoError(t, f.send(m))
	f.settled("completed")
	require.Empty(t, s.got)
	require.False(t, is().Reminded)
	exec(`DELETE FROM unsubscribes`)
	s.set(func() {
		s.rcpt = []error{&smtp.SMTPError{Code: 550, EnhancedCode: smtp.EnhancedCode{5, 1, 1}, Message: "no"}}
	})
	require.NoError(t, f.send(m))
	f.settled("cancelled")
	require.Equal(t, recipient{Queued: true, Sent: true, Bounced: true, Reminded: true,
		Failure: "the SMTP server refused the receiver: 550 5.1.1"}, is())

	exec(`DELETE FROM access_links`)
	require.NoError(t, f.send(m))
	f.settled("completed")
	require.Empty(t, s.got)
	require.Equal(t, 1, f.outcome("sent"))
}
