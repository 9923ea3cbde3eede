package bench

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// clients are many keep-alive connections on one thread. They speak to the kernel themselves: a goroutine
// for each, or an HTTP client, would take more of the machine than some of the servers that are measured.
type clients struct {
	options loadOptions
	counted *counted
	seen    Latencies
	random  *rand.Rand
	ids     idSource
	poll    int
	timer   int // wakes the loop when the next request of an open loop is due
	all     []*connection
	idle    []*connection // open loop: those without a request
	due     []time.Time   // open loop: when the requests were to be sent that no connection was free for
	next    time.Time     // open loop
}

// connection is one client.
type connection struct {
	fd       int
	index    int32
	request  request
	left     []byte // of the request, not sent yet
	answer   []byte // as far as it has come
	intended time.Time
}

const (
	pollMost    = 256
	answerMost  = 8 << 10
	queueMost   = 1 << 20 // requests that are due and cannot be sent: the server is far too slow for the rate
	idleSeconds = 1       // between two looks whether to end
)

func newClients(o loadOptions, c *counted) (_ *clients, err error) {
	l := &clients{options: o, counted: c, random: rand.New(rand.NewPCG(o.seed, 1)), poll: -1, timer: -1}
	l.ids.state = rand.Uint64() // other ids in every run: a repeat would be dropped further on
	defer func() {
		if err != nil {
			l.close()
		}
	}()
	if l.poll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make epoll: %w", err)
	}
	if l.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return nil, fmt.Errorf("make timer: %w", err)
	}
	if err := l.add(l.timer, -1, unix.EPOLLIN); err != nil {
		return nil, err
	}
	address, err := net.ResolveTCPAddr("tcp4", o.address)
	if err != nil {
		return nil, err
	}
	to := &unix.SockaddrInet4{Port: address.Port, Addr: [4]byte(address.IP.To4())}
	for i := range o.connections {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err != nil {
			return nil, fmt.Errorf("make socket: %w", err)
		}
		conn := &connection{fd: fd, index: int32(i), request: o.request(i), answer: make([]byte, 0, answerMost)}
		l.all = append(l.all, conn)
		if err := unix.Connect(fd, to); err != nil {
			return nil, fmt.Errorf("connect to %s: %w", o.address, err)
		}
		if err := errors.Join(unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1), unix.SetNonblock(fd, true), l.add(fd, i, unix.EPOLLIN)); err != nil {
			return nil, err
		}
	}
	return l, nil
}

func (l *clients) add(fd, index int, events uint32) error {
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(index)})
}

func (l *clients) latencies() *Latencies { return &l.seen }

