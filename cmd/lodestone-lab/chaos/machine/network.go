package machine

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

// Network is the connections between processes. Each goes through a proxy of its own, named
// FROM-TO, that can disturb it.
type Network struct {
	server *toxiproxy.ApiServer

	mu      sync.Mutex
	proxies map[string]*toxiproxy.Proxy
}

// Toxic is one way to disturb a connection. Attributes are toxiproxy's.
type Toxic struct {
	Kind       string
	Answers    bool // spoils what comes back, not what is sent
	Attributes map[string]int64
}

// NewNetwork returns a network without connections.
func NewNetwork() *Network {
	zerolog.SetGlobalLevel(zerolog.Disabled) // some of it goes past the logger that it is given
	return &Network{
		server:  toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop()),
		proxies: map[string]*toxiproxy.Proxy{},
	}
}

// Add starts a proxy and returns the address that it listens on.
func (n *Network) Add(name, upstream string) (string, error) {
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

// Address returns the address that the proxy of a name listens on.
func (n *Network) Address(name string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.proxies[name].Listen
}

// Names returns the proxies that begin with one of the prefixes, sorted.
func (n *Network) Names(prefixes ...string) []string {
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

// Disturb adds the toxic to the proxies, until Heal.
func (n *Network) Disturb(names []string, t Toxic) error {
	stream := "upstream"
	if t.Answers {
		stream = "downstream"
	}
	text, err := json.Marshal(map[string]any{"name": t.Kind + "-" + stream, "type": t.Kind, "stream": stream,
		"attributes": t.Attributes})
	if err != nil {
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		if _, err := n.proxies[name].Toxics.AddToxicJson(bytes.NewReader(text)); err != nil {
			return fmt.Errorf("disturb %s: %w", name, err)
		}
	}
	return nil
}

// Heal removes every toxic. A connection that a toxic held up is closed by that.
func (n *Network) Heal(ctx context.Context) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.proxies {
		p.Toxics.ResetToxics(ctx)
	}
}

// Stop ends every connection.
func (n *Network) Stop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, p := range n.proxies {
		p.Stop()
	}
}
