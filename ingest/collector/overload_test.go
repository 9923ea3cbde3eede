package collector_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/collector"
	"lodestone/ingest/producer"
)

// More at once than the collector works on: the others are refused at once, in the usual form.
func TestTooManyRequestsAtOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.MaxRequests = 2 })
	arrived, release := s.holdAcks(t)
	one, two := s.later(), s.later()
	<-arrived
	require.Eventually(t, func() bool { return s.metric(t, "lodestone_producer_buffered_records") == 2 }, waitLimit,
		time.Millisecond, "both are let in")
	a := s.post(t, s.event())
	require.Equal(t, 503, a.status)
	require.Equal(t, "unavailable", a.Code)
	require.Equal(t, "2", a.header.Get("Retry-After"))
	require.NotEmpty(t, a.header.Get("X-Request-Id"))
	requirePixel(t, s.pixel(t, http.MethodGet, s.token), 503)
	require.InDelta(t, 2, s.metric(t, "lodestone_collector_overload_refusals_total"), 0)
	release()
	for _, done := range []<-chan outcome{one, two} {
		o := <-done
		require.NoError(t, o.err)
		require.Equal(t, 202, o.answer.status)
	}
	require.Equal(t, 202, s.post(t, s.event()).status)
}

func TestTooManyBytesAtOnce(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.MaxInFlight = 4 << 20 })
	arrived, release := s.holdAcks(t)
	large := strings.Repeat(" ", collector.MaxBodyBytes-len(s.event())) + s.event()
	done := make(chan outcome, 1)
	go func() {
		a, err := s.try(http.MethodPost, "/v1/events", strings.NewReader(large))
		done <- outcome{a, err}
	}()
	<-arrived
	packed := zipped(t, large) // small until it is unpacked
	refused := 0
	second := make(chan outcome, 1)
	go func() {
		a, err := s.try(http.MethodPost, "/v1/events", strings.NewReader(large))
		second <- outcome{a, err}
	}()
	require.Eventually(t, func() bool {
		a := s.post(t, packed, "Content-Encoding", "gzip")
		if a.status == 503 {
			refused++
		}
		return refused > 0
	}, waitLimit, time.Millisecond)
	release()
	o := <-done
	require.NoError(t, o.err)
	require.Equal(t, 202, o.answer.status)
	<-second
	require.Equal(t, 202, s.post(t, packed, "Content-Encoding", "gzip").status)
}

// crawl is a sink that takes its time and gives up with the context, as Kafka under overload does.
type crawl struct {
	slots chan struct{}
	each  time.Duration
}

func (c crawl) Write(ctx context.Context, _ []producer.Record) error {
	select {
	case c.slots <- struct{}{}:
		defer func() { <-c.slots }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	timer := time.NewTimer(c.each)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Bodies that do not come to their end have a bounded share of the memory, whatever is announced:
// the ones beyond it are refused with Retry-After, small ones are served all the time, and room
// comes back.
func TestBodiesThatAreStillArrivingAreBounded(t *testing.T) {
	t.Parallel()
	const room, size, clients = 4 << 20, 900 << 10, 24
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.MaxInFlight = room })
	body := strings.Repeat(" ", size-len(s.event())) + s.event()
	head := fmt.Sprintf(
		"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	type client struct {
		conn   io.WriteCloser
		reader *bufio.Reader
	}
	open := make([]client, clients)
	for i := range open {
		conn, reader := s.dial(t, head)
		open[i] = client{conn, reader}
	}
	require.Equal(t, 202, s.post(t, s.event()).status, "announced is not taken")
	statuses := make(chan int, clients)
	rest := make(chan struct{})
	for _, c := range open {
		go func() {
			_, _ = io.WriteString(c.conn, body[:size-10]) // those that are refused do not read all of it
			go func() {
				<-rest
				_, _ = io.WriteString(c.conn, body[size-10:])
			}()
			response, err := http.ReadResponse(c.reader, nil)
			if err != nil {
				statuses <- 0
				return
			}
			_ = response.Body.Close()
			statuses <- response.StatusCode
		}()
	}
	const most = room / (512 << 10) // each of them has outgrown that
	for range clients - most {
		require.Equal(t, 503, <-statuses)
	}
	require.Equal(t, 202, s.post(t, s.event()).status, "small ones are served")
	close(rest)
	served := 0
	for range most {
		if <-statuses == 202 {
			served++
		}
	}
	require.Positive(t, served, "those that were there first are served")
	require.Equal(t, 202, s.post(t, body).status, "room comes back")
}

// The deadline is the request's, not only that of its write.
func TestDeadline(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, d *collector.Deps) {
		d.Sink, c.AckTimeout = crawl{make(chan struct{}), 0}, 200*time.Millisecond
	})
	a := s.post(t, s.event())
	require.Equal(t, 503, a.status)
	require.Contains(t, a.Detail, "could not be stored in time")
}

// A client beyond the limit of connections waits until one ends.
func TestTooManyConnections(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(k *collector.Config, _ *collector.Deps) { k.MaxConnections = 3 })
	request := sized("POST", "/v1/events", "Content-Type: application/json\r\n", s.event())
	var open []io.Closer
	for range 3 {
		conn, reader := s.dial(t, request)
		require.Equal(t, 202, status(t, reader))
		open = append(open, conn)
	}
	_, reader := s.dial(t, request)
	require.Eventually(t, func() bool { return s.metric(t, "lodestone_collector_accept_failures_total") == 1 },
		waitLimit, time.Millisecond)
	require.NoError(t, open[0].Close())
	require.Equal(t, 202, status(t, reader))
}

// Clients that send a byte now and then hold nothing up, and are ended when their time is over.
func TestSlowHeaders(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(c *collector.Config, _ *collector.Deps) { c.ReadTimeout = 10 * time.Second })
	const slow = 30
	var readers []*bufio.Reader
	for range slow {
		conn, reader := s.dial(t, "POST /v1/events HTTP/1.1\r\nHost: x\r\n")
		readers = append(readers, reader)
		stop := make(chan struct{})
		done := make(chan struct{})
		t.Cleanup(func() { close(stop); <-done })
		go func() {
			defer close(done)
			for ticker := time.NewTicker(50 * time.Millisecond); ; {
				select {
				case <-ticker.C:
					if _, err := io.WriteString(conn, "X"); err != nil {
						ticker.Stop()
						return
					}
				case <-stop:
					ticker.Stop()
					return
				}
			}
		}()
	}
	require.Equal(t, 202, s.post(t, s.event()).status)
	for _, reader := range readers {
		response, err := http.ReadResponse(reader, nil)
		if err == nil {
			require.Contains(t, []int{400, 408}, response.StatusCode)
			_ = response.Body.Close()
		} else {
			require.NotErrorIs(t, err, os.ErrDeadlineExceeded, "the connection is still open")
		}
	}
}
