package demo

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// event is what the plan sends, in the collector's form.
type event struct {
	Token     string         `json:"token"`
	Type      string         `json:"event_type"`
	Data      map[string]any `json:"event_data,omitempty"`
	EventID   string         `json:"event_id"`
	SessionID string         `json:"session_id"`
	CreatedAt time.Time      `json:"created_at"`
	SentAt    time.Time      `json:"sent_at"`
}

// visit is one reader's way through the document.
type visit struct {
	email     string
	userAgent string
	bot       bool
	repeats   bool // sends one of its batches twice, as a browser does that got no answer
	events    []event
}

// Kinds of events.
const (
	pageViewed        = "page_viewed"
	downloadStarted   = "download_started"
	downloadCompleted = "download_completed"
)

var people = []string{
	"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
	"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15",
	"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1",
	"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36",
	"Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0",
}

var crawlers = []string{
	"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
	"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
	"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
}

var firstNames = []string{"ada", "ben", "chloe", "david", "elena", "finn", "grace", "hugo", "ines", "jonas", "kira", "liam", "mia", "noah", "olga", "paul", "quinn", "rosa", "sam", "tara"}

// plan draws the visits. Only the ids differ from run to run of one seed: events of two runs must
// not be taken for repeats of each other.
func plan(seed uint64, visitors, pages int, now time.Time) []visit {
	random := rand.New(rand.NewPCG(seed, 0))
	visits := make([]visit, visitors)
	for i := range visits {
		v := &visits[i]
		// Every tenth reader is one who came before, on a link of their own each time.
		reader := i
		if i%10 == 9 {
			reader = i - 4
		}
		v.email = fmt.Sprintf("%s.%03d@example.com", firstNames[reader%len(firstNames)], reader)
		v.bot = random.Float64() < 0.08
		v.repeats = random.Float64() < 0.1
		v.userAgent = people[random.IntN(len(people))]
		if v.bot {
			v.userAgent = crawlers[random.IntN(len(crawlers))]
		}
		v.events = read(random, v.bot, pages, now)
	}
	return visits
}

// read returns the events of one session.
func read(random *rand.Rand, bot bool, pages int, now time.Time) []event {
	session := uuid.NewString()
	// Some time in the last day, and over by now.
	at := now.Add(-time.Duration(30+random.IntN(23*60)) * time.Minute)
	add := func(events []event, kind string, data map[string]any) []event {
		return append(events, event{
			Type: kind, Data: data, EventID: uuid.NewString(), SessionID: session, CreatedAt: at.UTC(),
		})
	}
	if bot {
		return add(nil, pageViewed, map[string]any{"page": 1, "duration_ms": 0})
	}
	var events []event
	last := pages
	if random.Float64() < 0.45 { // leaves early
		last = 1 + random.IntN(pages-1)
	}
	for page := 1; page <= last; page++ {
		duration := time.Duration(1500+random.ExpFloat64()*9000) * time.Millisecond
		duration = min(duration, 90*time.Second)
		at = at.Add(duration)
		events = add(events, pageViewed, map[string]any{"page": page, "duration_ms": duration.Milliseconds()})
		if page > 1 && random.Float64() < 0.06 { // turns back
			at = at.Add(2 * time.Second)
			events = add(events, pageViewed, map[string]any{"page": page - 1, "duration_ms": 2000})
		}
	}
	if random.Float64() < 0.3 {
		at = at.Add(time.Second)
		events = add(events, downloadStarted, nil)
		if random.Float64() < 0.9 {
			at = at.Add(2 * time.Second)
			events = add(events, downloadCompleted, nil)
		}
	}
	return events
}
