package collector

import (
	"net"
	"net/netip"

	"github.com/valyala/fasthttp"

	"lodestone/pkg/clientaddr"
)

const (
	headerXForwardedFor = "x-forwarded-for"
	headerForwarded     = "forwarded"
)

// clientOf returns the address of a request's client, the zero address if it is not known.
func clientOf(ctx *fasthttp.RequestCtx, f *clientaddr.Finder) netip.Addr {
	tcp, ok := ctx.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return f.Find(tcp.AddrPort().Addr(), func(name string) []string {
		lines := ctx.Request.Header.PeekAll(name)
		texts := make([]string, len(lines))
		for i, line := range lines {
			texts[i] = string(line)
		}
		return texts
	})
}
