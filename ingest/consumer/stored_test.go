package consumer

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"lodestone/ingest/stream"
	"lodestone/pkg/event"
)

// requireHalted fails unless partition 0 of a new consumer comes to stand still for the reason, and
// partition 1 goes on.
func (r *rig) requireHalted(reason, message string) {
	r.t.Helper()
	metrics := prometheus.NewRegistry()
	c, err := New(r.steady(), Deps{Kafka: r.Kafka, ClickHouse: r.ClickHouse, Postgres: r.Postgres,
		Log: testLog(), Registerer: metrics})
	require.NoError(r.t, err)
	require.NoError(r.t, <-r.start(c))
	halted := func() float64 {
		families, err := metrics.Gather()
		require.NoError(r.t, err)
		for _, f := range families {
			for _, m := range f.GetMetric() {
				if f.GetName() == "lodestone_consumer_halted_partitions" && m.GetLabel()[0].GetValue() == reason {
					return m.GetGauge().GetValue()
				}
			}
		}
		return -1
	}
	require.Eventually(r.t, func() bool { return halted() == 1 }, waitLimit, 20*time.Millisecond)
	require.InDelta(r.t, 1, gauge(r.t, metrics, "lodestone_consumer_blocked_partitions"), 0)
	require.ErrorContains(r.t, c.Check(r.t.Context()), message)
	next := r.produce(1, r.event(1)) + 1
	r.awaitCommit(1, next)
}

// All brokers lost their power, or Kafka was restored from a backup: new records have the offsets
// of stored ones.
func TestALogThatLostItsEndAndGrewPastItStandsStill(t *testing.T) {
	t.Parallel()
	for name, commit := range map[string]int64{"the commit is lost as well": 5, "the commit is there": 10} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			old := r.events(10)
			for i := range old {
				old[i].AccessLinkID = old[0].AccessLinkID
			}
			r.produce(0, old[:5]...)
			r.storeRows(0, 0, old...)
			r.commit(0, commit, r.done())
			fresh := r.events(8) // acknowledged at offsets 5 to 12
			for i := range fresh {
				fresh[i].AccessLinkID = old[0].AccessLinkID
			}
			r.produce(0, fresh...)
			r.requireHalted(haltedLog, "the log holds another record there")
			next, _ := r.committed(0)
			require.Equal(t, commit, next, "nothing is passed over")
		})
	}
}

// A commit that was lost or set back makes a consumer pass over what is stored. Each record is
// compared with its row, also where others than the last ones differ.
func TestARecordThatIsNotTheStoredOneIsNotPassedOver(t *testing.T) {
	t.Parallel()
	for name, commit := range map[string]int64{"the commit is lost": noCommit, "the commit was set back": 300,
		"a block is announced": 2000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			old := r.events(3000)
			for i := range old {
				old[i].AccessLinkID = old[0].AccessLinkID
			}
			log := slices.Clone(old)
			const replaced = 2010
			log[replaced].EventID = uuid.New() // acknowledged, and not stored
			r.produce(0, log...)
			r.storeRows(0, 0, old[:1000]...)
			r.storeRows(0, 1000, old[1000:]...)
			switch commit {
			case noCommit:
			case 2000:
				r.commit(0, commit, announced(r.TopicID, 2050))
			default:
				r.commit(0, commit, "")
			}
			r.requireHalted(haltedLog, "offset 2010 is stored, but the log holds another record there")
			next, _ := r.committed(0)
			require.LessOrEqual(t, next, int64(replaced), "nothing is passed over")
		})
	}
}

func TestALogThatEndsBeforeWhatIsStoredStandsStill(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	old := r.events(10)
	r.produce(0, old[:7]...)
	r.storeRows(0, 0, old...)
	r.commit(0, 5, r.done())
	r.requireHalted(haltedLog, "the log ends at 7")
}

// Records that expired are no sign of a log that lost its end.
func TestRowsWhoseRecordsExpiredAreNotCompared(t *testing.T) {
	t.Parallel()
	r := newRig(t, 1)
	events := r.events(20)
	r.produce(0, events...)
	r.storeRows(0, 0, events[:10]...)
	r.commit(0, 10, r.done())
	r.expire(0, 10)
	r.consume(r.config())
	r.awaitCommit(0, 20)
	r.requireStored(20)
}

// While an upgrade goes on, collectors of the newer release may already write.
func TestARecordOfANewerReleaseStopsItsPartitionBeforeIt(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(e event.Event) []byte{
		"schema version": func(e event.Event) []byte { return append([]byte{8, 2}, e.Append(nil)[2:]...) },
		"event type":     func(e event.Event) []byte { e.Type = 77; return e.Append(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, 2)
			r.produce(0, r.events(7)...)
			r.produceRaw(0, []byte("noise"), change(r.event(8)))
			r.produce(0, r.events(3)...)
			r.requireHalted(haltedNewer, "offset 8 is for a newer release")
			r.awaitCommit(0, 8)
			rows, _ := r.counts()
			require.Equal(t, uint64(8), rows, "seven of partition 0 and one of partition 1")
		})
	}
}

func TestARangeAnnouncedUnderNewerRulesIsLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t, 2)
	r.produce(0, r.events(20)...)
	newer := fmt.Sprintf("%d %s 9 1", stream.BlockRules+1, r.TopicID)
	r.commit(0, 0, newer)
	r.requireHalted(haltedNewer, fmt.Sprintf("range of rules %d", stream.BlockRules+1))
	next, intent := r.committed(0)
	require.Equal(t, []int64{0, 9}, []int64{next, intent})
	_, known := stream.ParseCommit("noise of another tool")
	require.False(t, known)
	require.Equal(t, haltedNewer, haltReason(errors.Join(&newerError{})))
}
