package main

import (
	"crypto/rand"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"

	"lodestone/crud/web"
)

// devPages are the mailbox of `lodestone up`, for the person who started it. Its mails have links
// that open documents. So it exists only where only this machine is served, and needs a secret.
type devPages struct {
	secret string
	cookie string
}

// devSecretFile, in the data directory, keeps the secret over restarts.
const devSecretFile = "dev-secret"

// newDevPages returns the pages of a data directory. The cookie is named by the port of the site:
// cookies know hosts only, and several `lodestone up` may run on one.
func newDevPages(dir, listen string) (*devPages, error) {
	secret, err := readOrMake(filepath.Join(dir, devSecretFile), func() (string, error) { return rand.Text(), nil })
	if err != nil {
		return nil, err
	}
	_, port, err := net.SplitHostPort(listen)
	if err != nil {
		return nil, err
	}
	return &devPages{secret: secret, cookie: "lodestone_dev_" + port}, nil
}

// site returns the frame of the pages, which are private.
func (d *devPages) site(url string, log *slog.Logger) (*web.Site, error) {
	return web.New(web.Deps{Site: url, Log: log, Secret: d.secret, Cookie: d.cookie})
}

// address returns that of a page, with the secret that a browser has to show once.
func (d *devPages) address(site, path string) string {
	return site + path + "?" + url.Values{"secret": {d.secret}}.Encode()
}
