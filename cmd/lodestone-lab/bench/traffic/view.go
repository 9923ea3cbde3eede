package traffic

import (
	"math/rand/v2"
	"strconv"

	"lodestone/pkg/event"
)

// Views makes views of landing pages, for the same accounts and generic links as a Generator of the same
// settings has. It is used by one goroutine.
type Views struct {
	world  *world
	random *rand.Rand
	clock  clock
	at     int64
	url    []byte
}

// viewsPerEvent is how many landing pages are seen for an event on a document.
const viewsPerEvent = 0.12

// NewViews returns a source of views.
func NewViews(c Config) *Views {
	return &Views{
		world: newWorld(c), random: rand.New(rand.NewPCG(c.Seed, 0x7669657773)),
		clock: newClock(c, float64(c.Events)*viewsPerEvent), at: c.Begin.UnixMilli(),
	}
}

var referrers = []string{
	"", "", "", "https://www.google.com/", "https://www.linkedin.com/", "https://t.co/", "https://www.bing.com/",
	"https://www.facebook.com/", "https://news.ycombinator.com/", "android-app://com.slack/", "https://mail.google.com/",
}

// Next fills in the next view. URL, Referrer and UserAgent are valid until the next call.
func (v *Views) Next(e *event.LinkView) {
	r := v.random
	v.at = v.clock.after(v.at, r)
	l := v.world.choose(v.at, r)
	for tries := 0; l.generic == [16]byte{}; tries++ {
		l = v.world.choose(v.at+int64(tries), r)
	}
	visitor := r.Uint64()
	*e = event.LinkView{
		AccountID: l.account, LeadMagnetID: l.magnet, GenericLinkID: l.generic,
		CreatedAt: v.at - 20 - r.Int64N(120), ReceivedAt: v.at, UserAgent: agents[agentOf(visitor)],
	}
	putUint64(e.IPHash[:8], visitor)
	putUint64(e.IPHash[8:], mix(visitor, 1))
	if r.IntN(1000) < 60 {
		i := bots.draw(r)
		e.UserAgent, e.Bot = botAgents[i].agent, botAgents[i].rule
	}
	e.EventID = version4(r.Uint64(), r.Uint64())
	e.Referrer = []byte(referrers[r.IntN(len(referrers))])
	v.url = append(v.url[:0], "https://docs.example.com/l/guide-"...)
	v.url = strconv.AppendUint(v.url, uint64(l.generic[14])<<8|uint64(l.generic[15]), 36)
	e.URL = v.url
}
