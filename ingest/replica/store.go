package replica

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lodestone/ingest/stream"
)

// Store stores the rows of one partition on a shard. It has the methods of a stream.Store, so a block is stored by the same rule on one
// server and on a shard of replicas. It is used by one goroutine.
type Store struct {
	Shard    uint16
	Register Register
	Replicas []Rows
	Open     func(name string) Rows // of a replica that is not among these; nil: there are no others
	Tables   *stream.Tables

	silent map[string]bool // replicas that did not answer the last time they were asked
	found  bool            // the replicas of the record are known
}

// find adds the replicas of the record that are not known yet.
func (s *Store) find(ctx context.Context) error {
	if s.Open == nil || s.found {
		return nil
	}
	r, err := s.Register.Read(ctx, s.Shard)
	if err != nil {
		return fmt.Errorf("read the writer of shard %d: %w", s.Shard, err)
	}
	for _, name := range r.Replicas {
		if !slices.ContainsFunc(s.Replicas, func(known Rows) bool { return known.Name() == name }) {
			s.Replicas = append(s.Replicas, s.Open(name))
		}
	}
	s.found = true
	return nil
}

// atWriter is AtWriter for the rows of the partition.
func (s *Store) atWriter(ctx context.Context, fn func(Record, Rows) error) error {
	if err := s.find(ctx); err != nil {
		return err
	}
	err := AtWriter(ctx, s.Register, s.Shard, s.Replicas, fn)
	s.note(err)
	return err
}

// note looks for replicas of the record again if one was not known.
func (s *Store) note(err error) {
	if errors.Is(err, errUnknown) {
		s.found = false
	}
}

// otherTimeout bounds a statement to a replica that does not write: one that hangs holds up no one while a majority answers.
const otherTimeout = 5 * time.Second

// EndInserts ends the inserts of the partition on every replica. The writer has to answer.
func (s *Store) EndInserts(ctx context.Context) error {
	return s.atWriter(ctx, func(r Record, _ Rows) error {
		for _, replica := range s.Replicas {
			if replica.Name() == r.Writer {
				if err := replica.EndInserts(ctx); err != nil {
					return err
				}
				continue
			}
			limited, cancel := context.WithTimeout(ctx, otherTimeout)
			_ = replica.EndInserts(limited) // its inserts are of an epoch that is over
			cancel()
		}
		return nil
	})
}

// Stored returns which offsets from first to last are stored. It returns a *WaitError while fewer replicas than a majority have one of
// them: it may still be dropped, or come to a majority.
func (s *Store) Stored(ctx context.Context, first, last int64) (*stream.Offsets, error) {
	found := stream.NewOffsets(first, last)
	err := s.atWriter(ctx, func(r Record, writer Rows) error {
		// Rows that count as stored may have come from an earlier writer. Parts that are in Keeper's log only may come later.
		if err := writer.Sync(ctx); err != nil {
			return err
		}
		seen, err := s.count(ctx, r, first, last, nil)
		if err != nil {
			return err
		}
		for offset := first; offset <= last; offset++ {
			switch has := seen.count(offset); {
			case seen.stored(offset):
				found.Add(offset)
			case has > 0:
				return s.minority(r, offset, has)
			}
		}
		return nil
	})
	return found, err
}

// Insert stores the rows, each month under a token of its own. A nil error means that a majority has all of them.
func (s *Store) Insert(ctx context.Context, _ *stream.Connection, rows stream.Table, token string) error {
	limited, cancel := context.WithTimeout(ctx, Lease) // from before the record is read
	defer cancel()
	if err := s.find(limited); err != nil {
		return err
	}
	r, writer, err := current(limited, s.Register, s.Shard, s.Replicas)
	if err != nil {
		s.note(err)
		return err
	}
	// Rows of a month are stored together or not at all, so a block has no second round that a token would have to tell apart.
	token, _, _ = strings.Cut(token, "#")
	for _, month := range months(rows) {
		if err := s.insertMonth(limited, r, writer, rows, month, token); err != nil {
			return err
		}
	}
	// ClickHouse also acknowledges what it takes for a repeat, whose rows may be elsewhere or nowhere.
	offsets := rows.Offsets()
	seen, err := s.count(ctx, r, offsets[0], offsets[len(offsets)-1], offsets)
	if err != nil {
		return err
	}
	for _, offset := range offsets {
		if !seen.stored(offset) {
			return s.minority(r, offset, seen.count(offset))
		}
	}
	return unchanged(ctx, s.Register, r) // a majority of the replicas of now
}

func (s *Store) insertMonth(ctx context.Context, r Record, writer Rows, rows stream.Table, month int, token string) error {
	part := s.Tables.CopyRows(rows, func(row int) bool { return monthOf(rows, row) == month })
	defer s.Tables.Give(part)
	how := Insert{Token: token + ":" + strconv.Itoa(month), Epoch: r.Epoch, Quorum: r.Majority()}
	if r.Drops > 0 {
		how.Token += "#r" + strconv.Itoa(r.Drops)
	}
	return writer.Insert(ctx, part, how)
}

// months returns the months of the rows, which are partitions of the table.
func months(rows stream.Table) (all []int) {
	for row := range rows.Offsets() {
		if month := monthOf(rows, row); !slices.Contains(all, month) {
			all = append(all, month)
		}
	}
	slices.Sort(all)
	return all
}

