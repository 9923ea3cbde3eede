package collector

import (
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"
)

// limited returns the address whose views are counted, or the zero address if there is no limit for the sender. A
// program on this machine has none: it is a server's own, or a proxy that is not configured, behind which all visitors would
// share one budget.
func (c *Collector) limited(ctx *fasthttp.RequestCtx) netip.Addr {
	if c.views.each == 0 {
		return netip.Addr{}
	}
	if addr := clientOf(ctx, c.addresses); !addr.IsLoopback() {
		return addr
	}
	return netip.Addr{}
}

// linksPerAddress is how many times the views of one link an address may send of all links together.
const linksPerAddress = 10

// takeView counts a view of a landing page, or rejects it and returns after how long it may be sent again. The link is asked
// first: what is refused of one link takes nothing from the others.
func (c *Collector) takeView(from netip.Addr, link uuid.UUID, now time.Time) (wait time.Duration, f fault) {
	if wait, ok := c.views.take(from, link, now); !ok {
		return wait, fault{RateLimited, "there were too many views of this link from this address in the last minute; send it again later"}
	}
	if wait, ok := c.allViews.take(from, uuid.Nil, now); !ok {
		return wait, fault{RateLimited, "there were too many views from this address in the last minute; send it again later"}
	}
	return 0, fault{}
}

// limit rejects a valid element that is beyond the plan of its account, or beyond what an address may send about a link.
func (b *batch) limit(c *Collector, d *door, s *sender, h *visitor) fault {
	if d.views {
		wait, f := c.takeView(h.from, b.view.GenericLinkID, b.arrived)
		b.wait = max(b.wait, wait)
		return f
	}
	if message := c.exceeded(b.event.AccountID, s.receivedAt); message != "" {
		return fault{LimitReached, message}
	}
	return fault{}
}

// exceeded returns the message for senders of an account that has used up its events of the month, or "".
func (c *Collector) exceeded(account uuid.UUID, at time.Time) string {
	if c.deps.Quotas == nil {
		return ""
	}
	return c.deps.Quotas.Exceeded(account, at)
}

// noneAccepted is the refusal of a request of which every element was rejected. If all were for the same limit, it is about that.
func (b *batch) noneAccepted(d *door) refusal {
	same := b.rejected[0]
	for _, r := range b.rejected {
		if r.code != same.code {
			same = rejection{}
			break
		}
	}
	switch same.code {
	case LimitReached:
		return refusal{fasthttp.StatusForbidden, codeLimitReached, "Nothing was accepted: " + same.message + "."}
	case RateLimited:
		return refusal{fasthttp.StatusTooManyRequests, codeRateLimited, "Nothing was accepted: " + same.message + "."}
	default:
		return refusal{fasthttp.StatusUnprocessableEntity, codeValidation, "No " + d.noun + " was accepted; see rejected."}
	}
}
