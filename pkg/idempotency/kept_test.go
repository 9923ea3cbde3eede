package idempotency

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

// A key that names a person is forgotten while its request runs, as when the request erases the person. The request goes on, and repetitions find its
// answer.
func TestAForgottenKey(t *testing.T) {
	t.Parallel()
	s, pool := open(t)
	id := account(t, pool)
	r, other := request(id, "erase-ada@example.com", "a"), request(id, "bob", "b")
	claim, _, err := s.Begin(t.Context(), r)
	require.NoError(t, err)
	_, _, err = s.Begin(t.Context(), other)
	require.NoError(t, err)
	require.NoError(t, effect(claim.Context(t.Context()), pool, id))
	err = s.Forget(t.Context(), id, time.Now().Add(time.Hour), Meant{
		Body: func([]byte) bool { return false }, Key: func(key string) bool { return strings.Contains(key, "ada@example.com") },
	})
	require.NoError(t, err)
	var named, kept int
	require.NoError(t, pool.Unscoped().QueryRow(t.Context(), "SELECT count(*) FILTER (WHERE key LIKE '%ada%'), count(*) FILTER (WHERE key = 'bob') FROM idempotency_keys").Scan(&named, &kept))
	require.Zero(t, named)
	require.Equal(t, 1, kept)

	_, _, err = s.Begin(t.Context(), r)
	var p *problem.Problem
	require.ErrorAs(t, err, &p, "it runs")
	require.Equal(t, problem.Conflict, p.Code)
	require.NoError(t, effect(claim.Context(t.Context()), pool, id))
	claim.Finish(t.Context(), Answer{Status: 200, Body: []byte(`{}`)})
	_, before, err := s.Begin(t.Context(), r)
	require.NoError(t, err)
	require.Equal(t, `{}`, string(before.Body))
	require.Equal(t, 2, effects(t, pool, id))
}
