package query_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

// A question that cannot be answered is refused, and the answer names the field.
func TestQuestionsThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account := querytest.ID(t)
	for _, refused := range []struct{ field, body string }{
		{"from", `"from":""`}, {"to", `"to":""`}, {"timezone", `"timezone":""`}, {"from", `"from":null`},
		{"interval", `"interval":""`}, {"compare", `"compare":""`}, {"order_by", `"order_by":""`},
		{"timezone", `"timezone":"Local"`}, {"timezone", `"timezone":"localtime"`}, {"timezone", `"timezone":"posixrules"`},
		{"timezone", `"timezone":"posix/Europe/Berlin"`}, {"timezone", `"timezone":"right/Europe/Berlin"`},
		{"timezone", `"timezone":"europe/berlin"`},
	} {
		r := s.question(account, fmt.Sprintf(`{"metrics":["readers"],%s}`, refused.body))
		require.Equal(t, http.StatusUnprocessableEntity, r.status, refused.body)
		code, fields := r.problem(t)
		require.Equal(t, "validation_error", code)
		require.Equal(t, []string{refused.field}, fields, refused.body)
	}
	require.Equal(t, http.StatusOK, s.question(account, `{"metrics":["readers"],"timezone":"US/Eastern"}`).status)
}

// A generic link is labelled by what the account calls it; else by its title or slug.
func TestLinksAreLabelledByTheirNames(t *testing.T) {
	t.Parallel()
	a := newReadersAccount(t)
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), a.pool)
	a.store(a.link, event.PageViewed, 1, time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), "")
	require.NoError(t, querytest.Conn(t).Exec(t.Context(), fmt.Sprintf(`INSERT INTO lodestone.generic_links
		(id, account_id, lead_magnet_id, slug, title, version) VALUES ('%s', '%s', '%s', 'guide', 'Read the guide', 1)`,
		a.generic, a.account, a.magnet)))
	label := func() any {
		got := s.question(a.account, `{"metrics":["people"],"from":"2026-03-01","to":"2026-03-02",
			"dimensions":["generic_link_id","lead_magnet_id"]}`)
		require.Equal(t, http.StatusOK, got.status, "%s", got.body)
		var body struct {
			Data []struct{ Labels map[string]any }
		}
		require.NoError(t, json.Unmarshal(got.body, &body))
		return body.Data[0].Labels[a.generic.String()]
	}
	require.Equal(t, "Read the guide", label())
	a.exec("UPDATE generic_links SET name = 'Spring fair' WHERE id = $1", a.generic)
	require.Equal(t, "Spring fair", label())
}
