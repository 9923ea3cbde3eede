package crud_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/crud/account"
	"lodestone/pkg/client"
	"lodestone/pkg/postgres"
	"lodestone/pkg/problem"
	"lodestone/pkg/test/clienttest"
)

// Of many that change one state at once, one wins; the others get a conflict, and change nothing.
func TestConcurrentChanges(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Team)
	m := u.magnet(t)
	link, access := u.link(t, m.ID), u.accessLink(t, m.ID)
	for name, change := range map[string]func(i int, tag string) (string, error){
		"generic link": func(i int, tag string) (string, error) {
			l, err := u.UpdateGenericLink(t.Context(), link.ID,
				clienttest.GenericLinkChanges{Title: clienttest.Set(fmt.Sprint(i)), Slug: new(fmt.Sprintf("slug-%d", i))}, tag)
			return l.ETag, err
		},
		"access link": func(i int, tag string) (string, error) {
			l, err := u.UpdateAccessLink(t.Context(), access.ID, clienttest.AccessLinkChanges{MaxViews: clienttest.Set(i + 1)},
				tag)
			return l.ETag, err
		},
		"lead magnet": func(i int, tag string) (string, error) {
			l, err := u.UpdateLeadMagnet(t.Context(), m.ID, clienttest.LeadMagnetChanges{Title: new(fmt.Sprint(i))}, tag)
			return l.ETag, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tag, err := change(99, "*")
			require.NoError(t, err)
			for range 5 {
				var wg sync.WaitGroup
				results := make(chan error, 16)
				next := make(chan string, 16)
				for i := range 16 {
					wg.Go(func() {
						after, err := change(i, tag)
						if err == nil {
							next <- after
						}
						results <- err
					})
				}
				wg.Wait()
				close(results)
				close(next)
				won := 0
				for err := range results {
					if err == nil {
						won++
						continue
					}
					var p *problem.Problem
					require.ErrorAs(t, err, &p)
					require.Equal(t, http.StatusPreconditionFailed, p.Status, p.Detail)
				}
				require.Equal(t, 1, won)
				tag = <-next
			}
		})
	}
}

// Of many that move to one slug at once, one gets it.
func TestConcurrentSlugChanges(t *testing.T) {
	t.Parallel()
	f := start(t)
	var wg sync.WaitGroup
	results := make(chan error, 16)
	for range 4 {
		u := f.user(t, account.Team)
		m := u.magnet(t)
		for i := range 4 {
			link := u.link(t, m.ID)
			wg.Go(func() {
				var err error
				if i == 0 {
					_, err = u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID, Slug: new("wanted-by-all")})
				} else {
					_, err = u.UpdateGenericLink(t.Context(), link.ID, clienttest.GenericLinkChanges{Slug: new("wanted-by-all")})
				}
				results <- err
			})
		}
	}
	wg.Wait()
	close(results)
	got := 0
	for err := range results {
		if err == nil {
			got++
			continue
		}
		require.True(t, problem.Is(err, problem.SlugTaken), "%v", err)
	}
	require.Equal(t, 1, got)
}

