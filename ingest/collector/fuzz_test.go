package collector

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"lodestone/ingest/producer"
	"lodestone/pkg/bot"
	"lodestone/pkg/country"
	"lodestone/pkg/event"
	"lodestone/pkg/test/countrytest"
	"lodestone/pkg/token"
)

// sinkFunc is a sink that is no Kafka: the fuzzer and the benchmarks look at what comes before it.
type sinkFunc func([]producer.Record)

func (f sinkFunc) Write(_ context.Context, records []producer.Record) error {
	f(records)
	return nil
}

type oneHash struct{}

func (oneHash) Hash(uuid.UUID, netip.Addr, time.Time) ([16]byte, bool) { return [16]byte{1}, true }

// testKeys sign the tokens of the corpus.
const testKeys = "1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"

func testClaims() token.Claims {
	id := func(last byte) uuid.UUID { return uuid.UUID{0: 1, 6: 0x70, 8: 0x80, 15: last} }
	return token.Claims{AccountID: id(1), LeadMagnetID: id(2), GenericLinkID: id(3), AccessLinkID: id(4), MagnetVersion: 5}
}

func newBare(tb testing.TB, sink Sink) (*Collector, string) {
	tb.Helper()
	ring, err := token.Config{Keys: testKeys}.Ring()
	require.NoError(tb, err)
	bots, err := bot.NewRules()
	require.NoError(tb, err)
	countries, err := country.Config{Database: countrytest.Germany(tb, "203.0.113.0/24")}.Open()
	require.NoError(tb, err)
	c, err := New(Config{
		Listen: "127.0.0.1:0", AckTimeout: time.Second, ReadTimeout: 2 * time.Second, WriteTimeout: 2 * time.Second,
		IdleTimeout: time.Minute, MaxBodyBytes: MaxBodyBytes, MaxHeaderBytes: 16 << 10, MaxConnections: 10,
		MaxRequests: 100, MaxInFlight: 64 << 20,
		ForwardedHeader: headerXForwardedFor, PrivacySignals: "honour", TrustedProxies: []string{"127.0.0.1"},
	}, Deps{
		Tokens: ring, Sink: sink, Addresses: oneHash{}, Bots: bots, Countries: countries,
		Log: slog.New(slog.DiscardHandler), Registerer: prometheus.NewRegistry(),
	})
	require.NoError(tb, err)
	tb.Cleanup(c.giveUp)
	return c, ring.Sign(testClaims())
}

// FuzzEvents sends any body, content type, encoding and forwarding header to the handler. Whatever
// comes is answered with one of the documented answers; what is accepted is a record that the
// consumer can read, and the answer accounts for every element.
func FuzzEvents(f *testing.F) {
	var written []producer.Record
	c, token := newBare(f, sinkFunc(func(r []producer.Record) { written = append(written[:0], r...) }))
	one := `{"token":"` + token +
		`","event_type":"page_viewed","event_data":{"page":3,"duration_ms":8200,"a":[{"b":"\u00e9"}]},` +
		`"event_id":"01890a5d-ac96-774b-bcce-b302099a8057","session_id":null,"created_at":"2026-03-14T15:09:26.535+01:00","sent_at":"2026-03-14T14:09:27Z"}`
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write([]byte(one))
	require.NoError(f, err)
	require.NoError(f, w.Close())
	for _, body := range []string{one, "[" + one + "]", "[" + one + ", 7, {}]", "[]", "", "{",
		`{"token":"` + token + `"}`, packed.String()} {
		f.Add([]byte(body), "application/json", "", "203.0.113.1, 127.0.0.1")
		f.Add([]byte(body), `text/plain; charset="UTF-8"`, "gzip", `"for=[::1]:80`)
	}
	f.Fuzz(func(t *testing.T, body []byte, contentType, encoding, forwarded string) {
		written = written[:0]
		ctx := &fasthttp.RequestCtx{}
		ctx.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
		ctx.Request.Header.SetMethod(fasthttp.MethodPost)
		ctx.Request.SetRequestURI(eventsPath)
		ctx.Request.Header.SetContentType(contentType)
		if encoding != "" {
			ctx.Request.Header.Set(fasthttp.HeaderContentEncoding, encoding)
		}
		ctx.Request.Header.Set(headerXForwardedFor, forwarded)
		ctx.Request.Header.SetUserAgent(forwarded)
		ctx.Request.SetBody(body)
		c.serve(ctx)

		var answer struct {
			Code     string
			Accepted int
			Rejected []struct {
				Index         int
				Code, Message string
			}
		}
		require.NoError(t, json.Unmarshal(ctx.Response.Body(), &answer))
		switch status := ctx.Response.StatusCode(); status {
		case 202, 422:
			requireAccounted(t, body, encoding, answer.Accepted, len(answer.Rejected))
			for _, r := range answer.Rejected {
				require.Contains(t, codes, Code(r.Code))
				require.NotEmpty(t, r.Message)
			}
			require.Equal(t, status == 202, answer.Accepted > 0)
		case 400, 413, 415:
			require.Empty(t, answer.Rejected)
		default:
			t.Fatalf("status %d: %s", status, ctx.Response.Body())
		}
		require.Len(t, written, answer.Accepted)
		for _, r := range written {
			var e event.Event
			require.NoError(t, e.Decode(r.Value))
			require.Equal(t, string(e.AccessLinkID[:]), string(r.Key))
			require.Equal(t, testClaims().AccountID, e.AccountID)
		}
	})
}

