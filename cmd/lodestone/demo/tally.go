package demo

import "sync"

// tally counts the sent events, or the API's answers, in the same terms.
type tally struct {
	mu        sync.Mutex
	byType    map[string]int
	byPage    map[int]int // page_viewed of people
	bots      int         // events of bots
	views     int         // sessions of people with at least one page; one per access link here
	repeated  int         // events that were sent a second time
	requests  int
	durations map[int]int64  // milliseconds that people spent on a page
	looks     int            // views of the landing pages
	forms     int            // that were submitted
	bySource  map[string]int // forms by utm_source
	invited   int            // readers that got their link by the API, since their form was one too many
}

func newTally() *tally {
	return &tally{byType: map[string]int{}, byPage: map[int]int{}, durations: map[int]int64{}, bySource: map[string]int{}}
}

// add counts an event.
func (t *tally) add(kind string, page int, durationMS int64, bot bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.byType[kind]++
	switch {
	case bot:
		t.bots++
	case kind == pageViewed:
		t.byPage[page]++
		t.durations[page] += durationMS
	}
}

func (t *tally) total() int {
	n := 0
	for _, count := range t.byType {
		n += count
	}
	return n
}

// sent adds requests, and the events in them that had been sent before.
func (t *tally) sent(requests, repeated int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.requests += requests
	t.repeated += repeated
}

// looked counts a view of a landing page.
func (t *tally) looked() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.looks++
}

// submitted counts a form.
func (t *tally) submitted(source string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.forms++
	t.bySource[source]++
}

// invite counts a link that the API created in place of a form.
func (t *tally) invite() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.invited++
}
