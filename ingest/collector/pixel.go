package collector

import (
	"bytes"
	"net/netip"
	"time"

	"github.com/google/uuid"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
	"lodestone/pkg/event"
	"lodestone/pkg/source"
	"lodestone/pkg/token"
)

// pixel is a transparent GIF of one pixel.
var pixel = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

// servePixel records what an image that was loaded means: a page view of an access link, or a view
// of a landing page. The body is the image whatever happens, so that no page shows a broken one:
// 200 when it is recorded, and also when the token is wrong or the account has used up its events
// of the month, about which no browser can do anything; 429 when one address has sent too many; 503
// when it could not be made durable in time.
func (c *Collector) servePixel(ctx *fasthttp.RequestCtx) {
	s := c.newScratch(0)
	defer c.release(s)
	if c.admit(s, 0) != nil {
		unavailablePixel(ctx)
		return
	}
	const allowed = "GET, HEAD"
	if !ctx.IsGet() && !ctx.IsHead() {
		ctx.Response.Header.Set(fasthttp.HeaderAllow, allowed)
		answerProblem(ctx, &requestProblem{fasthttp.StatusMethodNotAllowed, codeMethod, "The image is loaded with GET."})
		return
	}
	claims, err := c.tokens.Verify(ctx.QueryArgs().Peek("t"))
	if err != nil || claims.AccessLinkID == uuid.Nil && claims.GenericLinkID == uuid.Nil {
		c.metrics.rejected[InvalidToken].Inc()
		showPixel(ctx, fasthttp.StatusOK)
		return
	}
	if wait, ok := c.takePixel(c.limited(ctx), claims); !ok {
		c.metrics.refused[refusedViews].Inc()
		setRetryAfter(ctx, wait)
		showPixel(ctx, fasthttp.StatusTooManyRequests)
		return
	}
	s.arrived = ctx.Time()
	from := c.sender(ctx, false)
	if claims.AccessLinkID != uuid.Nil && c.exceeded(claims.AccountID, from.receivedAt) != "" {
		c.metrics.rejected[LimitReached].Inc()
		showPixel(ctx, fasthttp.StatusOK)
		return
	}
	s.records = append(s.records, c.pixelRecord(s, claims, &from, ctx.Request.Header.Referer()))
	if c.write(ctx, s) != nil {
		unavailablePixel(ctx)
		return
	}
	showPixel(ctx, fasthttp.StatusOK)
}

// takePixel counts an image. Those of access links have no limit on all links together: the program
// that fetches the pictures of many people's mails has one address, and these tokens are not
// public.
func (c *Collector) takePixel(from netip.Addr, claims *token.Claims) (wait time.Duration, ok bool) {
	if claims.AccessLinkID != uuid.Nil {
		return c.views.Take(from, claims.AccessLinkID, time.Now())
	}
	wait, f := c.takeView(from, claims.GenericLinkID, time.Now())
	return wait, f == nil
}

// pixelRecord returns the one record of an image. page is the address of the page that shows it.
func (c *Collector) pixelRecord(s *scratch, claims *token.Claims, from *sender, page []byte) producer.Record {
	at, hash := from.receivedAt.UnixMilli(), c.hash(s, claims.AccountID, from)
	if from.bot != "" {
		s.bots++
	}
	if claims.AccessLinkID == uuid.Nil {
		view := event.LinkView{
			AccountID: claims.AccountID, LeadMagnetID: claims.LeadMagnetID, GenericLinkID: claims.GenericLinkID,
			EventID: newID(), IPHash: hash, UserAgent: from.userAgent, Bot: from.bot, Suspect: string(from.suspect),
			Origin: from.origin, CreatedAt: at, ReceivedAt: at,
		}
		if !from.private {
			view.URL = []byte(source.Address(string(page)))
		}
		return producer.Record{Topic: event.LinkViewTopic, Key: bytes.Clone(claims.GenericLinkID[:]), Value: view.Append(nil)}
	}
	ev := event.Event{
		AccountID: claims.AccountID, LeadMagnetID: claims.LeadMagnetID, GenericLinkID: claims.GenericLinkID,
		AccessLinkID: claims.AccessLinkID, MagnetVersion: claims.MagnetVersion, Type: event.PageViewed, Data: emptyData,
		EventID: newID(), IPHash: hash, UserAgent: from.userAgent, Bot: from.bot, Origin: from.origin,
		CreatedAt: at, ReceivedAt: at,
	}
	return producer.Record{Topic: event.Topic, Key: bytes.Clone(claims.AccessLinkID[:]), Value: ev.Append(nil)}
}

func showPixel(ctx *fasthttp.RequestCtx, status int) {
	ctx.SetStatusCode(status)
	h := &ctx.Response.Header
	h.SetContentType("image/gif")
	h.Set(fasthttp.HeaderCacheControl, "no-store")
	h.Set("Cross-Origin-Resource-Policy", "cross-origin") // pages that isolate themselves load it, too
	ctx.Response.SetBodyRaw(pixel)
}

func unavailablePixel(ctx *fasthttp.RequestCtx) {
	ctx.Response.Header.Set(fasthttp.HeaderRetryAfter, retryAfter)
	showPixel(ctx, fasthttp.StatusServiceUnavailable)
}
