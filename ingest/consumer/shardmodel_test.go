//go:build long

package consumer

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"time"

	"lodestone/ingest/replica"

	"pgregory.net/rapid"
)

// The model of a shard: servers that copy parts to each other through Keeper, as ClickHouse's ReplicatedMergeTree does, at any time that
// rapid draws. Everything runs in one goroutine. Each call to a server is a step, before and after which anything may happen (drift): also
// another owner of the partition that is being stored, and another writer.
//
// Facts about ClickHouse that it has (src/Storages/MergeTree/ReplicatedMergeTreeSink.cpp and the replication queue):
//   - The fence is checked when an insert begins. It commits later, if the server's session in Keeper is still the one in which it began.
//   - The commit registers the part, its token and a log entry at once. The part can be seen on its server after that.
//   - A token that is registered makes an insert succeed without rows, wherever its part is.
//   - A part that did not reach its quorum is dropped, with its token, once no server that has it has a session.
//   - A part whose last server is removed from Keeper is lost, but not its token.
//   - A client that gives up knows nothing of its insert: it may not have begun yet, or run on.

var (
	errAway = errors.New("the server does not answer")
	errLost = errors.New("the answer was lost")
)

const ( // milliseconds, as are all times
	leaseTime  = int64(replica.Lease / time.Millisecond)
	windowTime = int64(3_600_000) // how long tokens are remembered
)

// rowID is a row of the log.
type rowID struct {
	partition int32
	offset    int64
}

// part is what one insert stored.
type part struct {
	rows     []rowID
	token    string
	storedAt int64
	began    int64 // by no server's clock
	source   *server
	on       map[*server]bool
	quorum   int
	reached  bool // a quorum had it
	unseen   bool // registered in Keeper, and not to be seen on its source yet
	late     bool // was unseen when its insert had ended: who reads by stored_at may miss it
}

func (p *part) seenOn(s *server) bool { return p.on[s] && (!p.unseen || s != p.source) }

// flight is an insert that is on its way.
type flight struct {
	at        *server
	partition int32
	rows      []rowID
	how       replica.Insert
	before    int64 // by no server's clock
	begun     bool
	session   int
	storedAt  int64
	part      *part // once it has committed
	ended     bool
}

// server is a replica.
type server struct {
	w       *world
	shard   *shard
	name    string
	skew    int64 // of its clock
	up      bool  // reachable
	cut     bool  // not by operators
	active  bool  // has a session in Keeper
	session int
	gone    bool // for good
	epoch   int64
}

func (s *server) now() int64 { return s.w.now + s.skew }

// named returns a server of the shard.
func (s *shard) named(name string) *server {
	return s.servers[slices.IndexFunc(s.servers, func(srv *server) bool { return srv.name == name })]
}

// shard has the state of Keeper and of Postgres as well.
type shard struct {
	id      uint16
	servers []*server
	parts   []*part
	tokens  map[string]*part
	flights []*flight
	record  replica.Record
	changed int64
}

// world is everything.
type world struct {
	t       *rapid.T
	mutant  mutant
	now     int64
	shards  []*shard
	owned   []*owned
	pulled  map[rowID]bool
	counted map[rowID]bool // as stored, at some time
	cursor  int64
	depth   int               // of owners and operators that run within another's call
	within  int               // events that happen within another
	settled bool              // nothing fails any more
	still   bool              // nothing happens by itself, but for
	happens map[string]func() // what is named, once, with what happens meanwhile
	failed  error

	reads map[context.Context]int64 // when the record was read last under a context, by no server's clock

	insertTimeout int64 // of an owner, more than a lease or less

	events []func(*shard) // that may happen in this run
	often  int            // something happens about once in so many calls
	lossy  int            // a call is lost about once in so many
}

// failf records what is wrong. The run ends soon.
func (w *world) failf(format string, args ...any) {
	if w.failed == nil {
		w.failed = fmt.Errorf(format, args...)
	}
}

// oneIn draws something that happens about once in n times, n being a power of two. Ranges of rapid prefer small numbers, and bits do not.
func (w *world) oneIn(n int, what string) bool {
	if w.settled || w.failed != nil {
		return false
	}
	if w.still {
		happens, ok := w.happens[what]
		if ok {
			delete(w.happens, what)
			happens()
		}
		return ok
	}
	for ; n > 1; n /= 2 {
		if !rapid.Bool().Draw(w.t, what) {
			return false
		}
	}
	return true
}

// number draws one of n numbers.
func (w *world) number(n int, what string) (number int) {
	for range bits.Len(uint(n - 1)) {
		number *= 2
		if rapid.Bool().Draw(w.t, what) {
			number++
		}
	}
	return number % n
}

