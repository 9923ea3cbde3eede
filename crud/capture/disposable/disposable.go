// Package disposable knows the domains of services that give out mailboxes for a few minutes.
package disposable

import (
	_ "embed" // the list
	"strings"
)

//go:generate go run ./gen

//go:embed domains.txt
var domains string

// Is reports whether mail for a domain, in lower case, goes to such a service: the domain, or one
// that it is below, is on the list.
func Is(domain string) bool {
	for {
		if strings.Contains(domains, "\n"+domain+"\n") {
			return true
		}
		_, above, found := strings.Cut(domain, ".")
		if !found || !strings.Contains(above, ".") {
			return false
		}
		domain = above
	}
}
