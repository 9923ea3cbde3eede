package enginetest

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
	"time"

	"lodestone/pkg/clickhouse"
)

// Servers of a cluster ask each other how far replicated tables are behind before they read there. This proxy, which they use as the address of each
// other, answers for tables that are not replicated.

// How the question about one table begins in the protocol: its code, the number of tables, and the database. A new connection may send it in one
// write with what comes before.
var tablesStatusRequest = append([]byte{5, 1}, text(clickhouse.Database)...)

// tablesStatusResponse is the code of the answer.
const tablesStatusResponse = 9

// Lag lets the server be so far behind in the eyes of the others.
func (r *Copy) Lag(behind time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lag = behind
}

// listenForPeers returns the address that other servers use, until the end of the test.
func (r *Copy) listenForPeers() string {
	r.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go r.servePeer(conn)
		}
	}()
	return l.Addr().String()
}

func (r *Copy) servePeer(peer net.Conn) {
	server, err := (&net.Dialer{Timeout: 5 * time.Second}).DialContext(context.Background(), "tcp", r.port)
	if err != nil {
		_ = peer.Close()
		return
	}
	var both sync.WaitGroup
	end := func() { _, _ = peer.Close(), server.Close() }
	asked := make(chan struct{}, 1)
	both.Go(func() {
		defer end()
		pass(server, peer, func(sent []byte) []byte {
			if bytes.Contains(sent, tablesStatusRequest) {
				asked <- struct{}{}
			}
			return sent
		})
	})
	both.Go(func() {
		defer end()
		pass(peer, server, func(answer []byte) []byte {
			if answer[0] != tablesStatusResponse {
				return answer
			}
			select {
			case <-asked:
				return r.status(answer)
			default:
				return answer
			}
		})
	})
	both.Wait()
}

// pass copies what is read at a time, changed.
func pass(to io.Writer, from io.Reader, change func([]byte) []byte) {
	for buffer := make([]byte, 1<<16); ; {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if _, err := to.Write(change(buffer[:n])); err != nil {
			return
		}
	}
}

// status returns an answer in which each table is a replicated one that lags. An answer is the number of tables, and of each the database,
// the name and whether it is replicated; of replicated ones the lag in seconds and whether they are read-only follow.
func (r *Copy) status(answer []byte) []byte {
	r.mu.Lock()
	lag := uint64(r.lag / time.Second)
	r.mu.Unlock()
	from := bytes.NewReader(answer[1:])
	tables, err := binary.ReadUvarint(from)
	to := binary.AppendUvarint([]byte{tablesStatusResponse}, tables)
	for ; err == nil && tables > 0; tables-- {
		for range 2 {
			size, short := binary.ReadUvarint(from)
			if short != nil {
				return answer
			}
			name := make([]byte, size)
			if _, short := io.ReadFull(from, name); short != nil {
				return answer
			}
			to = append(binary.AppendUvarint(to, size), name...)
		}
		if _, err = from.ReadByte(); err == nil {
			to = append(binary.AppendUvarint(append(to, 1), lag), 0)
		}
	}
	if err != nil || from.Len() > 0 {
		return answer
	}
	return to
}
