package collector

import (
	"bytes"
	"net"
	"net/netip"
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
	for i := len(lines) - 1; i >= 0; i-- {
		// Several lines of one header are one list.
		for rest, more := lines[i], true; more; {
			var element []byte
			rest, element, more = cutLast(rest)
			if element = bytes.TrimSpace(element); len(element) == 0 {
				continue
			}
			if a.header == headerForwarded {
				element = forwardedFor(element)
			}
			if addr = parseHop(string(element)); !addr.IsValid() || !a.trusts(addr) {
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

// cutLast cuts the last element off a list separated by commas outside of quotes.
func cutLast(list []byte) (rest, last []byte, more bool) {
	cut, quoted := -1, false
	for i, c := range list {
		switch {
		case c == '"' && (i == 0 || list[i-1] != '\\'):
			quoted = !quoted
		case c == ',' && !quoted:
			cut = i
		}
	}
	if cut < 0 {
		return nil, list, false
	}
	return list[:cut], list[cut+1:], true
}

// forwardedFor returns the "for" of one element of a Forwarded header (RFC 7239), unquoted.
func forwardedFor(element []byte) []byte {
	for pair := range bytes.SplitSeq(element, []byte{';'}) {
		name, value, found := bytes.Cut(bytes.TrimSpace(pair), []byte{'='})
		if found && strings.EqualFold(string(name), "for") {
			return bytes.Trim(value, `"`)
		}
	}
	return nil
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
