// Package reader answers who reads: the list of people, the story and the summary of one, and who
// reads now. What they did is ClickHouse's; their addresses, access links and submissions are
// Postgres's.
//
// A person is everyone behind one address of an account (person_id), with all access links of it.
// An access link that was deleted has no address any more, and stands for a person of its own.
package reader

import (
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/postgres"
	"lodestone/query/scope"
)

// Readers answers who reads. It is safe for concurrent use.
type Readers struct {
	postgres *postgres.Pool
	ch       *scope.ClickHouse
	settled  *scope.SettledClock
	maxLinks int
}

// New returns Readers.
func New(p *postgres.Pool, ch *scope.ClickHouse) *Readers {
	return &Readers{p, ch, scope.NewSettledClock(p, ch), maxLinks}
}

// Person is one person, and what they did in the events that are asked for.
type Person struct {
	ID          uuid.UUID
	Email       *string // as typed for the newest of the access links; nil: they are deleted
	Name        *string // nil: not known
	Status      *string // nil: the access links are deleted
	Closed      bool    // the status is one of the account's closed ones
	AccessLinks []uuid.UUID
	Source      Source
	Activity
}

// Activity is someone's activity, without bots.
type Activity struct {
	Magnets             []uuid.UUID
	Sessions            int64 // with a page view
	Pages               int64 // different pages viewed, of all versions of all lead magnets
	PageViews           int64
	ReadingMS           int64
	Finished            bool // viewed the last page of some version
	Downloads           int64
	FirstSeen, LastSeen time.Time
	Score               Score
}

// Source tells where someone came from; "" is none.
type Source struct {
	UTMSource, UTMMedium, UTMCampaign, UTMContent, UTMTerm, ReferrerHost string
}

// Score is how interested someone seems: the parts of a sum from 0 to 100, which score.sql defines.
type Score struct{ Finished, Attention, Returns, Downloads, Recency int64 }

// Sum returns the score.
func (s Score) Sum() int64 { return s.Finished + s.Attention + s.Returns + s.Downloads + s.Recency }
