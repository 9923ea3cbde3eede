//go:build long

package consumer

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lodestone/ingest/replica"
	"lodestone/ingest/stream"
)

// failing lets one of the calls of an operation fail, before or after its effect.
type failing struct {
	at    int
	after bool
	calls int
}

func (f *failing) call(fn func() error) error {
	f.calls++
	if f.calls == f.at && !f.after {
		return errLost
	}
	if err := fn(); err != nil {
		return err
	}
	if f.calls == f.at {
		return errLost
	}
	return nil
}

type failingRegister struct {
	replica.Register
	f *failing
}

// Read implements replica.Register.
func (r failingRegister) Read(ctx context.Context, id uint16) (found replica.Record, err error) {
	err = r.f.call(func() (err error) { found, err = r.Register.Read(ctx, id); return err })
	return found, err
}

// Swap implements replica.Register.
func (r failingRegister) Swap(ctx context.Context, from, to replica.Record) error {
	return r.f.call(func() error { return r.Register.Swap(ctx, from, to) })
}

type failingServer struct {
	replica.Server
	f *failing
}

// Accept implements replica.Server.
func (s failingServer) Accept(ctx context.Context, epoch int64) (stored int64, err error) {
	err = s.f.call(func() (err error) { stored, err = s.Server.Accept(ctx, epoch); return err })
	return stored, err
}

// Sync implements replica.Server.
func (s failingServer) Sync(ctx context.Context) error {
	return s.f.call(func() error { return s.Server.Sync(ctx) })
}

// Clock implements replica.Server.
func (s failingServer) Clock(ctx context.Context) (now, stored time.Time, err error) {
	err = s.f.call(func() (err error) { now, stored, err = s.Server.Clock(ctx); return err })
	return now, stored, err
}

// Active implements replica.Server.
func (s failingServer) Active(ctx context.Context, name string) (active bool, err error) {
	err = s.f.call(func() (err error) { active, err = s.Server.Active(ctx, name); return err })
	return active, err
}

// Forget implements replica.Server.
func (s failingServer) Forget(ctx context.Context, name string) error {
	return s.f.call(func() error { return s.Server.Forget(ctx, name) })
}

// Two of three replicas are lost, and the operation that keeps the third ends at any step. The next one goes on. Consumers that look again from the
// beginning store what the third one lacked, once.
func TestTheReplicaThatIsLeftIsKept(t *testing.T) {
	t.Parallel()
	for at, ended := 1, false; !ended; at++ {
		for _, after := range []bool{false, true} {
			for _, begun := range []bool{false, true} { // a move to the third, which could not end
				ended = keepAfter(t, &failing{at: at, after: after}, begun) < at
			}
		}
		require.Less(t, at, 100)
	}
}

// keepAfter returns the number of calls until the replica was kept.
func keepAfter(t *testing.T, f *failing, begun bool) (calls int) {
	t.Helper()
	s := &shard{id: 1, tokens: map[string]*part{}}
	w := &world{
		still: true, shards: []*shard{s}, now: 1_000_000, insertTimeout: leaseTime,
		reads: map[context.Context]int64{}, counted: map[rowID]bool{}, pulled: map[rowID]bool{},
	}
	s.record = replica.Record{Shard: 1, Replicas: []string{"r0", "r1", "r2"}, Writer: "r0", Epoch: 1, Ready: true}
	for _, name := range s.record.Replicas {
		s.servers = append(s.servers, &server{w: w, shard: s, name: name, up: true, active: true, epoch: 1})
	}
	p := &owned{blocks: [][]int{{0}, {0}, {0}}, intent: stream.NoIntent}
	w.owned = []*owned{p}
	for offset, on := range [][]*server{s.servers, s.servers[:2], s.servers[2:]} {
		stored := &part{
			rows: []rowID{{0, int64(offset)}}, token: fmt.Sprintf("lodestone-events:0:%d-%[1]d:202601", offset), storedAt: w.now - 10,
			source: on[0], on: map[*server]bool{}, quorum: 2, reached: true,
		}
		for _, srv := range on {
			stored.on[srv] = true
		}
		s.parts, s.tokens[stored.token] = append(s.parts, stored), stored
	}
	for _, srv := range s.servers[:2] {
		w.crash(srv)
		srv.gone, srv.active = true, false
	}
	if begun {
		w.moves("r2")
		require.False(t, s.record.Ready)
	}
	m := &replica.Mover{Shard: 1, Register: failingRegister{s, f}}
	for _, srv := range s.servers {
		m.Servers = append(m.Servers, failingServer{lyingServer{srv, noMutant, toKeep}, f})
	}
	var r replica.Record
	err := errLost
	for tries := 0; err != nil; tries++ {
		require.Less(t, tries, 5, "%v", err)
		r, _, err = m.Keep(t.Context(), "r2")
		w.now += leaseTime + 1
	}
	require.Equal(t, []string{"r2"}, r.Replicas)
	require.Equal(t, "r2", r.Writer)
	require.True(t, r.Ready)
	require.Equal(t, 2, r.Drops)
	require.Equal(t, r.Epoch, s.servers[2].epoch)
	calls, f.at = f.calls, 0
	again, _, err := m.Keep(t.Context(), "r2")
	require.NoError(t, err)
	require.Equal(t, r.Epoch, again.Epoch, "nothing is left to do")

	w.assign(p, 10)
	require.NoError(t, w.failed)
	require.EqualValues(t, 3, p.next)
	stored := map[rowID]int{}
	for _, part := range s.parts {
		require.True(t, part.seenOn(s.servers[2]))
		for _, row := range part.rows {
			stored[row]++
		}
	}
	require.Equal(t, map[rowID]int{{0, 0}: 1, {0, 1}: 1, {0, 2}: 1}, stored)
	return calls
}

