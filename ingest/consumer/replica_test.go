//go:build long

package consumer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"lodestone/ingest/replica"
	"lodestone/ingest/stream"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lodestone/pkg/event"
)

// Blocks of two partitions are stored on a shard of one to three replicas while anything fails at any step, and writers and owners
// change. In the end every row is stored once, on every replica, and whoever read what was stored since has read all of them.
func TestReplicasAgainstAModel(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		if err := runModel(t, noMutant); err != nil {
			t.Fatal(err)
		}
	})
}

// modelStream has the tables of all runs.
var modelStream = stream.Events()

var modelMetrics = newMetrics(prometheus.NewRegistry(), func() status { return status{} })

// owned is a partition, and what Kafka knows of it.
type owned struct {
	number     int32
	blocks     [][]int // the month of each row
	next       int64
	intent     int64
	generation int
	deadline   int64 // of the last insert
}

// block returns the bounds of the block that begins at an offset.
func (p *owned) bounds(first int64) (months []int, last int64) {
	at := int64(0)
	for _, months := range p.blocks {
		if at == first {
			return months, at + int64(len(months)) - 1
		}
		at += int64(len(months))
	}
	return nil, first - 1
}

func (p *owned) end() (n int64) {
	for _, months := range p.blocks {
		n += int64(len(months))
	}
	return n
}

func runModel(t *rapid.T, m mutant) error {
	w := &world{t: t, mutant: m, now: 1_000_000, pulled: map[rowID]bool{}, counted: map[rowID]bool{}, reads: map[context.Context]int64{}}
	w.draw()
	for id := range uint16(2) {
		s := &shard{id: id + 1, tokens: map[string]*part{}}
		for i := range pick(w, "replicas", []int{3, 2, 1}) {
			s.servers = append(s.servers, w.server(s, fmt.Sprint("r", i)))
			s.record.Replicas = append(s.record.Replicas, s.servers[i].name)
		}
		s.record.Shard, s.record.Writer, s.record.Epoch, s.record.Ready = s.id, "r0", 1, true
		w.shards = append(w.shards, s)
	}
	for number := range int32(2) {
		p := &owned{number: number, intent: stream.NoIntent}
		for range 2 + w.number(4, "blocks") {
			p.blocks = append(p.blocks, rapid.SliceOfN(rapid.IntRange(0, 1), 1, 3).Draw(t, "months"))
		}
		w.owned = append(w.owned, p)
	}
	for range 20 {
		w.assign(pick(w, "owner of", w.owned), 1+w.number(4, "tries"))
	}
	w.finish()
	return w.failed
}

// server returns a replica that no one has written to.
func (w *world) server(s *shard, name string) *server {
	srv := &server{w: w, shard: s, name: name, up: true, active: true, epoch: 1}
	if !w.still {
		srv.skew = pick(w, "skew", []int64{0, 100, 60_000, -60_000})
	}
	return srv
}

// handOver lets another owner take a partition over while one is at work.
func (w *world) handOver() {
	if w.depth < 2 {
		w.depth++
		w.assign(pick(w, "hand-over of", w.owned), 1+w.number(4, "tries"))
		w.depth--
	}
}

