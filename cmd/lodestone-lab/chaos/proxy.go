package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// network is every connection between two processes that the runner can spoil: each goes through
// a proxy of its own, named FROM-TO.
type network struct {
	server *toxiproxy.ApiServer

	mu      sync.Mutex
	proxies map[string]*toxiproxy.Proxy
}

// toxic is one way to spoil a connection; attributes are toxiproxy's.
type toxic struct {
	kind       string
	answers    bool // spoils what comes back, not what is sent
	attributes map[string]int64
}

func newNetwork() *network {
	zerolog.SetGlobalLevel(zerolog.Disabled) // some of it goes past the logger that it is given
	return &network{
		server:  toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop()),
		proxies: map[string]*toxiproxy.Proxy{},
	}
}

// add starts a proxy and returns the address that it listens on.
func (n *network) add(name, upstream string) (string, error) {
	p := toxiproxy.NewProxy(n.server, name, "127.0.0.1:0", upstream)
	if err := p.Start(); err != nil {
		return "", fmt.Errorf("start proxy %s: %w", name, err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if before := n.proxies[name]; before != nil {
		before.Stop()
	}
	n.proxies[name] = p
	return p.Listen, nil
}

// names returns the proxies that begin with one of the prefixes, sorted.
func (n *network) names(prefixes ...string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var names []string
	for name := range n.proxies {
		if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) }) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// spoil adds the toxic to the proxies, until heal.
func (n *network) spoil(names []string, t toxic) error {
	stream := "upstream"
	if t.answers {
		stream = "downstream"
	}
	text, err := json.Marshal(map[string]any{"name": t.kind + "-" + stream, "type": t.kind, "stream": stream, "attributes": t.attributes})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		if _, err := n.proxies[name].Toxics.AddToxicJson(bytes.NewReader(text)); err != nil {
			return fmt.Errorf("spoil %s: %w", name, err)
		}
	}
	return nil
}

// heal removes every toxic. A connection that a toxic held up is closed by that.
func (n *network) heal(ctx context.Context) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.proxies {
		p.Toxics.ResetToxics(ctx)
	}
}

func (n *network) stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.proxies {
		p.Stop()
	}
}
