package collector

import (
	"hash/maphash"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"lodestone/pkg/bot"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/event"
	"lodestone/pkg/source"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

// sender holds the common fields of one request's events: the server's time, and the stored
// attributes of the client.
type sender struct {
	receivedAt time.Time
	userAgent  []byte
	bot        string
	suspect    suspect.Rule // of views
	origin     event.Origin
	private    bool       // asked not to be tracked, and that is respected
	addr       netip.Addr // that is hashed; invalid: no hash is stored. It goes nowhere else.
	limited    netip.Addr // that views are counted by

	// The hash of the last account asked for: the events of a request are nearly always of one
	// account.
	account uuid.UUID
	hash    [16]byte
	ok      bool
}

// hashFor returns the hash of the address for an account, or false if there is no salt for the
// time.
func (s *sender) hashFor(account uuid.UUID, by Hasher) ([16]byte, bool) {
	if !s.addr.IsValid() {
		return [16]byte{}, true
	}
	if s.account != account {
		s.hash, s.ok = by.Hash(account, s.addr, s.receivedAt)
		s.account = account
	}
	return s.hash, s.ok
}

// sender returns what the events of a request have in common; limited is whether they count against
// the limit of an address.
func (c *Collector) sender(ctx *fasthttp.RequestCtx, limited bool) sender {
	h := &ctx.Request.Header
	agent := h.UserAgent()
	s := sender{receivedAt: c.deps.Now(), bot: c.deps.Bots.Classify(bot.Request{
		UserAgent: agent, Head: ctx.IsHead(), SecPurpose: h.PeekCanonical(headerSecPurpose), Purpose: purpose(h),
		XMoz: h.PeekCanonical(headerXMoz),
	})}
	if limited {
		s.limited = c.limited(ctx)
	}
	if c.privacySignals && optedOut(h) {
		s.private = true
		return s
	}
	s.userAgent = source.Agent(agent, event.MaxAgentBytes)
	withheld := addressWithheld(h)
	if !withheld {
		s.addr = clientOf(ctx, c.addresses)
	}
	if s.bot == "" {
		s.suspect = c.deps.Networks.Rule(s.addr)
	}
	s.origin = c.origin(s.addr, withheld, h)
	return s
}

func purpose(h *fasthttp.RequestHeader) []byte {
	if value := h.PeekCanonical(headerPurpose); len(value) > 0 {
		return value
	}
	return h.PeekCanonical(headerXPurpose)
}

// limited returns the address whose views are counted, or the zero address if there is no limit for
// the sender. A program on this machine has none: it is a server's own, or a proxy that is not
// configured, behind which all visitors would share one budget.
func (c *Collector) limited(ctx *fasthttp.RequestCtx) netip.Addr {
	if c.config.ViewLimit == 0 {
		return netip.Addr{}
	}
	if addr := clientOf(ctx, c.addresses); !addr.IsLoopback() {
		return addr
	}
	return netip.Addr{}
}

const (
	headerXForwardedFor = "x-forwarded-for"
	headerForwarded     = "forwarded"
)

// clientOf returns the address of a request's client, the zero address if it is not known.
func clientOf(ctx *fasthttp.RequestCtx, f *clientaddr.Finder) netip.Addr {
	tcp, ok := ctx.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return f.Find(tcp.AddrPort().Addr(), func(name string) []string {
		lines := ctx.Request.Header.PeekAll(name)
		texts := make([]string, len(lines))
		for i, line := range lines {
			texts[i] = string(line)
		}
		return texts
	})
}

// Headers in the server's canonical form.
var (
	headerSecPurpose = []byte("Sec-Purpose")
	headerPurpose    = []byte("Purpose")
	headerXPurpose   = []byte("X-Purpose")
	headerXMoz       = []byte("X-Moz")
	headerSecGPC     = []byte("Sec-Gpc")
	headerDNT        = []byte("Dnt")

	headerAcceptLanguage = []byte("Accept-Language")
)

// optedOut reports whether the sender asked not to be tracked: Global Privacy Control or the older
// Do Not Track.
func optedOut(h *fasthttp.RequestHeader) bool {
	return string(h.PeekCanonical(headerSecGPC)) == "1" || string(h.PeekCanonical(headerDNT)) == "1"
}

// addressWithheld reports whether the sender says that the connection is not the visitor's (RFC
// 7239): a server that reports for others, and so would give all its visitors one hash. Any client
// may say so, since it takes nothing from others.
func addressWithheld(h *fasthttp.RequestHeader) bool {
	all := h.PeekAll(headerForwarded)
	lines := make([]string, len(all))
	for i, line := range all {
		lines[i] = string(line)
	}
	return clientaddr.Withheld(lines)
}

// tokens verifies tokens, and remembers those that verified: a reader sends one for page after
// page. Finding one here costs a fifth of verifying it. What is found is exact, since the full text
// is compared, and is as good as a check, since it counts for the keys that it was checked with
// only. It is bounded, and safe for concurrent use.
type tokens struct {
	ring  *token.Ring
	seed  maphash.Seed
	slots []atomic.Pointer[knownToken] // each holds the token that came last of those that share it
}

type knownToken struct {
	keys   uint64 // serial of those that it was verified with
	text   string
	claims token.Claims
}

// newTokens returns a tokens that remembers none yet.
func newTokens(ring *token.Ring) *tokens {
	const slots = 4096 // about a megabyte
	return &tokens{ring, maphash.MakeSeed(), make([]atomic.Pointer[knownToken], slots)}
}

// Verify returns the claims of a token, which must not be changed, or the error of the ring.
func (t *tokens) Verify(text []byte) (*token.Claims, error) {
	slot := &t.slots[maphash.Bytes(t.seed, text)%uint64(len(t.slots))]
	keys := t.ring.Serial()
	if k := slot.Load(); k != nil && k.keys == keys && k.text == string(text) {
		return &k.claims, nil
	}
	claims, err := t.ring.Verify(text)
	if err != nil {
		return nil, err
	}
	k := &knownToken{keys, string(text), claims}
	slot.Store(k)
	return &k.claims, nil
}
