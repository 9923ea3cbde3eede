package crud_test

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/crud"
	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/plan"
	"lodestone/pkg/problem"
	"lodestone/pkg/test"
)

// atOnce sends the same request many times at once and returns how many were answered with success;
// all others have to be over the limit of the plan.
func atOnce(t *testing.T, n int, send func() reply) int {
	t.Helper()
	var wg sync.WaitGroup
	var made atomic.Int64
	for range n {
		wg.Go(func() {
			r := send()
			if r.status == http.StatusCreated {
				made.Add(1)
				return
			}
			if !strings.Contains(r.body, string(problem.LimitReached)) || r.status != http.StatusForbidden {
				t.Errorf("%d %s", r.status, r.body)
			}
		})
	}
	wg.Wait()
	return int(made.Load())
}

// However much is created at once, an account has no more than its plan allows, and the refusal
// names what, how many and the plan.
func TestPlanLimits(t *testing.T) {
	t.Parallel()
	f := start(t, func(c *crud.Config) {
		c.Plans.Plans.Free = plan.Limits{LeadMagnets: 2, GenericLinks: 3, AccessLinks: 7}
	})
	u, team := f.user(t, account.Free), f.user(t, account.Team)
	require.Equal(t, 2, atOnce(t, 6, func() reply { return u.post(t, "/api/v1/lead-magnets", `{"title":"x"}`) }))
	p := u.post(t, "/api/v1/lead-magnets", `{"title":"x"}`).problem(t)
	require.Equal(t, problem.LimitReached, p.Code)
	require.Equal(t, "The plan free allows 2 lead magnets, and there are 2.", p.Detail)

	magnets, err := u.LeadMagnets(t.Context(), client.Paging{})
	require.NoError(t, err)
	magnet := magnets.Data[0].ID
	bulk := func(from, n int) reply {
		emails := make([]string, n)
		for i := range emails {
			emails[i] = fmt.Sprintf(`"r%d@example.com"`, from+i)
		}
		return u.post(t, "/api/v1/lead-magnets/"+magnet+"/bulk-links", `{"emails":[`+strings.Join(emails, ",")+`]}`)
	}
	p = bulk(0, 8).problem(t)
	require.Equal(t, problem.LimitReached, p.Code)
	require.Equal(t, "The plan free allows 7 access links, there are 0, and this would add 8.", p.Detail)
	require.Zero(t, u.count(t, "access_links"), "none of them was made")
	require.Equal(t, 2, atOnce(t, 4, func() reply { return bulk(100, 3) }))
	require.Equal(t, 1, atOnce(t, 4,
		func() reply { return u.post(t, accessPath, `{"lead_magnet_id":"`+magnet+`","email":"jo@example.com"}`) }))
	require.Equal(t, 7, u.count(t, "access_links"))

	a, err := u.Account(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, *a.Limits.LeadMagnets)
	require.EqualValues(t, 7, *a.Limits.AccessLinks)
	require.Nil(t, a.Limits.StoredBytes)
	require.EqualValues(t, 7, a.Usage.AccessLinks)
	for range 4 {
		team.magnet(t)
	}
}

// The files of an account take no more than its plan allows, also when they are stored at once;
// what is deleted, and what is replaced and not read any more, makes room.
func TestStoredBytes(t *testing.T) {
	t.Parallel()
	file := test.StripPDF(1, 1000)
	size := int64(len(file))
	f := start(t, func(c *crud.Config) { c.Plans.Plans.Free = plan.Limits{StoredBytes: 3*size - 1} })
	u := f.user(t, account.Free)
	first, second := u.magnet(t), u.magnet(t)
	put := func(m client.LeadMagnet) reply {
		return u.send(t, "PUT", "/api/v1/lead-magnets/"+m.ID+"/file", bytes.NewReader(file),
			"Content-Type", "application/pdf")
	}
	var wg sync.WaitGroup
	var stored atomic.Int64
	for _, m := range []client.LeadMagnet{first, second, first} {
		wg.Go(func() {
			if r := put(m); r.status == http.StatusOK {
				stored.Add(1)
			} else if !strings.Contains(r.body, "bytes of files") {
				t.Error(r.body)
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 2, stored.Load())
	require.Equal(t, problem.LimitReached, put(second).problem(t).Code)
	a, err := u.Account(t.Context())
	require.NoError(t, err)
	require.Equal(t, 2*size, a.Usage.StoredBytes)
	require.Equal(t, 3*size-1, *a.Limits.StoredBytes)
	require.Equal(t, http.StatusNoContent, u.remove(t, "/api/v1/lead-magnets/"+first.ID).status)
	require.Equal(t, 200, put(second).status)
}

// A replaced file goes when no session reads it any more, and stays while one may.
func TestReplacedFiles(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	read, unread := u.magnet(t), u.magnet(t)
	put := func(m client.LeadMagnet, pages int) {
		t.Helper()
		_, err := u.UploadFile(t.Context(), m.ID, "a.pdf", bytes.NewReader(test.StripPDF(pages, 0)))
		require.NoError(t, err)
	}
	exec := func(sql string, args ...any) {
		t.Helper()
		_, err := f.db.Unscoped().Exec(t.Context(), sql, args...)
		require.NoError(t, err)
	}
	versions := func(m client.LeadMagnet) (all, kept int) {
		t.Helper()
		row := f.db.Unscoped().QueryRow(t.Context(), `SELECT count(*), count(*) FILTER (WHERE discarded_at IS NULL
			AND EXISTS (SELECT FROM lead_magnet_file_chunks c WHERE c.lead_magnet_id = f.lead_magnet_id AND c.version = f.version)
			AND EXISTS (SELECT FROM pictures p WHERE p.lead_magnet_id = f.lead_magnet_id AND p.version = f.version))
			FROM lead_magnet_files f WHERE lead_magnet_id = $1`, m.ID)
		require.NoError(t, row.Scan(&all, &kept))
		return all, kept
	}
	for _, m := range []client.LeadMagnet{read, unread} {
		put(m, 1)
		put(m, 2)
	}
	link := u.accessLink(t, read.ID)
	session := uuid.New()
	exec("INSERT INTO sessions (id, account_id, access_link_id, magnet_version) VALUES ($1, $2, $3, 1)",
		session, u.account, link.ID)
	_, kept := versions(unread)
	require.Equal(t, 2, kept, "a session may be on its way to a version that was replaced just now")
	exec("UPDATE lead_magnet_files SET created_at = created_at - interval '1 hour'")
	for _, m := range []client.LeadMagnet{read, unread} {
		put(m, 3)
	}
	all, kept := versions(unread)
	require.Equal(t, 3, all)
	require.Equal(t, 2, kept)
	_, kept = versions(read)
	require.Equal(t, 3, kept)
	exec("UPDATE sessions SET started_at = started_at - interval '25 hours' WHERE id = $1", session)
	put(read, 4)
	_, kept = versions(read)
	require.Equal(t, 3, kept)
	require.Equal(t, 200, u.get(t, "/api/v1/lead-magnets/"+read.ID+"/file").status)
}
