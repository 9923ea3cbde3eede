package main

import (
	"encoding/json"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

// withoutMarker are the personal columns of docs/data.md, or tables of them, in which a reader's
// text cannot be, by the reason.
var withoutMarker = map[string][]string{
	"is of users, their sign-in and the account, which stay when a reader is erased": {
		"users", "invitations", "sign_ins", "openid_identities", "openid_requests", "passkeys",
		"passkey_challenges", "accounts", "api_keys",
		"webhook_endpoints", "webhook_secrets",
		"shares", "report_keys", "user_sessions.user_agent", "user_sessions.cookie_hash", "user_sessions.key_hash",
	},
	"is a secret, or its hash, that Lodestone makes": {
		"access_links.token_sealed", "access_links.token_hash", "verifications.page_hash",
		"verifications.link_hash", "verifications.code_hash",
		"entity_copy.person_key", "ip_salts.sealed",
	},
	"has fixed words only":                     {"reading_notices.news"},
	"is of visitors who have given no address": {"lodestone.link_views"},
}

var inBackquotes = regexp.MustCompile("`([a-z0-9_.]+)`")

// personal returns the personal columns of docs/data.md, as table.column, that a reader's text can
// be in. Every exception has to be one of the page.
func personal(t *testing.T) (columns []string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/data.md")
	require.NoError(t, err)
	var except, used []string
	for _, names := range withoutMarker {
		except = append(except, names...)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.HasPrefix(line, "| `") { // the tables with personal columns have five cells
			continue
		}
		table := inBackquotes.FindStringSubmatch(cells[1])[1]
		for _, found := range inBackquotes.FindAllStringSubmatch(cells[2], -1) {
			column := table + "." + found[1]
			switch {
			case slices.Contains(except, table):
				used = append(used, table)
			case slices.Contains(except, column):
				used = append(used, column)
			default:
				columns = append(columns, column)
			}
		}
	}
	slices.Sort(except)
	slices.Sort(used)
	require.Equal(t, except, slices.Compact(used), "exceptions that docs/data.md has not as personal columns")
	return columns
}

// requirePlanted waits until the marker is in every personal column of docs/data.md, but for the
// exceptions, and requires that it is in no other one.
func (s stores) requirePlanted(t *testing.T) {
	t.Helper()
	want := append(personal(t), "pg_stats of submissions.name")
	var found, missing []string
	require.Eventually(t, func() bool {
		found = append(s.postgres(t), s.clickhouse(t)...)
		missing = slices.DeleteFunc(slices.Clone(want), func(column string) bool { return slices.Contains(found, column) })
		return len(missing) == 0
	}, enginetest.Timeout, time.Second,
		"plant the marker in these columns, or give the reason why not in withoutMarker: %s", &missing)
	others := slices.DeleteFunc(found, func(column string) bool {
		return slices.Contains(want, column) || strings.HasPrefix(column, "pg_stats")
	})
	require.Empty(t, others, "columns with the marker: docs/data.md has to list them as personal")
}

// fill waits until each list of the export of a person has had something.
func (p planted) fill(t *testing.T, owner asker) {
	t.Helper()
	empty := map[string]bool{}
	require.Eventually(t, func() bool {
		status, _, answer := owner.send(t, "POST", "/api/v1/people/export", `{"email":"`+p.address+`"}`)
		var found map[string]any
		if status != http.StatusOK || json.Unmarshal([]byte(answer), &found) != nil {
			return false // exports of a minute are limited
		}
		full := true
		for name, field := range found {
			list, ok := field.([]any)
			if before, seen := empty[name]; ok && (before || !seen) {
				empty[name] = len(list) == 0
			}
			full = full && !empty[name]
		}
		return full
	}, enginetest.Timeout, time.Second, "lists of the export that are empty: %v", &empty)
	require.Greater(t, len(empty), 6)
}