// requireAccounted checks with another JSON reader that every element was accepted or rejected.
func requireAccounted(t *testing.T, body []byte, encoding string, accepted, rejected int) {
	t.Helper()
	if encoding != "" && encoding != "identity" {
		return
	}
	require.True(t, json.Valid(body), "accepted what is no JSON")
	var list []json.RawMessage
	if json.Unmarshal(body, &list) != nil || string(bytes.TrimSpace(body)) == "null" {
		list = make([]json.RawMessage, 1)
	}
	require.Equal(t, len(list), accepted+rejected)
}

// FuzzLinkViews does so at the other endpoint.
func FuzzLinkViews(f *testing.F) {
	var written []producer.Record
	c, token := newBare(f, sinkFunc(func(r []producer.Record) { written = append(written[:0], r...) }))
	one := `{"token":"` + token +
		`","event_id":"01890a5d-ac96-774b-bcce-b302099a8057","referrer":"https://example.org/\u00e9","url":null}`
	for _, body := range []string{one, "[" + one + "]", "[" + one + `, {"token":"` + token +
		`","event_type":"page_viewed"}]`, "[]", `{"url":"\ud800"}`,
		`{"token":"` + token + `","url":"https://example.org/?a=b&utm_source=c&utm_term#d","referrer":"?&?utm_source=a?#"}`} {
		f.Add([]byte(body), "https://example.org/")
	}
	f.Fuzz(func(t *testing.T, body []byte, agent string) {
		written = written[:0]
		ctx := &fasthttp.RequestCtx{}
		ctx.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
		ctx.Request.Header.SetMethod(fasthttp.MethodPost)
		ctx.Request.SetRequestURI(viewsPath)
		ctx.Request.Header.SetContentType("application/json")
		ctx.Request.Header.SetUserAgent(agent)
		ctx.Request.SetBody(body)
		c.serve(ctx)
		var answer struct {
			Accepted int
			Rejected []struct{ Code string }
		}
		require.NoError(t, json.Unmarshal(ctx.Response.Body(), &answer))
		switch status := ctx.Response.StatusCode(); status {
		case 202, 422:
			requireAccounted(t, body, "", answer.Accepted, len(answer.Rejected))
			require.Equal(t, status == 202, answer.Accepted > 0)
		case 400, 413:
		default:
			t.Fatalf("status %d: %s", status, ctx.Response.Body())
		}
		requireViews(t, written, answer.Accepted)
	})
}

// FuzzPixel loads the image with any query, and from any page: it is always shown.
func FuzzPixel(f *testing.F) {
	var written []producer.Record
	c, token := newBare(f, sinkFunc(func(r []producer.Record) { written = append(written[:0], r...) }))
	for _, query := range []string{"t=" + token, "t=" + token + "&t=x", "t=%00", "t", "",
		"T=" + token, "&&t=" + token + ";"} {
		f.Add(query, "https://example.org/\xff")
	}
	f.Fuzz(func(t *testing.T, query, page string) {
		written = written[:0]
		ctx := &fasthttp.RequestCtx{}
		ctx.Init(&fasthttp.Request{}, &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 1}, nil)
		ctx.Request.URI().SetPath(pixelPath)
		ctx.Request.URI().SetQueryString(query)
		ctx.Request.Header.SetReferer(page)
		ctx.Request.Header.SetUserAgent(page)
		c.serve(ctx)
		require.Equal(t, 200, ctx.Response.StatusCode())
		require.Equal(t, pixel, ctx.Response.Body())
		require.LessOrEqual(t, len(written), 1)
		for _, r := range written {
			var e event.Event
			require.NoError(t, e.Decode(r.Value))
			require.Equal(t, string(e.AccessLinkID[:]), string(r.Key))
			require.Equal(t, testClaims().AccountID, e.AccountID)
		}
	})
}

func requireViews(t *testing.T, written []producer.Record, accepted int) {
	t.Helper()
	require.Len(t, written, accepted)
	for _, r := range written {
		var v event.LinkView
		require.NoError(t, v.Decode(r.Value))
		require.Equal(t, event.LinkViewTopic, r.Topic)
		require.Equal(t, string(v.GenericLinkID[:]), string(r.Key))
		require.Equal(t, testClaims().AccountID, v.AccountID)
		for _, address := range [][]byte{v.Referrer, v.URL} {
			require.NotContains(t, string(address), "#")
			if _, query, found := bytes.Cut(address, []byte("?")); found {
				for parameter := range bytes.SplitSeq(query, []byte("&")) {
					require.Regexp(t, `^utm_(source|medium|campaign|content|term)(=|$)`, string(parameter))
				}
			}
		}
	}
}
