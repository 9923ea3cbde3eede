package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/event"
	"lodestone/pkg/service"
	"lodestone/pkg/test/enginetest"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestQuantilesAreWithinOnePercent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	halves := [2]Latencies{NewLatencies(), NewLatencies()}
	for i := range 20_000 {
		d := time.Duration(r.ExpFloat64() * float64(3*time.Millisecond))
		all = append(all, d)
		halves[i%2].Add(d)
	}
	l := halves[0]
	l.Merge(halves[1].Histogram)
	slices.Sort(all)
	require.EqualValues(t, len(all), l.TotalCount())
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[min(int(q*float64(len(all))), len(all)-1)]
		require.InEpsilon(t, float64(want)+1, float64(l.ValueAtPercentile(100*q))+1, 0.01, "%v", q)
	}
	require.Zero(t, NewLatencies().ValueAtPercentile(50))
	l.Add(1<<63 - 1) // is counted as the longest there is
	require.InEpsilon(t, float64(time.Hour), float64(l.ValueAtPercentile(100)), 0.01)
}

// counting is a side that returns the values given, one a run, and writes down when it ran.
func counting(name string, order *[]string, values ...float64) Side {
	return Side{Name: name, Run: func(context.Context) (Sample, error) {
		*order = append(*order, name)
		v := values[0]
		values = values[1:]
		return Sample{Rate: v}, nil
	}}
}

func newTestBench(runs int) (*Bench, *strings.Builder) {
	out := &strings.Builder{}
	return &Bench{Settings: Settings{Runs: runs}, out: out, progress: io.Discard, results: map[string]*Result{}}, out
}

// A case is a table: medians, and ratios of paired runs. Of a machine that grows four times slower
// meanwhile the ratio is the same.
func TestACaseIsATable(t *testing.T) {
	t.Parallel()
	b, out := newTestBench(3)
	var order []string
	require.NoError(t, b.Measure(t.Context(), Case{
		Name: "a/b", Title: "a case", Warm: 1,
		Sides: []Side{counting("system", &order, 9, 1234, 617, 400), counting("limit", &order, 9, 2468, 1234, 400)},
	}))
	require.Equal(t, []string{"limit", "system", "system", "limit", "limit", "system", "system", "limit"}, order)
	for _, line := range []string{"| | system | limit | beside limit |", "| events/s | 617 | 1,234 | 0.50 (0.50–1.00) |"} {
		require.Contains(t, out.String(), "\n"+line+"\n")
	}
	broken := errors.New("broken")
	err := b.Measure(t.Context(),
		Case{Name: "a", Sides: []Side{{Name: "s", Run: func(context.Context) (Sample, error) { return nil, broken }}}})
	require.ErrorIs(t, err, broken)
}

func TestOnlyMeasuresWhatIsWanted(t *testing.T) {
	t.Parallel()
	b, _ := newTestBench(1)
	b.Only = []string{"one/"}
	var order []string
	require.NoError(t, b.Measure(t.Context(), Case{Name: "x/two/1", Sides: []Side{counting("a", &order, 1)}}))
	require.NoError(t, b.Measure(t.Context(), Case{Name: "x/one/1", Sides: []Side{counting("b", &order, 1)}}))
	require.Equal(t, []string{"b"}, order)
}

func TestASuiteOfWhichNothingIsWantedStartsNothing(t *testing.T) {
	t.Parallel()
	b, _ := newTestBench(1)
	b.Only = []string{"query/"}
	for _, s := range []suite{
		consumeOptions{Partitions: []int32{4}}.suite(), upOptions{}.suite(), sqlOptions{}.suite(), collectOptions{}.suite(),
	} {
		s.run = func(context.Context, *Bench, *Engines) error { return errors.New("it runs") }
		require.NoError(t, b.runSuite(t.Context(), s, Embedded), s.name)
	}
}

func TestWatchSeesWhatThisProcessUses(t *testing.T) {
	t.Parallel()
	w, err := Watch(Client())
	require.NoError(t, err)
	begin, err := Client().cpu()
	require.NoError(t, err)
	block := make([]byte, 32<<20)
	for used := begin; used-begin < 300*time.Millisecond; {
		for i := range block {
			block[i]++
		}
		used, err = Client().cpu()
		require.NoError(t, err)
	}
	use, err := w.Stop()
	require.NoError(t, err)
	require.GreaterOrEqual(t, use["client"].CPU, 250*time.Millisecond)
	require.Greater(t, use["client"].Peak, uint64(len(block)))
	runtime.KeepAlive(block)

	_, err = Watch(Metered{Name: "missing", PID: 1 << 30})
	require.Error(t, err)
}

// The memory of a process includes what it has its children do.
func TestMemoryOfAProcessIncludesThatOfItsChildren(t *testing.T) {
	t.Parallel()
	dd := exec.CommandContext(t.Context(), "sh", "-c", "dd if=/dev/zero of=/dev/null bs=64M & wait")
	require.NoError(t, dd.Start())
	m := Metered{Name: "sh", PID: dd.Process.Pid}
	require.Eventually(t, func() bool { return m.resident() > 64<<20 }, time.Minute, 10*time.Millisecond)
	tree, err := m.tree()
	require.NoError(t, err)
	for _, p := range tree {
		require.NoError(t, syscall.Kill(p.PID, syscall.SIGKILL))
	}
	require.Error(t, dd.Wait())
}

