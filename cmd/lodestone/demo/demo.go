// Package demo plays campaigns: a landing page, its visitors, and readers of a guide. The present
// is played through the public endpoints, as browsers would. The past cannot be: forms and openings
// are dated by the server's clock, and the collector believes no sender about more than 48 hours.
// So the past is written with the stores and token keys of an installation, as its processes would
// have written it: forms, access links and sessions to Postgres, events and views to Kafka. Both
// are then compared with the answers of the API and of SQL.
package demo

import (
	"bytes"
	"context"
	_ "embed" // the guide
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/problem"
	"lodestone/pkg/service"
)

// guide is the document that is read, of twelve pages.
//
//go:embed guide.pdf
var guide []byte

// Guide returns the document: a PDF of twelve pages. It must not be changed.
func Guide() []byte { return guide }

// MaxDays is how far back the past may begin.
const MaxDays = 365

// Config is the setting of a demo.
type Config struct {
	URL          string
	CollectorURL string
	APIKey       string
	Visitors     int
	Days         int // of the past; 0: the present
	Seed         uint64
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	for _, s := range [][2]string{{"--url", c.URL}, {"--collector-url", c.CollectorURL}, {"--api-key", c.APIKey}} {
		if s[1] == "" {
			errs = append(errs, config.Invalid(s[0], "is missing",
				"start `lodestone up` and run the demo in the same directory, or give it"))
		}
	}
	if c.Visitors < 1 || c.Visitors > 5000 {
		errs = append(errs, config.Invalid("--visitors", "is out of range", "give a number from 1 to 5000"))
	}
	if c.Days < 0 || c.Days > MaxDays {
		errs = append(errs, config.Invalid("--days", "is out of range", fmt.Sprintf("give a number from 1 to %d", MaxDays)))
	}
	return errors.Join(errs...)
}

// Deps are the dependencies of a demo. API and Out are required.
type Deps struct {
	API    *client.Client
	Stores *Stores // that the past is written to; nil: there are no days

	SQL func(ctx context.Context, query string) (rows [][]string, err error) // nil: SQL is not compared
	Out io.Writer
}

// ErrDisagree means that the answers differ from what was sent.
var ErrDisagree = errors.New("the answers do not agree with what was sent")

// Demo is one campaign.
type Demo struct {
	cfg  Config
	deps Deps
	plan *plan

	magnet   uuid.UUID
	landings [landings]uuid.UUID
	urls     [landings]string
}

// New returns a demo.
func New(c Config, d Deps) *Demo { return &Demo{cfg: c, deps: d} }

// Run plays the campaign, and prints what was sent beside the answers. It returns ErrDisagree if
// there is a difference. Of the past, an error before the first record is written leaves nothing
// behind.
func (d *Demo) Run(ctx context.Context) (err error) {
	now, play := time.Now(), d.play
	if d.cfg.Days > 0 {
		d.plan, err = drawPast(d.cfg.Seed, d.cfg.Days, now)
		play = d.write
	} else {
		d.plan, err = drawPresent(d.cfg.Seed, d.cfg.Visitors, now)
	}
	if err != nil {
		return err
	}
	if err := play(ctx); err != nil {
		return err
	}
	fmt.Fprintf(d.deps.Out, "%d visitors, within %.1f s.\n", len(d.plan.visits), time.Since(now).Seconds())
	return d.compare(ctx)
}

// Texts of what there is to read.
const (
	title       = "The field guide to lead magnets"
	description = "What makes a document worth an email address, in twelve pages."
	consent     = "I agree to get the guide and one mail about it."
)

// offer creates the lead magnet and its landing pages by the API, as their owner would.
func (d *Demo) offer(ctx context.Context) error {
	text := description
	magnet, err := whileLimited(ctx, func() (client.LeadMagnet, error) {
		return d.deps.API.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: title, Description: &text})
	})
	if err != nil {
		return fmt.Errorf("create the lead magnet: %w", err)
	}
	if d.magnet, err = uuid.Parse(magnet.ID); err != nil {
		return fmt.Errorf("read the id of the lead magnet: %w", err)
	}
	files := []string{"field-guide.pdf"}
	links := [landings]client.NewGenericLink{
		fromSite: {Title: new("Get the field guide")}, fromWebinar: {Title: new("The guide from the webinar")},
	}
	if d.cfg.Days > 0 {
		files = append(files, "field-guide-second-edition.pdf")
		links[fromSite].ConsentText, links[fromWebinar].RequireVerification = new(consent), true
	}
	for _, name := range files {
		magnet, err = whileLimited(ctx, func() (client.LeadMagnet, error) {
			return d.deps.API.UploadFile(ctx, magnet.ID, name, bytes.NewReader(guide))
		})
		if err != nil {
			return fmt.Errorf("upload the PDF: %w", err)
		}
		if magnet.PageCount == nil || *magnet.PageCount != pages {
			return errors.New("upload the PDF: the API does not count its pages")
		}
	}
	fmt.Fprintf(d.deps.Out, "Lead magnet   %s (%d pages, %d KB)\n", title, pages, len(guide)/1024)
	for i, n := range links {
		n.LeadMagnetID = magnet.ID
		link, err := whileLimited(ctx, func() (client.GenericLink, error) {
			return d.deps.API.CreateGenericLink(ctx, n)
		})
		if err != nil {
			return fmt.Errorf("create a generic link: %w", err)
		}
		if d.landings[i], err = uuid.Parse(link.ID); err != nil {
			return fmt.Errorf("read the id of a generic link: %w", err)
		}
		d.urls[i] = link.URL
		fmt.Fprintf(d.deps.Out, "Landing page  %s\n", link.URL)
	}
	return nil
}

// undo deletes what offer created, and returns the error that is the reason.
func (d *Demo) undo(ctx context.Context, reason error) error {
	if d.magnet == uuid.Nil {
		return reason
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	path := "/api/v1/lead-magnets/" + d.magnet.String() + "?cascade=true"
	_, err := d.deps.API.Do(ctx, http.MethodDelete, path, nil, nil, nil)
	return errors.Join(reason, err)
}

// whileLimited calls fn again as long as its answer is that a rate limit is exceeded: a window ends
// within a minute, and a demo that is played several times in it only takes longer.
func whileLimited[T any](ctx context.Context, fn func() (T, error)) (T, error) {
	for {
		out, err := fn()
		if !problem.Is(err, problem.RateLimited) {
			return out, err
		}
		if err := service.Sleep(ctx, 2*time.Second); err != nil {
			return out, err
		}
	}
}
