//go:build long

package consumer

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"lodestone/ingest/replica"
	"lodestone/ingest/stream"
)

// What package replica sees of the model.

// errBlind says that a server knows nothing of others.
var errBlind = errors.New("no session in Keeper")

// Read implements replica.Register.
func (s *shard) Read(ctx context.Context, _ uint16) (replica.Record, error) {
	w := s.servers[0].w
	began := w.now
	defer func() {
		if w.reads != nil {
			w.reads[ctx] = began
		}
	}()
	w.drift()
	if w.oneIn(w.lossy, "Postgres is away") {
		return replica.Record{}, errAway
	}
	r := s.record
	r.Replicas = slices.Clone(r.Replicas)
	r.Age = time.Duration(w.now-s.changed) * time.Millisecond
	return r, w.answer()
}

// Swap implements replica.Register.
func (s *shard) Swap(_ context.Context, from, to replica.Record) error {
	w := s.servers[0].w
	w.drift()
	if from.Epoch != s.record.Epoch || from.Ready != s.record.Ready || from.Drops != s.record.Drops || len(from.Replicas) != len(s.record.Replicas) {
		return replica.ErrChanged
	}
	s.record, s.changed = to, w.now
	return w.answer()
}

// Name implements replica.Server.
func (s *server) Name() string { return s.name }

// Accept implements replica.Server.
func (s *server) Accept(_ context.Context, epoch int64) (int64, error) {
	if err := s.w.reach(s); err != nil {
		return 0, err
	}
	s.epoch = max(s.epoch, epoch)
	return s.epoch, s.w.answer()
}

// EndInserts implements replica.Server.
func (s *server) EndInserts(context.Context) error {
	return s.endInserts(func(*flight) bool { return true })
}

func (s *server) endInserts(which func(*flight) bool) error {
	if err := s.w.reach(s); err != nil {
		return err
	}
	for _, f := range slices.Clone(s.shard.flights) {
		if f.at != s || !f.begun || !which(f) {
			continue
		}
		if f.part != nil && s.w.oneIn(4, "checked later") {
			f.part.late = true
		} else if f.part != nil {
			f.part.unseen = false
		}
		f.end()
	}
	return s.w.answer()
}

// Sync implements replica.Server.
func (s *server) Sync(context.Context) error {
	if err := s.w.reach(s); err != nil {
		return err
	}
	if !s.active {
		return errors.New("no session in Keeper")
	}
	for _, p := range s.shard.parts {
		if !p.copyTo(s) {
			return errors.New("a part is with servers that are away")
		}
	}
	return s.w.answer()
}

// Epoch implements replica.Server and replica.Rows.
func (s *server) Epoch(context.Context) (int64, error) {
	if err := s.w.reach(s); err != nil {
		return 0, err
	}
	return s.epoch, s.w.answer()
}

// Clock implements replica.Server.
func (s *server) Clock(context.Context) (now, stored time.Time, err error) {
	if err := s.w.reach(s); err != nil {
		return now, stored, err
	}
	newest := int64(0)
	for _, p := range s.shard.parts {
		if p.seenOn(s) {
			newest = max(newest, p.storedAt)
		}
	}
	return time.UnixMilli(s.now()), time.UnixMilli(newest), s.w.answer()
}

// Active implements replica.Server.
func (s *server) Active(_ context.Context, name string) (bool, error) {
	if err := s.w.reach(s); err != nil {
		return false, err
	}
	if !s.active {
		if s.w.oneIn(2, "it gets a session") {
			s.w.recover(s)
		}
		return false, errBlind
	}
	i := slices.IndexFunc(s.shard.servers, func(other *server) bool { return other.name == name })
	return s.shard.servers[i].active, s.w.answer()
}

// Forget implements replica.Server.
func (s *server) Forget(_ context.Context, name string) error {
	if err := s.w.reach(s); err != nil {
		return err
	}
	if !s.active {
		return errors.New("no session in Keeper")
	}
	i := slices.IndexFunc(s.shard.servers, func(other *server) bool { return other.name == name })
	if forgotten := s.shard.servers[i]; !forgotten.active {
		s.shard.parts = slices.DeleteFunc(s.shard.parts, func(p *part) bool {
			delete(p.on, forgotten)
			return len(p.on) == 0
		})
	}
	return s.w.answer()
}

