package suspect

import (
	"bufio"
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"strings"

	"lodestone/pkg/config"
)

// Config is the setting of which networks are data centres'.
type Config struct {
	File string `name:"data-centre-networks" placeholder:"FILE" help:"File of networks of data centres and link scanners: one network or address a line, such as 192.0.2.0/24; # begins a comment. Sessions, forms and views of landing pages from there are marked as suspect (docs/bots.md), and still counted. The file is read when the process starts. Default: none."`
}

const setting = "--data-centre-networks"

// Validate returns the problem of the setting, if it has one.
func (c Config) Validate() error {
	_, err := c.Open()
	return err
}

// Open reads the file, nil if there is none: no address is in it. Its error names the setting.
func (c Config) Open() (*Networks, error) {
	if c.File == "" {
		return nil, nil
	}
	content, err := os.ReadFile(c.File)
	if err != nil {
		return nil, config.Invalid(setting, fmt.Sprintf("cannot be read: %v", err),
			"give the path of a file with a network a line, or leave the setting out")
	}
	n := &Networks{}
	lines := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := parse(text)
		if err != nil {
			return nil, config.Invalid(setting, fmt.Sprintf("is %s, whose line %d is no network: %v", c.File, number, err),
				"write a network such as 192.0.2.0/24, or a single address, on each line")
		}
		n.ranges = append(n.ranges, addressRange{network.Addr(), last(network)})
	}
	if err := lines.Err(); err != nil {
		return nil, config.Invalid(setting, fmt.Sprintf("is %s, which cannot be read: %v", c.File, err),
			"write a network such as 192.0.2.0/24, or a single address, on each line")
	}
	n.join()
	return n, nil
}

func parse(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		addr = addr.Unmap().WithZone("")
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	return network.Masked(), err
}

// last returns the last address of a network.
func last(network netip.Prefix) netip.Addr {
	bytes := network.Addr().AsSlice()
	for bit := network.Bits(); bit < len(bytes)*8; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	addr, _ := netip.AddrFromSlice(bytes) // it has the length of an address
	return addr
}

// Networks are networks. They are safe for concurrent use.
type Networks struct{ ranges []addressRange }

type addressRange struct{ first, last netip.Addr }

// join sorts the ranges, and makes those that overlap one.
func (n *Networks) join() {
	slices.SortFunc(n.ranges, func(a, b addressRange) int { return a.first.Compare(b.first) })
	joined := n.ranges[:0]
	for _, r := range n.ranges {
		if i := len(joined) - 1; i >= 0 && r.first.Compare(joined[i].last) <= 0 {
			if r.last.Compare(joined[i].last) > 0 {
				joined[i].last = r.last
			}
			continue
		}
		joined = append(joined, r)
	}
	n.ranges = joined
}

// Has reports whether an address is in one of the networks.
func (n *Networks) Has(addr netip.Addr) bool {
	if n == nil || !addr.IsValid() {
		return false
	}
	addr = addr.Unmap().WithZone("")
	at, found := slices.BinarySearchFunc(n.ranges, addr, func(r addressRange, a netip.Addr) int {
		return r.first.Compare(a)
	})
	return found || at > 0 && addr.Compare(n.ranges[at-1].last) <= 0
}

// Rule returns the rule of an address, "" if there is none.
func (n *Networks) Rule(addr netip.Addr) Rule {
	if n.Has(addr) {
		return Network
	}
	return ""
}
