// Package clientaddr finds the address of a request's client behind the proxies that are trusted.
package clientaddr

import (
	"cmp"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"lodestone/pkg/config"
)

// The headers in which proxies tell the client's address.
const (
	xForwardedFor = "x-forwarded-for"
	forwarded     = "forwarded"
)

// Config is the setting of whose word about the client is believed.
type Config struct {
	TrustedProxies  []string `name:"trusted-proxies" placeholder:"CIDR" help:"Addresses or networks of proxies that may state the visitor's address. Limits count visitors by this address."`
	ForwardedHeader string   `name:"forwarded-header" default:"x-forwarded-for" enum:"x-forwarded-for,forwarded" help:"Header that the trusted proxies set: x-forwarded-for or forwarded. The other header is ignored, because a proxy may pass on a value that the client set."`
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	_, err := c.Finder()
	return err
}

// Finder finds addresses. It does not change, and is safe for concurrent use.
type Finder struct {
	trusted []netip.Prefix
	header  string
}

// Finder returns a finder for the settings. The zero Config trusts no proxy.
func (c Config) Finder() (*Finder, error) {
	f := &Finder{header: c.ForwardedHeader}
	if f.header == "" {
		f.header = xForwardedFor
	}
	if f.header != xForwardedFor && f.header != forwarded {
		return nil, config.Invalid("--forwarded-header", "is unknown", "give x-forwarded-for or forwarded")
	}
	var err error
	f.trusted, err = Networks("--trusted-proxies", c.TrustedProxies)
	return f, err
}

// Networks reads networks and single addresses, or returns an error that names the setting.
func Networks(setting string, texts []string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, text := range texts {
		network, err := ParseNetwork(text)
		if err != nil {
			return nil, config.Invalid(setting, "has "+err.Error(),
				"write networks such as 10.0.0.0/8, or single addresses, separated by commas")
		}
		list = append(list, network)
	}
	return list, nil
}

// ParseNetwork reads a network such as 10.0.0.0/8, or a single address. It takes no IPv4 in the
// form of IPv6.
func ParseNetwork(text string) (netip.Prefix, error) {
	text = strings.TrimSpace(text)
	p, err := netip.ParsePrefix(text)
	if err != nil {
		a, err := netip.ParseAddr(text)
		if err != nil || a.Zone() != "" {
			return p, fmt.Errorf("%q, which is not a network", text)
		}
		p = netip.PrefixFrom(a, a.BitLen())
	}
	if p.Addr().Is4In6() {
		return p, fmt.Errorf("%q, which is an IPv4 network in the form of IPv6", text)
	}
	return p.Masked(), nil
}

// New returns the finder that believes the proxies of some networks, about the one header that they
// set: x-forwarded-for or forwarded.
func New(trusted []netip.Prefix, header string) *Finder { return &Finder{trusted, header} }

// Client returns the address of a request's client, as Find does.
func (f *Finder) Client(r *http.Request) netip.Addr {
	peer, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return f.Find(peer.Addr(), r.Header.Values)
}

// Find returns the address of the client: the peer's, unless the peer is a trusted proxy; then the
// right-most address of the header that does not belong to a trusted proxy, since anything left of
// it can be forged. If every address is trusted, the left-most is the client's.
//
// The zero address means that the client's address is unknown: a trusted proxy withheld it, or
// wrote an invalid one. A guess in its place would merge several visitors into one. Keep the
// address in memory only. header returns the lines of a header; it is called only if the peer is
// trusted.
func (f *Finder) Find(peer netip.Addr, header func(name string) []string) netip.Addr {
	addr := plain(peer)
	if !f.trusts(addr) {
		return addr
	}
	for _, line := range slices.Backward(header(f.header)) { // several lines are one list
		for more := true; more; {
			var hop string
			line, hop, more = f.cutHop(line)
			if hop == "" {
				continue
			}
			if addr = parseHop(hop); !addr.IsValid() || !f.trusts(addr) {
				return addr
			}
		}
	}
	return addr
}

// Network returns what one client is taken for where clients are counted: the address, and for IPv6
// the network of 64 bits, within which a client takes any address that it likes.
func Network(addr netip.Addr) netip.Addr {
	if addr.Is6() {
		if network, err := addr.Prefix(64); err == nil { // it never fails for 64
			return network.Addr()
		}
	}
	return addr
}

func plain(addr netip.Addr) netip.Addr { return addr.Unmap().WithZone("") }

// Trusts reports whether an address is a trusted proxy's.
func (f *Finder) Trusts(addr netip.Addr) bool { return f.trusts(plain(addr)) }

func (f *Finder) trusts(addr netip.Addr) bool {
	return slices.ContainsFunc(f.trusted, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// unknown stands for a hop that says no address.
const unknown = "unknown"

// cutHop cuts the last hop off a list; it is empty for an empty element.
func (f *Finder) cutHop(list string) (rest, hop string, more bool) {
	comma, sound := strings.LastIndexByte(list, ','), true
	if f.header == forwarded {
		// An unfinished quotation is the client's: it would swallow what the proxies added.
		comma, sound = lastOutsideQuotes(list, ',')
	}
	hop = strings.TrimSpace(list[comma+1:])
	if comma >= 0 {
		rest, more = list[:comma], true
	}
	switch {
	case !sound:
		return "", unknown, false
	case hop != "" && f.header == forwarded:
		hop = cmp.Or(forwardedFor(hop), unknown)
	}
	return rest, hop, more
}

// lastOutsideQuotes returns where a separator occurs last outside of quotes, or -1, and whether
// every quotation is finished.
func lastOutsideQuotes(text string, separator byte) (at int, sound bool) {
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

// forwardedFor returns the "for" of one element of a Forwarded header (RFC 7239), unquoted, or ""
// if it has none.
func forwardedFor(element string) string {
	for {
		at, _ := lastOutsideQuotes(element, ';')
		name, value, _ := strings.Cut(strings.TrimSpace(element[at+1:]), "=")
		if strings.EqualFold(name, "for") {
			return strings.Trim(value, `"`)
		}
		if at < 0 {
			return ""
		}
		element = element[:at]
	}
}

// Withheld reports whether the lines of a Forwarded header say that the connection is not the
// visitor's and whose it is stays unknown (RFC 7239, section 6.2), in the last element, which the
// sender itself wrote.
func Withheld(lines []string) bool {
	if len(lines) == 0 {
		return false
	}
	line := lines[len(lines)-1]
	at, sound := lastOutsideQuotes(line, ',')
	return sound && strings.EqualFold(forwardedFor(line[at+1:]), unknown)
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
	return plain(addr)
}
