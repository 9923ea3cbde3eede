package home

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"lodestone/pkg/chart"
	"lodestone/pkg/store"
	"lodestone/query/live"
)

const (
	// shown is how many rows the list has.
	shown = 20
	// maxCells is the number of pages that a strip of cells shows, as on the dashboard's live screen.
	maxCells = 40
)

// row is a row of the list: a reading session, or a form whose document was not opened yet.
type row struct {
	ID     string // of the session or the form
	At     time.Time
	Who    string // an address; "": its link is deleted
	Reader string // path of the dashboard's screen of the reader; "": there is none
	Title  string // of the document
	Magnet string // path of the dashboard's screen of the document; "": there is none
	Kind   string // asked, opened, read or finished
	Facts  string // 5 of 12 pages · 9.7 s · downloaded
	Cells  []bool // of each page: whether it was read
	Bot    bool   // a program did it
}

// known is what Postgres has of the newest rows.
type known struct {
	sessions []store.NewestSessionsRow
	forms    []store.NewestUnopenedRow
}

// equal reports whether the same is known.
func (k known) equal(other known) bool {
	return slices.EqualFunc(k.sessions, other.sessions, func(a, b store.NewestSessionsRow) bool { return a.ID == b.ID }) &&
		slices.EqualFunc(k.forms, other.forms, func(a, b store.NewestUnopenedRow) bool {
			return a.ID == b.ID && slices.Equal(a.AccessLinkIDs, b.AccessLinkIDs)
		})
}

// known reads the newest sessions and forms.
func (h *Home) known(ctx context.Context) (k known, err error) {
	err = h.deps.Postgres.AccountSnapshot(ctx, h.deps.Account, func(tx pgx.Tx) (err error) {
		q := store.New(tx)
		if k.sessions, err = q.NewestSessions(ctx, shown); err != nil {
			return err
		}
		k.forms, err = q.NewestUnopened(ctx, shown)
		return err
	})
	if err != nil {
		return known{}, fmt.Errorf("read sessions and forms: %w", err)
	}
	return k, nil
}

// rows returns the list, the newest first: in the order in which they began, so that none moves while someone reads.
func (h *Home) rows(ctx context.Context, k known) ([]row, error) {
	visits, err := h.visits(ctx, k)
	if err != nil {
		return nil, err
	}
	d, err := h.details(ctx, visits)
	if err != nil {
		return nil, err
	}
	opened := map[uuid.UUID]bool{}
	var list []row
	for i := range visits {
		opened[visits[i].AccessLinkID] = true
		list = append(list, h.row(&visits[i], d))
	}
	for _, f := range k.forms {
		if slices.ContainsFunc(f.AccessLinkIDs, func(id uuid.UUID) bool { return opened[id] }) {
			continue // an event was sent without the page for reading
		}
		r := row{ID: f.ID.String(), At: f.SubmittedAt.UTC(), Who: f.Email, Title: f.Title, Kind: "asked", Facts: "asked for the document", Magnet: h.screen("magnets", f.LeadMagnetID)}
		if len(f.AccessLinkIDs) > 0 {
			r.Reader = h.screen("readers", f.AccessLinkIDs[0])
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b row) int { return b.At.Compare(a.At) })
	return list[:min(shown, len(list))], nil
}

// visits returns the newest visits: those of ClickHouse, which has what was read, and the sessions in which nothing was read yet.
func (h *Home) visits(ctx context.Context, k known) ([]live.Visit, error) {
	since := time.Now()
	ids := make([]uuid.UUID, len(k.sessions))
	for i, s := range k.sessions {
		ids[i] = s.ID
		if s.StartedAt.Before(since) {
			since = s.StartedAt
		}
	}
	visits, err := h.deps.Live.Visits(ctx, h.deps.Account, shown, ids, since)
	if err != nil {
		return nil, err
	}
	at := map[uuid.UUID]int{}
	for i := range visits {
		at[visits[i].ID] = i
	}
	for _, s := range k.sessions {
		if i, read := at[s.ID]; read {
			visits[i].Begun = s.StartedAt.UTC()
			continue
		}
		visits = append(visits, live.Visit{ID: s.ID, AccessLinkID: s.AccessLinkID, Version: int(s.MagnetVersion), Begun: s.StartedAt.UTC()})
	}
	return visits, nil
}

