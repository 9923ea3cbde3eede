package replica

import (
	"context"
	"fmt"
	"slices"
)

// Mover changes which replica of a shard writes, and which replicas it has. Every call can be repeated after any error, by any process: it
// goes on where the record says that the one before ended. Nothing of it waits long: a *WaitError says that it is too early.
type Mover struct {
	Shard    uint16
	Register Register
	Servers  []Server
	// Destroyed are replicas that an operator knows to be gone, so that Keeper is not asked for their sessions.
	Destroyed []string
}

// Move makes a replica the writer and returns the record. With a majority of the replicas away it does not, and the shard does not
// write: two halves that both go on would be two shards.
func (m *Mover) Move(ctx context.Context, to string) (Record, error) {
	r, err := m.begin(ctx, to)
	if err != nil || r.Ready {
		return r, err
	}
	// From here on no insert begins under the record. Those that began before end within their lease, or when they are ended.
	accepted, err := m.accept(ctx, r)
	if err != nil {
		return r, err
	}
	target, ok := accepted[to]
	if !ok || len(accepted) < r.Majority() {
		return r, &WaitError{m.Shard, fmt.Sprintf("replica %s and %d of %d replicas answer", to, r.Majority(), len(r.Replicas))}
	}
	if err := m.endPrevious(ctx, r, target, accepted); err != nil {
		return r, err
	}
	// Everything that inserts before have stored is in Keeper's log now, or never is.
	if err := target.Sync(ctx); err != nil {
		return r, fmt.Errorf("let replica %s fetch every part: %w", to, err)
	}
	// Whoever reads what was stored since a time would miss a row with an earlier one.
	now, stored, err := target.Clock(ctx)
	if err != nil {
		return r, fmt.Errorf("ask replica %s for its clock: %w", to, err)
	}
	if !now.After(stored) {
		return r, &WaitError{m.Shard, fmt.Sprintf("the clock of replica %s, which shows %s, has passed %s, when the last row was stored",
			to, now.UTC().Format(clockFormat), stored.UTC().Format(clockFormat))}
	}
	ready := r
	ready.Ready, ready.Previous = true, ""
	if err := m.Register.Swap(ctx, r, ready); err != nil {
		return r, fmt.Errorf("record that replica %s writes: %w", to, err)
	}
	return ready, nil
}

const clockFormat = "15:04:05.000"

// begin records that a replica takes over.
func (m *Mover) begin(ctx context.Context, to string) (Record, error) {
	r, err := m.Register.Read(ctx, m.Shard)
	if err != nil {
		return r, fmt.Errorf("read the writer of shard %d: %w", m.Shard, err)
	}
	if !slices.Contains(r.Replicas, to) {
		return r, fmt.Errorf("shard %d has the replicas %v, and not %s", m.Shard, r.Replicas, to)
	}
	if r.Writer == to {
		return r, nil // it does, or a move to it was interrupted
	}
	next := r
	next.Writer, next.Epoch, next.Ready, next.Age = to, r.Epoch+1, false, 0
	if r.Ready { // else the one before it is the last that wrote
		next.Previous = r.Writer
	}
	if err := m.Register.Swap(ctx, r, next); err != nil {
		return r, fmt.Errorf("record that replica %s takes over: %w", to, err)
	}
	return next, nil
}

// accept makes the replicas refuse earlier epochs, and returns those that do.
func (m *Mover) accept(ctx context.Context, r Record) (map[string]Server, error) {
	accepted := map[string]Server{}
	for _, s := range m.Servers {
		if !slices.Contains(r.Replicas, s.Name()) {
			continue
		}
		stored, err := s.Accept(ctx, r.Epoch)
		if err == nil && stored > r.Epoch {
			return nil, fmt.Errorf("replica %s has epoch %d, not %d: %w", s.Name(), stored, r.Epoch, ErrChanged)
		}
		if err == nil {
			accepted[s.Name()] = s
		}
	}
	return accepted, nil
}

