// Package dialguard keeps connections to URLs that others chose away from this installation's own
// network. It judges the address that is about to be dialled, after names were resolved: so neither
// a name that points inwards, nor one that changes between two look-ups, nor a redirect gets
// through.
package dialguard

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"

	"code.dny.dev/ssrf"
)

// Guard decides which addresses may be dialled. It is safe for concurrent use.
type Guard struct {
	allowed []netip.Prefix
	public  *ssrf.Guardian
}

// extra are addresses that look public and are not: the platform services of Azure, which every
// machine there reaches under this one.
var extra = []netip.Prefix{netip.MustParsePrefix("168.63.129.16/32")}

// nat64 holds an IPv4 address in its last four bytes (RFC 6052), which a gateway dials. Where names
// are resolved by DNS64, every host without IPv6 has such an address.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// New returns a guard that lets through the public internet, and the networks given. Everything in
// the IANA registries of special addresses is refused: loopback, private, link-local (where clouds
// have their metadata), carrier-grade NAT, multicast, unspecified, unique local, 6to4, Teredo and
// so on.
func New(allowed ...netip.Prefix) *Guard {
	return &Guard{allowed, ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(extra...))}
}

// Allows reports whether an address is in one of the networks that were given.
func (g *Guard) Allows(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, p := range g.allowed {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// Check returns nil for an address that may be dialled, else an error that IsRefused reports.
func (g *Guard) Check(a netip.Addr) error {
	if g.Allows(a) {
		return nil
	}
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
		if g.Allows(a) {
			return nil
		}
	}
	// An address with a zone is local to a link.
	if !a.IsValid() || a.Zone() != "" || g.public.SafeAddr(a) != nil {
		return errRefused
	}
	return nil
}

var errRefused = errors.New("the host has an address that is not on the public internet")

// IsRefused reports whether an error says that a guard let nothing be dialled.
func IsRefused(err error) bool { return errors.Is(err, errRefused) || errors.Is(err, errPlain) }

// control is the Control of a net.Dialer: it sees each address right before it is dialled.
func (g *Guard) control(network, address string, _ syscall.RawConn) error {
	if !strings.HasPrefix(network, "tcp") {
		return errRefused
	}
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("%w: no address", errRefused)
	}
	return g.Check(to.Addr())
}
