package collector

import (
	"net/netip"

	"github.com/valyala/fasthttp"

	"lodestone/pkg/event"
)

// Countries finds countries of addresses. *country.Database is the one in use.
type Countries interface {
	// Country returns the country of an address, zero if it is not known, also for the zero address.
	// It is called from many goroutines and must not block.
	Country(client netip.Addr) event.Country
}

// headerCountry is how a server that sends its visitors' events states the country that it found.
var headerCountry = []byte(event.CountryHeader)

// origin returns what is stored of where a client is from. Neither the address nor a header goes
// any further.
//
// Where the address is withheld, the sender's word is taken for the country, as it is for the user
// agent. A collector that stores no countries takes none.
func (c *Collector) origin(client netip.Addr, withheld bool, h *fasthttp.RequestHeader) event.Origin {
	o := event.Origin{Language: event.FirstLanguage(h.PeekCanonical(headerAcceptLanguage))}
	switch {
	case c.deps.Countries == nil:
	case !withheld:
		o.Country = c.deps.Countries.Country(client)
	default:
		o.Country, _ = event.ParseCountry(string(h.PeekCanonical(headerCountry)))
	}
	return o
}
