package collector

import (
	"bytes"
	"net/netip"

	"lodestone/pkg/event"
)

// Countries finds countries of addresses. *country.Database is the one in use.
type Countries interface {
	// Country returns the country of an address, zero if it is not known. It is called from many goroutines and must not block.
	Country(client netip.Addr) event.Country
}

// origin returns what is stored of where a client is from. Neither the address nor the header goes any further.
func (c *Collector) origin(client netip.Addr, acceptLanguage []byte) event.Origin {
	o := event.Origin{Language: firstLanguage(acceptLanguage)}
	if c.deps.Countries != nil {
		o.Country = c.deps.Countries.Country(client)
	}
	return o
}

// firstLanguage returns the language of the first tag of an Accept-Language header, which browsers order by preference, without its
// region, script and variants: "de-AT,de;q=0.9,en;q=0.8" is de. It returns zero if the header does not begin with a language.
func firstLanguage(header []byte) event.Language {
	tag, _, _ := bytes.Cut(header, []byte{','})
	tag, _, _ = bytes.Cut(tag, []byte{';'})
	subtag, _, _ := bytes.Cut(bytes.TrimSpace(tag), []byte{'-'})
	language, _ := event.ParseLanguage(subtag)
	return language
}
