package main

import (
	"path/filepath"

	"lodestone/crud/mail"
	"lodestone/crud/web"
	"lodestone/pkg/api"
)

// openMailbox returns the mailbox of `lodestone up`, or nil if it has an SMTP server. The mailbox
// keeps the mails that would be sent, and shows them at /dev/mailbox if there are pages for the
// person who started it.
func (c *upCommand) openMailbox(w *app, p *process, site *api.API, private *web.Site) (mail.Mailbox, error) {
	if c.Crud.Mail.Enabled() {
		return nil, nil
	}
	dir := filepath.Join(w.engines.DataDir(), "mailbox")
	m, err := mail.NewFileMailbox(dir)
	if err != nil {
		return nil, err
	}
	if w.dev == nil {
		p.log.Warn("mails are neither sent nor shown: the built-in mailbox serves loopback only; set --smtp-url and --mail-from",
			"directory", dir)
		return m, nil
	}
	w.mailbox = mail.MailboxPath
	pages, err := mail.NewMailboxPages(m, private)
	if err != nil {
		return nil, err
	}
	pages.Register(site)
	return m, nil
}
