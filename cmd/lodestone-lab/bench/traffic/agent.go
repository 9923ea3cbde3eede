package traffic

import (
	"fmt"
	"math"
)

// agents are user agents as browsers send them, with the versions of about a year; the first ones are common.
var agents, agentAlias = makeAgents()

func makeAgents() (list [][]byte, pick alias) {
	var weights []float64
	add := func(weight float64, format string, args ...any) {
		list = append(list, fmt.Appendf(nil, format, args...))
		weights = append(weights, weight)
	}
	for i := range 9 {
		newness := math.Pow(0.55, float64(i))
		chrome := 142 - i
		add(26*newness, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", chrome)
		add(11*newness, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", chrome)
		add(2*newness, "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Safari/537.36", chrome)
		add(14*newness, "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%d.0.0.0 Mobile Safari/537.36", chrome)
		add(9*newness, "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/%[1]d.0.0.0 Safari/537.36 Edg/%[1]d.0.0.0", chrome)
		add(2*newness, "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0", 145-i)
		add(1*newness, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10.15; rv:%[1]d.0) Gecko/20100101 Firefox/%[1]d.0", 145-i)
		add(1*newness, "Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/%d.0 Chrome/%d.0.0.0 Mobile Safari/537.36", 29-i, chrome-6)
	}
	for major := 26; major >= 15; major-- {
		if major > 18 && major < 26 { // Apple skipped these
			continue
		}
		for minor := range 7 {
			weight := math.Pow(0.7, float64(26-major)/2+float64(minor))
			add(9*weight, "Mozilla/5.0 (iPhone; CPU iPhone OS %[1]d_%[2]d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%[1]d.%[2]d Mobile/15E148 Safari/604.1", major, minor)
			add(5*weight, "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%d.%d Safari/605.1.15", major, minor)
			add(weight, "Mozilla/5.0 (iPad; CPU OS %[1]d_%[2]d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/%[1]d.%[2]d Mobile/15E148 Safari/604.1", major, minor)
			add(weight, "Mozilla/5.0 (iPhone; CPU iPhone OS %d_%d like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 LinkedInApp/9.31.%d", major, minor, 1000+100*major+minor)
		}
	}
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	for i := range weights {
		weights[i] /= sum
	}
	return list, newAlias(weights)
}

// agentOf returns the browser that a visitor keeps.
func agentOf(visitor uint64) int {
	x := fraction(mix(visitor, 7)) * float64(len(agentAlias.keep))
	i := int(x)
	if x-float64(i) < agentAlias.keep[i] {
		return i
	}
	return int(agentAlias.other[i])
}

var serverAgent = []byte("acme-portal/2.4 (+https://portal.example.com)")

// botAgents are programs that open links, with the rule that knows them.
var botAgents = []struct {
	agent []byte
	rule  string
}{
	{[]byte("Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)"), "mail-scanner:GoogleImageProxy"},
	{[]byte("YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html"), "mail-scanner:YahooMailProxy"},
	{[]byte("Barracuda Sentinel (EE)"), "mail-scanner:Barracuda"},
	{[]byte("Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36"), "prefetch"},
	{[]byte("Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"), "crawler:Slackbot"},
	{[]byte("LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)"), "crawler:LinkedInBot"},
	{[]byte("Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"), `crawler:Googlebot\/`},
}

var bots = newAlias([]float64{0.3, 0.1, 0.2, 0.15, 0.12, 0.08, 0.05})