func (l *clients) close() {
	for _, c := range l.all {
		_ = unix.Close(c.fd)
	}
	for _, fd := range []int{l.poll, l.timer} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// run sends and receives until it is told to quit.
func (l *clients) run() error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer l.close()
	if l.options.rate > 0 {
		l.idle = append(l.idle, l.all...)
		l.next = time.Now()
		if err := l.sendDue(); err != nil {
			return err
		}
	} else {
		for _, c := range l.all {
			if err := l.send(c, time.Now()); err != nil {
				return err
			}
		}
	}
	events := make([]unix.EpollEvent, pollMost)
	for !l.counted.quit.Load() {
		n, err := unix.EpollWait(l.poll, events, idleSeconds*1000)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return fmt.Errorf("wait for answers: %w", err)
		}
		for _, e := range events[:max(n, 0)] {
			if e.Fd < 0 {
				err = l.sendDue()
			} else {
				err = l.ready(l.all[e.Fd], e.Events)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// ready goes on with a connection that can be read or written.
func (l *clients) ready(c *connection, events uint32) error {
	if len(c.left) > 0 && events&unix.EPOLLOUT != 0 {
		if err := l.write(c); err != nil {
			return err
		}
	}
	if events&^unix.EPOLLOUT == 0 {
		return nil
	}
	n, err := unix.Read(c.fd, c.answer[len(c.answer):cap(c.answer)])
	switch {
	case errors.Is(err, unix.EAGAIN), errors.Is(err, unix.EINTR):
		return nil
	case err != nil:
		return fmt.Errorf("read an answer: %w", err)
	case n == 0:
		return errors.New("the server closed a connection")
	}
	c.answer = c.answer[:len(c.answer)+n]
	complete, err := accepted(c.answer)
	if err != nil || !complete {
		return err
	}
	c.answer = c.answer[:0]
	now := time.Now()
	if l.counted.measuring.Load() {
		l.seen.Add(now.Sub(c.intended))
	}
	// One thread writes them, so they need no atomic addition.
	l.counted.answers.Store(l.counted.answers.Load() + 1)
	l.counted.events.Store(l.counted.events.Load() + int64(c.request.events))
	if l.options.rate == 0 {
		return l.send(c, now)
	}
	if len(l.due) > 0 {
		intended := l.due[0]
		l.due = l.due[1:]
		return l.send(c, intended)
	}
	l.idle = append(l.idle, c)
	return nil
}

// sendDue sends the requests whose time has come, and sets the timer for the next one.
func (l *clients) sendDue() error {
	var buf [8]byte
	_, _ = unix.Read(l.timer, buf[:]) // empties it; that it has fired is known
	for now := time.Now(); !l.next.After(now); now = time.Now() {
		if len(l.idle) == 0 {
			if l.due = append(l.due, l.next); len(l.due) > queueMost {
				return errors.New("the server is far too slow for the rate")
			}
		} else {
			c := l.idle[0] // in turn: a server ends connections on which nothing comes
			l.idle = l.idle[1:]
			if err := l.send(c, l.next); err != nil {
				return err
			}
		}
		l.next = l.next.Add(time.Duration(l.random.ExpFloat64() * float64(time.Second) / l.options.rate))
	}
	in := unix.NsecToTimespec(max(time.Until(l.next).Nanoseconds(), 1))
	return unix.TimerfdSettime(l.timer, 0, &unix.ItimerSpec{Value: in}, nil)
}

// send begins the next request of a connection.
func (l *clients) send(c *connection, intended time.Time) error {
	for _, at := range c.request.ids {
		l.ids.write(c.request.wire[at : at+idLength])
	}
	c.intended, c.left = intended, c.request.wire
	return l.write(c)
}

// write sends as much as the kernel takes; the rest goes when there is room.
func (l *clients) write(c *connection) error {
	waiting := len(c.left) < len(c.request.wire)
	n, err := unix.Write(c.fd, c.left)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		return fmt.Errorf("send a request: %w", err)
	}
	c.left = c.left[max(n, 0):]
	var want uint32 = unix.EPOLLIN
	if len(c.left) > 0 {
		want |= unix.EPOLLOUT
	} else if !waiting {
		return nil
	}
	return unix.EpollCtl(l.poll, unix.EPOLL_CTL_MOD, c.fd, &unix.EpollEvent{Events: want, Fd: c.index})
}

var (
	statusAccepted = []byte("HTTP/1.1 202")
	headEnd        = []byte("\r\n\r\n")
	lengthHeader   = []byte("Content-Length: ")
	nothingRefused = []byte(`"rejected":[]}`)
)

// accepted reports whether an answer is complete. One that does not take every event is an error.
func accepted(answer []byte) (bool, error) {
	head := bytes.Index(answer, headEnd)
	if head < 0 {
		if len(answer) == cap(answer) {
			return false, errors.New("an answer has too long a head")
		}
		return false, nil
	}
	at := bytes.Index(answer[:head], lengthHeader)
	if at < 0 {
		return false, fmt.Errorf("an answer without a length: %q", answer)
	}
	digits := answer[at+len(lengthHeader) : head]
	if end := bytes.IndexByte(digits, '\r'); end >= 0 {
		digits = digits[:end]
	}
	length, err := strconv.Atoi(string(digits))
	if err != nil {
		return false, fmt.Errorf("an answer with a wrong length: %q", answer)
	}
	body := answer[head+len(headEnd):]
	if !bytes.HasPrefix(answer, statusAccepted) {
		return false, fmt.Errorf("an answer that is no 202: %q", answer)
	}
	if len(body) < length {
		return false, nil
	}
	if len(body) > length || !bytes.Contains(body, nothingRefused) {
		return false, fmt.Errorf("an answer that does not take every event: %q", answer)
	}
	return true, nil
}
