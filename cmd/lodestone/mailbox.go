package main

import (
	"context"
	"path/filepath"

	"lodestone/crud/mailbox"
	"lodestone/pkg/api"
)

// mailboxSender is whom the mails of `lodestone up` come from.
const mailboxSender = "Lodestone <lodestone@localhost>"

// addMailbox gives `lodestone up` a mailbox of its own, unless it has an SMTP server: what would be sent is
// kept, and shown at /dev/mailbox if there are pages for the person who started it. It returns the path of that page, or "".
func (c *upCommand) addMailbox(ctx context.Context, p *process, site *api.API, dir string, dev *devPages) (string, error) {
	if c.Crud.Mail.Enabled() {
		return "", nil
	}
	m, err := mailbox.New(ctx, filepath.Join(dir, "mailbox"), p.log)
	if err != nil {
		return "", err
	}
	c.Crud.Mail.URL = m.URL()
	if c.Crud.Mail.From == "" {
		c.Crud.Mail.From = mailboxSender
	}
	p.stack.Add("mailbox", m)
	if dev == nil {
		p.log.Warn("mails are not sent and not shown: there is no SMTP server, and the mailbox is only for a site that this machine alone uses; give --smtp-url and --mail-from",
			"directory", filepath.Join(dir, "mailbox"))
		return "", nil
	}
	return mailbox.Path, m.Register(site, c.Crud.PublicURL, dev.private, p.log)
}
