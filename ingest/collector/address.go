package collector

import (
	"bytes"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/valyala/fasthttp"
)

const (
	headerXForwardedFor = "x-forwarded-for"
	headerForwarded     = "forwarded"
)

// addresses finds the address of the client behind the proxies that are trusted.
type addresses struct {
	trusted []netip.Prefix
	header  string // the one header that the trusted proxies set
}

// client returns the address of the client: the peer's, unless the peer is a trusted proxy; then
// the right-most address of the header that is not a trusted proxy's itself, since everything left
// of it was said by a stranger. If every address is trusted, the left-most is the client's.
//
// The zero address means that it is not known: a trusted proxy withheld it, or wrote something
// that is no address. A guess in its place would give several visitors one hash.
func (a addresses) client(ctx *fasthttp.RequestCtx) netip.Addr {
	tcp, ok := ctx.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if !a.trusts(addr) {
		return addr
	}
	lines := ctx.Request.Header.PeekAll(a.header)
	for _, line := range slices.Backward(lines) { // several lines of one header are one list
		for rest := line; rest != nil; {
			var hop []byte
			if rest, hop = a.cutHop(rest); hop == nil {
				continue // an empty element
			}
			if addr = parseHop(string(hop)); !addr.IsValid() || !a.trusts(addr) {
				return addr
			}
		}
	}
	return addr
}

func (a addresses) trusts(addr netip.Addr) bool {
	for _, p := range a.trusted {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// cutHop cuts the last hop off a header. The rest is nil when there is no more, the hop when it is
// empty; one that says no address is returned as something that is none.
func (a addresses) cutHop(list []byte) (rest, hop []byte) {
	comma, sound := bytes.LastIndexByte(list, ','), true
	if a.header == headerForwarded {
		// An unfinished quotation is the client's: it would swallow what the proxies added.
		comma, sound = lastOutsideQuotes(list, ',')
	}
	hop = bytes.TrimSpace(list[comma+1:])
	if comma >= 0 {
		rest = list[:comma]
	}
	switch {
	case !sound:
		return nil, []byte("unknown")
	case len(hop) == 0:
		return rest, nil
	case a.header == headerForwarded:
		return rest, forwardedFor(hop)
	default:
		return rest, hop
	}
}

// lastOutsideQuotes returns where a separator occurs last outside of quotes, or -1, and whether
// every quotation is finished.
func lastOutsideQuotes(text []byte, separator byte) (at int, sound bool) {
	at = -1
	quoted := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && quoted:
			i++ // whatever follows is text
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			at = i
		}
	}
	return at, !quoted
}

// forwardedFor returns the "for" of one element of a Forwarded header (RFC 7239), unquoted.
func forwardedFor(element []byte) []byte {
	for {
		at, _ := lastOutsideQuotes(element, ';')
		name, value, _ := bytes.Cut(bytes.TrimSpace(element[at+1:]), []byte{'='})
		if bytes.EqualFold(name, []byte("for")) {
			return bytes.Trim(value, `"`)
		}
		if at < 0 {
			return []byte("unknown")
		}
		element = element[:at]
	}
}

// parseHop reads an address as proxies write it: bare, in brackets, or with a port.
func parseHop(text string) netip.Addr {
	addr, err := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	if err != nil {
		withPort, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}
		}
		addr = withPort.Addr()
	}
	return addr.Unmap().WithZone("")
}