// rows are those of a partition on a server.
type rows struct {
	*server
	partition int32
	extra     func(month []rowID) []rowID // of the mutant whose partitions share an insert
}

// EndInserts implements replica.Rows.
func (r *rows) EndInserts(context.Context) error {
	return r.endInserts(func(f *flight) bool { return f.partition == r.partition })
}

type deadlineKey struct{}

// Insert implements replica.Rows.
func (r *rows) Insert(ctx context.Context, table stream.Table, how replica.Insert) error {
	w := r.w
	leased := w.reads[ctx] + leaseTime
	if err := w.reach(r.server); err != nil {
		return err
	}
	before := ctx.Value(deadlineKey{}).(int64) //nolint:forcetypeassert // attempt's
	if _, limited := ctx.Deadline(); limited { // by the lease, which begins before the record is read
		before = min(before, leased)
	}
	f := &flight{at: r.server, partition: r.partition, how: how, before: before}
	for _, offset := range table.Offsets() {
		f.rows = append(f.rows, rowID{r.partition, offset})
	}
	if r.extra != nil {
		f.rows = append(f.rows, r.extra(f.rows)...)
	}
	if w.mutant == makesParts && len(f.rows) > 1 { // the first row is another part
		rest := *f
		rest.how.Token += ":rest"
		f.rows, rest.rows = f.rows[:1], f.rows[1:]
		r.shard.flights = append(r.shard.flights, &rest)
	}
	r.shard.flights = append(r.shard.flights, f)
	if w.oneIn(16, "arrives later") {
		return errLost
	}
	if err := f.begin(); err != nil {
		f.end()
		return err
	}
	w.drift()
	for w.oneIn(16, "a replica is added") {
		w.add(r.shard)
	}
	if w.oneIn(8, "no answer before the commit") {
		return errLost
	}
	if f.ended {
		return errLost
	}
	if f.part == nil {
		if err := f.commit(); err != nil {
			f.end()
			return err
		}
	}
	if f.ended { // a token that was known
		return w.answer()
	}
	w.drift()
	if w.oneIn(8, "no answer after the commit") {
		return errLost
	}
	if f.ended {
		return errLost
	}
	f.part.unseen = false
	f.end()
	for _, other := range r.shard.servers {
		if !w.oneIn(4, "quorum waits for another") {
			f.part.copyTo(other)
		}
	}
	if !f.part.reached {
		return errors.New("the quorum was not reached in time")
	}
	return w.answer()
}

// has returns the offsets of the partition that the server shows.
func (r *rows) has() map[int64]bool {
	found := map[int64]bool{}
	for _, p := range r.shard.parts {
		for _, row := range p.rows {
			if row.partition == r.partition && p.seenOn(r.server) {
				found[row.offset] = true
			}
		}
	}
	return found
}

// Stored implements replica.Reader.
func (r *rows) Stored(_ context.Context, first, last int64) (*stream.Offsets, error) {
	if err := r.w.reach(r.server); err != nil {
		return nil, err
	}
	found := stream.NewOffsets(first, last)
	for offset := range r.has() {
		if offset >= first && offset <= last {
			found.Add(offset)
		}
	}
	return found, r.w.answer()
}

// Last implements replica.Reader.
func (r *rows) Last(_ context.Context, from int64) (int64, error) {
	if err := r.w.reach(r.server); err != nil {
		return 0, err
	}
	last := slices.Max(append(slices.Collect(maps.Keys(r.has())), from-1))
	return last, r.w.answer()
}

// Newest implements replica.Reader.
func (*rows) Newest(context.Context, int64, int64) (map[int64]stream.Identity, error) {
	return nil, nil
}

// Same implements replica.Reader.
func (r *rows) Same(_ context.Context, table stream.Table, from int) (*stream.Offsets, error) {
	offsets := table.Offsets()[from:]
	same := stream.NewOffsets(offsets[0], offsets[len(offsets)-1])
	for _, offset := range offsets {
		same.Add(offset)
	}
	return same, nil
}

// StoredBefore implements replica.Reader.
func (*rows) StoredBefore(context.Context, []stream.Record, int64, time.Duration) (map[stream.Identity]struct{}, error) {
	return nil, nil
}

// Close implements replica.Rows.
func (*rows) Close() {}
