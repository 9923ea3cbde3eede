package landing

import (
	"slices"
	"strings"

	"lodestone/crud/web"
)

// inboxes are the pages on which large services show the mail of their domains.
var inboxes = []struct {
	name, url string
	domains   []string
}{
	{"Gmail", "https://mail.google.com/", []string{"gmail.com", "googlemail.com"}},
	{"Outlook", "https://outlook.live.com/mail/", []string{"outlook.com", "outlook.de", "outlook.fr", "outlook.es",
		"outlook.it", "hotmail.com", "hotmail.de", "hotmail.fr", "hotmail.es", "hotmail.it", "hotmail.co.uk",
		"live.com", "live.nl", "msn.com"}},
	{"Yahoo Mail", "https://mail.yahoo.com/", []string{"yahoo.com", "yahoo.de", "yahoo.fr", "yahoo.es", "yahoo.it",
		"yahoo.co.uk", "ymail.com"}},
	{"iCloud Mail", "https://www.icloud.com/mail/", []string{"icloud.com", "me.com", "mac.com"}},
	{"Proton Mail", "https://mail.proton.me/", []string{"proton.me", "protonmail.com", "pm.me"}},
	{"GMX", "https://www.gmx.net/", []string{"gmx.de", "gmx.net", "gmx.at", "gmx.ch"}},
	{"WEB.DE", "https://web.de/", []string{"web.de"}},
}

// inboxOf returns the page that shows the mail of an address, or nil if it is not known.
func inboxOf(address string) *web.Action {
	_, domain, _ := strings.Cut(strings.ToLower(address), "@")
	for _, i := range inboxes {
		if slices.Contains(i.domains, domain) {
			return &web.Action{Words: i.name, URL: i.url}
		}
	}
	return nil
}
