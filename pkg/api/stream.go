package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"lodestone/pkg/auth"
	"lodestone/pkg/jsonschema"
	"lodestone/pkg/problem"
	"lodestone/pkg/ratelimit"
)

// eventStream is the content type of server-sent events.
const eventStream = "text/event-stream"

const (
	// streamBeat is how often a stream shows that it is alive. At every second beat the key is looked
	// up again.
	streamBeat = 15 * time.Second
	// maxUnverified is for how many beats the key may not have been found good: less than a minute.
	maxUnverified = 3
	// streamWrite is how long the client may take for one piece of a stream, and streamEnd for the
	// last one.
	streamWrite = 10 * time.Second
	streamEnd   = time.Second
)

// Source supplies the messages of a stream of server-sent events.
type Source interface {
	// Next waits for messages, and returns the text of at least one, with the empty line behind it. An
	// error ends the stream.
	Next(ctx context.Context) ([]byte, error)
	// Close is called once, after Next.
	Close()
}

// RegisterStream adds an operation whose answer is a stream of server-sent events. It lasts until
// the client leaves, the source ends, the key does, or EndStreams is called. An error of open is
// answered as of Register; after that the answer begins at once. It is neither compressed nor held
// to the time of other answers. The example is shown in the description.
func RegisterStream[In any](a *API, op Operation, example string,
	open func(ctx context.Context, in *In) (Source, error)) {
	b := newBinder[In](a, &op, nil)
	op.Status = http.StatusOK
	if op.Limit == "" {
		op.Limit = ratelimit.Requests
	}
	doc := a.describe(&op, b)
	text := &jsonschema.Schema{Type: jsonschema.String}
	doc.Responses[strconv.Itoa(op.Status)] = a.success(&op,
		map[string]*MediaType{eventStream: {Schema: text, Example: example}})
	a.openapi.add(doc)
	a.mux.HandleFunc(op.Method+" "+op.Path, func(w http.ResponseWriter, r *http.Request) {
		s := &stream{api: a, op: &op, w: w, connection: http.NewResponseController(w), request: r}
		err := s.open(func(ctx context.Context) (Source, error) {
			in := new(In)
			if err := b.bind(w, r, in); err != nil {
				return nil, err
			}
			return open(ctx, in)
		})
		if err != nil {
			a.WriteProblem(w, r, err)
			return
		}
		defer s.source.Close()
		s.run()
	})
}

// streams tells all streams of an API when they have to end.
type streams struct {
	once  sync.Once
	ended chan struct{}
}

// EndStreams ends all streams, also those that begin later. Call it before the server is stopped,
// which waits for them.
func (a *API) EndStreams() { a.streams.once.Do(func() { close(a.streams.ended) }) }

// beats returns a channel of beats, and the function that ends them.
func (a *API) beats() (<-chan time.Time, func()) {
	if a.newBeats != nil {
		return a.newBeats()
	}
	ticker := time.NewTicker(streamBeat)
	return ticker.C, ticker.Stop
}

// stream is an answer that is a stream.
type stream struct {
	api        *API
	op         *Operation
	connection *http.ResponseController
	request    *http.Request
	caller     auth.Identity
	source     Source

	mu sync.Mutex // of writing
	w  http.ResponseWriter
}

// open lets the request through to its source, within the time of other operations.
func (s *stream) open(source func(ctx context.Context) (Source, error)) error {
	ctx, cancel := context.WithTimeout(s.request.Context(), defaultTimeout)
	defer cancel()
	return s.api.guard(s.w, s.request.WithContext(ctx), s.op, func(_ http.ResponseWriter, r *http.Request) (err error) {
		select {
		case <-s.api.streams.ended:
			return problem.New(problem.Unavailable, "The server is about to stop. Connect again.").RetryAfter(time.Second)
		default:
		}
		s.caller = auth.From(r.Context())
		s.source, err = source(r.Context())
		return err
	})
}

