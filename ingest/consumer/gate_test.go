package consumer

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/proto"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/clickhouse"
)

// gate stands between a consumer and an engine, so that a test can take the server away from the
// consumer alone.
type gate struct {
	t      *testing.T
	listen net.Listener
	target string
	config clickhouse.Config // that leads through the gate

	mu    sync.Mutex
	shut  bool
	ended int           // connections that came while it was shut
	held  chan struct{} // closed: bytes pass; nil: likewise
	user  *url.URL      // user that connections log in as instead; nil: their own
	hangs []*hang
	conns map[net.Conn]struct{}
	done  sync.WaitGroup
}

// newGate returns an open gate to the ClickHouse of the settings.
func newGate(t *testing.T, c clickhouse.Config) *gate {
	t.Helper()
	to, err := url.Parse(c.URL)
	require.NoError(t, err)
	listen, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	g := &gate{t: t, listen: listen, target: to.Host, conns: map[net.Conn]struct{}{}}
	to.Host = listen.Addr().String()
	g.config = clickhouse.Config{URL: to.String()}
	g.done.Go(g.accept)
	t.Cleanup(func() {
		g.flow()
		for _, h := range g.hangs {
			h.end()
		}
		g.close()
		require.NoError(t, listen.Close())
		g.done.Wait()
	})
	return g
}

func (g *gate) accept() {
	for {
		from, err := g.listen.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", g.target)
		g.mu.Lock()
		if err != nil || g.shut {
			g.ended++
			g.mu.Unlock()
			_ = from.Close()
			if err == nil {
				_ = to.Close()
			}
			continue
		}
		g.conns[from], g.conns[to] = struct{}{}, struct{}{}
		user := g.user
		g.mu.Unlock()
		p := &passage{gate: g}
		for _, pair := range [][2]net.Conn{{from, to}, {to, from}} {
			g.done.Go(func() {
				pass := p.back
				if pair[1] == from {
					pass = p.there
				}
				if user != nil && pair[1] == from {
					login(to, from, user)
				}
				_, _ = io.Copy(valve{g, pair[0], pass}, pair[1]) // ends with either connection
				_ = from.Close()
				_ = to.Close()
			})
		}
	}
}

// valve is the way to a connection, which lets no byte pass while the gate is held.
type valve struct {
	gate *gate
	to   net.Conn
	pass func([]byte) // returns when the bytes may pass
}

// Write implements io.Writer.
func (v valve) Write(b []byte) (int, error) {
	v.gate.mu.Lock()
	held := v.gate.held
	v.gate.mu.Unlock()
	if held != nil {
		<-held
	}
	v.pass(b)
	return v.to.Write(b)
}

// hold lets connections be and no byte pass.
func (g *gate) hold() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held = make(chan struct{})
}

// flow ends hold.
func (g *gate) flow() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.held != nil {
		close(g.held)
		g.held = nil
	}
}

// hang keeps an insert from ending, while all else passes the gate.
type hang struct {
	mark        []byte // of the partition, in the insert's comment
	stored      bool   // the server gets it, and its answer does not pass; else it does not get there
	begun, over chan struct{}
	begin, end  func()
}

// hang makes the inserts into a partition hang, until the hang is ended.
func (g *gate) hang(topic uuid.UUID, partition int32, stored bool) *hang {
	h := &hang{mark: fmt.Appendf(nil, "%s:%d", topic, partition), stored: stored,
		begun: make(chan struct{}), over: make(chan struct{})}
	h.begin, h.end = sync.OnceFunc(func() { close(h.begun) }), sync.OnceFunc(func() { close(h.over) })
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hangs = append(g.hangs, h)
	return h
}

// hangOf returns the hang of what a client sends, or nil.
func (g *gate) hangOf(b []byte) *hang {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, rest, _ := bytes.Cut(b, []byte("insert_deduplicate"))
	for _, h := range g.hangs {
		if bytes.Contains(rest, h.mark) {
			return h
		}
	}
	return nil
}

// passage is a connection through the gate.
type passage struct {
	gate *gate

	mu     sync.Mutex
	hang   *hang // of the insert that it is about; nil: none hangs
	opened bool  // the server has asked for the rows
	sent   bool  // the rows are on their way
}

// there returns when the bytes may go to the server.
func (p *passage) there(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hang == nil {
		p.hang = p.gate.hangOf(b)
	}
	switch h := p.hang; {
	case h == nil:
	case !h.stored:
		h.begin()
		<-h.over
	case p.opened:
		p.sent = true
		h.begin()
	}
}

// back returns when the bytes may go to the client.
func (p *passage) back([]byte) {
	p.mu.Lock()
	h, sent := p.hang, p.sent
	p.opened = h != nil
	p.mu.Unlock()
	if sent {
		<-h.over
	}
}

// login passes a client's login on as one of the user. The client sends nothing more until it is
// answered.
func login(to, from net.Conn, user *url.URL) {
	r := proto.NewReader(from)
	var hello proto.ClientHello
	if _, err := r.UVarInt(); err != nil || hello.Decode(r) != nil {
		return
	}
	hello.User, hello.Database = user.User.Username(), user.Path[1:]
	hello.Password, _ = user.User.Password()
	var b proto.Buffer
	hello.Encode(&b)
	_, _ = to.Write(b.Buf)
}

// loginAs makes all connections log in as the user, or as they ask if it is nil, and ends those
// that there are.
func (g *gate) loginAs(user *url.URL) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.user = user
	g.end()
}

// close ends all connections, and every new one at once.
func (g *gate) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = true
	g.end()
}

// awaitEnded waits until so many connections came while the gate was closed.
func (g *gate) awaitEnded(n int) {
	g.t.Helper()
	require.Eventually(g.t, func() bool {
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.ended >= n
	}, waitLimit, 10*time.Millisecond, "fewer than %d connections while the gate is closed", n)
}

// end ends all connections, under the lock.
func (g *gate) end() {
	for c := range g.conns {
		_ = c.Close()
	}
	clear(g.conns)
}

// open lets new connections through.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
}
