package traffic

import (
	"fmt"
	"math"
)

// agents are user agents as browsers send them, with the versions of about a year; newer ones are
// more common.
var agents = makeAgents()

type agentList struct {
	list    [][]byte
	weights weights
}

// browsers are the forms of user agents: the weight of the newest version, its number, and how many
// there are.
var browsers = []struct {
	weight           float64
	newest, versions int
	format           string
}{
	{26, 142, 9, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36"},
	{11, 142, 9, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36"},
	{2, 142, 9, "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36"},
	{14, 142, 9, "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36"},
	{9, 142, 9, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%[1]d.0.0.0 Safari/537.36 Edg/%[1]d.0.0.0"},
	{2, 145, 9, "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0"},
	{1, 145, 9, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0"},
	{1, 29, 9, "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/%d.0 Chrome/136.0.0.0 Mobile Safari/537.36"},
	{9, 26, 19, "Mozilla/5.0 (iPhone; CPU iPhone OS 26_%[1]d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.%[1]d Mobile/15E148 Safari/604.1"},
	{5, 26, 19, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.%d Safari/605.1.15"},
	{1, 26, 19, "Mozilla/5.0 (iPad; CPU OS 26_%[1]d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.%[1]d Mobile/15E148 Safari/604.1"},
	{1, 26, 19, "Mozilla/5.0 (iPhone; CPU iPhone OS 26_%[1]d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 LinkedInApp/9.31.%[1]d"},
}

func makeAgents() (a agentList) {
	for _, b := range browsers {
		for age := range b.versions {
			a.list = append(a.list, fmt.Appendf(nil, b.format, b.newest-age))
			a.weights.add(b.weight * math.Pow(0.65, float64(age)))
		}
	}
	return a
}

var serverAgent = []byte("acme-portal/2.4 (+https://portal.example.com)")

// botAgents are programs that open links, with the rule that knows them.
var botAgents = []struct{ agent, rule string }{
	{"Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)",
		"mail-scanner:GoogleImageProxy"},
	{"YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html", "mail-scanner:YahooMailProxy"},
	{"Barracuda Sentinel (EE)", "mail-scanner:Barracuda"},
	{"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
		"prefetch"},
	{"Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "crawler:Slackbot"},
	{"LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)", "crawler:LinkedInBot"},
	{"Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)", `crawler:Googlebot\/`},
}
