package history

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/crud/accesslink"
	"lodestone/pkg/email"
	"lodestone/pkg/event"
	"lodestone/pkg/store"
)

// ids are those of what happens. They differ from run to run of one seed, so that nothing of two runs is one.
type ids struct {
	offer
	submissions map[*submission]uuid.UUID
	links       map[*link]uuid.UUID
	sessions    map[*session]uuid.UUID
}

// idAt returns an id as it would have been created at a time: those of later things are greater.
func idAt(at time.Time) (uuid.UUID, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return id, fmt.Errorf("make id: %w", err)
	}
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id, nil
}

// number gives an id to everything that Postgres has of the plan.
func number(p *plan, o offer) (ids, error) {
	n := ids{o, map[*submission]uuid.UUID{}, map[*link]uuid.UUID{}, map[*session]uuid.UUID{}}
	var err error
	for _, s := range p.submissions {
		if n.submissions[s], err = idAt(s.at); err != nil {
			return n, err
		}
	}
	for _, l := range p.links {
		if n.links[l], err = idAt(l.at); err != nil {
			return n, err
		}
	}
	for _, s := range p.sessions {
		if n.sessions[s], err = idAt(s.at); err != nil {
			return n, err
		}
	}
	return n, nil
}

// landing returns the id of a link's landing page, zero if it has none.
func (n *ids) landing(l *link) uuid.UUID {
	if l.landing == noLanding {
		return uuid.Nil
	}
	return n.landings[l.landing]
}

