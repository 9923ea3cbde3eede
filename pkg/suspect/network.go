package suspect

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"strings"

	"go4.org/netipx"

	"lodestone/pkg/clientaddr"
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
	var networks netipx.IPSetBuilder
	lines := bufio.NewScanner(bytes.NewReader(content))
	for number := 1; lines.Scan(); number++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		network, err := clientaddr.ParseNetwork(text)
		if err != nil {
			return nil, config.Invalid(setting, fmt.Sprintf("is %s, whose line %d has %v", c.File, number, err),
				"write a network such as 192.0.2.0/24, or a single address, on each line")
		}
		networks.AddPrefix(network)
	}
	set, err := networks.IPSet()
	if err = errors.Join(lines.Err(), err); err != nil {
		return nil, config.Invalid(setting, fmt.Sprintf("is %s, which cannot be read: %v", c.File, err),
			"write a network such as 192.0.2.0/24, or a single address, on each line")
	}
	return &Networks{set}, nil
}

// Networks are networks. They are safe for concurrent use.
type Networks struct{ set *netipx.IPSet }

// Has reports whether an address is in one of the networks.
func (n *Networks) Has(addr netip.Addr) bool {
	return n != nil && n.set.Contains(addr.Unmap().WithZone(""))
}

// Rule returns the rule of an address, "" if there is none.
func (n *Networks) Rule(addr netip.Addr) Rule {
	if n.Has(addr) {
		return Network
	}
	return ""
}
