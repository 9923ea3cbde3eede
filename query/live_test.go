package query_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"lodestone/pkg/event"
	"lodestone/pkg/test/enginetest"
	"lodestone/query/querytest"
)

const livePath = "/api/v1/analytics/live"

// message is a message of a stream as a browser dispatches it.
type message struct {
	id, event, data string
}

// stream is a client of the stream of events.
type stream struct {
	t    *testing.T
	body *bufio.Reader
	id   string // of the last message

	close context.CancelFunc
}

// live connects to the stream of an account.
func (s site) live(account uuid.UUID, id string, params url.Values) *stream {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), enginetest.Timeout)
	s.t.Cleanup(cancel)
	res := s.connect(ctx, account, id, params)
	require.Equal(s.t, 200, res.StatusCode)
	require.Equal(s.t, "text/event-stream", res.Header.Get("Content-Type"))
	st := &stream{t: s.t, body: bufio.NewReader(res.Body), close: cancel}
	_, err := st.read() // tells where the stream begins
	require.NoError(s.t, err)
	require.NotEmpty(s.t, st.id)
	return st
}

func (s site) connect(ctx context.Context, account uuid.UUID, id string, params url.Values) *http.Response {
	s.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+livePath+"?"+params.Encode(), nil)
	require.NoError(s.t, err)
	r.Header.Set("Authorization", "Bearer read:"+account.String())
	if id != "" {
		r.Header.Set("Last-Event-ID", id)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	require.NoError(s.t, err)
	s.t.Cleanup(func() { _ = res.Body.Close() })
	return res
}

// refused returns the answer to who cannot connect.
func (s site) refused(account uuid.UUID, id string, params url.Values) (status int, header http.Header) {
	s.t.Helper()
	res := s.connect(s.t.Context(), account, id, params)
	require.NoError(s.t, res.Body.Close())
	return res.StatusCode, res.Header
}

// beat is the comment that a stream sends every 15 seconds between messages.
const beat = ": alive\n\n"

// read reads up to an empty line. The message counts only then, as the specification of server-sent
// events has it.
func (s *stream) read() (m message, err error) {
	first := true
	for {
		line, err := s.body.ReadString('\n')
		if err != nil {
			return message{}, err
		}
		if first && line+"\n" == beat {
			if line, err = s.body.ReadString('\n'); err != nil {
				return message{}, err
			}
			require.Equal(s.t, "\n", line)
			continue
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		require.Equal(s.t, first && name != "", name == "id" || name == "" && first, "the id is the first line: %q", line)
		switch name {
		case "id":
			m.id = value
		case "event":
			m.event = value
		case "data":
			m.data += value
		case "":
			s.id = m.id
			return m, nil
		}
		first = false
	}
}

func (s *stream) next() message {
	s.t.Helper()
	m, err := s.read()
	require.NoError(s.t, err)
	return m
}

// viewed is a page view of an account at a place in the log.
func viewed(t *testing.T, account, topic uuid.UUID, offset int64) querytest.StoredEvent {
	t.Helper()
	now := time.Now().UnixMilli() + offset
	return querytest.StoredEvent{Event: event.Event{
		AccountID: account, LeadMagnetID: querytest.ID(t), AccessLinkID: querytest.ID(t), EventID: querytest.ID(t),
		Type: event.PageViewed, Page: 3,
		Data: []byte("{\"page\": 3,\n \"text\": \"a\\nb\"}"), UserAgent: []byte("Firefox"), CreatedAt: now, ReceivedAt: now,
	}, TopicID: topic, Offset: offset}
}

func TestLiveEventsAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	s, _ := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	conn, mine, theirs, topic := querytest.Conn(t), querytest.ID(t), querytest.ID(t), querytest.ID(t)
	people, bots, other := s.live(mine, "", nil), s.live(mine, "", url.Values{"bot": {"true"}}), s.live(theirs, "", nil)
	downloads := s.live(mine, "", url.Values{"event_type": {"download_started"}})
	events := []querytest.StoredEvent{viewed(t, mine, topic, 0), viewed(t, theirs, topic, 1),
		viewed(t, mine, topic, 2), viewed(t, mine, topic, 3)}
	events[2].Type, events[3].Bot = event.DownloadStarted, "a rule"
	querytest.Store(t, conn, events...)

	listed := map[string]map[string]any{}
	for _, e := range s.list(mine, nil).Data {
		listed[e["id"].(string)] = e
	}
	require.Len(t, listed, 3)
	same := func(st *stream, e querytest.StoredEvent) {
		t.Helper()
		m := st.next()
		var got map[string]any
		require.NoError(t, json.Unmarshal([]byte(m.data), &got))
		require.Equal(t, listed[e.EventID.String()], got)
		require.Equal(t, e.Type.String(), m.event)
	}
	same(people, events[0])
	same(people, events[2])
	same(bots, events[3])
	same(downloads, events[2])
	require.Contains(t, other.next().data, events[1].EventID.String())
}

