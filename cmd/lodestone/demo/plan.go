package demo

import (
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"
)

// event is an event of the plan, in the collector's form.
type event struct {
	Token     string         `json:"token"`
	Type      string         `json:"event_type"`
	Data      map[string]any `json:"event_data,omitempty"`
	EventID   string         `json:"event_id"`
	SessionID string         `json:"session_id"`
	CreatedAt time.Time      `json:"created_at"`
	SentAt    time.Time      `json:"sent_at"`

	at time.Duration // since the beginning of the visit
}

// visit is one reader's way from a landing page through the document.
type visit struct {
	email     string
	page      int // which landing page
	campaign  campaign
	scripts   bool // counts the view of the landing page by a script; else by an image
	userAgent string
	bot       bool // a scanner of mails opens the personal link
	repeats   bool // sends one of its batches twice, as a browser does that got no answer
	events    []event
	took      time.Duration
	download  download
}

// download is how much of the file a reader takes.
type download int

const (
	none download = iota
	part
	complete
)

// campaign is where a visitor comes from.
type campaign struct{ source, medium, name, referrer string }

var campaigns = []campaign{
	{"newsletter", "email", "autumn", ""},
	{"linkedin", "social", "autumn", "https://www.linkedin.com/feed/"},
	{"search", "cpc", "guides", "https://www.google.com/"},
	{"", "", "", "https://partner.example.org/recommended"}, // without parameters
}

// Kinds of events.
const (
	pageViewed        = "page_viewed"
	downloadStarted   = "download_started"
	downloadCompleted = "download_completed"
)

// landingPages is how many generic links lead to the document.
const landingPages = 2

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
func plan(seed uint64, visitors, pages int) (visits, lookers []visit) {
	random := rand.New(rand.NewPCG(seed, 0))
	visits = make([]visit, visitors)
	for i := range visits {
		v := &visits[i]
		// Every tenth reader is one who came before, to the other landing page, and so has two links.
		reader := i
		v.page = random.IntN(landingPages)
		if i%10 == 9 {
			reader = i - 4
			v.page = 1 - visits[reader].page
		}
		v.campaign = campaigns[random.IntN(len(campaigns))]
		v.scripts = random.Float64() < 0.9
		v.email = fmt.Sprintf("%s.%03d@example.com", firstNames[reader%len(firstNames)], reader)
		v.bot = random.Float64() < 0.08
		v.repeats = random.Float64() < 0.1
		v.userAgent = people[random.IntN(len(people))]
		v.read(random, pages)
	}
	// Not everybody who sees a landing page leaves an address.
	lookers = make([]visit, visitors*3/5)
	for i := range lookers {
		lookers[i] = visit{
			page: random.IntN(landingPages), campaign: campaigns[random.IntN(len(campaigns))],
			scripts: random.Float64() < 0.9, userAgent: people[random.IntN(len(people))],
		}
	}
	return visits, lookers
}

// read adds the events of one session.
func (v *visit) read(random *rand.Rand, pages int) {
	add := func(kind string, data map[string]any) {
		v.events = append(v.events, event{Type: kind, Data: data, EventID: uuid.NewString(), at: v.took})
	}
	if v.bot {
		add(pageViewed, map[string]any{"page": 1, "duration_ms": 0})
		return
	}
	last := pages
	if random.Float64() < 0.45 { // leaves early
		last = 1 + random.IntN(pages-1)
	}
	for page := 1; page <= last; page++ {
		duration := time.Duration(1500+random.ExpFloat64()*9000) * time.Millisecond
		duration = min(duration, 90*time.Second)
		v.took += duration
		add(pageViewed, map[string]any{"page": page, "duration_ms": duration.Milliseconds()})
		if page > 1 && random.Float64() < 0.06 { // turns back
			v.took += 2 * time.Second
			add(pageViewed, map[string]any{"page": page - 1, "duration_ms": int64(2000)})
		}
	}
	if random.Float64() < 0.3 {
		v.took += time.Second
		add(downloadStarted, nil)
		v.download = complete
		if random.Float64() < 0.1 {
			v.download = part
		}
	}
}