// writeRows writes what Postgres has of the plan, all of it or nothing. No mail or webhook follows from it: those come from the
// transactions of forms and openings, not from the rows.
func (h *History) writeRows(ctx context.Context, p *plan, n *ids) error {
	links, err := h.linkRows(p, n)
	if err != nil {
		return err
	}
	submissions, err := h.submissionRows(p, n)
	if err != nil {
		return err
	}
	err = h.deps.Postgres.Account(ctx, h.cfg.Account, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := h.backdate(ctx, q, p, n); err != nil {
			return err
		}
		if err := q.AddPastSubmissions(ctx, submissions); err != nil {
			return fmt.Errorf("add submissions: %w", err)
		}
		if err := q.AddPastAccessLinks(ctx, links); err != nil {
			return fmt.Errorf("add access links: %w", err)
		}
		if err := q.AddPastSessions(ctx, h.sessionRows(p, n)); err != nil {
			return fmt.Errorf("add sessions: %w", err)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write the past to Postgres: %w", err)
	}
	return nil
}

// backdate gives what the API created just now the times that the plan has for it. That nothing is found says that Postgres is not the API's.
func (h *History) backdate(ctx context.Context, q *store.Queries, p *plan, n *ids) error {
	for document, out := range p.out {
		found, err := q.BackdateMagnet(ctx, store.BackdateMagnetParams{ID: n.magnets[document], CreatedAt: out[0], UpdatedAt: out[len(out)-1]})
		if err != nil {
			return fmt.Errorf("backdate a lead magnet: %w", err)
		}
		if found != 1 {
			return errForeign("--postgres-url", "is not the API's")
		}
		for i, at := range out {
			if _, err := q.BackdateFile(ctx, store.BackdateFileParams{LeadMagnetID: n.magnets[document], Version: int32(i + 1), CreatedAt: at}); err != nil {
				return fmt.Errorf("backdate a file: %w", err)
			}
		}
	}
	var forms [landings]int64
	for _, s := range p.submissions {
		forms[s.landing]++
	}
	for landing, id := range n.landings {
		out := p.out[documentOf[landing]][0]
		if _, err := q.BackdateLink(ctx, store.BackdateLinkParams{ID: id, CreatedAt: out, UpdatedAt: out, Submissions: forms[landing]}); err != nil {
			return fmt.Errorf("backdate a generic link: %w", err)
		}
	}
	return nil
}

func (h *History) submissionRows(p *plan, n *ids) (rows store.AddPastSubmissionsParams, err error) {
	rows.AccountID = h.cfg.Account
	for _, s := range p.submissions {
		c := &campaigns[s.campaign]
		utm := ""
		if values := c.parameters(); len(values) > 0 {
			text, err := json.Marshal(values)
			if err != nil {
				return rows, fmt.Errorf("encode parameters: %w", err)
			}
			utm = string(text)
		}
		agreed := ""
		if s.landing == fromSite {
			agreed = consent
		}
		rows.IDs, rows.Links = append(rows.IDs, n.submissions[s]), append(rows.Links, n.landings[s.landing])
		rows.Emails, rows.EmailKeys = append(rows.Emails, s.person.email), append(rows.EmailKeys, email.Key(s.person.email))
		rows.Required, rows.Verified = append(rows.Required, s.landing == fromWebinar), append(rows.Verified, s.verifiedAt)
		rows.Submitted, rows.Sources = append(rows.Submitted, s.at), append(rows.Sources, utm)
		rows.Referrers, rows.Consents = append(rows.Referrers, c.referrer), append(rows.Consents, agreed)
	}
	return rows, nil
}

func (h *History) linkRows(p *plan, n *ids) (rows store.AddPastAccessLinksParams, err error) {
	rows.AccountID = h.cfg.Account
	opened := map[*link]int32{}
	for _, s := range p.sessions {
		if !s.isScan() {
			opened[s.link]++
		}
	}
	for _, l := range p.links {
		t, err := accesslink.NewToken(h.deps.Tokens, n.links[l])
		if err != nil {
			return rows, err
		}
		rows.TokenKey = t.Key
		rows.IDs, rows.Magnets, rows.Links = append(rows.IDs, n.links[l]), append(rows.Magnets, n.magnets[l.document]), append(rows.Links, n.landing(l))
		rows.Submissions = append(rows.Submissions, n.submissions[l.submission])
		rows.Emails, rows.EmailKeys = append(rows.Emails, l.person.email), append(rows.EmailKeys, email.Key(l.person.email))
		rows.Hashes, rows.Sealed = append(rows.Hashes, t.Hash), append(rows.Sealed, t.Sealed)
		rows.Sources, rows.Verified = append(rows.Sources, l.source), append(rows.Verified, l.landing == fromWebinar)
		rows.Opened, rows.Created = append(rows.Opened, opened[l]), append(rows.Created, l.at)
	}
	return rows, nil
}

func (h *History) sessionRows(p *plan, n *ids) (rows store.AddPastSessionsParams) {
	rows.AccountID = h.cfg.Account
	for _, s := range p.sessions {
		if s.isScan() {
			continue
		}
		var seen []int
		var spent time.Duration
		last := s.at
		for _, a := range s.events {
			if a.at.After(last) {
				last = a.at
			}
			if spent += a.duration; a.kind == event.PageViewed && !slices.Contains(seen, a.page) {
				seen = append(seen, a.page)
			}
		}
		slices.Sort(seen)
		texts := make([]string, len(seen))
		for i, page := range seen {
			texts[i] = strconv.Itoa(page)
		}
		rows.IDs, rows.Links, rows.Versions = append(rows.IDs, n.sessions[s]), append(rows.Links, n.links[s.link]), append(rows.Versions, int32(s.version))
		rows.Started, rows.Last = append(rows.Started, s.at), append(rows.Last, last)
		rows.Pages, rows.Durations = append(rows.Pages, "{"+strings.Join(texts, ",")+"}"), append(rows.Durations, spent.Milliseconds())
	}
	return rows
}

// parameters are those of a campaign's links.
func (c *campaign) parameters() map[string]string {
	values := map[string]string{
		"utm_source": c.source, "utm_medium": c.medium, "utm_campaign": c.name, "utm_content": c.content, "utm_term": c.term,
	}
	for name, value := range values {
		if value == "" {
			delete(values, name)
		}
	}
	return values
}
