package test

import (
	"context"

	"github.com/ClickHouse/ch-go"
)

// Dialer returns a function that connects to a server, as stores take one.
func Dialer(o ch.Options) func(context.Context) (*ch.Client, error) {
	return func(ctx context.Context) (*ch.Client, error) { return ch.Dial(ctx, o) }
}
