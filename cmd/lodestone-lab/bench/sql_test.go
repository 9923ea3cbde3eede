package bench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
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

// The month that is not over has events, whenever that is asked, and none is of tomorrow.
func TestAPastYearEndsNow(t *testing.T) {
	t.Parallel()
	const rows = 50_000
	for _, now := range []time.Time{time.Date(2026, 11, 23, 2, 0, 0, 0, time.UTC), time.Date(2027, 3, 1, 12, 0, 0, 0, time.UTC)} {
		events := pastYear(1, rows, now)
		var first, last event.Event
		events.Next(&first)
		for range rows - 1 {
			events.Next(&last)
		}
		require.WithinDuration(t, now, time.UnixMilli(last.ReceivedAt), 24*time.Hour)
		require.LessOrEqual(t, last.ReceivedAt, now.UnixMilli())
		require.WithinDuration(t, now.AddDate(-1, 0, 0), time.UnixMilli(first.ReceivedAt), 60*24*time.Hour)
		events.Next(&last)
		require.Greater(t, last.ReceivedAt, now.UnixMilli())
	}
}

// Not even engines are started, for which there is no program here.
func TestNothingIsPreparedForCasesThatAreNotWanted(t *testing.T) {
	t.Parallel()
	b := newTestBench(1)
	b.Only = []string{"nothing like it"}
	for _, s := range []suite{sqlOptions{}.suite(), serveOptions{}.suite(), endToEndOptions{}.suite()} {
		require.NoError(t, b.runSuite(t.Context(), s, Embedded))
	}
}

// What a process has its children do takes memory too.
func TestMemoryOfAProcessIsThatOfItsChildrenToo(t *testing.T) {
	t.Parallel()
	parent := exec.CommandContext(t.Context(), "sh", "-c", "cat; :")
	in, err := parent.StdinPipe()
	require.NoError(t, err)
	out, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	_, err = in.Write([]byte("x")) // it comes back when the child runs
	require.NoError(t, err)
	_, err = io.ReadFull(out, make([]byte, 1))
	require.NoError(t, err)
	living := everyProcess()
	children := descendants(living, parent.Process.Pid)
	require.Len(t, children, 1)
	one := Metered{Name: "sh", PID: parent.Process.Pid}
	both := one.held(living)
	require.GreaterOrEqual(t, both, status(one.PID, "RssAnon:")+status(children[0], "RssAnon:"))
	require.Less(t, both, status(one.PID, "VmRSS:")+status(children[0], "VmRSS:"), "what they share is counted once")
	one.Alone = true
	require.Equal(t, status(one.PID, "VmRSS:"), one.held(living))
	require.NoError(t, in.Close())
	require.NoError(t, parent.Wait())
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
