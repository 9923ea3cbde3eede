package summary

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/query/scope"
)

// What was viewed in months that are over hardly changes, but it is most of what a summary counts, and each part of each month
// costs a statement half a millisecond. So the views of these months are remembered for a whole account, with the parts that they
// were read from. Parts never change, so as long as these months consist of the same ones, they are exact; an event that comes
// late, a month that leaves, or anything else that changes events makes other parts, and what is remembered is not used any more.
// Sessions are remembered by their ids, since one can go on in the next month: what is known and what is read are united, not added.

const (
	// quiet is how long the parts of these months must have stood: while late events come, reading them anew for each
	// would cost more than it saves.
	quiet = 15 * time.Second
	// mostSessions is how many sessions of an account are remembered at the most.
	mostSessions = 500_000
	// mostBytes is how much is remembered of all accounts.
	mostBytes = 16 << 20
)

// past is what was viewed of an account in months that are over. It does not change once it is made.
type past struct {
	open     time.Time   // where the months begin that are not over
	parts    string      // that the months before consist of
	links    []viewed    // in the order of ids and lead magnets
	magnets  []uuid.UUID // that links are of
	sessions []uuid.UUID // those of a link side by side and in order
	unfit    bool        // nothing could be remembered: the rest is empty
}

// viewed is what is known of an access link that was viewed.
type viewed struct {
	id          uuid.UUID
	first, last int64  // page, Unix ms
	magnet      uint32 // its place
	begin, end  uint32 // of its sessions
}

// partsBefore returns what the months before one consist of, and for how long. It is "" where parts do not tell, or
// there are none.
func partsBefore(open time.Time, parts []scope.Part) (names string, age time.Duration) {
	var list []string
	for _, p := range parts {
		switch {
		case p.Month == 0:
			return "", 0
		case p.Month < scope.MonthOf(open):
			list = append(list, p.Identity())
			if len(list) == 1 || p.Age < age {
				age = p.Age
			}
		}
	}
	slices.Sort(list)
	return strings.Join(list, "\n"), age
}

// readPast reads what was viewed of an account in months that are over. It returns nil if these change.
func readPast(ctx context.Context, door *scope.ClickHouse, account uuid.UUID, open time.Time, quiet time.Duration) (*past, error) {
	before, err := door.Parts(ctx)
	if err != nil {
		return nil, err
	}
	names, age := partsBefore(open, before)
	if names == "" {
		return &past{open: open, unfit: true}, nil
	}
	if age < quiet {
		return nil, nil
	}
	p := &past{open: open, parts: names}
	if err := p.read(ctx, door, account, mostSessions); err != nil {
		return nil, err
	}
	after, err := door.Parts(ctx)
	if err != nil {
		return nil, err
	}
	if now, _ := partsBefore(open, after); now != names {
		return nil, nil
	}
	return p, nil
}

// read reads the sessions of an account, unless they are more than most.
func (p *past) read(ctx context.Context, door *scope.ClickHouse, account uuid.UUID, most int) error {
	places := map[uuid.UUID]uint32{}
	err := door.Query(ctx, account, viewsBefore(p.open, most+1), func(row scope.Row) error {
		var v viewed
		var magnet uuid.UUID
		var first, last time.Time
		var sessions []uuid.UUID
		if err := row.Scan(&v.id, &magnet, &first, &last, &sessions); err != nil {
			return fmt.Errorf("read views of months that are over: %w", err)
		}
		place, known := places[magnet]
		if !known {
			place = uint32(len(p.magnets))
			places[magnet], p.magnets = place, append(p.magnets, magnet)
		}
		v.first, v.last, v.magnet, v.begin = first.UnixMilli(), last.UnixMilli(), place, uint32(len(p.sessions))
		slices.SortFunc(sessions, compare)
		p.sessions = append(p.sessions, sessions...)
		v.end = uint32(len(p.sessions))
		p.links = append(p.links, v)
		return nil
	})
	if err != nil {
		return err
	}
	if len(p.sessions) > most {
		*p = past{open: p.open, unfit: true}
		return nil
	}
	slices.SortFunc(p.links, func(a, b viewed) int { return cmp.Or(compare(a.id, b.id), cmp.Compare(a.magnet, b.magnet)) })
	return nil
}

func compare(a, b uuid.UUID) int { return bytes.Compare(a[:], b[:]) }

// Open and Unfit are what the memory of all accounts asks for.
func (p *past) Open() time.Time { return p.open }
func (p *past) Unfit() bool     { return p.unfit }

// Size returns about how many bytes are remembered.
func (p *past) Size() int {
	return 200 + len(p.parts) + 48*cap(p.links) + 16*(cap(p.magnets)+cap(p.sessions))
}

// bounded returns what is known, or that it is more than is remembered of all accounts.
func (p *past) bounded() *past {
	if p.Size() > mostBytes {
		return &past{open: p.open, unfit: true}
	}
	return p
}

// of returns where what is known of an access link begins and ends: at most one, unless its events were of several lead magnets.
func (p *past) of(link uuid.UUID) (first, end int) {
	first, _ = slices.BinarySearchFunc(p.links, link, func(v viewed, id uuid.UUID) int { return compare(v.id, id) })
	end = first
	for end < len(p.links) && p.links[end].id == link {
		end++
	}
	return first, end
}

// has reports whether a session is known.
func (p *past) has(link, magnet, session uuid.UUID) bool {
	first, end := p.of(link)
	for _, v := range p.links[first:end] {
		if p.magnets[v.magnet] == magnet {
			_, found := slices.BinarySearchFunc(p.sessions[v.begin:v.end], session, compare)
			return found
		}
	}
	return false
}

// tally is what was viewed of some access links: what is known, and what is read beside it.
type tally struct {
	past        *past
	views       int64
	magnets     map[uuid.UUID]struct{}
	first, last int64 // page, Unix ms
}

// tally counts what is known of access links.
func (p *past) tally(links []uuid.UUID) *tally {
	t := &tally{past: p, magnets: map[uuid.UUID]struct{}{}, first: math.MaxInt64, last: math.MinInt64}
	for _, id := range links {
		first, end := p.of(id)
		for _, v := range p.links[first:end] {
			t.include(int64(v.end-v.begin), p.magnets[v.magnet], v.first, v.last)
		}
	}
	return t
}

func (t *tally) include(views int64, magnet uuid.UUID, first, last int64) {
	t.views += views
	t.magnets[magnet] = struct{}{}
	t.first, t.last = min(t.first, first), max(t.last, last)
}

// add counts a session that was read.
func (t *tally) add(row scope.Row) error {
	var link, magnet, session uuid.UUID
	var first, last time.Time
	if err := row.Scan(&link, &magnet, &session, &first, &last); err != nil {
		return fmt.Errorf("read views of months that are not over: %w", err)
	}
	views := int64(1)
	if t.past.has(link, magnet, session) {
		views = 0
	}
	t.include(views, magnet, first.UnixMilli(), last.UnixMilli())
	return nil
}

// into writes down what was counted.
func (t *tally) into(s *Summary) {
	s.views(t.views, int64(len(t.magnets)), time.UnixMilli(t.first), time.UnixMilli(t.last))
}
