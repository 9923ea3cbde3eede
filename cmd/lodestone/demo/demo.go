// Package demo plays a campaign through Lodestone's public endpoints, as a business and its readers would, and compares
// the API's answers with the events that were sent.
package demo

import (
	"bytes"
	"context"
	_ "embed" // the guide
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"lodestone/pkg/certificate"
	"lodestone/pkg/client"
	"lodestone/pkg/config"
)

// guide is the lead magnet that is read: a real document of twelve pages.
//
//go:embed guide.pdf
var guide []byte

// Guide returns the document: a PDF of twelve pages. It must not be changed.
func Guide() []byte { return guide }

// Config is the setting of a demo.
type Config struct {
	URL          string
	CollectorURL string
	APIKey       string
	Visitors     int
	Seed         uint64
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	var errs []error
	for _, s := range [][2]string{{"--url", c.URL}, {"--collector-url", c.CollectorURL}, {"--api-key", c.APIKey}} {
		if s[1] == "" {
			errs = append(errs, config.Invalid(s[0], "is missing", "start `lodestone up` and run the demo in the same directory, or give it"))
		}
	}
	if c.Visitors < 1 || c.Visitors > 5000 {
		errs = append(errs, config.Invalid("--visitors", "is out of range", "give a number from 1 to 5000"))
	}
	return errors.Join(errs...)
}

// How the demo works.
const (
	readersAtOnce = 16
	answerTimeout = 2 * time.Minute // for the API to show the acknowledged events
)

// ErrDisagree means that the API's answers differ from the events that were sent.
var ErrDisagree = errors.New("the answers do not agree with what was sent")

// Demo is one campaign.
type Demo struct {
	cfg Config
	api *client.Client
	out io.Writer

	magnet client.LeadMagnet
	pages  []client.GenericLink
	visits []visit
	looks  []visit           // of landing pages alone
	emails map[string]counts // of people and bots
	sent   *tally
}

// counts is the expected result for one address.
type counts struct{ links, views int64 }

// New returns a demo that prints to out.
func New(c Config, out io.Writer) *Demo {
	return &Demo{
		cfg: c, out: out, sent: newTally(), emails: map[string]counts{},
		api: client.New(client.Config{URL: c.URL, Key: c.APIKey, HTTP: &http.Client{Transport: certificate.DefaultHTTP()}}),
	}
}

// Run plays the campaign and prints the comparison. It returns ErrDisagree if there is a difference.
func (d *Demo) Run(ctx context.Context) error {
	if err := d.offer(ctx); err != nil {
		return err
	}
	d.plan()
	begin := time.Now()
	if err := d.play(ctx); err != nil {
		return err
	}
	took := time.Since(begin)
	got, err := d.ask(ctx)
	if err != nil {
		return err
	}
	return d.report(got, took)
}

// offer makes the lead magnet and its landing pages.
func (d *Demo) offer(ctx context.Context) (err error) {
	description := "What makes a document worth an email address, in twelve pages."
	err = whileLimited(ctx, func() (err error) {
		d.magnet, err = d.api.CreateLeadMagnet(ctx, client.NewLeadMagnet{Title: "The field guide to lead magnets", Description: &description})
		return err
	})
	if err != nil {
		return fmt.Errorf("create the lead magnet: %w", err)
	}
	err = whileLimited(ctx, func() (err error) {
		d.magnet, err = d.api.UploadFile(ctx, d.magnet.ID, "field-guide.pdf", bytes.NewReader(guide))
		return err
	})
	if err != nil {
		return fmt.Errorf("upload the PDF: %w", err)
	}
	if d.magnet.PageCount == nil || *d.magnet.PageCount < 2 {
		return errors.New("upload the PDF: the API counts no pages in it")
	}
	fmt.Fprintf(d.out, "Lead magnet   %s (%d pages, %d KB)\n", d.magnet.Title, *d.magnet.PageCount, len(guide)/1024)
	for _, title := range []string{"Get the field guide", "The guide from the webinar"} {
		var link client.GenericLink
		err := whileLimited(ctx, func() (err error) {
			link, err = d.api.CreateGenericLink(ctx, client.NewGenericLink{LeadMagnetID: d.magnet.ID, Title: &title})
			return err
		})
		if err != nil {
			return fmt.Errorf("create a generic link: %w", err)
		}
		d.pages = append(d.pages, link)
		fmt.Fprintf(d.out, "Landing page  %s\n", link.URL)
	}
	return nil
}

// plan holds the actions of the visitors and the expected result.
func (d *Demo) plan() {
	d.visits, d.looks = plan(d.cfg.Seed, d.cfg.Visitors, *d.magnet.PageCount)
	for _, v := range d.visits {
		expect := d.emails[v.email]
		expect.links++
		if !v.bot {
			expect.views++
			d.sent.views++
		}
		d.emails[v.email] = expect
	}
}

// play lets everybody look at the landing pages, and the readers read. Who comes twice is not there twice
// at the same time.
func (d *Demo) play(ctx context.Context) error {
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readersAtOnce)
	total := len(d.visits) + len(d.looks)
	stop := d.progress("Visitors     ", int64(total), &done)
	for i := range total {
		group.Go(func() error {
			defer done.Add(1)
			if i < len(d.visits) {
				return d.come(ctx, i, &d.visits[i], true)
			}
			return d.come(ctx, i, &d.looks[i-len(d.visits)], false)
		})
	}
	err := group.Wait()
	stop()
	return err
}