// A load counts events that are accepted, and ends with the first answer that does not take every
// event.
func TestALoadIsAnsweredForEveryEvent(t *testing.T) {
	t.Parallel()
	keys := token.NewKeys(1)
	ring, err := keys.Ring()
	require.NoError(t, err)
	m := newMessages(1, ring)
	batch := func() request { return m.batch(batchEvents) }
	for _, rate := range []float64{0, 200} {
		var seen sync.Map
		repeats, requests := atomic.Int64{}, atomic.Int64{}
		collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			body, _ := io.ReadAll(r.Body) // a client that left counts nothing
			for _, part := range strings.Split(string(body), idField)[1:] {
				if _, repeated := seen.LoadOrStore(part[:idLength], true); repeated {
					repeats.Add(1)
				}
			}
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, `{"accepted":%d,"rejected":[]}`, batchEvents)
		}))
		found, err := load{address: collector.Listener.Addr().String(), connections: 4, rate: rate,
			request: batch}.run(t.Context(), 0, 3*time.Second, Client())
		collector.Close()
		require.NoError(t, err)
		require.Zero(t, repeats.Load())
		require.Positive(t, found.events)
		require.LessOrEqual(t, found.events, requests.Load()*batchEvents)
		require.Equal(t, found.events/batchEvents, found.latencies.TotalCount())
		require.Positive(t, found.sample()[Latency(0.5)])
	}
	for status, answer := range map[int]string{http.StatusServiceUnavailable: "",
		http.StatusAccepted: `{"accepted":99,"rejected":[{"index":1}]}`} {
		collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, answer)
		}))
		_, err := load{address: collector.Listener.Addr().String(), connections: 2,
			request: batch}.run(t.Context(), 0, time.Minute)
		collector.Close()
		require.ErrorContains(t, err, "does not take every event")
	}
}

func TestAnOpenLoopWaitsForNoAnswer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const each, rate, requests = time.Second, 20, 400 // each takes far longer than from one request to the next
		begin := time.Now()
		took, err := openLoop(t.Context(), 3, rate, requests,
			func(ctx context.Context, _ int) error { return service.Sleep(ctx, each) })
		require.NoError(t, err)
		require.Len(t, took, requests)
		for _, d := range took {
			require.Equal(t, each, d)
		}
		require.InEpsilon(t, requests/rate, time.Since(begin).Seconds(), 0.15,
			"it waits for the last answer, and for none before")

		broken := errors.New("broken")
		_, err = openLoop(t.Context(), 3, rate, requests, func(context.Context, int) error { return broken })
		require.ErrorIs(t, err, broken)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err = openLoop(ctx, 3, 1, 1000, func(ctx context.Context, _ int) error { return service.Sleep(ctx, time.Hour) })
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// What is sent, and what the limits write in its place, are events that the collector and the
// consumer take.
func TestMessagesAreValid(t *testing.T) {
	t.Parallel()
	keys := token.NewKeys(1)
	ring, err := keys.Ring()
	require.NoError(t, err)
	m := newMessages(1, ring)
	seen := map[string]bool{}
	for range 20 {
		r := m.batch(batchEvents)
		require.Len(t, r.ids, batchEvents)
		for range 2 {
			for _, at := range r.ids {
				id := r.wire[at : at+idLength]
				writeID(id)
				parsed, err := uuid.ParseBytes(id)
				require.NoError(t, err)
				require.Equal(t, uuid.Version(4), parsed.Version())
				require.False(t, seen[string(id)])
				seen[string(id)] = true
			}
		}
		require.Len(t, m.one().ids, 1)
	}
	r := newRecords(1)
	written := map[uuid.UUID]bool{}
	parcels := []*parcel{r.parcel(batchEvents), r.parcel(batchEvents)}
	for i := range 50 {
		for _, record := range parcels[i%2].renew() {
			var e event.Event
			require.NoError(t, e.Decode(record.Value))
			require.Equal(t, e.AccessLinkID[:], record.Key)
			require.False(t, written[e.EventID])
			written[e.EventID] = true
		}
	}
}

// Lists are asked for in other words each time, which mean the same.
func TestListsAreAskedForInOtherWordsEachTime(t *testing.T) {
	t.Parallel()
	q, seen := &queryRun{}, map[string]bool{}
	for range 40 {
		for _, query := range []string{"", "bot=true", "to=2026-01-01", "from=2100-01-01"} {
			fresh := q.fresh(query)
			require.True(t, strings.HasPrefix(fresh, query))
			require.False(t, seen[fresh], fresh)
			seen[fresh] = true
			values, err := url.ParseQuery(fresh)
			require.NoError(t, err)
			require.LessOrEqual(t, len(values["to"]), 1)
			require.LessOrEqual(t, len(values["from"]), 1)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.123: "0.12", 9.876: "9.88", 12.34: "12.3", 123.4: "123",
		1234.5: "1,234", 1234567: "1,234,567", -1234: "-1,234"} {
		require.Equal(t, want, number(v))
	}
}