// pick draws one of a list.
func pick[E any](w *world, what string, from []E) E { return from[w.number(len(from), what)] }

// reach is the beginning of a call to a server.
func (w *world) reach(s *server) error {
	w.drift()
	if !s.up {
		return errAway
	}
	if w.oneIn(w.lossy, "lost before") {
		return errLost
	}
	return nil
}

// answer is the end of a call, after its effect.
func (w *world) answer() error {
	w.drift()
	if w.oneIn(w.lossy, "lost after") {
		return errLost
	}
	return nil
}

// draw chooses what happens in a run, and how often: runs in which a few kinds of events are frequent find more than runs in which all are.
func (w *world) draw() {
	events := []func(s *shard){
		func(*shard) { w.now += pick(w, "time", []int64{50, 3_000, 40_000}) },
		w.move, w.move,
		func(s *shard) { s.copyOne(w) },
		func(s *shard) { w.lose(pick(w, "session of", s.servers)) },
		func(s *shard) { w.crash(pick(w, "crash of", s.servers)) },
		func(s *shard) { pick(w, "cut", s.servers).cut = true },
		func(s *shard) { w.recover(pick(w, "recovery of", s.servers)) },
		func(s *shard) { w.recover(pick(w, "recovery of", s.servers)) },
		(*shard).dropFailed,
		func(*shard) { w.pull() },
		func(*shard) { w.operate() },
		func(*shard) { w.operate() },
		func(*shard) { w.handOver() },
		func(*shard) { w.forgetTokens() },
		func(*shard) { w.destroy() },
		w.replace, w.replace,
	}
	for range 12 {
		w.events = append(w.events, pick(w, "kinds of events", events))
	}
	w.often = pick(w, "how often", []int{4, 8, 16})
	w.lossy = pick(w, "how lossy", []int{32, 128, 1024})
	w.insertTimeout = pick(w, "insert timeout", []int64{8_000, 60_000})
}

// drift lets something happen that no one waits for.
func (w *world) drift() {
	if w.settled {
		w.settle()
		return
	}
	const deepest = 8 // calls within another's
	if w.within < deepest && w.oneIn(w.often, "something happens") {
		w.now++
		w.within++
		pick(w, "event", w.events)(w.shards[0])
		w.within--
	}
}

// move lets an insert on its way come a step further.
func (w *world) move(s *shard) {
	if len(s.flights) == 0 {
		return
	}
	f := pick(w, "insert", s.flights)
	switch {
	case !f.begun:
		if f.begin() != nil {
			f.end()
		}
	case f.part == nil:
		if f.commit() != nil {
			f.end()
		}
	default:
		f.part.unseen = false
		f.end()
	}
}

// begin checks what the server checks first.
func (f *flight) begin() error {
	w, s := f.at.w, f.at
	active := 0
	for _, other := range s.shard.servers {
		if other.active {
			active++
		}
	}
	switch {
	case !s.up || !s.active:
		return errAway
	case w.now >= f.before:
		return errors.New("the insert came too late")
	case f.how.Epoch < s.epoch && w.mutant != refusesNone:
		return errors.New("the epoch is over")
	case active < f.how.Quorum:
		return errors.New("too few replicas for the quorum")
	}
	f.begun, f.session, f.storedAt = true, s.session, s.now()
	return nil
}

// commit registers the part in Keeper.
func (f *flight) commit() error {
	s := f.at
	if !s.up || !s.active || s.session != f.session {
		return errors.New("the session in Keeper has ended")
	}
	if _, known := s.shard.tokens[f.how.Token]; known {
		f.end()
		return nil
	}
	f.part = &part{
		rows: f.rows, token: f.how.Token, storedAt: f.storedAt, began: s.w.now, source: s, on: map[*server]bool{s: true}, quorum: f.how.Quorum,
		unseen: true, reached: f.how.Quorum <= 1,
	}
	s.shard.parts = append(s.shard.parts, f.part)
	s.shard.tokens[f.how.Token] = f.part
	return nil
}

func (f *flight) end() {
	f.ended = true
	f.at.shard.flights = slices.DeleteFunc(f.at.shard.flights, func(other *flight) bool { return other == f })
}

// copyTo copies a part if a server with a session shows it.
func (p *part) copyTo(to *server) bool {
	if p.on[to] {
		return true
	}
	for from := range p.on {
		if from.active && from.up && p.seenOn(from) && to.active && to.up {
			p.on[to] = true
			p.reached = p.reached || len(p.on) >= p.quorum
			return true
		}
	}
	return false
}

