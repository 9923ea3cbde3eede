package notice_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/pkg/store"
)

// Nothing but one question is sent to an address before whoever reads it agreed.
func TestNoticesWaitForTheAddressToBeConfirmed(t *testing.T) {
	t.Parallel()
	f := start(t)
	f.set(notice.Each, "owner@example.com")
	f.exec("UPDATE accounts SET notify_confirmed_at = NULL")
	f.newLead(f.submit("jo@example.com", "2026-11-02 09:05", false, ""))
	require.NoError(t, f.db.Transaction(t.Context(), func(tx pgx.Tx) error {
		return f.notices.WebhookDisabled(t.Context(), tx, store.WebhookEndpoint{ID: uuid.New(), AccountID: f.account,
			Url: "https://hooks.example/x"}, 0)
	}))
	f.exec("UPDATE accounts SET notify = 'daily'")
	require.NoError(t, f.notices.SendDigests(t.Context()))
	require.Empty(t, f.mails())

	require.NoError(t, f.db.Account(t.Context(), f.account, func(tx pgx.Tx) error {
		return f.notices.Ask(t.Context(), tx, f.account, "owner@example.com")
	}))
	require.Len(t, f.mails(), 1)
	m := f.mails()[0]
	require.Equal(t, mail.KindNotices, m.Kind)
	require.Equal(t, "owner@example.com", m.To)
	path := strings.TrimPrefix(m.URL, site)
	require.Regexp(t, "^/notices/confirm/", path)

	confirmed := func() (yes bool) {
		require.NoError(t, f.db.Unscoped().QueryRow(t.Context(),
			"SELECT notify_confirmed_at IS NOT NULL FROM accounts").Scan(&yes))
		return yes
	}
	status, body := f.send("GET", path, "")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, body, "owner@example.com")
	require.False(t, confirmed(), "programs that look at mails follow links")
	status, _ = f.send("POST", strings.Replace(path, "/confirm/", "/", 1), "notify=each")
	require.Equal(t, http.StatusNotFound, status, "it is no link that changes notices")
	status, body = f.send("POST", path, "", "User-Agent", "Quux link scanner")
	require.Equal(t, http.StatusForbidden, status)
	require.Contains(t, body, "Your browser identifies itself as a program")
	require.False(t, confirmed(), "and press buttons")
	for range 2 {
		status, body = f.send("POST", path, "")
		require.Equal(t, http.StatusOK, status)
		require.Contains(t, body, "This email address is confirmed")
		require.True(t, confirmed())
	}
	f.exec("UPDATE accounts SET notify = 'each'")
	f.newLead(f.submit("al@example.com", "2026-11-02 09:06", false, ""))
	require.Len(t, f.mails(), 2)
	// The links of notices do not confirm an address.
	other := "/notices/confirm/" + strings.TrimPrefix(f.mails()[1].Unsubscribe, site+"/notices/")
	status, _ = f.send("POST", other, "")
	require.Equal(t, http.StatusNotFound, status)

	f.exec("UPDATE accounts SET notify_email = 'new@example.com', notify_confirmed_at = NULL")
	status, _ = f.send("POST", path, "")
	require.Equal(t, http.StatusNotFound, status, "a link of a mail to another address")
	require.False(t, confirmed())
}
