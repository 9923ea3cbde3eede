package problem_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/problem"
)

func TestCodes(t *testing.T) {
	t.Parallel()
	want := map[problem.Code]int{
		"invalid_lead_magnet": 400, "slug_taken": 400, "limit_reached": 403, "validation_error": 422,
		"unauthorized": 401, "forbidden": 403,
		"not_found": 404, "method_not_allowed": 405, "invalid_json": 400, "invalid_parameter": 400, "payload_too_large": 413,
		"unsupported_media_type": 415, "rate_limited": 429, "conflict": 409, "unavailable": 503, "internal": 500,
	}
	got := map[problem.Code]int{}
	for _, c := range problem.Codes() {
		got[c] = c.Status()
		require.NotEmpty(t, c.Title())
	}
	require.Equal(t, want, got)
	require.Equal(t, 500, problem.Code("invented").Status())
}

func TestBody(t *testing.T) {
	t.Parallel()
	text, err := json.Marshal(problem.Invalid(problem.Field{Field: "slug",
		Message: "must be short"}).Because(errors.New("secret")))
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"/api/v1/problems/validation_error","title":"Some values are not valid","status":422,"detail":"slug must be short.",
		"code":"validation_error","errors":[{"field":"slug","message":"must be short"}]}`, string(text))
	text, err = json.Marshal(problem.Missing("generic link"))
	require.NoError(t, err)
	require.NotContains(t, string(text), "errors")
}

func TestFrom(t *testing.T) {
	t.Parallel()
	away := errors.New("connection refused")
	isAway := func(err error) bool { return errors.Is(err, away) }
	for name, test := range map[string]struct {
		err  error
		code problem.Code
	}{
		"problem":       {problem.Missing("x"), problem.NotFound},
		"wrapped":       {fmt.Errorf("get x: %w", problem.Missing("x")), problem.NotFound},
		"large body":    {fmt.Errorf("read: %w", &http.MaxBytesError{Limit: 5}), problem.PayloadTooLarge},
		"away":          {fmt.Errorf("query: %w", away), problem.Unavailable},
		"too slow":      {fmt.Errorf("query: %w", context.DeadlineExceeded), problem.Unavailable},
		"anything else": {errors.New("password=hunter2"), problem.Internal},
	} {
		p := problem.From(test.err, isAway)
		require.Equal(t, test.code, p.Code, name)
		require.NotContains(t, p.Detail, "hunter2")
		require.Equal(t, test.code == problem.Unavailable, p.Header().Get("Retry-After") != "", name)
		if test.code == problem.Internal {
			require.ErrorIs(t, p, test.err) // for the log
		}
	}
}

func TestRetryAfterIsAtLeastASecond(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{0: "1", time.Millisecond: "1",
		1500 * time.Millisecond: "2", time.Minute: "60"} {
		require.Equal(t, want, problem.New(problem.RateLimited, "x").RetryAfter(d).Header().Get("Retry-After"))
	}
}

// A problem that was handed out does not change.
func TestCopies(t *testing.T) {
	t.Parallel()
	p := problem.Missing("x").WithHeader("A", "1")
	q := p.WithHeader("A", "2").Because(errors.New("y"))
	require.Equal(t, "1", p.Header().Get("A"))
	require.Equal(t, "2", q.Header().Get("A"))
	require.NoError(t, errors.Unwrap(p))
}