// run sends the answer.
func (s *stream) run() {
	h := s.w.Header()
	h.Set("Content-Type", eventStream)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // a proxy that would collect it
	ctx, end := context.WithCancelCause(s.request.Context())
	defer end(nil)
	// The server's own limit would end the context of the request.
	if err := ignoreUnsupported(s.connection.SetReadDeadline(time.Time{})); err != nil {
		return // the client left
	}
	s.w.WriteHeader(http.StatusOK)
	if s.request.Method == http.MethodHead || s.write(ctx, nil) != nil {
		return
	}
	var watcher sync.WaitGroup
	watcher.Go(func() { s.watch(ctx, end) })
	for {
		text, err := s.source.Next(ctx)
		if err == nil {
			err = s.write(ctx, text)
		}
		if err != nil {
			end(err)
			break
		}
	}
	watcher.Wait()
	s.api.log.Info("stream ended", "request_id", RequestID(ctx), "error", context.Cause(ctx))
	_ = s.connection.SetWriteDeadline(time.Now().Add(streamEnd)) // for the end of the answer
}

var (
	errStopping = errors.New("the process stops")
	errKeyEnded = errors.New("the key ended")
)

// watch sends beats, and ends the stream when there is a reason to. It returns when the stream has
// ended.
func (s *stream) watch(ctx context.Context, end context.CancelCauseFunc) {
	beats, stop := s.api.beats()
	defer stop()
	for unverified := 0; ; {
		select {
		case <-beats:
			unverified++
			if err := s.write(ctx, []byte(": alive\n\n")); err != nil {
				end(err)
			}
			if unverified < 2 {
				continue
			}
			err := s.verify(ctx)
			switch {
			case err == nil:
				unverified = 0
			case errors.Is(err, errKeyEnded) || unverified >= maxUnverified:
				end(err)
			}
		case <-s.api.streams.ended:
			end(errStopping)
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			_ = s.connection.SetWriteDeadline(time.Now()) // breaks off what is being written
			return
		}
	}
}

// verify looks the key up again.
func (s *stream) verify(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, streamWrite)
	defer cancel()
	identity, err := s.api.identify(ctx, s.request, s.op)
	if problem.Is(err, problem.Unauthorized) || err == nil && (identity.AccountID != s.caller.AccountID ||
		!identity.Has(s.op.Scope)) {
		return errKeyEnded
	}
	return err
}

// write sends a piece of the stream, and the header before the first one.
func (s *stream) write(ctx context.Context, text []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ignoreUnsupported(s.connection.SetWriteDeadline(time.Now().Add(streamWrite))); err != nil {
		return fmt.Errorf("write stream: %w", err)
	}
	if ctx.Err() != nil { // after the deadline was set: watch sets another one then
		return context.Cause(ctx)
	}
	if len(text) > 0 {
		if _, err := s.w.Write(text); err != nil {
			return fmt.Errorf("write stream: %w", err)
		}
	}
	if err := ignoreUnsupported(s.connection.Flush()); err != nil {
		return fmt.Errorf("write stream: %w", err)
	}
	return nil
}

// ignoreUnsupported ignores that a connection has no deadlines.
func ignoreUnsupported(err error) error {
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// Relay returns an exchange for a proxy whose answer may be a stream: that then lasts, as one of
// RegisterStream, until the client leaves or EndStreams is called. Call the function when the
// answer was passed on.
func (a *API) Relay(w http.ResponseWriter, r *http.Request) (http.ResponseWriter, *http.Request, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	return &relay{ResponseWriter: w, api: a, done: ctx.Done(), cancel: cancel, connection: http.NewResponseController(w)},
		r.WithContext(ctx), cancel
}

type relay struct {
	http.ResponseWriter
	api        *API
	done       <-chan struct{}
	cancel     context.CancelFunc
	connection *http.ResponseController
	stream     bool
}

func (o *relay) WriteHeader(status int) {
	if o.stream = strings.HasPrefix(o.Header().Get("Content-Type"), eventStream); o.stream {
		_ = o.connection.SetReadDeadline(time.Time{}) // if the client left, writing fails
		_ = o.connection.SetWriteDeadline(time.Now().Add(streamWrite))
		go func() {
			select {
			case <-o.api.streams.ended:
				o.cancel()
			case <-o.done:
			}
		}()
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *relay) Write(b []byte) (int, error) {
	if o.stream {
		_ = o.connection.SetWriteDeadline(time.Now().Add(streamWrite))
	}
	return o.ResponseWriter.Write(b)
}

// Unwrap lets http.ResponseController reach the connection.
func (o *relay) Unwrap() http.ResponseWriter { return o.ResponseWriter }
