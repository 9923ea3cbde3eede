package person

import (
	"context"
	"fmt"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/mail"
	"lodestone/pkg/api"
	"lodestone/pkg/email"
	"lodestone/pkg/idempotency"
	"lodestone/pkg/store"
)

// readWaiting adds to a document what waits to be sent about an address and its access links.
func (p *Persons) readWaiting(ctx context.Context, tx pgx.Tx, address email.Address, links []uuid.UUID, d *PersonDocument) error {
	d.Mails, d.Chats, d.Notices = []PersonMail{}, []PersonChatMessage{}, []PersonNotice{}
	mails, err := p.deps.Mails.About(ctx, tx, address.Key)
	if err != nil {
		return err
	}
	for i := range mails {
		d.Mails = append(d.Mails, mailOf(&mails[i]))
	}
	chats, err := p.deps.Chats.About(ctx, tx, address.Key)
	if err != nil {
		return err
	}
	for _, m := range chats {
		d.Chats = append(d.Chats, PersonChatMessage{m.Channel, m.State, api.TimeOf(m.At), m.Text})
	}
	notices, err := store.New(tx).NoticesOfPerson(ctx, links)
	if err != nil {
		return fmt.Errorf("read notices: %w", err)
	}
	for _, n := range notices {
		news := make([]mail.News, len(n.News))
		for i, kind := range n.News {
			news[i] = mail.News(kind)
		}
		d.Notices = append(d.Notices, PersonNotice{n.SessionID, n.AccessLinkID, news, n.Send, api.TimeOf(n.RecordedAt), api.OptionalTime(n.SettledAt)})
	}
	return nil
}

func mailOf(m *mail.Kept) PersonMail {
	shown := PersonMail{Kind: string(m.Kind), State: m.State, CreatedAt: api.TimeOf(m.At), To: m.To, Title: orNull(m.Title), Leads: []PersonMailLead{}, Readings: []PersonReading{}}
	if m.Leads != nil {
		for _, l := range m.Leads.List {
			shown.Leads = append(shown.Leads, PersonMailLead{l.Email, orNull(l.Name), l.Link, orNull(l.Source), orNull(l.Campaign), api.TimeOf(l.SubmittedAt)})
		}
	}
	if m.Readings != nil {
		for _, r := range m.Readings.List {
			shown.Readings = append(shown.Readings, PersonReading{r.Email, r.Title, r.News, r.Pages, r.Duration.Milliseconds(), api.TimeOf(r.StartedAt)})
		}
	}
	return shown
}

func keysOf(named []idempotency.Named) []PersonKey {
	list := []PersonKey{}
	for _, n := range named {
		list = append(list, PersonKey{n.Operation, n.Key, api.TimeOf(n.At)})
	}
	return list
}
