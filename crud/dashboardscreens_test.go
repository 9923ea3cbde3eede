package crud_test

import (
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// doneAt is the screen or form of the dashboard that does what an operation of the API does.
var doneAt = map[string]string{
	"create-lead-magnet": "POST /dashboard/new", "list-lead-magnets": "GET /dashboard",
	"get-lead-magnet": "GET /dashboard/magnets/{}", "update-lead-magnet": "POST /dashboard/magnets/{}/edit",
	"delete-lead-magnet":        "POST /dashboard/magnets/{}/delete",
	"upload-lead-magnet-file":   "POST /dashboard/magnets/{}/file",
	"download-lead-magnet-file": "GET /dashboard/magnets/{}/file",
	"list-lead-magnet-versions": "GET /dashboard/magnets/{}/edit",
	"get-page-picture":          "GET /dashboard/magnets/{}/pages/{}",
	"create-share":              "POST /dashboard/magnets/{}/shares", "list-shares": "GET /dashboard/magnets/{}/shares",
	"revoke-share":        "POST /dashboard/magnets/{}/shares/{}/delete",
	"create-generic-link": "POST /dashboard/links/new", "list-generic-links": "GET /dashboard/links",
	"get-generic-link": "GET /dashboard/links/{}", "update-generic-link": "POST /dashboard/links/{}",
	"delete-generic-link": "POST /dashboard/links/{}/delete", "preview-generic-link": "POST /dashboard/links/{}/preview",
	"duplicate-generic-link": "POST /dashboard/links/{}/duplicate", "compare-headlines": "GET /dashboard/links/{}",
	"get-generic-link-qr":           "GET /dashboard/links/{}/qr",
	"upload-generic-link-thumbnail": "POST /dashboard/links/{}/picture",
	"delete-generic-link-thumbnail": "POST /dashboard/links/{}/picture/delete",
	"get-generic-link-tracking":     "GET /dashboard/links/{}/site",
	"get-generic-link-embed":        "GET /dashboard/links/{}/site", "list-submissions": "GET /dashboard/links/{}",
	"export-submissions": "GET /dashboard/links/{}/submissions.csv",
	"list-recipients":    "GET /dashboard/links/{}/recipients", "count-recipients": "GET /dashboard/links/{}",
	"add-recipients": "POST /dashboard/links/{}/recipients", "import-recipients": "POST /dashboard/links/{}/recipients",
	"export-recipients":    "GET /dashboard/links/{}/recipients.csv",
	"send-to-recipients":   "POST /dashboard/links/{}/recipients/send",
	"remind-recipients":    "POST /dashboard/links/{}/recipients/remind",
	"set-reminder-rule":    "POST /dashboard/links/{}/recipients/remind",
	"get-reminder-rule":    "GET /dashboard/links/{}/recipients",
	"delete-reminder-rule": "POST /dashboard/links/{}/recipients/remind",
	"delete-submission":    "POST /dashboard/readers/{}/forms/{}/delete",
	"create-access-links":  "POST /dashboard/links/{}/recipients", "create-access-link": "POST /dashboard/readers/{}",
	"list-access-links": "GET /dashboard/readers", "get-access-link": "GET /dashboard/readers/{}",
	"update-access-link":  "POST /dashboard/readers/{}/links/{}",
	"delete-access-link":  "POST /dashboard/readers/{}/links/{}/delete",
	"preview-access-link": "POST /dashboard/readers/{}/links/{}/preview",
	"get-access-link-qr":  "GET /dashboard/readers/{}/links/{}/qr",
	"get-weekly-report":   "GET /dashboard/settings/notices",
	"set-weekly-report":   "POST /dashboard/settings/notices/weekly",
	"get-person":          "GET /dashboard/readers/{}",
	"update-person":       "POST /dashboard/readers/{}/person",
	"export-person":       "POST /dashboard/readers/{}/export",
	"erase-person":        "POST /dashboard/readers/{}/erase", "get-erasure": "GET /dashboard/erasures/{}",
	"create-utm-template": "POST /dashboard/links/{}/campaigns", "list-utm-templates": "GET /dashboard/links/{}/campaigns",
	"get-utm-template":    "GET /dashboard/links/{}/campaigns",
	"update-utm-template": "POST /dashboard/links/{}/campaigns/{}",
	"delete-utm-template": "POST /dashboard/links/{}/campaigns/{}/delete",
	"get-account":         "GET /dashboard/settings", "update-account": "POST /dashboard/settings",
	"get-logo": "GET /dashboard/settings", "upload-logo": "POST /dashboard/settings/logo",
	"delete-logo": "POST /dashboard/settings/logo/delete",
	"list-users":  "GET /dashboard/settings/people", "get-user": "GET /dashboard/settings/people",
	"update-user": "POST /dashboard/settings/people/{}", "remove-user": "POST /dashboard/settings/people/{}/remove",
	"create-invitation": "POST /dashboard/settings/people", "list-invitations": "GET /dashboard/settings/people",
	"get-invitation":    "GET /dashboard/settings/people",
	"delete-invitation": "POST /dashboard/settings/invitations/{}/remove",
	"create-key":        "POST /dashboard/settings/keys", "list-keys": "GET /dashboard/settings/keys",
	"get-key": "GET /dashboard/settings/keys", "revoke-key": "POST /dashboard/settings/keys/{}/revoke",
	"list-sessions": "GET /dashboard/settings/sessions", "end-session": "POST /dashboard/settings/sessions/{}/end",
	"list-audit-log": "GET /dashboard/settings/audit",
	"create-view":    "POST /dashboard/views", "list-views": "GET /dashboard/readers",
	"delete-view":       "POST /dashboard/views/{}/delete",
	"create-alert-rule": "POST /dashboard/settings/alerts", "list-alert-rules": "GET /dashboard/settings/alerts",
	"delete-alert-rule": "POST /dashboard/settings/alerts/{}/delete", "list-alerts": "GET /dashboard/settings/alerts",
	"create-webhook": "POST /dashboard/settings/webhooks", "list-webhooks": "GET /dashboard/settings/webhooks",
	"get-webhook": "GET /dashboard/settings/webhooks/{}", "update-webhook": "POST /dashboard/settings/webhooks/{}",
	"delete-webhook":          "POST /dashboard/settings/webhooks/{}/delete",
	"rotate-webhook-secret":   "POST /dashboard/settings/webhooks/{}/secret",
	"test-webhook":            "POST /dashboard/settings/webhooks/{}/test",
	"list-webhook-deliveries": "GET /dashboard/settings/webhooks/{}",
	"get-webhook-delivery":    "GET /dashboard/settings/webhooks/{}",
	"replay-webhook-delivery": "POST /dashboard/settings/webhooks/{}/deliveries/{}/replay",
}

// Everything that the API can do with entities can be done in the dashboard. The screens about what
// was read are compared with the API elsewhere, number by number.
func TestTheDashboardDoesWhatTheAPIDoes(t *testing.T) {
	t.Parallel()
	f := start(t)
	require.ElementsMatch(t, slices.Collect(maps.Keys(f.described())), slices.Collect(maps.Keys(doneAt)))
	placeholder := regexp.MustCompile(`\{\}`)
	for id, route := range doneAt {
		method, path, _ := strings.Cut(placeholder.ReplaceAllString(route, uuid.NewString()), " ")
		r, err := http.NewRequestWithContext(t.Context(), method, f.url+path, http.NoBody)
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", f.url)
		res, err := f.http.Transport.RoundTrip(r)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		require.NotContains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, res.StatusCode, "%s: %s", id, route)
	}
}