// version is one of a document.
type version struct {
	magnet uuid.UUID
	number int
}

// details are what visits name only by ids.
type details struct {
	readers map[uuid.UUID]store.ReadersOfRow
	pages   map[version]int
}

func (h *Home) details(ctx context.Context, visits []live.Visit) (details, error) {
	d := details{map[uuid.UUID]store.ReadersOfRow{}, map[version]int{}}
	var links, magnets []uuid.UUID
	for i := range visits {
		links, magnets = append(links, visits[i].AccessLinkID), append(magnets, visits[i].LeadMagnetID)
	}
	err := h.deps.Postgres.AccountSnapshot(ctx, h.deps.Account, func(tx pgx.Tx) error {
		q := store.New(tx)
		readers, err := q.ReadersOf(ctx, links)
		if err != nil {
			return err
		}
		for _, r := range readers {
			d.readers[r.ID] = r
			magnets = append(magnets, r.LeadMagnetID)
		}
		counts, err := q.PageCountsOf(ctx, magnets)
		for _, c := range counts {
			d.pages[version{c.LeadMagnetID, int(c.Version)}] = int(c.PageCount)
		}
		return err
	})
	if err != nil {
		return details{}, fmt.Errorf("read readers and documents: %w", err)
	}
	return d, nil
}

// row returns a visit as a row.
func (h *Home) row(v *live.Visit, d details) row {
	r := row{ID: v.ID.String(), At: v.Begun, Bot: v.Bot}
	magnet, number := v.LeadMagnetID, v.Version
	if reader, ok := d.readers[v.AccessLinkID]; ok {
		magnet = reader.LeadMagnetID
		r.Who, r.Title, r.Reader, r.Magnet = reader.Email, reader.Title, h.screen("readers", reader.ID), h.screen("magnets", magnet)
		if number == 0 {
			number = int(reader.FileVersion)
		}
	}
	r.read(v, d.pages[version{magnet, number}])
	return r
}

// read sets what was read of a document with a number of pages; 0: it is not known.
func (r *row) read(v *live.Visit, pages int) {
	var facts []string
	r.Kind = "opened"
	switch n := len(v.Pages); {
	case n == 0 && v.ReadingMS == 0:
		facts = append(facts, "opened")
	case pages == 0:
		r.Kind = "read"
		facts = append(facts, plural(max(n, 1), "page"))
	default:
		r.Kind = "read"
		facts = append(facts, fmt.Sprintf("%d of %s", n, plural(pages, "page")))
	}
	if v.ReadingMS > 0 {
		facts = append(facts, chart.Time(float64(v.ReadingMS)))
	}
	if pages > 0 && slices.Contains(v.Pages, uint32(pages)) {
		r.Kind = "finished"
		facts = append(facts, "to the end")
	}
	switch {
	case v.Downloads > 0:
		facts = append(facts, "downloaded")
	case v.Started > 0:
		facts = append(facts, "download started")
	}
	r.Facts = strings.Join(facts, " · ")
	if pages > maxCells {
		return
	}
	r.Cells = make([]bool, pages)
	for _, p := range v.Pages {
		if p >= 1 && int(p) <= pages {
			r.Cells[p-1] = true
		}
	}
}

// screen returns the path of a screen of the dashboard; "" without an id.
func (h *Home) screen(name string, id uuid.UUID) string {
	if id == uuid.Nil {
		return ""
	}
	return h.deps.Pages.Path("/dashboard/" + name + "/" + id.String())
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
