package sizing

import (
	"container/heap"
	"math"
	"math/rand/v2"
	"slices"
)

// Result is what a simulation saw.
type Result struct {
	Inserts float64 // a second
	Rows    float64 // of an insert, on average
	Used    float64 // part of the cores of the busiest shard that inserts and merges took
	P50     float64 // seconds from an event's arrival until it is stored
	P99     float64
	Parts   int // most that a shard had to merge at once
	Behind  int // events that were not stored at the end
}

const (
	// links are those that readers use at one time, and skew how unequal they are: the n-th is used 1/n^skew as much as the first. All
	// events of a link reach one partition.
	links = 20_000
	skew  = 0.8

	fanIn = 8    // parts that a merge joins
	slice = 0.05 // seconds of processor time that a merge runs before others get the core
)

// Simulate runs the plan at its peak for a number of seconds: events arrive at random, by links of which some are used far more than others;
// consumers cut blocks by age and size, one insert at a time for each partition; a shard's cores take inserts first, then merges.
func Simulate(p Plan, seconds float64, seed uint64) Result {
	s := &simulation{plan: p, random: rand.New(rand.NewPCG(seed, 1)), end: seconds}
	s.age = blockAge(p.Partitions / p.Consumers)
	s.partitions = make([]partition, p.Partitions)
	s.shards = make([]shard, p.Shards)
	s.spread(p.PerDay / day * peak)
	for i := range s.partitions {
		s.partitions[i].from = 0
		s.next(0, i)
	}
	for s.events.Len() > 0 {
		e := heap.Pop(&s.events).(*moment)
		if e.at > seconds {
			break
		}
		e.do(e.at)
	}
	return s.result()
}

type simulation struct {
	plan       Plan
	random     *rand.Rand
	end, age   float64
	partitions []partition
	shards     []shard
	events     moments
	waits      []wait
	inserts    int
	rows       float64
}

// partition is the log of one, with the block that is being built.
type partition struct {
	rate float64
	from float64 // its events before this time are in blocks
}

// shard is the cores of one server, and what waits for them.
type shard struct {
	running int
	inserts []job
	merges  []job
	parts   [16]int // by how often they were merged
	most    int
	used    float64
}

// job is work for a core: an insert, or a slice of a merge.
type job struct {
	left float64 // seconds of processor time
	done func(at float64)
}

// wait is how long some events waited until they were stored.
type wait struct{ seconds, events float64 }

// spread gives each partition its share of the rate.
func (s *simulation) spread(rate float64) {
	var sum float64
	shares := make([]float64, len(s.partitions))
	for n := range links {
		share := math.Pow(float64(n+1), -skew)
		shares[s.random.IntN(len(shares))] += share
		sum += share
	}
	for i := range s.partitions {
		s.partitions[i].rate = rate * shares[i] / sum
	}
}

// next waits for the first event of the partition's next block, and then for the block's age.
func (s *simulation) next(now float64, i int) {
	p := &s.partitions[i]
	first := p.from + s.random.ExpFloat64()/p.rate
	full := p.from + float64(blocks.BlockRows)/p.rate
	s.at(max(now, min(first+s.age, full)), func(at float64) { s.insert(at, i) })
}

// insert stores what came for the partition.
func (s *simulation) insert(now float64, i int) {
	p := &s.partitions[i]
	from := p.from
	to := min(now, from+float64(blocks.BlockRows)/p.rate)
	rows := max(1, s.poisson((to-from)*p.rate))
	p.from = to
	cost := insertCost(rows)
	on := &s.shards[i%len(s.shards)] // a partition lives on one
	on.inserts = append(on.inserts, job{left: cost * (1 - mergeShare), done: func(at float64) {
		if at <= s.end {
			s.inserts++
			s.rows += rows
			// The first of the block has waited longest; ten groups are near enough.
			for g := range 10 {
				s.waits = append(s.waits, wait{at - (from + (to-from)*(float64(g)+0.5)/10), rows / 10})
			}
		}
		s.addPart(on, 0, cost*mergeShare)
		s.next(at, i)
	}})
	s.run(now, on)
}

// addPart adds a part, and begins a merge when there are enough of its level. What merging costs was put on the inserts: half of it is
// spent when parts are merged first, half of the rest the next time, and so on.
func (s *simulation) addPart(on *shard, level int, cost float64) {
	on.parts[level]++
	total := 0
	for _, n := range on.parts {
		total += n
	}
	on.most = max(on.most, total)
	if on.parts[level]%fanIn != 0 || level == len(on.parts)-1 {
		return
	}
	on.merges = append(on.merges, job{left: cost * fanIn / 2, done: func(float64) {
		on.parts[level] -= fanIn
		s.addPart(on, level+1, cost*fanIn/2)
	}})
}

// run gives free cores to inserts, and what is left to merges.
func (s *simulation) run(now float64, on *shard) {
	for on.running < s.plan.Cores {
		var j job
		merge := false
		switch {
		case len(on.inserts) > 0:
			j, on.inserts = on.inserts[0], on.inserts[1:]
		case len(on.merges) > 0:
			j, on.merges = on.merges[0], on.merges[1:]
			merge = true
		default:
			return
		}
		took := j.left
		if merge {
			took = min(took, slice)
		}
		on.running++
		s.at(now+took, func(at float64) {
			on.running--
			on.used += took
			if j.left -= took; j.left > 0 {
				on.merges = append(on.merges, j)
			} else {
				j.done(at)
			}
			s.run(at, on)
		})
	}
}

// poisson draws how many events came where so many are expected.
func (s *simulation) poisson(expected float64) float64 {
	if expected > 50 {
		return math.Round(expected + s.random.NormFloat64()*math.Sqrt(expected))
	}
	n, product := 0.0, s.random.Float64()
	for limit := math.Exp(-expected); product > limit; n++ {
		product *= s.random.Float64()
	}
	return n
}

func (s *simulation) result() Result {
	r := Result{Inserts: float64(s.inserts) / s.end, Rows: s.rows / max(1, float64(s.inserts))}
	for i := range s.shards {
		r.Used = max(r.Used, s.shards[i].used/s.end/float64(s.plan.Cores))
		r.Parts = max(r.Parts, s.shards[i].most)
	}
	var came float64
	for _, p := range s.partitions {
		came += p.rate * s.end
	}
	r.Behind = int(max(0, came-s.rows))
	slices.SortFunc(s.waits, func(a, b wait) int {
		if a.seconds < b.seconds {
			return -1
		}
		return 1
	})
	var seen float64
	for _, w := range s.waits {
		seen += w.events
		if r.P50 == 0 && seen >= s.rows*0.5 {
			r.P50 = w.seconds
		}
		if r.P99 == 0 && seen >= s.rows*0.99 {
			r.P99 = w.seconds
		}
	}
	return r
}

// moment is something that happens at a time.
type moment struct {
	at float64
	do func(at float64)
}

type moments []*moment

func (m *moments) Len() int           { return len(*m) }
func (m *moments) Less(i, j int) bool { return (*m)[i].at < (*m)[j].at }
func (m *moments) Swap(i, j int)      { (*m)[i], (*m)[j] = (*m)[j], (*m)[i] }
func (m *moments) Push(x any)         { *m = append(*m, x.(*moment)) }
func (m *moments) Pop() any {
	old := *m
	last := old[len(old)-1]
	*m = old[:len(old)-1]
	return last
}

func (s *simulation) at(at float64, do func(at float64)) { heap.Push(&s.events, &moment{at, do}) }
