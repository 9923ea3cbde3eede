package bench

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/engine/enginetest"
	"lodestone/pkg/event"
	"lodestone/pkg/token"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

func TestQuantilesAreWithinOnePercent(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var all []time.Duration
	halves := [2]Latencies{}
	for i := range 20_000 {
		d := time.Duration(r.ExpFloat64() * float64(3*time.Millisecond))
		all = append(all, d)
		halves[i%2].Add(d)
	}
	l := &halves[0]
	l.Merge(&halves[1])
	slices.Sort(all)
	require.EqualValues(t, len(all), l.Count())
	for _, q := range []float64{0, 0.01, 0.5, 0.9, 0.99, 0.999, 1} {
		want := all[min(int(q*float64(len(all))), len(all)-1)]
		require.InEpsilon(t, float64(want)+1, float64(l.Quantile(q))+1, 0.01, "%v", q)
	}
	require.Zero(t, (&Latencies{}).Quantile(0.5))
	l.Add(1<<63 - 1) // the longest there is has a place
	require.Positive(t, l.Quantile(1))
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

func newTestBench(runs int) *Bench {
	return &Bench{Settings: Settings{Runs: runs}, progress: io.Discard, report: &Report{}}
}

func TestTargetsAreJudgedByRatiosOfPairedRuns(t *testing.T) {
	t.Parallel()
	b := newTestBench(3)
	var order []string
	require.NoError(t, b.Measure(t.Context(), Case{
		Name: "a", Warm: 1,
		// A machine that grows four times slower meanwhile: the ratio is 1/2 in every run.
		Sides: []Side{counting("system", &order, 9, 100, 50, 25), counting("limit", &order, 9, 200, 100, 50)},
		Targets: []Target{
			{What: "half", Value: Rate, Against: "limit", AtLeast: 0.5},
			{What: "more", Value: Rate, Against: "limit", AtLeast: 0.6},
			{What: "low", Value: Rate, AtMost: 50},
			{What: "lower", Value: Rate, AtMost: 49},
		},
	}))
	require.Equal(t, []string{"limit", "system", "system", "limit", "limit", "system", "system", "limit"}, order)
	r := b.report.Result("a")
	var met []bool
	for _, v := range r.Targets {
		met = append(met, v.Met)
	}
	require.Equal(t, []bool{true, false, true, false}, met)
	require.Equal(t, Verdict{
		What: "half", Value: Rate, Measured: 50, Against: "limit", Limit: 100, Ratio: 0.5, Judged: 0.5, Low: 0.5, High: 0.5, Met: true,
	}, r.Targets[0])
	require.Equal(t, []float64{25, 50, 100}, []float64{r.Targets[2].Low, r.Targets[2].Judged, r.Targets[2].High})
}

func TestMeasureSaysWhatATargetLacks(t *testing.T) {
	t.Parallel()
	var order []string
	for _, target := range []Target{{Value: "x"}, {Value: Rate, Against: "nobody"}, {Value: Rate, Against: "limit", AgainstValue: "x"}} {
		err := newTestBench(1).Measure(t.Context(), Case{
			Name: "a", Sides: []Side{counting("system", &order, 1), counting("limit", &order, 1)}, Targets: []Target{target},
		})
		require.Error(t, err)
	}
	broken := errors.New("broken")
	err := newTestBench(1).Measure(t.Context(), Case{Name: "a", Sides: []Side{{Name: "s", Run: func(context.Context) (Sample, error) { return nil, broken }}}})
	require.ErrorIs(t, err, broken)
}

func TestOnlyMeasuresWhatIsWanted(t *testing.T) {
	t.Parallel()
	b := newTestBench(1)
	b.Only = []string{"one/"}
	var order []string
	require.NoError(t, b.Measure(t.Context(), Case{Name: "x/two/1", Sides: []Side{counting("a", &order, 1)}}))
	require.NoError(t, b.Measure(t.Context(), Case{Name: "x/one/1", Sides: []Side{counting("b", &order, 1)}}))
	require.Equal(t, []string{"b"}, order)
}

func TestASideRunsAfterTheOneThatItNeeds(t *testing.T) {
	t.Parallel()
	b := newTestBench(2)
	var order []string
	needing := counting("paced", &order, 1, 1, 1)
	needing.After = "system"
	require.NoError(t, b.Measure(t.Context(), Case{
		Name: "a", Warm: 1, Sides: []Side{counting("system", &order, 1, 1, 1), counting("limit", &order, 1, 1, 1), needing},
	}))
	require.Equal(t, []string{"limit", "system", "paced", "system", "limit", "paced", "limit", "system", "paced"}, order)
}

func TestASuiteOfWhichNothingIsWantedStartsNothing(t *testing.T) {
	t.Parallel()
	b := newTestBench(1)
	b.Only = []string{"query/"}
	for _, s := range []suite{
		consumeOptions{Partitions: []int32{4}}.suite(), storageOptions{}.suite(),
	} {
		s.run = func(context.Context, *Bench, *Engines) error { return errors.New("it runs") }
		require.NoError(t, b.runSuite(t.Context(), s, Embedded), s.name)
	}
}

// Of engines that are given only the addresses are known, not what they use.
func TestTargetsAboutProcessesOfOthersAreLeftOut(t *testing.T) {
	t.Parallel()
	targets := []Target{
		{Value: Rate}, {Value: Peak("clickhouse")}, {Value: CPU("kafka")}, {Value: Steady("postgres")}, {Value: bothCPU},
		{Value: CPU("server"), Against: "limit", AgainstValue: CPU("clickhouse")}, {Value: Peak("query")},
	}
	require.Equal(t, targets, Settings{}.judged(targets))
	require.Equal(t, []Target{{Value: Rate}, {Value: Peak("query")}},
		Settings{KafkaBrokers: []string{"a:1"}, ClickHouseURL: "b", PostgresURL: "c"}.judged(targets))
	require.Len(t, Settings{PostgresURL: "c"}.judged(targets), len(targets)-1)
}

func TestTheCommandCanBeRunAgain(t *testing.T) {
	t.Parallel()
	require.Equal(t, `lodestone-lab bench query '--only=first page' --only 'it'\''s' --runs=3 ''`, commandLine([]string{
		"/bin/lodestone-lab", "bench", "query", "--only=first page", "--only", "it's", "--erase", "--json", "a file", "--clickhouse-url=secret", "--runs=3", "",
	}))
}

func TestWatchSeesWhatThisProcessUses(t *testing.T) {
	t.Parallel()
	w, err := Watch(Client())
	require.NoError(t, err)
	begin := processTime()
	block := make([]byte, 32<<20)
	for processTime()-begin < 300*time.Millisecond {
		for i := range block {
			block[i]++
		}
	}
	use, err := w.Stop()
	require.NoError(t, err)
	require.GreaterOrEqual(t, use["client"].CPU, 250*time.Millisecond)
	require.Greater(t, use["client"].Peak, int64(len(block)))
	require.Positive(t, use["client"].Steady)
	runtime.KeepAlive(block)

	_, err = Watch(Metered{Name: "nobody", PID: 1 << 30})
	require.Error(t, err)
}

func TestAnswersAreCheckedToTheLastEvent(t *testing.T) {
	t.Parallel()
	head := "HTTP/1.1 202 Accepted\r\nContent-Length: 30\r\nX: y\r\n\r\n"
	whole := head + `{"accepted":100,"rejected":[]}`
	for n := range len(whole) {
		complete, err := accepted(append(make([]byte, 0, answerMost), whole[:n]...))
		require.NoError(t, err)
		require.False(t, complete)
	}
	complete, err := accepted([]byte(whole))
	require.NoError(t, err)
	require.True(t, complete)
	for _, wrong := range []string{
		"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.1 202 Accepted\r\nContent-Length: 3\r\n\r\n...",
		"HTTP/1.1 202 Accepted\r\n\r\n",
		whole + "x",
	} {
		_, err := accepted([]byte(wrong))
		require.Error(t, err, wrong)
	}
}

// What is sent, and what the limits write in its place, are events that the collector and the consumer take.
func TestMessagesAreValid(t *testing.T) {
	t.Parallel()
	keys := token.NewKeys(1)
	ring, err := keys.Ring()
	require.NoError(t, err)
	m := newMessages(1, ring)
	ids := idSource{}
	seen := map[string]bool{}
	for range 20 {
		r := m.batch(batchEvents)
		require.Len(t, r.ids, batchEvents)
		for range 2 {
			for _, at := range r.ids {
				id := r.wire[at : at+idLength]
				ids.write(id)
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

func TestAPlotIsSoundAndShowsEachLine(t *testing.T) {
	t.Parallel()
	b := newTestBench(1)
	for _, x := range []float64{1024, 16, 128} {
		var order []string
		require.NoError(t, b.Measure(t.Context(), Case{
			Name: number(x), Plot: "connections", X: x, Line: "a < b",
			Sides: []Side{counting("system", &order, x*10), counting("limit", &order, x*11)},
		}))
	}
	require.Equal(t, []string{"connections"}, plots(b.report.Results))
	all := lines(b.report.Results, "connections")
	require.Len(t, all, 2)
	require.Equal(t, []point{{16, 160}, {128, 1280}, {1024, 10240}}, all[0].points)
	require.True(t, all[1].limit)
	for _, plot := range []string{"connections", "none"} {
		var out bytes.Buffer
		require.NoError(t, writePlot(&out, b.report.Results, plot))
		decoder := xml.NewDecoder(bytes.NewReader(out.Bytes()))
		for {
			_, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(t, err)
		}
		require.Equal(t, plot == "connections", bytes.Contains(out.Bytes(), []byte("a &lt; b, limit")))
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for v, want := range map[float64]string{0: "0", 0.123: "0.12", 9.876: "9.88", 12.34: "12.3", 123.4: "123", 1234.5: "1,234", 1234567: "1,234,567", -1234: "-1,234"} {
		require.Equal(t, want, number(v))
	}
}