func monthOf(rows stream.Table, row int) int {
	year, month, _ := time.UnixMilli(rows.Record(row).CreatedAt).UTC().Date()
	return year*100 + int(month)
}

// seen is what the replicas have, each asked directly.
type seen struct {
	majority int
	writer   *stream.Offsets
	all      []*stream.Offsets // of those that answered
}

func (s *seen) count(offset int64) (n int) {
	for _, offsets := range s.all {
		if offsets.Has(offset) {
			n++
		}
	}
	return n
}

func (s *seen) stored(offset int64) bool {
	return s.writer.Has(offset) && s.count(offset) >= s.majority
}

// count asks each replica for its rows. The writer and a majority have to answer, under the epoch of the record. Once the replicas that were
// asked show that all of the wanted offsets are stored, the others are not asked.
func (s *Store) count(ctx context.Context, r Record, first, last int64, wanted []int64) (*seen, error) {
	found := &seen{majority: r.Majority()}
	var errs []error
	for _, name := range s.order(r) {
		if len(wanted) > 0 && found.writer != nil && !slices.ContainsFunc(wanted, func(offset int64) bool { return !found.stored(offset) }) {
			break
		}
		offsets, err := s.askWithin(ctx, r, name, first, last)
		switch {
		case errors.Is(err, ErrChanged), err != nil && name == r.Writer:
			return nil, err
		case err != nil:
			errs = append(errs, fmt.Errorf("replica %s: %w", name, err))
			continue
		case name == r.Writer:
			found.writer = offsets
		}
		found.all = append(found.all, offsets)
	}
	if len(found.all) < found.majority {
		return nil, fmt.Errorf("%w: %w", &WaitError{s.Shard, "a majority of its replicas answers"}, errors.Join(errs...))
	}
	return found, nil
}

// order returns the replicas in the order in which they are asked: the writer, then those that answered before.
func (s *Store) order(r Record) []string {
	names := slices.Clone(r.Replicas)
	rank := func(name string) int {
		switch {
		case name == r.Writer:
			return 0
		case s.silent[name]:
			return 2
		}
		return 1
	}
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

// askWithin is ask, which waits less for replicas that do not write.
func (s *Store) askWithin(ctx context.Context, r Record, name string, first, last int64) (*stream.Offsets, error) {
	if name == r.Writer {
		return s.ask(ctx, r, name, first, last)
	}
	limited, cancel := context.WithTimeout(ctx, otherTimeout)
	defer cancel()
	offsets, err := s.ask(limited, r, name, first, last)
	if s.silent == nil {
		s.silent = map[string]bool{}
	}
	s.silent[name] = err != nil
	return offsets, err
}

// ask returns which rows a replica has, if its epoch is that of the record.
func (s *Store) ask(ctx context.Context, r Record, name string, first, last int64) (*stream.Offsets, error) {
	replica, err := find(s.Replicas, name)
	if err != nil {
		s.note(err)
		return nil, err
	}
	offsets, err := replica.Stored(ctx, first, last)
	if err != nil {
		return nil, err
	}
	epoch, err := replica.Epoch(ctx) // afterwards: it held when the rows were read
	if err != nil {
		return nil, err
	}
	if epoch > r.Epoch {
		return nil, fmt.Errorf("replica %s has epoch %d, not %d: %w", name, epoch, r.Epoch, ErrChanged)
	}
	return offsets, nil
}

func (s *Store) minority(r Record, offset int64, has int) error {
	return &WaitError{s.Shard, fmt.Sprintf("%d of %d replicas, with the writer %s, have offset %d: %d have it", r.Majority(), len(r.Replicas), r.Writer, offset, has)}
}

// Last returns the highest offset at or after from that may be stored, or from-1 if there is none.
func (s *Store) Last(ctx context.Context, from int64) (last int64, err error) {
	err = s.atWriter(ctx, func(_ Record, writer Rows) (err error) {
		if err := writer.Sync(ctx); err != nil {
			return err
		}
		last, err = writer.Last(ctx, from)
		return err
	})
	return last, err
}

// Newest returns the identities of the last rows between the offsets.
func (s *Store) Newest(ctx context.Context, first, last int64) (found map[int64]stream.Identity, err error) {
	err = s.atWriter(ctx, func(_ Record, writer Rows) (err error) {
		found, err = writer.Newest(ctx, first, last)
		return err
	})
	return found, err
}

// Same returns at which offsets a row of the same event is stored as in the table, from one of its rows on.
func (s *Store) Same(ctx context.Context, rows stream.Table, from int) (same *stream.Offsets, err error) {
	err = s.atWriter(ctx, func(_ Record, writer Rows) (err error) {
		same, err = writer.Same(ctx, rows, from)
		return err
	})
	return same, err
}

// StoredBefore returns which of the events are stored already. The writer has every row that ever counted as stored.
func (s *Store) StoredBefore(ctx context.Context, events []stream.Record, offset int64, within time.Duration) (found map[stream.Identity]struct{}, err error) {
	err = s.atWriter(ctx, func(_ Record, writer Rows) (err error) {
		found, err = writer.StoredBefore(ctx, events, offset, within)
		return err
	})
	return found, err
}

// Close closes the connections. They may be used again.
func (s *Store) Close() {
	for _, replica := range s.Replicas {
		replica.Close()
	}
}
