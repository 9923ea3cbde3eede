package history

import (
	"slices"
	"time"
)

// Documents. The guide gets a second edition, which is shorter; the worksheet comes out some weeks after the guide.
const (
	guide = iota
	worksheet
	documents
)

// editions are the pages of the embedded guide that each version of each document has.
var editions = [documents][][]int{
	guide:     {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {1, 3, 4, 6, 7, 8, 11, 12}},
	worksheet: {{4, 9, 11, 12}},
}

// Landing pages.
const (
	fromSite     = iota // of the guide
	fromWebinar         // of the guide; the address is verified
	forWorksheet        // of the worksheet
	landings
)

// noLanding is that of a link which the sales team sends.
const noLanding = -1

var documentOf = [landings]int{fromSite: guide, fromWebinar: guide, forWorksheet: worksheet}

// Shares of the time after which something happens.
const (
	worksheetOut = 0.35
	secondOut    = 0.55
	salesMail    = 0.72
)

// campaign is where visitors come from, and how they behave.
type campaign struct {
	source, medium, name, content, term string
	referrer                            string

	from, to float64 // shares of the time; the whole time is from 0 to 1
	rate     float64 // visitors on an average day
	week     week    // how they are spread over it; zero: as working people are
	trend    float64 // the rate on the last day, as a multiple of that on the first

	landing int
	signs   float64 // share of the visitors who send the form
	ends    float64 // share of the readers who read to the last page of the guide's first edition
	mobile  float64 // share of telephones and tablets
	pace    float64 // how long they stay on a page, as a multiple of the usual time
}

// week holds a weight for each day, from Sunday on.
type week [7]float64

var (
	working  = week{0.35, 1.15, 1.3, 1.3, 1.2, 0.95, 0.3}
	tuesdays = week{0.1, 0.35, 4.2, 1.4, 0.6, 0.25, 0.1} // a letter that comes out on Tuesday
	evenings = week{1.2, 0.9, 0.95, 0.95, 1, 0.9, 1.1}
)

// Campaigns, by their place in the list.
const (
	letter = iota
	launch
	advert
	search
	partner
	webinar
	direct
	followUp // of those who read the guide to its end; it has no rate of its own
)

// campaigns have two that differ most: the letter brings readers who finish, and the advert, which costs, brings those who do not.
var campaigns = []campaign{
	letter:   {source: "newsletter", medium: "email", name: "weekly-letter", content: "first-link", to: 1, rate: 19, week: tuesdays, trend: 1.3, signs: 0.38, ends: 0.68, mobile: 0.3, pace: 1.2},
	launch:   {source: "linkedin", medium: "social", name: "launch", content: "carousel", referrer: "https://www.linkedin.com/", from: 0.06, to: 0.42, rate: 42, trend: 0.25, signs: 0.2, ends: 0.36, mobile: 0.6, pace: 0.9},
	advert:   {source: "google", medium: "cpc", name: "lead-magnet-ads", term: "lead magnet examples", referrer: "https://www.google.com/", from: 0.25, to: 0.82, rate: 52, week: evenings, trend: 1, signs: 0.26, ends: 0.05, mobile: 0.55, pace: 0.3},
	search:   {referrer: "https://www.google.com/", to: 1, rate: 15, trend: 2.6, signs: 0.2, ends: 0.42, mobile: 0.4, pace: 1},
	partner:  {referrer: "https://partner.example.org/", from: 0.5, to: 1, rate: 12, trend: 0.8, landing: forWorksheet, signs: 0.34, ends: 0.5, mobile: 0.25, pace: 1},
	webinar:  {source: "webinar", medium: "event", name: "readers-who-stay", from: 0.6, to: 0.67, rate: 75, trend: 0.3, landing: fromWebinar, signs: 0.55, ends: 0.74, mobile: 0.2, pace: 1.1},
	direct:   {to: 1, rate: 13, trend: 1, signs: 0.14, ends: 0.4, mobile: 0.35, pace: 1},
	followUp: {source: "newsletter", medium: "email", name: "follow-up", landing: forWorksheet, signs: 0.75, ends: 0.7, mobile: 0.3, pace: 1},
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
var hours = [24]float64{0.2, 0.1, 0.05, 0.05, 0.05, 0.2, 0.6, 1.4, 2.6, 4, 4.2, 3.6, 2.4, 2.8, 3.6, 3.4, 2.8, 2, 1.5, 1.4, 1.6, 1.5, 1, 0.5}

// mailDomain is a host of addresses. They are all reserved for examples, so that no mail reaches anyone.
type mailDomain struct {
	name    string
	share   float64
	scanned bool // a program opens the links in mails before the people do
}

var mailDomains = []mailDomain{
	{"mail.example.com", 0.3, false},
	{"inbox.example.org", 0.16, false},
	{"acme.example", 0.14, true},
	{"northwind.example", 0.12, false},
	{"globex.example", 0.1, true},
	{"initech.example", 0.08, false},
	{"umbrella.example", 0.06, false},
	{"university.example.org", 0.04, false},
}

// names are the first names and the last names of people by language.
var names = map[string][2][]string{
	"de": {
		{"anna", "ben", "clara", "david", "elena", "finn", "greta", "hannes", "ida", "jonas", "katrin", "lukas", "marie", "niklas", "paula", "sven"},
		{"bauer", "fischer", "hartmann", "hoffmann", "keller", "koch", "krause", "lehmann", "maier", "neumann", "richter", "schulz", "vogel", "wagner", "weber", "wolf"},
	},
	"en": {
		{"ada", "brian", "chloe", "daniel", "emily", "frank", "grace", "henry", "isla", "jack", "kiran", "laura", "maya", "nathan", "olivia", "priya", "ryan", "sophie", "tom", "zoe"},
		{"adams", "bennett", "carter", "davies", "evans", "foster", "gupta", "hughes", "irving", "jones", "kapoor", "lewis", "mason", "nelson", "owens", "parker", "reid", "shah", "turner", "walsh"},
	},
	"es": {
		{"alba", "carlos", "diego", "elena", "javier", "lucia", "marta", "pablo", "sara", "sergio"},
		{"alonso", "castro", "diaz", "garcia", "lopez", "moreno", "navarro", "ortega", "ruiz", "vega"},
	},
}

// Browsers of people.
var (
	desktops = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Safari/605.1.15",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:143.0) Gecko/20100101 Firefox/143.0",
		"Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
	}
	mobiles = []string{
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/141.0.0.0 Mobile/15E148 Safari/604.1",
		"Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36",
		"Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6 Mobile/15E148 Safari/604.1",
	}
)

// Programs that look at landing pages, and programs that open the links in mails.
var (
	crawlers = []string{
		"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
		"Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)",
		"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)",
		"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)",
	}
	scanners = []string{
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Barracuda Sentinel (EE)",
		"Mimecast-URL-Protection/1.0",
	}
)

// isOn returns the rate of a campaign at a share of the time, on a day of the week.
func (c *campaign) isOn(at float64, day time.Weekday) float64 {
	if at < c.from || at >= c.to || c.rate == 0 {
		return 0
	}
	w := c.week
	if w == (week{}) {
		w = working
	}
	done := (at - c.from) / (c.to - c.from)
	// The rates of a trend have the campaign's rate as their mean.
	return c.rate * w[day] * (1 + (c.trend-1)*done) * 2 / (1 + c.trend)
}

// agents are the user agents of programs.
func agents() []string { return slices.Concat(crawlers, scanners) }
