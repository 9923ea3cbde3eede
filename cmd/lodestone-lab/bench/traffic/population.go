package traffic

import (
	"cmp"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/google/uuid"
)

const (
	eventsPerSession = 10 // on the average, as it comes out
	sessionsPerLink  = 2.1
	usualLargest     = 0.04 // share of the largest account
	hotLinks         = 3    // of an account, which many share
)

// world is who there is. What belongs to an account is worked out from its number and not stored.
type world struct {
	seed     uint64
	begin    int64 // Unix ms
	accounts []account
	weights  weights
}

type account struct {
	id      uuid.UUID
	seed    uint64
	magnets uint64
	older   int64   // access links from before the begin
	gap     float64 // ms between two new access links
}

func newWorld(c Config) *world {
	w := &world{seed: c.Seed, begin: c.Begin.UnixMilli()}
	n := int(min(max(c.Events/50_000, 200), 5_000))
	shares, sum := make([]float64, n), 0.0
	for i := 1; i < n; i++ {
		shares[i] = math.Pow(float64(i+8), -0.7)
		sum += shares[i]
	}
	largest := cmp.Or(c.Largest, usualLargest)
	shares[0] = largest * sum / (1 - largest)
	sum += shares[0]
	for i, share := range shares {
		w.weights.add(share)
		seed := mix(c.Seed, uint64(i)+1)
		events := share / sum * float64(c.Events)
		links := max(events/eventsPerSession/sessionsPerLink, 4)
		w.accounts = append(w.accounts, account{
			id:      version7(w.begin-int64(n-i)*hourMS, mix(seed, 1), mix(seed, 2)),
			seed:    seed,
			magnets: uint64(min(max(math.Sqrt(events)/25, 2), 100)),
			older:   max(int64(links/4), hotLinks+1),
			gap:     float64(c.Span.Milliseconds()) / links,
		})
	}
	w.accounts[0].magnets = cmp.Or(c.Magnets, w.accounts[0].magnets)
	return w
}

// pages of documents: the same mixture for every account, so that its share of the events is that
// of its visits.
var pages = [...]uint32{20, 9, 12, 24, 6, 16, 11, 30, 8, 4, 14, 48}

// link is one access link, with what every event has of it.
type link struct {
	account, magnet, generic, id uuid.UUID
	version                      uint32
	pages                        uint32 // of the document
	seed                         uint64
}

// choose returns the link that is opened at a time.
func (w *world) choose(at int64, r *rand.Rand) link {
	a := &w.accounts[w.weights.pick(r.Float64())]
	newest := a.older + int64(float64(at-w.begin)/a.gap)
	var number int64
	switch u := r.Float64(); {
	case u < 0.015: // shared by many, for ever
		number = r.Int64N(hotLinks)
	case u < 0.55: // just made
		number = newest - int64(r.ExpFloat64()*4)
	default: // opened again, less and less as it grows old
		number = newest - int64(8*(math.Pow(1-r.Float64(), -1.1)-1))
	}
	return w.link(a, min(max(number, 0), newest))
}

func (w *world) link(a *account, number int64) link {
	seed := mix(a.seed, uint64(number)<<8|3)
	x := fraction(mix(seed, 1))
	magnet := uint64(x * x * float64(a.magnets)) // the first ones are the popular ones
	m := mix(a.seed, magnet<<8|4)
	made := w.begin + int64((float64(number-a.older)+fraction(mix(seed, 2))-1)*a.gap)
	l := link{
		account: a.id,
		magnet:  version7(w.begin-int64(m%(400*24))*hourMS, mix(m, 1), mix(m, 2)),
		id:      version7(made, mix(seed, 3), mix(seed, 4)),
		version: uint32(1 + m>>40%3),
		pages:   pages[magnet%uint64(len(pages))],
		seed:    seed,
	}
	if seed%4 != 0 { // the others were made by the API
		l.generic = genericLink(w.begin, m, seed>>8)
	}
	return l
}

// genericLink returns one of the three of a magnet.
func genericLink(begin int64, magnet, pick uint64) uuid.UUID {
	g := mix(magnet, 5+pick%5/2)
	return version7(begin-int64(g%(300*24))*hourMS, mix(g, 1), mix(g, 2))
}

// weights are cumulative: each is the share of all up to it.
type weights []float64

// add appends a weight.
func (w *weights) add(weight float64) {
	if n := len(*w); n > 0 {
		weight += (*w)[n-1]
	}
	*w = append(*w, weight)
}

// pick returns the index that a number from 0 up to 1 stands for.
func (w *weights) pick(x float64) int {
	last := len(*w) - 1
	return min(sort.SearchFloat64s(*w, x*(*w)[last]), last)
}
