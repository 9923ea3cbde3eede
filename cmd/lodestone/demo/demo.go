// Package demo plays a campaign through Lodestone's public doors, as a business and its readers
// would, and compares what the API answers with what was sent.
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

	"lodestone/pkg/client"
	"lodestone/pkg/config"
)

// guide is the lead magnet that is read: a real document of twelve pages.
//
//go:embed guide.pdf
var guide []byte

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
	answerTimeout = 2 * time.Minute // for the API to show what was acknowledged
)

// ErrDisagree says that the API does not answer what was sent.
var ErrDisagree = errors.New("the answers do not agree with what was sent")

// Demo is one campaign.
type Demo struct {
	cfg  Config
	api  *client.Client
	http *http.Client
	out  io.Writer

	magnet client.LeadMagnet
	visits []visit
	tokens []string          // of the visits' access links
	links  []string          // ids of the same
	emails map[string]counts // of people and bots
	sent   *tally
}

// counts is what is expected of one address.
type counts struct{ links, views int64 }

// New returns a demo that prints to out.
func New(c Config, out io.Writer) *Demo {
	return &Demo{
		cfg: c, out: out, sent: newTally(), emails: map[string]counts{},
		api:  client.New(c.URL, c.APIKey, nil),
		http: &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: readersAtOnce}},
	}
}

// Run plays the campaign and prints the comparison. It returns ErrDisagree if there is a difference.
func (d *Demo) Run(ctx context.Context) error {
	defer d.http.CloseIdleConnections()
	if err := d.offer(ctx); err != nil {
		return err
	}
	if err := d.invite(ctx); err != nil {
		return err
	}
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
		fmt.Fprintf(d.out, "Generic link  %s\n", link.Slug)
	}
	return nil
}

// invite makes an access link for each visit.
func (d *Demo) invite(ctx context.Context) error {
	d.visits = plan(d.cfg.Seed, d.cfg.Visitors, *d.magnet.PageCount, time.Now())
	d.tokens, d.links = make([]string, len(d.visits)), make([]string, len(d.visits))
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readersAtOnce)
	stop := d.progress("Access links", int64(len(d.visits)), &done)
	for i, v := range d.visits {
		group.Go(func() error {
			var link client.AccessLink
			err := whileLimited(ctx, func() (err error) {
				link, err = d.api.CreateAccessLink(ctx, client.NewAccessLink{LeadMagnetID: d.magnet.ID, Email: v.email})
				return err
			})
			if err != nil {
				return fmt.Errorf("create an access link: %w", err)
			}
			d.tokens[i], d.links[i] = link.TrackingToken, link.ID
			done.Add(1)
			return nil
		})
		expect := d.emails[v.email]
		expect.links++
		if !v.bot {
			expect.views++
			d.sent.views++
		}
		d.emails[v.email] = expect
	}
	err := group.Wait()
	stop()
	return err
}

// play lets every reader read.
func (d *Demo) play(ctx context.Context) error {
	var done atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readersAtOnce)
	stop := d.progress("Readers     ", int64(len(d.visits)), &done)
	for i := range d.visits {
		group.Go(func() error {
			defer done.Add(1)
			return d.readAloud(ctx, i)
		})
	}
	err := group.Wait()
	stop()
	return err
}
