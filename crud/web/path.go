package web

// The paths of the pages for visitors, below the address of the site. The packages that serve the
// pages register them with a wildcard for the argument, and whatever leads to a page takes its path
// from here.

// LandingPath is the path of the landing page of a generic link.
func LandingPath(slug string) string { return "/l/" + slug }

// ReadingPath is the path of the reading page of a personal link.
func ReadingPath(token string) string { return "/a/" + token }

// ConfirmPath is the path of the page that a mail leads to, to confirm an address.
func ConfirmPath(link string) string { return "/verify/" + link }

// SentPath is the path of the page that waits for the code of a mail.
func SentPath(page string) string { return "/verify/sent/" + page }