func (s *shard) copyOne(w *world) {
	if len(s.parts) > 0 {
		pick(w, "part", s.parts).copyTo(pick(w, "to", s.servers))
	}
}

// dropFailed drops the parts of which no quorum had them, if no server that has them has a session.
func (s *shard) dropFailed() {
	s.parts = slices.DeleteFunc(s.parts, func(p *part) bool {
		if p.reached {
			return false
		}
		for on := range p.on {
			if on.active {
				return false
			}
		}
		delete(s.tokens, p.token)
		return true
	})
}

// lose ends a server's session, of which the server need not know.
func (w *world) lose(s *server) { s.active = false }

// crash stops a server. Keeper ends its session now or later.
func (w *world) crash(s *server) {
	s.up = false
	for _, f := range slices.Clone(s.shard.flights) {
		if f.at == s {
			f.end()
		}
	}
	s.active = s.active && !w.oneIn(2, "session ends at once")
}

// recover starts a server again, or lets it have a session again.
func (w *world) recover(s *server) {
	if s.gone {
		return
	}
	restarted := !s.up
	if restarted || !s.active {
		s.session++
	}
	s.up, s.active, s.cut = true, true, false
	for _, p := range s.shard.parts {
		if restarted && p.source == s {
			p.unseen = false
		}
	}
}

// forgetTokens lets more than an hour pass.
func (w *world) forgetTokens() {
	s := w.shards[0]
	for _, f := range slices.Clone(s.flights) {
		f.end()
	}
	for _, p := range s.parts {
		p.unseen = p.unseen && !p.source.up
	}
	w.now += windowTime + 1
	for token, p := range s.tokens {
		if p.reached && !p.unseen {
			delete(s.tokens, token)
		}
	}
}

// destroy takes one of three servers away for good. What only this one had may be lost at once, or when it is removed from Keeper. Its tokens
// stay.
func (w *world) destroy() {
	s := w.shards[0]
	if len(s.record.Replicas) < 3 || slices.ContainsFunc(s.servers, func(s *server) bool { return s.gone }) {
		return
	}
	victim := pick(w, "destroyed", s.servers)
	w.crash(victim)
	victim.gone, victim.active = true, false
	if w.oneIn(2, "parts are lost") {
		s.parts = slices.DeleteFunc(s.parts, func(p *part) bool { return p.on[victim] && len(p.on) == 1 })
	}
}

// settle lets everything that was begun come to its end.
func (w *world) settle() {
	w.now += 10
	for _, s := range w.shards {
		for _, srv := range s.servers {
			if !srv.up || !srv.active || srv.cut {
				w.recover(srv)
			}
		}
		for _, f := range slices.Clone(s.flights) {
			if !f.begun && f.begin() != nil || f.part == nil && f.commit() != nil {
				f.end()
			}
			if f.part != nil {
				f.part.unseen = false
			}
			f.end()
		}
		s.dropFailed()
		for _, p := range s.parts {
			p.unseen = p.unseen && !p.source.up
			for _, srv := range s.servers {
				p.copyTo(srv)
			}
		}
	}
}

// majorityShows reports whether a majority of the replicas shows a part.
func (s *shard) majorityShows(p *part) bool {
	shows := 0
	for _, srv := range s.servers {
		if p.seenOn(srv) && slices.Contains(s.record.Replicas, srv.name) {
			shows++
		}
	}
	return shows >= s.record.Majority()
}

// pull reads what was stored since the last pull, from the writer.
func (w *world) pull() {
	s := w.shards[0]
	r, err := s.Read(context.Background(), s.id)
	if err != nil || !r.Ready {
		return
	}
	var found []rowID
	horizon := w.cursor
	err = replica.AtWriter(context.Background(), s, s.id, s.servers, func(_ replica.Record, writer *server) error {
		if err := w.reach(writer); err != nil {
			return err
		}
		settled := writer.now() - 1
		for _, f := range s.flights {
			if f.at == writer && f.begun {
				settled = min(settled, f.storedAt-1)
			}
		}
		// Times that no row has reached yet, or only one that may be dropped, are not settled: the clock of the next writer may be behind.
		newest := int64(0)
		for _, p := range s.parts {
			if p.seenOn(writer) && s.majorityShows(p) {
				newest = max(newest, p.storedAt)
			}
		}
		until := min(settled, newest)
		for _, p := range s.parts {
			if p.seenOn(writer) && p.storedAt > w.cursor && p.storedAt <= until {
				found = append(found, p.rows...)
			}
		}
		horizon = max(w.cursor, until)
		return w.answer()
	})
	if err != nil {
		return
	}
	for _, row := range found {
		w.pulled[row] = true
	}
	w.cursor = horizon
}
