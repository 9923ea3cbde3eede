//go:build long

package consumer

import (
	"context"
	"slices"

	"lodestone/ingest/replica"
	"lodestone/ingest/stream"
)

// A scenario is a run of the model in which only what it names happens. It has an insert of the first partition that is stored late, and rows of the
// second one, which someone has read by then.
type scenario func(w *world)

// scenarios notice mutants that few runs notice.
var scenarios = map[mutant]scenario{
	keepsRunning: func(w *world) {
		w.sends("no answer before the commit")
		w.moves("r1")
	},
	keepsEpoch: func(w *world) {
		w.sends("arrives later")
		w.moves("r1")
	},
	refusesNone: func(w *world) {
		w.sends("arrives later")
		w.moves("r1")
	},
	stampsNone: func(w *world) {
		w.sends("arrives later")
		w.moves("r1")
	},
	ignoresSession: func(w *world) {
		w.sends("no answer before the commit")
		w.shards[0].servers[0].cut = true
		w.moves("r1")
		w.now += leaseTime + 1
		w.moves("r1")
	},
	guessesSession: func(w *world) {
		w.sends("no answer before the commit")
		w.shards[0].servers[0].cut = true
		w.moves("r1")
		w.now += leaseTime + 1
		w.lose(w.shards[0].servers[1])
		w.happens["it gets a session"] = func() {}
		w.moves("r1")
	},
	countsBefore: func(w *world) {
		s := w.shards[0]
		s.servers, s.record.Replicas = s.servers[:1], []string{"r0"}
		w.happens["a replica is added"] = func() {
			for range 2 {
				w.add(s)
				w.crash(s.servers[len(s.servers)-1])
			}
		}
		w.assign(w.owned[0], 1)
		w.crash(s.servers[0])
		s.servers[0].gone, s.servers[0].active = true, false
		s.parts = slices.DeleteFunc(s.parts, func(p *part) bool { return len(p.on) == 1 })
	},
	ignoresLease: func(w *world) {
		w.sends("arrives later")
		w.shards[0].servers[0].cut = true
		w.lose(w.shards[0].servers[0])
		w.moves("r1")
		w.moves("r1")
		w.recover(w.shards[0].servers[0])
	},
	outlivesLease: func(w *world) {
		w.sends("arrives later")
		w.shards[0].servers[0].cut = true
		w.lose(w.shards[0].servers[0])
		w.moves("r1")
		w.now += leaseTime + 1
		w.moves("r1")
		w.recover(w.shards[0].servers[0])
	},
	dropsInEpoch: func(w *world) {
		w.happens["arrives later"] = func() {
			gone := w.shards[0].servers[2]
			w.crash(gone)
			gone.gone, gone.active = true, false
			_, _ = w.mover(w.shards[0], toDrop).Drop(context.Background(), gone.name)
		}
		w.assign(w.owned[0], 3) // the next try has another token
	},
}

// play runs a scenario to its end.
func (s scenario) play(m mutant) error {
	w := &world{
		mutant: m, now: 1_000_000, still: true, insertTimeout: 2 * leaseTime,
		pulled: map[rowID]bool{}, counted: map[rowID]bool{}, reads: map[context.Context]int64{},
		happens: map[string]func(){},
	}
	rows := &shard{id: 1, tokens: map[string]*part{}}
	rows.record = replica.Record{Shard: 1, Replicas: []string{"r0", "r1", "r2"}, Writer: "r0", Epoch: 1, Ready: true}
	for i, name := range rows.record.Replicas {
		rows.servers = append(rows.servers, &server{w: w, shard: rows, name: name, up: true, active: true, epoch: 1, skew: int64(i) * 60_000})
	}
	w.shards = []*shard{rows}
	for number := range int32(2) {
		w.owned = append(w.owned, &owned{number: number, blocks: [][]int{{0}}, intent: stream.NoIntent})
	}
	s(w)
	late := slices.Clone(rows.flights)
	w.assign(w.owned[1], 3)
	w.now += 10
	w.pull()
	for _, f := range late {
		f.goOn()
	}
	w.finish()
	return w.failed
}

// sends lets the first partition send its block, which then comes no further than to what is named.
func (w *world) sends(until string) {
	w.happens[until] = func() {}
	w.assign(w.owned[0], 1)
	if len(w.shards[0].flights) != 1 {
		w.failf("%d inserts are on their way", len(w.shards[0].flights))
	}
}

func (w *world) moves(to string) {
	_, _ = w.mover(w.shards[0], toMove).Move(context.Background(), to)
}

// goOn stores what a late insert has, if it can.
func (f *flight) goOn() {
	if f.ended {
		return
	}
	if f.begun || f.begin() == nil {
		_ = f.commit()
	}
	if f.part != nil {
		f.part.unseen = false
	}
	f.end()
}
