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
// shown at /dev/mailbox, to whoever sits at this machine. It returns the address of that page, or "".
func (c *upCommand) addMailbox(ctx context.Context, p *process, site *api.API, dir string) (string, error) {
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
	return "http://" + visible(c.Site.Listen) + mailbox.Path, m.Register(site, c.Crud.PublicURL, p.log)
}

// mailboxPath returns the path of the mailbox's page, if there is one.
func mailboxPath(url string) string {
	if url == "" {
		return ""
	}
	return mailbox.Path
}