// endPrevious returns once the writer before stores nothing more of its epoch.
func (m *Mover) endPrevious(ctx context.Context, r Record, target Server, accepted map[string]Server) error {
	if previous, reachable := accepted[r.Previous]; reachable {
		if err := previous.EndInserts(ctx); err != nil {
			return fmt.Errorf("end the inserts of replica %s: %w", r.Previous, err)
		}
		return nil
	}
	// It does not know of the new epoch, so its clock has to refuse what consumers send that do not either. Only then is it looked for in
	// Keeper: an insert commits in the session in which it began.
	if r.Age <= Lease {
		return &WaitError{m.Shard, fmt.Sprintf("replica %s answers, or %s have passed since it was to be replaced", r.Previous, Lease)}
	}
	if slices.Contains(m.Destroyed, r.Previous) {
		return nil
	}
	active, err := target.Active(ctx, r.Previous)
	if err != nil {
		return fmt.Errorf("ask Keeper for replica %s: %w", r.Previous, err)
	}
	if active {
		return &WaitError{m.Shard, "replica " + r.Previous + " answers, or its session in Keeper has ended"}
	}
	return nil
}

// Drop removes a replica that does not come back. What only this replica had is stored again, under new tokens. The writer gets another epoch
// with it: an insert under an old token, which is on its way, would store the same rows.
func (m *Mover) Drop(ctx context.Context, name string) (Record, error) {
	r, err := m.Register.Read(ctx, m.Shard)
	if err != nil {
		return r, fmt.Errorf("read the writer of shard %d: %w", m.Shard, err)
	}
	if !slices.Contains(r.Replicas, name) {
		return m.Move(ctx, r.Writer) // a call before did it, or began to
	}
	r, writer, err := current(ctx, m.Register, m.Shard, m.Servers)
	switch {
	case err != nil:
		return r, err
	case r.Writer == name:
		return r, fmt.Errorf("replica %s writes: let another one of shard %d take over first", name, m.Shard)
	case len(r.Replicas) == 1:
		return r, fmt.Errorf("replica %s is the only one of shard %d", name, m.Shard)
	}
	active, err := writer.Active(ctx, name)
	if err != nil {
		return r, fmt.Errorf("ask Keeper for replica %s: %w", name, err)
	}
	if active {
		return r, fmt.Errorf("replica %s has a session in Keeper: stop it first", name)
	}
	if err := writer.Forget(ctx, name); err != nil {
		return r, fmt.Errorf("remove replica %s from Keeper: %w", name, err)
	}
	next := r
	next.Replicas = slices.DeleteFunc(slices.Clone(r.Replicas), func(n string) bool { return n == name })
	next.Drops++
	next.Epoch, next.Ready, next.Previous, next.Age = r.Epoch+1, false, r.Writer, 0
	for _, left := range next.Replicas { // of what counts as stored, a majority of those that are left has to have it
		s, err := find(m.Servers, left)
		if err == nil {
			err = s.Sync(ctx)
		}
		if err != nil {
			return r, fmt.Errorf("let replica %s fetch every part: %w", left, err)
		}
	}
	if err := m.Register.Swap(ctx, r, next); err != nil {
		return r, fmt.Errorf("record that shard %d has no replica %s: %w", m.Shard, name, err)
	}
	return m.Move(ctx, next.Writer)
}

// Add counts another replica of a shard, which has its tables already and copies what is stored.
func (m *Mover) Add(ctx context.Context, name string) (Record, error) {
	r, _, err := current(ctx, m.Register, m.Shard, m.Servers)
	if err != nil || slices.Contains(r.Replicas, name) {
		return r, err
	}
	s, err := find(m.Servers, name)
	if err != nil {
		return r, err
	}
	if _, err := s.Accept(ctx, r.Epoch); err != nil {
		return r, fmt.Errorf("let replica %s store the epoch: %w", name, err)
	}
	if err := s.Sync(ctx); err != nil {
		return r, fmt.Errorf("let replica %s fetch every part: %w", name, err)
	}
	next := r
	next.Replicas = append(slices.Clone(r.Replicas), name)
	slices.Sort(next.Replicas)
	if err := m.Register.Swap(ctx, r, next); err != nil {
		return r, fmt.Errorf("record that shard %d has replica %s: %w", m.Shard, name, err)
	}
	return next, nil
}
