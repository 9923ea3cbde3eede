package main

import (
	"context"
	"net"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"lodestone/cmd/lodestone/mcp"
	"lodestone/pkg/certificate"
	"lodestone/pkg/config"
	"lodestone/pkg/httpserver"
)

type mcpCommand struct {
	Data    dataConfig    `embed:""`
	URL     string        `name:"url" placeholder:"URL" help:"Address of the API."`
	APIKey  string        `name:"api-key" placeholder:"KEY" help:"API key with the scopes that the tools need. Secret."`
	Process processConfig `embed:""`
	Listen  string        `name:"mcp-listen" placeholder:"ADDRESS" help:"Serve streamable HTTP at this address, path /mcp, instead of standard input and output. Each request then needs an API key as its bearer token. Without a host, as in :8095, only this machine can connect."`
	Write   bool          `name:"write" help:"Also offer tools that create lead magnets, landing pages and access links. The API key needs the scopes for them."`
}

// Run serves one agent over standard input and output, or any number over HTTP.
func (c *mcpCommand) Run(ctx context.Context) error {
	if c.Listen != "" {
		return c.listen(ctx)
	}
	if c.URL == "" || c.APIKey == "" {
		return config.Invalid("--data", "is "+c.Data.Data+", where no `lodestone up` has been started",
			"start `lodestone up --data "+c.Data.Data+"` first, or give --url and --api-key")
	}
	return mcp.New(mcp.Config{URL: c.URL, Key: c.APIKey, Write: c.Write}, c.deps()).Run(ctx, &sdk.StdioTransport{})
}

func (c *mcpCommand) deps() mcp.Deps {
	return mcp.Deps{HTTP: apiHTTP(), Log: c.Process.logger()}
}

// listen serves HTTP. The key of the data directory is not used: who asks has one.
func (c *mcpCommand) listen(ctx context.Context) error {
	if err := validateAddress("--mcp-listen", c.Listen); err != nil {
		return err
	}
	if c.URL == "" {
		return config.Invalid("--url", "is missing",
			"give the address of the API, or --data with the directory of a `lodestone up`")
	}
	host, port, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	server := mcp.New(mcp.Config{URL: c.URL, Write: c.Write}, c.deps())
	p := newProcess(c.Process)
	p.stack.Add("mcp server", httpserver.New(httpserver.Config{Name: "mcp server", Setting: "--mcp-listen",
		Address: net.JoinHostPort(host, port)},
		httpserver.Deps{Handler: server.Handler(), Log: p.log}))
	return p.run(ctx)
}

// apiHTTP returns what connects to the API.
func apiHTTP() *http.Client { return &http.Client{Transport: certificate.DefaultHTTP()} }
