// Package home is the first page of `lodestone up`: where everything is, the numbers of the day, and who reads in the demo account
// while one looks on. It needs the secret of the data directory.
package home

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"lodestone/crud/page"
	"lodestone/pkg/api"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/query/live"
	"lodestone/query/report"
)

//go:embed web
var web embed.FS

// LivePath is where what happens is a stream.
const LivePath = "/dev/live"

// Deps are the dependencies of the page. All except Mailbox are required.
type Deps struct {
	Pages    *page.Site // private: the page shows who reads what
	Account  uuid.UUID
	Postgres *postgres.Pool
	Live     *live.Live
	Reports  *report.Reporter
	Sample   func() uuid.UUID // the generic link to show first; any other of the account if it is not there
	Mailbox  string           // path of the mailbox; "": mails are sent
}

// Home is the page. It is safe for concurrent use.
type Home struct {
	deps     Deps
	template *page.Template
	parts    *template.Template // of the same file: what the stream sends
}

// New returns the page.
func New(d Deps) (*Home, error) {
	files, err := fs.Sub(web, "web")
	if err != nil {
		return nil, fmt.Errorf("read the first page: %w", err)
	}
	whole, err := d.Pages.Parse(files, "home.html", "home.css")
	if err != nil {
		return nil, err
	}
	parts, err := template.ParseFS(files, "home.html")
	if err != nil {
		return nil, fmt.Errorf("parse the first page: %w", err)
	}
	return &Home{deps: d, template: whole, parts: parts}, nil
}

// Register mounts the page at "/", and the stream that it reads while it is open.
func (h *Home) Register(a *api.API) {
	h.deps.Pages.Mount(a, "GET /{$}", h.show)
	h.deps.Pages.MountStream(a, "GET "+LivePath, func(w http.ResponseWriter, r *http.Request) error {
		f, err := h.newFeed()
		if err != nil {
			return err
		}
		a.ServeStream(w, r, f)
		return nil
	})
}

// data is the content of the page.
type data struct {
	Title, Landing string // of the landing page; "": there is none
	Dashboard      string
	Mailbox, Docs  string
	LivePath       string
	state
}

// state is what changes while the page is open.
type state struct {
	Rows  []row
	Today today
}

func (h *Home) state(ctx context.Context, k known) (s state, err error) {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		s.Rows, err = h.rows(ctx, k)
		return err
	})
	group.Go(func() (err error) {
		s.Today, err = h.today(ctx)
		return err
	})
	return s, group.Wait()
}

func (h *Home) show(w http.ResponseWriter, r *http.Request) error {
	d := data{Dashboard: h.deps.Pages.Path("/dashboard"), Docs: h.deps.Pages.Path("/api/v1/docs"), LivePath: h.deps.Pages.Path(LivePath)}
	if h.deps.Mailbox != "" {
		d.Mailbox = h.deps.Pages.Path(h.deps.Mailbox)
	}
	var err error
	if d.Title, d.Landing, err = h.landing(r.Context()); err != nil {
		return err
	}
	k, err := h.known(r.Context())
	if err != nil {
		return err
	}
	if d.state, err = h.state(r.Context(), k); err != nil {
		return err
	}
	return h.template.Write(w, r, http.StatusOK, page.Page{Title: "Lodestone", Class: "home", Policy: page.Policy{Scripts: true}, Data: d})
}

// landing returns the landing page that a newcomer is led to: the sample, or the newest that is open.
func (h *Home) landing(ctx context.Context) (title, path string, err error) {
	var row store.NewestLandingRow
	err = h.deps.Postgres.AccountSnapshot(ctx, h.deps.Account, func(tx pgx.Tx) (err error) {
		row, err = store.New(tx).NewestLanding(ctx, h.deps.Sample())
		return err
	})
	if errors.Is(err, pgx.ErrNoRows) {
		return "", "", nil
	}
	if err != nil {
		return "", "", fmt.Errorf("find a landing page: %w", err)
	}
	return row.Title, h.deps.Pages.Path(page.LandingPath(row.Slug)), nil
}
