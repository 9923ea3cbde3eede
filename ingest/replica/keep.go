package replica

import (
	"context"
	"fmt"
	"slices"
)

// Keep removes all replicas of a shard but one, which writes from then on, after a majority was lost. What only the others had is lost here: the
// consumers store it again from Kafka, as far as their committed offsets, or those to which they are set back, are before it. Replicas that answer, or have a
// session in Keeper, are not lost. Keeper is not asked for those of m.Destroyed, and Keep returns which of these it could not remove from Keeper.
func (m *Mover) Keep(ctx context.Context, name string) (r Record, inKeeper []string, err error) {
	r, err = m.Register.Read(ctx, m.Shard)
	if err != nil {
		return r, nil, fmt.Errorf("read the writer of shard %d: %w", m.Shard, err)
	}
	if !slices.Contains(r.Replicas, name) {
		return r, nil, fmt.Errorf("shard %d has the replicas %v, and not %s", m.Shard, r.Replicas, name)
	}
	left, err := find(m.Servers, name)
	if err != nil {
		return r, nil, err
	}
	lost := slices.DeleteFunc(slices.Clone(r.Replicas), func(n string) bool { return n == name })
	for _, other := range lost {
		if err := m.checkLost(ctx, left, other); err != nil {
			return r, nil, err
		}
	}
	// A part of which only these know the rows is waited for until Keeper lists them no more.
	for _, other := range lost {
		err := left.Forget(ctx, other)
		if err != nil && !slices.Contains(m.Destroyed, other) {
			return r, nil, fmt.Errorf("remove replica %s from Keeper: %w", other, err)
		}
		if err != nil {
			inKeeper = append(inKeeper, other)
		}
	}
	if len(lost) > 0 {
		next := r
		next.Replicas, next.Writer, next.Drops = []string{name}, name, r.Drops+len(lost)
		next.Epoch, next.Ready, next.Age = r.Epoch+1, false, 0
		if r.Ready { // else the one before it is the last that wrote
			next.Previous = r.Writer
		}
		if err := m.Register.Swap(ctx, r, next); err != nil {
			return r, inKeeper, fmt.Errorf("record that shard %d has replica %s alone: %w", m.Shard, name, err)
		}
	}
	r, err = m.Move(ctx, name) // which ends the epoch, and what a call before began
	return r, inKeeper, err
}

// checkLost returns an error if a replica may not be lost.
func (m *Mover) checkLost(ctx context.Context, left Server, name string) error {
	if slices.Contains(m.Destroyed, name) {
		return nil
	}
	if answers(ctx, m, name) {
		return fmt.Errorf("replica %s answers: stop it first, or drop it alone if a majority is left", name)
	}
	active, err := left.Active(ctx, name)
	if err != nil {
		return fmt.Errorf("ask Keeper for replica %s: %w", name, err)
	}
	if active {
		return fmt.Errorf("replica %s has a session in Keeper: stop it first", name)
	}
	return nil
}
