package bench

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/service"
)

func TestAnOpenLoopWaitsForNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const each = time.Second // far longer than from one request to the next
		load := openLoop{rate: 20, requests: 400, seed: 3}
		dues := load.dues()
		begin := time.Now()
		answers, failures, err := load.run(t.Context(), func(ctx context.Context, _ int) error { return service.Sleep(ctx, each) })
		require.NoError(t, err)
		require.Empty(t, failures)
		require.Len(t, answers, len(dues))
		require.Equal(t, dues[len(dues)-1]+each, time.Since(begin), "it waits for the last answer, and for none before")
		for i, a := range answers {
			require.Equal(t, answer{i, each}, a)
		}
	})
}

func TestAnOpenLoopCountsFailuresApartAndEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("broken")
		answers, failures, err := openLoop{rate: 5, requests: 7}.run(t.Context(), func(context.Context, int) error { return broken })
		require.NoError(t, err)
		require.Empty(t, answers)
		require.Len(t, failures, 7)
		require.ErrorIs(t, failures[0], broken)

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, _, err = openLoop{rate: 1, requests: 1000}.run(ctx, func(ctx context.Context, _ int) error { return service.Sleep(ctx, time.Hour) })
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestRequestsAreDueAtRandomTimesOfAMeanRate(t *testing.T) {
	t.Parallel()
	load := openLoop{rate: 20, requests: 20_000, seed: 1}
	dues := load.dues()
	require.Equal(t, dues, load.dues())
	require.InEpsilon(t, 1000, dues[len(dues)-1].Seconds(), 0.03)
	short, before := 0, time.Duration(0)
	for _, due := range dues {
		require.GreaterOrEqual(t, due, before)
		if due-before < 50*time.Millisecond {
			short++
		}
		before = due
	}
	require.InDelta(t, 1-1/2.718, float64(short)/float64(len(dues)), 0.02, "those of a Poisson process that follow within the mean")
	load.seed++
	require.NotEqual(t, dues, load.dues())
}

func TestRefusalsAreCountedByTheirReason(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"Code: 202. DB::Exception: Too many simultaneous queries for user analyst. Current: 8, maximum: 8. (TOO_MANY_SIMULTANEOUS_QUERIES)":                                      "TOO_MANY_SIMULTANEOUS_QUERIES",
		"Code: 241. DB::Exception: (total) memory limit exceeded: While executing (AGGREGATE): in query (SELECT X). (MEMORY_LIMIT_EXCEEDED) (version 26.7.1.1 (official build))": "MEMORY_LIMIT_EXCEEDED",
		"no route": "unknown",
	} {
		require.Equal(t, want, refusalReason([]byte(answer)))
	}
	synctest.Test(t, func(t *testing.T) {
		var asked []string
		team := newAnalysts(1, func(ctx context.Context, query string) error {
			asked = append(asked, query)
			if len(asked) <= 3 {
				return []error{nil, &refusal{reason: "QUOTA_EXCEEDED"}, &refusal{reason: "QUOTA_EXCEEDED"}}[len(asked)-1]
			}
			<-ctx.Done() // in the middle of the fourth, it is told to stop
			return ctx.Err()
		})
		require.Empty(t, team.reasons())
		team.start(t.Context())
		require.NoError(t, service.Sleep(t.Context(), time.Minute)) // of the bubble's clock
		team.stop()
		require.Equal(t, heavy, asked, "one after another")
		answered, refused := team.counts()
		require.Equal(t, []int{1, 2}, []int{answered, refused})
		require.Equal(t, "2 for QUOTA_EXCEEDED", team.reasons())
	})
}

func TestAPaceIsThatFromStepToStep(t *testing.T) {
	t.Parallel()
	begin := time.Now()
	p := pace{began: begin.Add(-time.Second)}
	require.Zero(t, p.rate())
	for i, rows := range []float64{100, 100, 150, 150, 250, 350, 350, 350} {
		p.add(begin.Add(time.Duration(i)*time.Second), rows)
		if i < 2 {
			require.InEpsilon(t, 100, p.rate(), 1e-9, "from the beginning, while there is one step")
		}
	}
	require.InEpsilon(t, 200.0/3, p.rate(), 1e-9)
}

func TestSQLSaysWhatItLeavesOut(t *testing.T) {
	var said bytes.Buffer
	b := newTestBench(1)
	b.progress = &said
	t.Chdir(t.TempDir()) // which is no checkout
	s := &sqlBench{b: b}
	require.NoError(t, s.questions(t.Context(), "", 1000))
	require.Contains(t, said.String(), "sql/questions: left out: there is no docs/sql.md")
	require.ErrorContains(t, s.questions(t.Context(), filepath.Join("docs", "sql.md"), 1000), "--sql-questions", "it was named")

	said.Reset()
	require.NoError(t, sqlOptions{Rows: 1000, Links: 1}.run(t.Context(), b, &Engines{}))
	require.Equal(t, 1, strings.Count(said.String(), "\n"))
	require.Contains(t, said.String(), "--clickhouse-url")
}
