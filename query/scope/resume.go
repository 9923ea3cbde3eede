package scope

import (
	"context"
	"slices"
	"time"

	"lodestone/pkg/clickhouse"
)

// A place in what was stored is a time by the clock of the copy that stored it. Times are of whole
// milliseconds, and the microseconds tell the copy: none is the first one. Whoever goes on from a
// place in another copy goes back by the allowed lag, so that events repeat and none is missed.

// stamp returns a place in a copy.
func stamp(t time.Time, number int32) time.Time {
	return t.Truncate(time.Millisecond).Add(time.Duration(number-1) * time.Microsecond)
}

// stampOf returns the number of the copy of a place.
func stampOf(t time.Time) int32 {
	return int32(t.Sub(t.Truncate(time.Millisecond))/time.Microsecond) + 1
}

// Copy returns the number of the copy that the statements of a request read.
func (c *ClickHouse) Copy(ctx context.Context) int32 {
	return c.copies.configs[c.copies.index(ctx)].Number()
}

// At returns a time of the copy that the request reads as a place.
func (c *ClickHouse) At(ctx context.Context, t time.Time) time.Time { return stamp(t, c.Copy(ctx)) }

// Resume returns a place from which what was stored after a given one can be read, in its copy and
// in every other.
//
// An event that the copy did not have at the time of a place came after what the copy had then. So
// it was not stored anywhere else before what the copy had, and is found if that is at most the
// allowed lag before the place.
func (c *ClickHouse) Resume(place time.Time) time.Time {
	if !c.copies.several() {
		return place
	}
	number := stampOf(place)
	return stamp(c.copies.bound(number, place), number)
}

// bound returns the time, or less: at most by the allowed lag more than what the copy had then.
func (c *Copies) bound(number int32, until time.Time) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	if index := slices.IndexFunc(c.configs, func(c clickhouse.Config) bool { return c.Number() == number }); index >= 0 {
		for _, known := range slices.Backward(c.states[index].horizons) {
			if known.at.After(until.Add(-ClockSlack)) { // it is of another clock
				continue
			}
			if most := known.has.Add(c.maxLag); most.Before(until) {
				return most
			}
			return until
		}
	}
	return until.Add(-c.maxLag) // this process has not known the copy for so long
}

// From returns a place as one of the copy that the request reads.
func (c *ClickHouse) From(ctx context.Context, place time.Time) time.Time {
	if !c.copies.several() {
		return place
	}
	index, _ := c.copies.fix(ctx)
	return c.As(place, stamp(place, c.copies.configs[index].Number()))
}

// As returns a place as one of the copy that another one is of.
func (c *ClickHouse) As(place, other time.Time) time.Time {
	if stampOf(place) == stampOf(other) {
		return place
	}
	return stamp(place.Add(-c.copies.maxLag-ClockSlack), stampOf(other))
}

// Has returns until when the copy that the request reads has everything, if there are several and
// that is known. Of one copy, what is stored is everything.
func (c *ClickHouse) Has(ctx context.Context) (until time.Time, known bool) {
	if !c.copies.several() {
		return time.Time{}, false
	}
	index := c.copies.index(ctx)
	c.copies.mu.Lock()
	defer c.copies.mu.Unlock()
	until = c.copies.states[index].has()
	return until, !until.IsZero()
}
