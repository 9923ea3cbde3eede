package query_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

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
