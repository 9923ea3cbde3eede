package collector_test

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"lodestone/ingest/collector"
)

type outcome struct {
	answer answer
	err    error
}

// later posts an event in the background.
func (s *stack) later() <-chan outcome {
	done := make(chan outcome, 1)
	body := s.event()
	go func() {
		a, err := s.try(http.MethodPost, "/v1/events", strings.NewReader(body))
		done <- outcome{a, err}
	}()
	return done
}

func TestAnswerWaitsForTheAcknowledgement(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	arrived, release := s.holdAcks(t)
	done := s.later()
	<-arrived
	// The collector has sent the record; it serves others, but does not answer this one.
	require.Equal(t, 400, s.post(t, "{").status)
	select {
	case o := <-done:
		require.Fail(t, "answered before the acknowledgement", "%v %v", o.answer, o.err)
	default:
	}
	require.InDelta(t, 1, s.metric(t, "lodestone_collector_requests_in_flight"), 0)
	release()
	o := <-done
	require.NoError(t, o.err)
	require.Equal(t, 202, o.answer.status)
}

func TestRefusedByKafka(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.AckTimeout = 500 * time.Millisecond })
	fault := s.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotEnoughReplicas, Count: -1})
	for fault.Hits() == 0 { // on a busy machine the time of a request may be over before it is sent
		a := s.post(t, "["+s.event()+",{}]")
		require.Equal(t, 503, a.status, a.body)
		require.Equal(t, "unavailable", a.Code)
		require.Equal(t, "2", a.header.Get("Retry-After"))
		require.NotContains(t, a.body, "rejected")
	}
	require.Zero(t, s.metric(t, "lodestone_collector_accepted_events_total"))
	fault.Remove()
	require.Eventually(t, func() bool { return s.post(t, s.event()).status == 202 }, waitLimit, 50*time.Millisecond)
}

func TestLeaderMovesDuringProduce(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	fault := s.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.NotLeaderForPartition, Count: 2})
	require.Equal(t, 202, s.post(t, s.event()).status)
	require.Equal(t, 2, fault.Hits())
	s.records(t, 1)
}

// An acknowledgement lost after the write: the client writes again, and Kafka knows the sequence.
func TestLostAcknowledgementDoublesNothing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	fault := s.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Produce}, Err: kerr.RequestTimedOut, Count: 1})
	require.Equal(t, 202, s.post(t, s.event()).status)
	require.Equal(t, 1, fault.Hits())
	s.records(t, 1)
}

func TestKafkaIsSilent(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.AckTimeout = 300 * time.Millisecond })
	s.holdAcks(t)
	a := s.post(t, s.event())
	require.Equal(t, 503, a.status)
	require.Equal(t, "unavailable", a.Code)
}

func TestStopAnswersWhatIsUnderWay(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	_, silent := s.dial(t, "") // a connection that never says anything
	_, idle := s.dial(t, sized("POST", "/v1/events", "Content-Type: text/plain\r\n", s.event()))
	require.Equal(t, 202, status(t, idle))
	arrived, release := s.holdAcks(t)
	done := s.later()
	<-arrived
	stopped := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		stopped <- s.Stop(ctx)
	}()
	require.Eventually(t, func() bool { // the listener is closed
		_, err := s.try(http.MethodGet, "/", nil)
		return err != nil
	}, waitLimit, time.Millisecond)
	_, err := silent.ReadByte() // which is closed soon, not after the time that it could speak
	require.ErrorIs(t, err, io.EOF)
	select {
	case err := <-stopped:
		require.Fail(t, "stopped with a request under way", "%v", err)
	default:
	}
	release()
	o := <-done
	require.NoError(t, o.err)
	require.Equal(t, 202, o.answer.status)
	require.NoError(t, <-stopped)
}

func TestStopGivesUpWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.DrainSlowly()
	arrived, _ := s.holdAcks(t)
	done := s.later()
	<-arrived
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	require.ErrorContains(t, s.Stop(ctx), "requests under way")
	o := <-done
	require.NoError(t, o.err)
	require.Equal(t, 503, o.answer.status)
	require.NoError(t, s.Stop(context.Background())) // stopping twice is harmless
}

func TestAddressInUse(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	config := collectorConfig()
	config.Listen = s.Addr().String()
	other := newUnstarted(t, s, config)
	require.ErrorContains(t, other.Start(context.Background()), "--collector-listen")
	require.NoError(t, other.Stop(context.Background()))
}