// A plan's limit holds while links are created and deleted at once.
func TestConcurrentLimitAndDeletes(t *testing.T) {
	t.Parallel()
	f := start(t)
	u := f.user(t, account.Free)
	m := u.magnet(t)
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			for range 10 {
				link, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
				if err != nil {
					if !problem.Is(err, problem.LimitReached) {
						t.Error(err)
					}
					continue
				}
				if a, err := u.Account(t.Context()); err != nil || a.Usage.GenericLinks > 3 {
					t.Error(a.Usage.GenericLinks, err)
				}
				if err := u.DeleteGenericLink(t.Context(), link.ID); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(t, u.count(t, "generic_links"))
}

// While things are made, changed, counted and deleted in every order at once, everyone gets a
// documented answer, and nothing is left that belongs to nothing.
func TestConcurrentDeletes(t *testing.T) {
	t.Parallel()
	f := startAlone(t)
	u := f.user(t, account.Team)
	for range 3 {
		m := u.magnet(t)
		var links []client.GenericLink
		var access []client.AccessLink
		for i := range 6 {
			links, access = append(links, u.link(t, m.ID)), append(access, u.accessLink(t, m.ID))
			for j := range 4 {
				u.submit(t, links[i], fmt.Sprintf("%d@example.com", j), time.Now())
			}
		}
		begin := make(chan struct{})
		var wg sync.WaitGroup
		try := func(codes []problem.Code, fn func() error) {
			wg.Go(func() {
				<-begin
				err := fn()
				for _, code := range codes {
					if problem.Is(err, code) {
						return
					}
				}
				if err != nil {
					t.Errorf("%v", err)
				}
			})
		}
		gone := []problem.Code{problem.NotFound}
		refused := []problem.Code{problem.InvalidLeadMagnet}
		for i := range links {
			try(gone, func() error { return u.DeleteGenericLink(t.Context(), links[i].ID) })
			try(gone, func() error { return u.DeleteAccessLink(t.Context(), access[i].ID) })
			try(gone, func() error {
				_, err := u.UpdateGenericLink(t.Context(), links[i].ID,
					clienttest.GenericLinkChanges{Slug: new("moved-" + links[i].Slug)})
				if problem.Is(err, problem.SlugTaken) {
					return nil
				}
				return err
			})
			try(gone, func() error {
				_, err := u.UpdateAccessLink(t.Context(), access[i].ID, clienttest.AccessLinkChanges{MaxViews: clienttest.Set(3)})
				return err
			})
			try(refused, func() error {
				_, err := u.CreateGenericLink(t.Context(), client.NewGenericLink{LeadMagnetID: m.ID})
				return err
			})
			try(refused, func() error {
				_, err := u.CreateAccessLink(t.Context(), client.NewAccessLink{LeadMagnetID: m.ID, Email: "jo@example.com"})
				return err
			})
		}
		try(gone, func() error {
			_, err := u.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: emails(50)})
			return err
		})
		try(append(gone, problem.Conflict), func() error { return u.DeleteLeadMagnet(t.Context(), m.ID, false) })
		for range 2 {
			try(gone, func() error { return u.DeleteLeadMagnet(t.Context(), m.ID, true) })
		}
		// As the job that sets the counters does, in an order of its own.
		try(nil, func() error {
			for {
				_, err := f.db.Unscoped().Exec(t.Context(), `INSERT INTO access_link_counts AS c (id, account_id)
					SELECT l.id, l.account_id FROM (SELECT id, account_id FROM access_links FOR KEY SHARE) AS l ON CONFLICT (id) DO UPDATE SET views = c.views + 1`)
				if !postgres.IsUnavailable(err) { // it has to give way at times, and tries again
					return err
				}
			}
		})
		close(begin)
		wg.Wait()
		require.Negative(t, strings.Index(f.unlogged(t), m.ID), "all of it went with the lead magnet")
	}
	require.Zero(t, f.count(t, "submissions"))
}

// While links are added, walking the numbered pages may show one twice, and never skips one.
func TestPagesWhileAdding(t *testing.T) {
	t.Parallel()
	u := start(t).user(t, account.Team)
	m := u.magnet(t)
	_, err := u.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: emails(200)})
	require.NoError(t, err)
	before, err := u.CreateAccessLinks(t.Context(), m.ID, clienttest.NewAccessLinks{Emails: emails(150)})
	require.NoError(t, err)
	seen := map[string]bool{}
	for n := 1; ; n++ {
		page, err := u.AccessLinks(t.Context(), client.AccessLinkFilter{LeadMagnetID: m.ID,
			Paging: client.Paging{Page: n, PerPage: 40}})
		require.NoError(t, err)
		for _, l := range page.Data {
			seen[l.ID] = true
		}
		if int64(n) >= page.Pagination.TotalPages {
			break
		}
		u.accessLink(t, m.ID)
	}
	for _, l := range before {
		require.True(t, seen[l.ID])
	}
}
