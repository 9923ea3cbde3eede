package gate

import (
	"slices"
	"strings"

	"lodestone/pkg/email"
	"lodestone/pkg/store"
)

// normalList returns entries as they are stored, each once, and the indices of those that are
// neither an address nor a domain.
func normalList(list []string) (kept []string, bad []int) {
	kept = []string{}
	for i, text := range list {
		entry, ok := normal(text)
		switch {
		case !ok:
			bad = append(bad, i)
		case !slices.Contains(kept, entry):
			kept = append(kept, entry)
		}
	}
	return kept, bad
}

// normal returns an address or a domain, which may begin with an @, as keys of addresses have it.
func normal(text string) (string, bool) {
	const anyone = "x@"
	text = strings.TrimPrefix(strings.TrimSpace(text), "@")
	if strings.Contains(text, "@") {
		a, err := email.Parse(text)
		return a.Key, err == nil
	}
	a, err := email.Parse(anyone + text)
	domain, ok := strings.CutPrefix(a.Key, anyone)
	return domain, ok && err == nil
}

// matches reports whether an entry of a list is an address, or stands for it: an address for its
// mailbox, and a domain for those below it.
func matches(entry string, a email.Address) bool {
	if strings.Contains(entry, "@") {
		return email.Address{Key: entry}.Mailbox() == a.Mailbox()
	}
	domain := a.Key[strings.LastIndexByte(a.Key, '@')+1:]
	return domain == entry || strings.HasSuffix(domain, "."+entry)
}

// Refuses returns why the form of a link does not take an address, as a key of the catalogue; "" if
// it does.
func Refuses(link store.GenericLink, a email.Address) string {
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(entry string) bool { return matches(entry, a) })
	}
	switch {
	case has(link.BlockedEmails):
		return "wrong.email.refused"
	case len(link.AllowedEmails) == 0 || has(link.AllowedEmails):
		return ""
	case Domains(link) != "":
		return "wrong.email.domains"
	default:
		return "wrong.email.refused"
	}
}

// maxNamed is how many domains a message names.
const maxNamed = 3

// Domains names the domains whose people a link is for; "" if it is for single people as well, whom
// no one else is to know, or for too many to name.
func Domains(link store.GenericLink) string {
	isAddress := func(entry string) bool { return strings.Contains(entry, "@") }
	if len(link.AllowedEmails) > maxNamed || slices.ContainsFunc(link.AllowedEmails, isAddress) {
		return ""
	}
	return strings.Join(link.AllowedEmails, ", ")
}
