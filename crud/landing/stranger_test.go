package landing_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func (f *fixture) linkColumn(t *testing.T, column, path string) string {
	t.Helper()
	return one[string](t, f,
		`SELECT coalesce(`+column+`::text, '') FROM access_links WHERE token_hash = sha256($1::text::bytea)`,
		strings.TrimPrefix(path, "/a/"))
}

// Someone who types the address of another person gets no link that this person has, neither before
// nor after the person verified the address, and nothing that is read with it counts for the
// person.
func TestStrangerGetsNoLinkOfAnAddress(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	owner := map[string]bool{f.post(t, "/l/"+slug, "email", "vic@example.com").location(t): true}
	mailed := f.last(t).path(t)
	owner[mailed] = true
	strangers := func() string {
		t.Helper()
		got := f.post(t, "/l/"+slug, "email", "VIC@example.com").location(t)
		require.NotContains(t, owner, got)
		require.Equal(t, mailed, f.last(t).path(t), "the mailbox's link stays the same")
		return got
	}
	before := strangers()
	require.NotEmpty(t, f.linkColumn(t, "submission_id", before))
	f.exec(t, `INSERT INTO access_link_counts SELECT id, account_id, 3, now(), now() FROM access_links WHERE source = 'form'`)

	// The person verifies the address: what was read by links of forms is not the person's.
	f.exec(t, `UPDATE generic_links SET require_verification = true`)
	_, m := f.asked(t, slug, "vic@example.com")
	require.Equal(t, mailed, f.post(t, m.path(t)).location(t))
	require.Equal(t, "true", f.linkColumn(t, "verified", mailed))
	require.NotEmpty(t, f.linkColumn(t, "submission_id", mailed))
	require.Empty(t, f.linkColumn(t, "submission_id", before))
	require.Equal(t, "0 false <nil>",
		one[string](t, f, `SELECT view_count || ' ' || (view_count > 0) || ' ' || coalesce(first_viewed_at::text, '<nil>') FROM counted_submissions`))

	f.exec(t, `UPDATE generic_links SET require_verification = false`)
	require.Empty(t, f.linkColumn(t, "submission_id", strangers()))
}

// What the owner sets for a person's link holds for links that forms give for the same address.
func TestLinksOfFormsHaveTheRestrictionsOfTheMailboxs(t *testing.T) {
	t.Parallel()
	f := start(t)
	slug := f.link(t)
	f.post(t, "/l/"+slug, "email", "vic@example.com").location(t)
	f.exec(t, `UPDATE access_links SET max_views = 1, is_active = false, expires_at = '2031-01-01' WHERE source = 'mail'`)
	to := f.post(t, "/l/"+slug, "email", "vic@example.com").location(t)
	require.Equal(t, "1", f.linkColumn(t, "max_views", to))
	require.Equal(t, "false", f.linkColumn(t, "is_active", to))
	require.Contains(t, f.linkColumn(t, "expires_at", to), "2031-01-01")
	require.Equal(t, "0", f.linkColumn(t, "opened_count", to))
}