// The connection is cut after every so many bytes of an answer: within and between lines and
// messages. Whoever goes on from the last message that was complete gets all events.
func TestLiveIsResumedWhereverItIsCut(t *testing.T) {
	t.Parallel()
	c := config()
	c.LivePerAccount = c.LiveStreams // a stream that was cut off counts until the server notices
	s, _ := serve(t, c, enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	conn, account, topic := querytest.Conn(t), querytest.ID(t), querytest.ID(t)
	first := s.live(account, "", nil)
	begin := first.id
	first.close()
	events := []querytest.StoredEvent{viewed(t, account, topic, 0), viewed(t, account, topic, 1)}
	querytest.Store(t, conn, events...)
	whole := s.live(account, begin, nil)
	for i := range events {
		require.Contains(t, whole.next().data, events[i].EventID.String())
	}
	whole.close()

	upstream, err := url.Parse(s.url)
	require.NoError(t, err)
	cut := func(after int) (cutOff bool) {
		proxy, sent := cutting(t, upstream.Host, after)
		through := site{t, proxy}
		got := map[string]bool{}
		id := begin
		ctx, cancel := context.WithTimeout(t.Context(), enginetest.Timeout)
		defer cancel()
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, through.url+livePath, nil)
		require.NoError(t, err)
		r.Header.Set("Authorization", "Bearer read:"+account.String())
		r.Header.Set("Last-Event-ID", id)
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
		if err == nil {
			st := &stream{t: t, body: bufio.NewReader(res.Body)}
			for len(got) < len(events) {
				m, err := st.read()
				if err != nil {
					break
				}
				id = m.id
				if m.data != "" {
					got[m.data] = true
				}
			}
			_ = res.Body.Close()
		}
		cancel()
		cutOff = <-sent
		if len(got) < len(events) {
			again := s.live(account, id, nil)
			for len(got) < len(events) {
				got[again.next().data] = true
			}
			again.close()
		}
		all := strings.Join(slices.Collect(maps.Keys(got)), "\n")
		for i := range events {
			require.Contains(t, all, events[i].EventID.String(), "cut after byte %d", after)
		}
		return cutOff
	}
	var group errgroup.Group
	const (
		at   = 6  // a time
		step = 61 // bytes: a prime, so that cuts are at other places of each line
	)
	for lane := range at {
		group.Go(func() error {
			for after := lane * step; cut(after); after += at * step {
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
}

// cutting returns a proxy for one connection, which it cuts when it has passed on so many bytes of
// the answer. The channel tells whether that came about before the client left.
func cutting(t *testing.T, upstream string, after int) (address string, cutOff <-chan bool) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan bool, 1)
	go func() {
		defer func() { _ = listener.Close() }()
		client, err := listener.Accept()
		if err != nil {
			done <- false
			return
		}
		defer func() { _ = client.Close() }()
		server, err := net.Dial("tcp", upstream)
		if err != nil {
			done <- false
			return
		}
		defer func() { _ = server.Close() }()
		go func() {
			_, _ = io.Copy(server, client)
			_ = server.Close() // the client left
		}()
		n, _ := io.CopyN(client, server, int64(after))
		done <- n == int64(after)
	}()
	return "http://" + listener.Addr().String(), done
}

func TestLiveIDsAreValidated(t *testing.T) {
	t.Parallel()
	s, q := serve(t, config(), enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	account := querytest.ID(t)
	id := func(account uuid.UUID, of any) string {
		text, err := q.LiveID(t.Context(), account, of)
		require.NoError(t, err)
		return text
	}
	good := s.live(account, "", nil).id
	for _, bad := range []string{
		"x", "0", good + "A", good[:len(good)-1], id(querytest.ID(t), time.Now().UnixMicro()),
		id(account, "AYCAgICAgCAA"), // of before this release
		id(account, time.Now().Add(time.Hour).UnixMicro()),
	} {
		for id, params := range map[string]url.Values{bad: nil, "": {"last_event_id": {bad}}} {
			status, _ := s.refused(account, id, params)
			require.Equal(t, 400, status, bad)
		}
	}
	topic := querytest.ID(t)
	e := viewed(t, account, topic, 0)
	querytest.Store(t, querytest.Conn(t), e)
	require.Contains(t, s.live(account, "", url.Values{"last_event_id": {good}}).next().data, e.EventID.String(),
		"for clients that set no headers")
}

func TestLiveLimits(t *testing.T) {
	t.Parallel()
	c := config()
	c.LiveStreams, c.LivePerAccount = 3, 2
	s, _ := serve(t, c, enginetest.MigratedClickHouse(t), enginetest.SharedPostgres(t))
	one := querytest.ID(t)
	s.live(one, "", nil)
	s.live(one, "", nil)
	status, header := s.refused(one, "", nil)
	require.Equal(t, http.StatusTooManyRequests, status)
	require.NotEmpty(t, header.Get("Retry-After"))
	s.live(querytest.ID(t), "", nil)
	status, header = s.refused(querytest.ID(t), "", nil)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.NotEmpty(t, header.Get("Retry-After"))
}
