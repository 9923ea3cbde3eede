package capture

import (
	_ "embed" // the list
	"strings"
)

//go:generate go run disposable_gen.go

// disposableDomains are those of services that give out mailboxes for a few minutes.
//
//go:embed disposable/domains.txt
var disposableDomains string

// isDisposable reports whether mail for a domain, in lower case, goes to such a service: the
// domain, or one that it is below, is on the list.
func isDisposable(domain string) bool {
	for {
		if strings.Contains(disposableDomains, "\n"+domain+"\n") {
			return true
		}
		_, above, found := strings.Cut(domain, ".")
		if !found || !strings.Contains(above, ".") {
			return false
		}
		domain = above
	}
}