// keep keeps one replica of a shard, after all the leases.
func (r *rig) keep(cluster *replica.Cluster, name string) replica.Record {
	r.t.Helper()
	mover, closeAll, err := cluster.Mover(r.t.Context(), 1)
	require.NoError(r.t, err)
	defer closeAll()
	var record replica.Record
	require.Eventually(r.t, func() bool {
		record, _, err = mover.Keep(r.t.Context(), name)
		if _, waits := errors.AsType[*replica.WaitError](err); waits {
			r.Exec("UPDATE shard_writers SET closed_at = closed_at - interval '1 minute'")
		}
		return err == nil
	}, waitLimit, 50*time.Millisecond)
	record.Age = 0
	return record
}

// Of two replicas, the writer is lost with rows that the other one lacks. These did not count as stored: consumers store them from Kafka.
func TestTheSurvivorOfTwoGoesOn(t *testing.T) {
	t.Parallel()
	const each = 200
	r, copies, cluster := onCopies(t, 1, 1, 2)
	servers := copies.Servers[0]
	stop := copies.Follow()
	r.consume(r.config())
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, each)
	r.awaitCopies(each, servers...)
	stop()
	r.produce(0, r.events(each)...)
	writer := servers[0].Conn()
	require.Eventually(t, func() bool { rows, _ := r.rowsOn(writer); return rows > each }, waitLimit, 20*time.Millisecond)

	mover, closeAll, err := cluster.Mover(t.Context(), 1)
	require.NoError(t, err)
	defer closeAll()
	_, _, err = mover.Keep(t.Context(), "r1")
	require.ErrorContains(t, err, "replica r0 answers: stop it first")
	servers[0].CutFromClients()
	_, _, err = mover.Keep(t.Context(), "r1")
	require.ErrorContains(t, err, "replica r0 has a session in Keeper: stop it first")
	servers[1].EndSession()
	_, _, err = mover.Keep(t.Context(), "r1")
	require.ErrorContains(t, err, "replica r1 has no session in Keeper itself")
	record, err := cluster.Read(t.Context(), 1)
	require.NoError(t, err)
	require.Equal(t, replica.Record{Shard: 1, Replicas: []string{"r0", "r1"}, Writer: "r0", Epoch: 1, Ready: true}, record)

	servers[1].Heal()
	servers[0].Cut()
	record = r.keep(cluster, "r1")
	require.Equal(t, replica.Record{Shard: 1, Replicas: []string{"r1"}, Writer: "r1", Epoch: 2, Ready: true, Drops: 1}, record)
	require.Equal(t, record, r.keep(cluster, "r1"))
	r.awaitCommit(0, 2*each)
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, 3*each)
	r.awaitCopies(3*each, servers[1])
}

// Of three replicas, two are lost with rows that counted as stored. The third goes on, and has them again once the consumers have looked at the log from
// its start.
func TestTheSurvivorOfThreeLooksAgain(t *testing.T) {
	t.Parallel()
	const each = 200
	r, copies, cluster := onCopies(t, 1, 1, 3)
	servers := copies.Servers[0]
	alone := copies.Follow()
	stop := r.consume(r.config())
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, each)
	r.awaitCopies(each, servers...)
	servers[2].Cut()
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, 2*each)
	alone()
	servers[0].CutFromClients() // and keeps its session, which an operator knows better
	servers[1].Cut()
	servers[2].Heal()

	mover, closeAll, err := cluster.Mover(t.Context(), 1)
	require.NoError(t, err)
	defer closeAll()
	_, _, err = mover.Keep(t.Context(), "r2")
	require.ErrorContains(t, err, "replica r0 has a session in Keeper: stop it first")
	mover.Destroyed = []string{"r0"}
	_, inKeeper, err := mover.Keep(t.Context(), "r2")
	wait, waits := errors.AsType[*replica.WaitError](err)
	require.True(t, waits, "%v", err)
	require.Contains(t, wait.For, "30s have passed")
	require.Equal(t, []string{"r0"}, inKeeper)
	servers[0].Cut()
	require.Equal(t, []string{"r2"}, r.keep(cluster, "r2").Replicas)
	r.produce(0, r.events(each)...)
	r.awaitCommit(0, 3*each)
	r.awaitCopies(2*each, servers[2])

	stop()
	r.commit(0, 0, "")
	r.consume(r.config())
	r.awaitCommit(0, 3*each)
	r.awaitCopies(3*each, servers[2])
}
