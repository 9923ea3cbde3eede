package link

import (
	"net/url"
	"strings"
)

// Campaign is the parameters that say where a visitor comes from. Nil ones are left out.
type Campaign struct {
	Source  *string `query:"utm_source" minLength:"1" maxLength:"200" doc:"utm_source of the address in the code."`
	Medium  *string `query:"utm_medium" minLength:"1" maxLength:"200" doc:"utm_medium of the address in the code."`
	Name    *string `query:"utm_campaign" minLength:"1" maxLength:"200" doc:"utm_campaign of the address in the code."`
	Content *string `query:"utm_content" minLength:"1" maxLength:"200" doc:"utm_content of the address in the code."`
	Term    *string `query:"utm_term" minLength:"1" maxLength:"200" doc:"utm_term of the address in the code."`
}

// Add returns an address that has no query with the parameters, in the order in which people write
// them.
func (c Campaign) Add(address string) string {
	var query []string
	for _, p := range []struct {
		name  string
		value *string
	}{{"utm_source", c.Source}, {"utm_medium", c.Medium}, {"utm_campaign", c.Name},
		{"utm_content", c.Content}, {"utm_term", c.Term}} {
		if p.value != nil {
			query = append(query, p.name+"="+url.QueryEscape(*p.value))
		}
	}
	if len(query) == 0 {
		return address
	}
	return address + "?" + strings.Join(query, "&")
}
