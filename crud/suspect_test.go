package crud_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/pkg/test/clienttest"
)

// suspected is the rule that suspects a session, "" if none does.
func (r *reading) suspected(session uuid.UUID) (rule string) {
	r.t.Helper()
	require.NoError(r.t, r.fixture.db.Unscoped().QueryRow(r.t.Context(),
		"SELECT coalesce((SELECT rule FROM suspects WHERE id = $1 AND account_id = $2), '')", session, r.account).Scan(&rule))
	return rule
}

func (r *reading) exec(sql string, args ...any) {
	r.t.Helper()
	_, err := r.fixture.db.Unscoped().Exec(r.t.Context(), sql, args...)
	require.NoError(r.t, err)
}

// An opening is suspected at once if its address is in the operator's file, or if it came with the
// mail. It spends a view like any other, and webhooks name the rule.
func TestSuspectedOpenings(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "networks.txt")
	require.NoError(t, os.WriteFile(file, []byte("203.0.113.0/24 # a data centre\n"), 0o600))
	r := newReadingAlone(t, 0, func(c *crud.Config) {
		c.Suspects.File, c.Addresses.TrustedProxies = file, []string{"127.0.0.0/8"}
	})
	_, err := r.CreateWebhook(t.Context(), clienttest.NewWebhook{URL: "http://127.0.0.1:9/",
		Kinds: []string{"link.accessed"}})
	require.NoError(t, err)
	generic := r.user.link(t, r.magnet.ID)
	open := func(path, from, agent string) uuid.UUID {
		t.Helper()
		res, text := r.ask("POST", path+"/sessions", "{}", "Content-Type", "application/json", "X-Forwarded-For", from,
			"User-Agent", agent)
		require.Equal(t, 201, res.StatusCode, string(text))
		_, rest, _ := strings.Cut(string(text), `"session_id":"`)
		return uuid.MustParse(rest[:36])
	}
	invited := func(sent, reminded string) (id, path string) {
		t.Helper()
		id, path = r.link("")
		r.exec(fmt.Sprintf(`INSERT INTO recipients (id, account_id, generic_link_id, person_id, sent_at, reminded_at)
			VALUES ($1, $2, $3, gen_random_uuid(), %s, %s)`, sent, reminded), id, r.account, generic.ID)
		return id, path
	}
	const (
		home    = "198.51.100.7"
		chrome  = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36"
		seconds = "now() - interval '12 seconds'"
		minute  = "now() - interval '1 minute'"
	)
	id, made := r.link("")
	require.Empty(t, r.suspected(open(made, home, chrome)), "a link that was made by the API")
	require.Equal(t, "network", r.suspected(open(made, "203.0.113.9", chrome)))
	require.Empty(t, r.suspected(open(made, "203.0.113.9", "Googlebot/2.1")), "it says what it is")
	require.Equal(t, 2, r.openedCount(id), "a suspected opening spends a view")
	_, path := invited(seconds, "NULL")
	require.Equal(t, "delivery", r.suspected(open(path, home, chrome)))
	_, path = invited(minute, "NULL")
	require.Empty(t, r.suspected(open(path, home, chrome)), "a person who saw the mail come")
	_, path = invited("now() - interval '3 days'", seconds)
	require.Equal(t, "delivery", r.suspected(open(path, home, chrome)), "a reminder")
	_, path = invited("NULL", "NULL")
	require.Empty(t, r.suspected(open(path, home, chrome)), "no mail was sent")

	messages := r.fixture.deliveries(t, r.account)
	require.Equal(t, 2, strings.Count(messages, `"suspect":"delivery"`))
	require.Equal(t, 1, strings.Count(messages, `"bot":false,"suspect":"network","is_bot":false`))
	require.Equal(t, 1, strings.Count(messages, `"bot":true,"suspect":null,"is_bot":true`))

	// Once the account leaves a rule out, its messages say so.
	changed := r.patch(t, "/api/v1/account", `{"left_out_suspects":["network"]}`)
	require.Equal(t, 200, changed.status, changed.body)
	require.Equal(t, []any{"network"}, changed.object(t)["left_out_suspects"])
	require.Equal(t, 422, r.patch(t, "/api/v1/account", `{"left_out_suspects":["rubbish"]}`).status)
	require.Equal(t, []any{"network"}, r.get(t, "/api/v1/account").object(t)["left_out_suspects"])
	open(made, "203.0.113.9", chrome)
	require.Contains(t, r.fixture.deliveries(t, r.account), `"bot":false,"suspect":"network","is_bot":true`)
}
