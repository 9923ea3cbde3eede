package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/chart"
	"lodestone/pkg/test/enginetest"
)

// weekly has the report of the last week sent, and compares its numbers with those that the API
// answers.
func (v *owner) weekly(t *testing.T, u *up) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), strings.Trim(u.env["LODESTONE_POSTGRES_URL"], "'"))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close(t.Context())) }()
	_, err = db.Exec(t.Context(), "UPDATE accounts SET weekly_report = true, reported_until = now() - interval '30 days'")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(),
		`INSERT INTO river_job (kind, args, queue, max_attempts, priority, state) VALUES ('weekly-reports', '{}', 'default', 3, 1, 'available')`)
	require.NoError(t, err)

	end := time.Now().UTC().Truncate(24 * time.Hour)
	if time.Now().UTC().Weekday() == time.Monday && time.Now().UTC().Hour() < 7 {
		end = end.AddDate(0, 0, -1)
	}
	for end.Weekday() != time.Monday {
		end = end.AddDate(0, 0, -1)
	}
	period := fmt.Sprintf(`"from":"%s","to":"%s"`, end.AddDate(0, 0, -7).Format(time.DateOnly), end.Format(time.DateOnly))
	total := v.ask("{" + allMetrics + `"interval":"day",` + period + "}")
	magnets := v.ask(`{"metrics":["people","visitors","people_finished"],"dimensions":["lead_magnet_id"],` + period + "}")
	readers, ok := total.Totals["people"].(float64)
	require.True(t, ok)
	require.NotZero(t, readers)

	text := u.textOfMail(demoOwner, chart.Count(readers)+" reader")
	says := func(label string, value any) {
		n, ok := value.(float64)
		require.True(t, ok, label)
		require.Regexp(t, "(?m)^"+label+": "+chart.Count(n)+`( \(|$)`, text)
	}
	for label, metric := range map[string]string{
		"Visitors": "visitors", "Forms sent": "submissions", "Readers": "people", "Read to the end": "people_finished",
		"Downloaded": "people_downloaded",
	} {
		says(label, total.Totals[metric])
	}
	require.Len(t, total.Rows, 7)
	for _, r := range total.Rows {
		day, err := time.Parse(time.RFC3339, r["time"].(string))
		require.NoError(t, err)
		says(day.Format("Monday, 2 January"), r["people"])
	}
	for _, r := range magnets.Rows {
		for label, metric := range map[string]string{"Visitors": "visitors", "Readers": "people",
			"Read to the end": "people_finished"} {
			says(label, r[metric])
		}
	}
	require.Contains(t, text, "/dashboard?from="+end.AddDate(0, 0, -7).Format(time.DateOnly))
	var keys int
	require.NoError(t, db.QueryRow(t.Context(), "SELECT count(*) FROM report_keys").Scan(&keys))
	require.Zero(t, keys, "the key of the report is gone")
}

// textOfMail waits for a mail to an address whose subject begins so, and returns its text.
func (u *up) textOfMail(address, subject string) (text string) {
	u.t.Helper()
	require.Eventually(u.t, func() bool {
		_, body := get(u.t, u.env["LODESTONE_URL"]+"/dev/mailbox.json?to="+url.QueryEscape(address),
			u.env["LODESTONE_DEV_SECRET"])
		var box struct {
			Mails []struct{ Subject, Text string }
		}
		if json.Unmarshal([]byte(body), &box) != nil {
			return false
		}
		for _, m := range box.Mails {
			if strings.HasPrefix(m.Subject, subject) {
				text = m.Text
				return true
			}
		}
		return false
	}, enginetest.Timeout, interval, "%s: %s\n%s", address, subject, u.out)
	return text
}
