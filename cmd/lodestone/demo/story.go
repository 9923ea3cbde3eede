package demo

import "time"

// Landing pages of the guide.
const (
	fromSite    = iota
	fromWebinar // verifies addresses, in the past
	landings
)

// pages is how many pages the guide has.
const pages = 12

// secondOut is the share of the past after which the guide's second version comes out.
const secondOut = 0.55

// campaign is where visitors come from, and how they behave.
type campaign struct {
	source, medium, name, referrer string

	from, to float64 // shares of the past, which is from 0 to 1
	rate     float64 // visitors on an average day
	week     week

	landing int
	signs   float64 // share of the visitors who send the form
	ends    float64 // share of the readers who read to the last page of the first version
	mobile  float64 // share of telephones
	pace    float64 // how long they stay on a page, as a multiple of the usual time
}

// week holds a weight for each day, from Sunday on.
type week [7]float64

var (
	working  = week{0.35, 1.15, 1.3, 1.3, 1.2, 0.95, 0.3}
	tuesdays = week{0.1, 0.35, 4.2, 1.4, 0.6, 0.25, 0.1}
	evenings = week{1.2, 0.9, 0.95, 0.95, 1, 0.9, 1.1}
)

// The letter brings readers who finish, and the advert, which costs, brings those who do not.
var campaigns = []campaign{
	{source: "newsletter", medium: "email", name: "weekly-letter", to: 1, rate: 21, week: tuesdays, signs: 0.4,
		ends: 0.68, mobile: 0.3, pace: 1.2},
	{source: "linkedin", medium: "social", name: "launch", referrer: "https://www.linkedin.com/", from: 0.06, to: 0.42,
		rate: 42, week: working, signs: 0.2, ends: 0.36, mobile: 0.6, pace: 0.9},
	{source: "google", medium: "cpc", name: "lead-magnet-ads", referrer: "https://www.google.com/", from: 0.25, to: 0.82,
		rate: 52, week: evenings, signs: 0.26, ends: 0.05, mobile: 0.55, pace: 0.3},
	{source: "webinar", medium: "event", name: "readers-who-stay", from: 0.6, to: 0.67, rate: 75, week: working,
		landing: fromWebinar, signs: 0.55, ends: 0.74, mobile: 0.2, pace: 1.1},
	{referrer: "https://www.google.com/", to: 1, rate: 18, week: working, signs: 0.22, ends: 0.42, mobile: 0.4, pace: 1},
	{referrer: "https://partner.example.org/", from: 0.5, to: 1, rate: 12, week: working, signs: 0.34,
		ends: 0.5, mobile: 0.25, pace: 1},
	{to: 1, rate: 13, week: working, signs: 0.14, ends: 0.4, mobile: 0.35, pace: 1},
}

// visitors returns the mean number of visitors on a day of the week, at a share of the past.
func (c *campaign) visitors(at float64, day time.Weekday) float64 {
	if at < c.from || at >= c.to {
		return 0
	}
	return c.rate * c.week[day]
}

// parameters are those of a campaign's links.
func (c *campaign) parameters() map[string]string {
	if c.source == "" {
		return nil
	}
	return map[string]string{"utm_source": c.source, "utm_medium": c.medium, "utm_campaign": c.name}
}

// place is where visitors live, which says when they are awake.
type place struct {
	zone, language, country string
	share                   float64
}

var places = []place{
	{"Europe/Berlin", "de", "DE", 0.36},
	{"Europe/London", "en", "GB", 0.22},
	{"America/New_York", "en", "US", 0.24},
	{"America/Los_Angeles", "en", "US", 0.08},
	{"Asia/Kolkata", "en", "IN", 0.06},
	{"Europe/Madrid", "es", "ES", 0.04},
}

// hours are the weights of the hours of a visitor's day.
var hours = [24]float64{0.2, 0.1, 0.05, 0.05, 0.05, 0.2, 0.6, 1.4, 2.6, 4, 4.2, 3.6, 2.4, 2.8, 3.6, 3.4, 2.8,
	2, 1.5, 1.4, 1.6, 1.5, 1, 0.5}

// stops are the weights of the pages of the first version after which readers stop: most do in its
// middle.
var stops = [pages - 1]float64{2, 2, 1.5, 1.5, 2, 4, 5, 2, 1, 0.5, 0.5}

// hosts are those of addresses, more frequent ones first. All are reserved for examples, so that no
// mail reaches anyone.
var hosts = []string{"mail.example.com", "inbox.example.org", "northwind.example", scannedHost,
	"globex.example", "university.example.org"}

// scannedHost is the company whose program opens the links in mails before the people do.
const scannedHost = "acme.example"

var (
	firstNames = []string{"ada", "anna", "ben", "carlos", "chloe", "daniel", "elena", "finn", "grace", "hugo", "ines",
		"jonas", "kiran", "laura", "maya", "niklas", "olivia", "priya", "quinn", "rosa", "sven", "tara"}
	lastNames = []string{"adams", "brandt", "carter", "diaz", "evans", "fischer", "gupta", "hughes", "jones", "keller",
		"lopez", "mason", "neumann", "ortega", "parker", "richter", "shah", "turner", "vega", "walsh"}
)

// User agents, more frequent ones first.
var (
	desktops = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
		"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
	}
	mobiles = []string{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
	}
	programs = []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
	}
)