// operate lets someone make another replica the writer, drop one that is gone, or add one.
func (w *world) operate() {
	if w.depth >= 2 {
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	s := w.shards[0]
	for _, srv := range s.servers {
		if srv.gone && w.oneIn(2, "drop") {
			_, err := w.mover(s, toDrop).Drop(context.Background(), srv.name)
			w.checkCounted(err)
			return
		}
	}
	if w.oneIn(8, "add") {
		w.add(s)
		return
	}
	if !s.record.Ready && w.oneIn(2, "leases end") {
		w.now += leaseTime + 1
	}
	to := s.record.Writer
	if s.record.Ready || w.oneIn(4, "elsewhere") {
		to = pick(w, "writer", s.record.Replicas)
	}
	_, _ = w.mover(s, toMove).Move(context.Background(), to)
}

// replace lets operators, who may be cut off from the writer, let another one take over. Then another owner stores something, and someone reads it.
func (w *world) replace(s *shard) {
	writer := s.named(s.record.Writer)
	if w.oneIn(2, "cut off") {
		writer.cut = true
		writer.active = writer.active && !w.oneIn(2, "session ends")
	}
	w.operate()
	if w.oneIn(2, "leases end") {
		w.now += leaseTime + 1
	}
	w.operate()
	if w.oneIn(2, "it comes back") {
		w.recover(writer)
	}
	w.handOver()
	w.pull()
}

// added are the replicas that someone may add in a run.
var added = []string{"n1", "n2"}

// add lets someone add the next replica.
func (w *world) add(s *shard) {
	for _, name := range added {
		if slices.Contains(s.record.Replicas, name) {
			continue
		}
		if !slices.ContainsFunc(s.servers, func(srv *server) bool { return srv.name == name }) {
			s.servers = append(s.servers, w.server(s, name))
		}
		_, _ = w.mover(s, toAdd).Add(context.Background(), name) // a row counted meanwhile is on one of any majority of the record before and after
		return
	}
}

// operation is what an operator does.
type operation int

const (
	toMove operation = iota
	toDrop
	toAdd
	toKeep
)

func (w *world) mover(s *shard, to operation) *replica.Mover {
	m := &replica.Mover{Shard: s.id, Register: lyingRegister{s, w.mutant}}
	for _, srv := range s.servers {
		m.Servers = append(m.Servers, lyingServer{srv, w.mutant, to})
	}
	return m
}

// assign lets a new owner of a partition try some times. Kafka waits longer than an insert may, before it gives a partition away.
func (w *world) assign(p *owned, tries int) {
	if w.failed != nil {
		return
	}
	w.now = max(w.now, p.deadline+1)
	p.generation++
	generation := p.generation
	if w.oneIn(32, "commits are lost") {
		first := int64(0)
		for first < p.next && !w.oneIn(2, "up to here") {
			_, last := p.bounds(first)
			first = last + 1
		}
		p.next, p.intent = min(first, p.next), stream.NoIntent
	}
	shard := w.shards[0]
	if w.mutant == movesShard {
		shard = w.shards[generation%len(w.shards)]
	}
	k := &worker{
		store: w.store(p, shard), at: stream.Place{Partition: p.number}, log: slog.New(slog.DiscardHandler), metrics: modelMetrics, builder: &blockBuilder{pace: &pace{}},
	}
	last, err := k.lastStored(context.Background(), p.next)
	for ; err != nil; last, err = k.lastStored(context.Background(), p.next) {
		if tries--; tries <= 0 {
			return
		}
	}
	k.maybeStored = max(last, p.next-1, p.intent)
	for p.generation == generation && p.next < p.end() && tries > 0 && w.failed == nil {
		tries = w.tryBlock(p, k, generation, tries)
	}
}

// tryBlock stores the next block as worker.insert does, and returns the tries that are left.
func (w *world) tryBlock(p *owned, k *worker, generation, tries int) int {
	months, last := p.bounds(p.next)
	k.block = &block{first: p.next, last: last, tables: modelStream.Tables, table: tableOf(p, months)}
	defer modelStream.Tables.Give(k.block.table)
	maybeStored, round := k.block.first <= k.maybeStored, 0
	for ; tries > 0 && w.failed == nil; tries-- {
		if p.generation != generation {
			return 0 // Kafka refuses the commit
		}
		p.intent = last
		p.deadline = w.now + w.insertTimeout
		ctx := context.WithValue(context.Background(), deadlineKey{}, p.deadline)
		done, _ := k.attempt(ctx, nil, maybeStored, &round)
		if done {
			w.checkStored(p, k.block)
			if p.generation == generation {
				p.next, p.intent = last+1, stream.NoIntent
			}
			return tries
		}
		maybeStored = true
	}
	return 0
}

func tableOf(p *owned, months []int) stream.Table {
	table, decoder := modelStream.Tables.Take(), modelStream.Decoder()
	for i, month := range months {
		at := time.Date(2026, time.Month(1+month), 5, 0, 0, 0, 0, time.UTC).UnixMilli()
		e := event.Event{
			AccountID: uuid.UUID{1}, LeadMagnetID: uuid.UUID{2}, AccessLinkID: uuid.UUID{3}, EventID: uuid.UUID{15: byte(i + 1)}, Type: event.PageViewed, Page: 1,
			Data:          []byte(`{"page":1,"duration_ms":1}`),
			MagnetVersion: 1, CreatedAt: at, ReceivedAt: at,
		}
		if _, err := decoder.Decode(e.Append(nil)); err != nil {
			panic(err)
		}
		first := int64(0)
		for _, before := range p.blocks {
			if &before[0] == &months[0] {
				break
			}
			first += int64(len(before))
		}
		decoder.Add(table, stream.Place{Partition: p.number, Offset: first + int64(i)})
	}
	return table
}

// checkStored fails unless a majority has every row of a block that counts as stored.
func (w *world) checkStored(p *owned, b *block) {
	for _, offset := range b.rows() {
		row := rowID{p.number, offset}
		w.counted[row] = true
		if w.mutant == noMutant { // mutants show it in the end, if it matters
			w.checkMajority(row)
		}
	}
}

// checkCounted fails unless a majority has every row that counts as stored, after the replicas of a shard changed.
func (w *world) checkCounted(err error) {
	if err != nil || w.mutant != noMutant && w.mutant != dropsUnsynced {
		return
	}
	for row := range w.counted {
		w.checkMajority(row)
	}
}

func (w *world) checkMajority(row rowID) {
	has, s := 0, w.shards[0]
	for _, part := range s.parts {
		for srv := range part.on {
			if slices.Contains(part.rows, row) && slices.Contains(s.record.Replicas, srv.name) {
				has++
			}
		}
	}
	need := s.record.Majority()
	grown := slices.ContainsFunc(added, func(name string) bool { return slices.Contains(s.record.Replicas, name) })
	if grown && len(s.record.Replicas)%2 == 0 { // it may have counted before the last of these did, and is on one of any majority
		need--
	}
	if has < need {
		w.failf("%v counts as stored, and %d of %d replicas have it", row, has, len(s.record.Replicas))
	}
}

// finish heals everything, lets the partitions be stored, and checks what was promised.
func (w *world) finish() {
	if w.failed != nil {
		return
	}
	w.settled = true
	const limit = 200
	for n := 0; !w.complete(); n++ {
		if n == limit {
			w.failf("not all is stored, %d tries after everything was healed: %+v", limit, w.shards[0].record)
			return
		}
	}
	for range 5 {
		w.now += 2 * 60_000
		w.settle()
	}
	// A row that is stored later than all others, so that whoever reads comes to the end.
	s := w.shards[0]
	for range 3 {
		w.now += 200_000
		end := &part{storedAt: s.servers[0].now() + 200_000, on: map[*server]bool{}, source: s.servers[0]}
		for _, srv := range s.servers {
			end.on[srv] = true
		}
		s.parts = append(s.parts, end)
		w.now += 500_000
		w.pull()
	}
	w.checkRows()
}

// complete makes one more try at everything that is to do.
func (w *world) complete() bool {
	s := w.shards[0]
	w.now += leaseTime + 1
	gone := ""
	for _, srv := range s.servers {
		if srv.gone && slices.Contains(s.record.Replicas, srv.name) {
			gone = srv.name
		}
	}
	to := s.record.Writer
	if to == gone {
		to = s.record.Replicas[(slices.Index(s.record.Replicas, gone)+1)%len(s.record.Replicas)]
	}
	if _, err := w.mover(s, toMove).Move(context.Background(), to); err != nil {
		return false
	}
	if gone != "" {
		if _, err := w.mover(s, toDrop).Drop(context.Background(), gone); err != nil {
			return false
		}
	}
	for _, p := range w.owned {
		w.assign(p, 10)
		if p.next < p.end() {
			return false
		}
	}
	return true
}

// checkRows fails unless every row is stored once, on every replica, and was read.
func (w *world) checkRows() {
	for _, p := range w.owned {
		for offset := range p.end() {
			row, copies, late := rowID{p.number, offset}, 0, false
			for _, s := range w.shards {
				for _, part := range s.parts {
					if !slices.Contains(part.rows, row) {
						continue
					}
					copies++
					late = late || part.late
					for _, srv := range s.servers {
						if !srv.gone && !part.seenOn(srv) {
							w.failf("%v is not on %s", row, srv.name)
						}
					}
				}
			}
			if copies != 1 {
				w.failf("%v is stored %d times", row, copies)
			}
			if !w.pulled[row] && !late && w.mutant != movesShard { // of the first shard is read
				w.failf("%v was not read by whoever read what was stored since", row)
			}
		}
	}
}

// store returns the product's store of a partition, on a shard of the mutant.
func (w *world) store(p *owned, s *shard) *replica.Store {
	seen := &lies{mutant: w.mutant, acknowledged: map[int64]bool{}}
	return &replica.Store{
		Shard: s.id, Register: &lyingReader{shard: s, mutant: w.mutant}, Tables: modelStream.Tables,
		Open: func(name string) replica.Rows {
			r := &rows{server: s.named(name), partition: p.number}
			if w.mutant == sharesInserts {
				r.extra = func([]rowID) []rowID { return w.pending(w.owned[1-p.number]) }
			}
			return &lyingRows{r, seen}
		},
	}
}

// pending returns the rows of the block that a partition stores next.
func (w *world) pending(p *owned) (pending []rowID) {
	_, last := p.bounds(p.next)
	for offset := p.next; offset <= last && p.intent == last; offset++ {
		pending = append(pending, rowID{p.number, offset})
	}
	return pending
}

// What a Mover refuses whatever the shard's state is.
func TestWritersThatCannotBe(t *testing.T) {
	t.Parallel()
	s := &shard{id: 1, tokens: map[string]*part{}}
	w := &world{still: true, shards: []*shard{s}}
	s.record = replica.Record{Shard: 1, Replicas: []string{"r0", "r1"}, Writer: "r0", Epoch: 1, Ready: true}
	for _, name := range s.record.Replicas {
		s.servers = append(s.servers, &server{w: w, shard: s, name: name, up: true, active: true, epoch: 1})
	}
	m := &replica.Mover{Shard: 1, Register: s, Servers: []replica.Server{s.servers[0], s.servers[1]}}
	_, err := m.Move(t.Context(), "r7")
	require.ErrorContains(t, err, "not r7")
	_, err = m.Drop(t.Context(), "r0")
	require.ErrorContains(t, err, "take over first")

	s.servers[0].gone, s.servers[0].up, s.servers[0].active = true, false, false
	_, err = m.Move(t.Context(), "r1")
	wait, ok := errors.AsType[*replica.WaitError](err)
	require.True(t, ok, "%v", err)
	require.Contains(t, wait.For, "2 of 2 replicas answer", "one of two does not go on alone")
}

// A writer that does not answer is replaced once no insert can begin there any more, and none that began can be stored.
func TestAWriterThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	s := &shard{id: 1, tokens: map[string]*part{}}
	w := &world{still: true, shards: []*shard{s}, now: 1_000_000}
	s.record = replica.Record{Shard: 1, Replicas: []string{"r0", "r1", "r2"}, Writer: "r0", Epoch: 1, Ready: true}
	for _, name := range s.record.Replicas {
		s.servers = append(s.servers, &server{w: w, shard: s, name: name, up: true, active: true, epoch: 1})
	}
	s.servers[0].cut = true
	waitsFor := func(what string) {
		t.Helper()
		_, err := w.mover(s, toMove).Move(t.Context(), "r1")
		wait, ok := errors.AsType[*replica.WaitError](err)
		require.True(t, ok, "%v", err)
		require.Contains(t, wait.For, what)
		require.False(t, s.record.Ready)
	}
	waitsFor("30s have passed")
	w.now += leaseTime
	waitsFor("30s have passed")
	w.now++
	waitsFor("session in Keeper has ended")
	w.lose(s.servers[0])
	r, err := w.mover(s, toMove).Move(t.Context(), "r1")
	require.NoError(t, err)
	require.True(t, r.Ready)
	require.Equal(t, []int64{1, 2, 2}, []int64{s.servers[0].epoch, s.servers[1].epoch, s.servers[2].epoch})
}
