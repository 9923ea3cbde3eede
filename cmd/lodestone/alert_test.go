package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/chart"
)

// alerts has rules checked against the numbers of the reports: the alert of yesterday's readers
// arrives, with the number that the API answers.
func (v *owner) alerts(t *testing.T, u *up) {
	t.Helper()
	for _, rule := range []object{
		{"kind": "silent"}, {"kind": "range"}, {"kind": "above", "metric": "submissions", "threshold": 1_000_000},
		{"kind": "below", "metric": "people", "threshold": 1_000_000},
	} {
		status, made := v.api("POST", "/api/v1/alert-rules", rule)
		require.Equal(t, http.StatusCreated, status, made)
		status, made = v.api("POST", "/api/v1/alert-rules", rule)
		require.Equal(t, http.StatusConflict, status, made)
	}
	for field, wrong := range map[string]object{
		"threshold":       {"kind": "below"},
		"utm_campaign":    {"kind": "silent", "utm_campaign": "spring"},
		"generic_link_id": {"kind": "range", "generic_link_id": "01a21082-79c9-72b4-8722-3a101ce8046c"},
	} {
		status, problem := v.api("POST", "/api/v1/alert-rules", wrong)
		require.Equal(t, http.StatusUnprocessableEntity, status, problem)
		require.Equal(t, field, problem["errors"].([]any)[0].(object)["field"])
	}
	db, err := pgx.Connect(t.Context(), strings.Trim(u.env["LODESTONE_POSTGRES_URL"], "'"))
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close(t.Context())) }()
	_, err = db.Exec(t.Context(), "UPDATE alert_rules SET created_at = now() - interval '3 days', checked_at = 'epoch'")
	require.NoError(t, err)
	_, err = db.Exec(t.Context(),
		`INSERT INTO river_job (kind, args, queue, max_attempts, priority, state) VALUES ('alerts', '{}', 'default', 3, 1, 'available')`)
	require.NoError(t, err)

	text := u.textOfMail(demoOwner, "All documents: Readers on")
	day := time.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, -1)
	yesterday := v.ask(fmt.Sprintf(`{"metrics":["people"],"from":"%s","to":"%s"}`, day.Format(time.DateOnly),
		day.AddDate(0, 0, 1).Format(time.DateOnly)))
	require.Contains(t, text, "Readers on "+day.Format("Monday, 2 January")+": "+
		chart.Count(yesterday.Totals["people"].(float64))+", below 1,000,000")
	_, list := v.api("GET", "/api/v1/alerts", nil)
	one := list["data"].([]any)[0].(object)
	require.Equal(t, object{"kind": "below", "metric": "people", "direction": "below",
		"value": yesterday.Totals["people"], "ended_at": nil}, pick(one, "kind", "metric", "direction", "value", "ended_at"))
	s := v.open(settings + "/alerts")
	s.has("1 open alert")
	_, magnets := v.api("GET", "/api/v1/lead-magnets", nil)
	first := magnets["data"].([]any)[0].(object)
	var offered []string // for a rule to be about
	for _, o := range s.find("option", "") {
		offered = append(offered, attr(o, "value")+" "+textOf(o))
	}
	require.Contains(t, offered, "lead_magnet_id:"+first["id"].(string)+" "+first["title"].(string))
}
