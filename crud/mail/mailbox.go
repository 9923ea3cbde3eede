package mail

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	gomail "github.com/wneessen/go-mail"
)

// Mailbox takes mails in place of an SMTP server.
type Mailbox interface {
	// Deliver keeps one mail. After an error the same mail is delivered again later.
	Deliver(m RenderedMail) error
	// Prune removes the mails that were delivered before a time.
	Prune(before time.Time) error
}

// RenderedMail is a mail as it would be sent.
type RenderedMail struct {
	To     string `json:"to"` // address alone, without a name
	Text   string `json:"text"`
	HTML   string `json:"html"`   // with its pictures in it
	Source []byte `json:"source"` // header and body, as in SMTP
}

// mailboxSender hands mails to a mailbox.
type mailboxSender struct{ mailbox Mailbox }

func (s mailboxSender) send(_ context.Context, _ Kind, m *gomail.Msg) error {
	r := RenderedMail{}
	for _, receiver := range m.GetTo() { // compose sets one
		r.To = receiver.Address
	}
	for _, part := range m.GetParts() {
		content, err := part.GetContent()
		if err != nil {
			return fmt.Errorf("read mail: %w", err)
		}
		if part.GetContentType() == gomail.TypeTextHTML {
			r.HTML = string(content)
		} else {
			r.Text = string(content)
		}
	}
	for _, f := range m.GetEmbeds() {
		var picture bytes.Buffer
		if _, err := f.Writer(&picture); err != nil {
			return fmt.Errorf("read picture of mail: %w", err)
		}
		data := "data:" + string(f.ContentType) + ";base64," + base64.StdEncoding.EncodeToString(picture.Bytes())
		r.HTML = strings.ReplaceAll(r.HTML, "cid:"+strings.Trim(f.Header.Get("Content-Id"), "<>"), data)
	}
	var source bytes.Buffer
	if _, err := m.WriteTo(&source); err != nil {
		return fmt.Errorf("write mail: %w", err)
	}
	r.Source = source.Bytes()
	return s.mailbox.Deliver(r)
}
