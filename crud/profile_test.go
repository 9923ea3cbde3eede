package crud_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/problem"
)

const peoplePath = "/api/v1/people"

func (f *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

// A person is the same behind each of their links: with the name of their newest form, until it is
// changed, and a status and note of the account's.
func TestProfiles(t *testing.T) {
	t.Parallel()
	f := start(t)
	u, other := f.user(t, account.Team), f.user(t, account.Team)
	link := u.link(t, u.magnet(t).ID)
	submission, first := u.submit(t, link, "Zoe@Acme.example", time.Now().Add(-time.Hour))
	second := u.links(t, link.LeadMagnetID, "zoe@acme.example")[0].ID
	f.exec(t, "UPDATE generic_links SET collect_name = true WHERE id = $1", link.ID)
	f.exec(t, "UPDATE submissions SET name = 'Zoë' WHERE id = $1", submission)

	person := u.get(t, peoplePath+"/"+first)
	require.Equal(t, http.StatusOK, person.status, person.body)
	shown := person.object(t)
	require.Equal(t, []any{"zoe@acme.example", "Zoë", false, "acme.example", "New", false, nil, nil},
		[]any{shown["email"], shown["name"], shown["name_is_set"], shown["company_domain"], shown["status"], shown["closed"],
			shown["note"], shown["updated_at"]})
	require.Equal(t, person.body, u.get(t, peoplePath+"/"+second).body)
	require.Equal(t, problem.NotFound, other.get(t, peoplePath+"/"+first).problem(t).Code)
	require.Equal(t, problem.NotFound, other.patch(t, peoplePath+"/"+first, `{"note":"x"}`).problem(t).Code)

	changed := u.patch(t, peoplePath+"/"+second, `{"name":" Dr. Z ","status":"Won","note":"Asked for a quote"}`,
		"If-Match", person.header.Get("ETag"))
	require.Equal(t, http.StatusOK, changed.status, changed.body)
	shown = u.get(t, peoplePath+"/"+first).object(t)
	require.Equal(t, []any{"Dr. Z", true, "Won", true, "Asked for a quote"},
		[]any{shown["name"], shown["name_is_set"], shown["status"], shown["closed"], shown["note"]})
	// whoever read the state before learns of the change
	for _, tag := range []string{person.header.Get("ETag"), `"7-0"`} {
		require.Equal(t, http.StatusPreconditionFailed,
			u.patch(t, peoplePath+"/"+first, `{"note":"mine"}`, "If-Match", tag).status)
	}
	require.Equal(t, http.StatusOK,
		u.patch(t, peoplePath+"/"+first, `{"name":null}`, "If-Match", changed.header.Get("ETag")).status)
	shown = u.get(t, peoplePath+"/"+first).object(t)
	require.Equal(t, []any{"Zoë", "Won", "Asked for a quote"}, []any{shown["name"], shown["status"], shown["note"]})

	refused := u.patch(t, peoplePath+"/"+first, `{"status":"Lost"}`).problem(t)
	require.Equal(t, "status must be one of New, In touch, Won, Not a fit",
		refused.Errors[0].Field+" "+refused.Errors[0].Message)
	require.Equal(t, http.StatusOK, u.patch(t, "/api/v1/account", `{"open_statuses":["Cold"," Warm "],"closed_statuses":[]}`).status)
	require.Equal(t, http.StatusOK, u.patch(t, peoplePath+"/"+first, `{"note":null}`).status, "a word that is gone stays")
	require.Equal(t, "Warm", u.patch(t, peoplePath+"/"+first, `{"status":"Warm"}`).object(t)["status"])
	require.Equal(t, "Cold", u.patch(t, peoplePath+"/"+first, `{"status":null}`).object(t)["status"])
	for body, field := range map[string]string{
		`{"open_statuses":[]}`: "open_statuses", `{"open_statuses":[" "]}`: "open_statuses[0]",
		`{"open_statuses":["Cold","COLD"]}`: "open_statuses", `{"closed_statuses":["warm"]}`: "closed_statuses",
		`{"closed_statuses":["` + strings.Repeat("x", 41) + `"]}`: "closed_statuses[0]",
	} {
		require.Equal(t, field, fields(u.patch(t, "/api/v1/account", body).problem(t)), body)
	}
}

// What the account wrote down about a person is in their export, and goes with them: of this
// account alone, and also if a restore brings it back.
func TestProfilesAreErased(t *testing.T) {
	t.Parallel()
	f := startAlone(t, withLog(t.TempDir()))
	u, other := f.user(t, account.Team).at(t, f.service), f.user(t, account.Team)
	f = u.fixture
	for _, one := range []*user{u, other} {
		link := one.links(t, one.magnet(t).ID, "ada@example.com")[0].ID
		require.Equal(t, http.StatusOK, one.patch(t, peoplePath+"/"+link, `{"note":"called"}`).status)
	}
	f.exec(t, "CREATE TABLE kept AS SELECT * FROM profiles WHERE account_id = $1", u.account)
	done := u.post(t, erasePath, `{"email":"ada@example.com"}`)
	require.Equal(t, http.StatusCreated, done.status, done.body)
	require.EqualValues(t, 1, done.object(t)["removed"].(map[string]any)["profiles"])
	require.Zero(t, u.count(t, "profiles"))
	require.Equal(t, 1, other.count(t, "profiles"))

	f.exec(t, "INSERT INTO profiles SELECT * FROM kept")
	f.exec(t, "DELETE FROM erasures")
	f.replay(t)
	require.Zero(t, u.count(t, "profiles"))
}
