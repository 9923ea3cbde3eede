//go:build !linux

package bench

import "errors"

type clients struct{}

func newClients(loadOptions, *counted) (*clients, error) {
	return nil, errors.New("the load is made by Linux's epoll: measure on Linux")
}

func (*clients) run() error { return nil }

func (*clients) latencies() *Latencies { return &Latencies{} }
