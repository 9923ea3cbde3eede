// Package crud serves the entities of accounts: their API keys, lead magnets with their files,
// generic links with their submissions, and access links.
package crud

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"lodestone/crud/accesslink"
	"lodestone/crud/account"
	"lodestone/crud/alert"
	"lodestone/crud/capture"
	"lodestone/crud/dashboard"
	"lodestone/crud/file"
	"lodestone/crud/landing"
	"lodestone/crud/link"
	"lodestone/crud/magnet"
	"lodestone/crud/mail"
	"lodestone/crud/notice"
	"lodestone/crud/pdf"
	"lodestone/crud/person"
	"lodestone/crud/picture"
	"lodestone/crud/queue"
	"lodestone/crud/recipient"
	"lodestone/crud/session"
	"lodestone/crud/signin"
	"lodestone/crud/submission"
	"lodestone/crud/view"
	"lodestone/crud/viewer"
	"lodestone/crud/watermark"
	"lodestone/crud/web"
	"lodestone/crud/webhook"
	"lodestone/pkg/api"
	"lodestone/pkg/certificate"
	"lodestone/pkg/clientaddr"
	"lodestone/pkg/config"
	"lodestone/pkg/country"
	"lodestone/pkg/plan"
	"lodestone/pkg/postgres"
	"lodestone/pkg/service"
	"lodestone/pkg/suspect"
	"lodestone/pkg/token"
)

// Config is the setting of the entities.
type Config struct {
	PublicURL            string            `name:"public-url" placeholder:"URL" help:"Address at which visitors reach this process. The URLs of links begin with it. Default: http:// and the address of --listen."`
	QueryURL             string            `name:"query-url" placeholder:"URL" help:"Address of the query process, to which analytics requests are forwarded. If empty, this process does not serve them."`
	CollectorURL         string            `name:"collector-url" placeholder:"URL" help:"Address of the collector as visitors' browsers reach it. The pages send their events there. Default in up: http:// and the address of --collector-listen."`
	CollectorInternalURL string            `name:"collector-internal-url" placeholder:"URL" help:"Address of the collector as this process reaches it, to report finished downloads. Default: the value of --collector-url."`
	MaxFileBytes         int64             `name:"magnet-max-file-bytes" default:"52428800" help:"Maximum size of a lead magnet's file, in bytes. The directory for temporary files needs space for five such files."`
	Files                file.Config       `embed:""`
	Plans                plan.Config       `embed:""`
	Mail                 mail.Config       `embed:""`
	Webhooks             webhook.Config    `embed:""`
	Capture              capture.Config    `embed:""`
	Viewer               viewer.Config     `embed:""`
	Addresses            clientaddr.Config `embed:""`
	Country              country.Config    `embed:""`
	Suspects             suspect.Config    `embed:""`
	SignIn               signin.Config     `embed:""`
	Erasure              person.Config     `embed:""`
}

// maxFileBytes is the highest value of MaxFileBytes: a file is stored in one transaction.
const maxFileBytes = 1 << 30

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	errs := []error{c.Files.Validate(), c.Mail.Validate(), c.Webhooks.Validate(), c.Capture.Validate(),
		c.Addresses.Validate(), c.Country.Validate(), c.Suspects.Validate(), c.SignIn.Validate(),
		c.Erasure.Validate(c.Files.S3)}
	if c.PublicURL != "" && !baseURL(c.PublicURL) {
		errs = append(errs, config.Invalid("--public-url", "is not a full http or https URL",
			"write it like https://links.example.com, without a query"))
	}
	if c.QueryURL != "" && !baseURL(c.QueryURL) {
		errs = append(errs, config.Invalid("--query-url", "is not a full http or https URL",
			"write it like http://query:8080, without a query, or leave it out"))
	}
	if c.CollectorURL != "" && !baseURL(c.CollectorURL) {
		errs = append(errs, config.Invalid("--collector-url", "is not a full http or https URL",
			"write it like https://events.example.com, without a query"))
	}
	if c.CollectorInternalURL != "" && !baseURL(c.CollectorInternalURL) {
		errs = append(errs, config.Invalid("--collector-internal-url", "is not a full http or https URL",
			"write it like http://collector:8081, without a query, or leave it out"))
	}
	if c.MaxFileBytes < 1 || c.MaxFileBytes > maxFileBytes {
		errs = append(errs, config.Invalid("--magnet-max-file-bytes", "is out of range",
			fmt.Sprintf("give a number from 1 to %d", maxFileBytes)))
	}
	return errors.Join(errs...)
}

func baseURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.RawQuery == "" && u.Fragment == ""
}

// Deps are the dependencies of the service. All but Mailbox and Collector are required.
type Deps struct {
	Postgres   *postgres.Pool
	Tokens     *token.Ring
	Log        *slog.Logger
	Registerer prometheus.Registerer
	Grace      time.Duration       // for jobs in flight when the process stops
	Mailbox    mail.Mailbox        // takes mails if there is no SMTP server; nil: they stay in the queue
	Collector  *certificate.Dialer // connects to --collector-internal-url; nil: one that trusts what the system does
}

// Service holds the operations on entities.
type Service struct {
	config      Config
	log         *slog.Logger
	pages       *web.Site
	account     *account.Self
	files       *file.Files
	magnets     *magnet.Magnets
	links       *link.Links
	submissions *submission.Submissions
	access      *accesslink.Links
	recipients  *recipient.Recipients
	landing     *landing.Landing
	viewer      *viewer.Viewer
	downloads   *session.Reporter // reports finished downloads to the collector
	queue       *queue.Queue
	mailbox     mail.Mailbox
	postgres    *postgres.Pool
	pdfs        *pdf.Reader
	marks       *watermark.Marks
	images      *picture.ImageStore
	notices     *notice.Notices
	weekly      *dashboard.WeeklyReports
	alerts      *alert.Alerts
	views       *view.Views
	webhooks    *webhook.Webhooks
	closer      *session.Closer
	users       userAPI         // of accounts
	persons     *person.Persons // who read documents
	eraser      *person.Eraser
	revocations *Revocations
	promotion   promotion
	query       *certificate.Transport // to the query process
}

// New returns the service, of which nothing runs yet. What it calls adds kinds of jobs to the
// queue, which has to know all of them before the process starts it (Queue). The program's main
// function must begin with pdf.Main.
func New(c Config, d Deps) (*Service, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	pdfs, err := pdf.NewReader()
	if err != nil {
		return nil, err
	}
	files, err := file.New(c.Files, file.Deps{Postgres: d.Postgres, Log: d.Log})
	if err != nil {
		return nil, err
	}
	marks := watermark.New(watermark.Deps{Files: files, Reader: pdfs})
	intake := file.NewIntake(max(c.MaxFileBytes, picture.MaxBytes))
	thumbnailer := picture.NewThumbnailer(intake, d.Log)
	b, err := newBase(c, d)
	if err != nil {
		return nil, err
	}
	shared, err := newVisitor(c, d, b)
	if err != nil {
		return nil, err
	}
	landingPages, err := newLanding(c, d, b.pages, shared)
	if err != nil {
		return nil, err
	}
	readingPages, downloads, err := newReading(c, d, b, files, marks, shared)
	if err != nil {
		return nil, err
	}
	users, err := newUsers(c, d, b, shared)
	if err != nil {
		return nil, err
	}
	promotion, err := newPromotion(c, d, b.pages, shared)
	if err != nil {
		return nil, err
	}
	webhooks, err := webhook.New(c.Webhooks, webhook.Deps{Postgres: d.Postgres, Tokens: d.Tokens, Log: d.Log,
		Registerer: d.Registerer, Grace: d.Grace, Notifier: b.notices})
	if err != nil {
		return nil, err
	}
	eraser, err := newEraser(c, d)
	if err != nil {
		return nil, err
	}
	revocations, err := newRevocations(c, d)
	if err != nil {
		return nil, err
	}
	access := accesslink.New(c.Plans.Plans,
		accesslink.Deps{Postgres: d.Postgres, Site: b.site, Tokens: d.Tokens, Log: d.Log})
	recipients, err := recipient.New(recipient.Deps{Postgres: d.Postgres, Links: access, Mail: b.mails, Queue: b.jobs,
		Tokens: d.Tokens, Pages: b.pages, Log: d.Log})
	if err != nil {
		return nil, err
	}
	return &Service{
		config:      c,
		revocations: revocations,
		eraser:      eraser,
		webhooks:    webhooks,
		users:       users,
		persons:     person.New(person.Deps{Postgres: d.Postgres, Eraser: eraser}),
		promotion:   promotion,
		closer: session.NewCloser(c.Webhooks.SessionIdle, session.CloserDeps{Postgres: d.Postgres, Tokens: d.Tokens,
			Log: d.Log, Registerer: d.Registerer, Notifier: b.notices}),
		landing:   landingPages,
		viewer:    readingPages,
		downloads: downloads,
		queue:     b.jobs,
		mailbox:   d.Mailbox,
		postgres:  d.Postgres,
		pdfs:      pdfs,
		marks:     marks,
		images:    picture.NewImageStore(picture.StoreDeps{Postgres: d.Postgres, Thumbnailer: thumbnailer, Site: b.site}),
		notices:   b.notices,
		weekly:    b.weekly,
		alerts:    b.alerts,
		views:     view.New(d.Postgres),
		log:       d.Log,
		pages:     b.pages,
		account:   account.NewSelf(c.Plans.Plans, account.Deps{Postgres: d.Postgres, Confirmer: b.notices}),
		files:     files,
		magnets: magnet.New(magnet.Config{MaxFileBytes: c.MaxFileBytes, Plans: c.Plans.Plans}, magnet.Deps{
			Postgres: d.Postgres, Files: files, Reader: pdfs, Renderer: thumbnailer, Intake: intake, Log: d.Log,
		}),
		links: link.New(c.Plans.Plans, link.Deps{Postgres: d.Postgres, Site: b.site,
			Collector: strings.TrimRight(c.CollectorURL, "/"), Tokens: d.Tokens, Thumbnailer: thumbnailer}),
		submissions: submission.New(d.Postgres),
		access:      access,
		recipients:  recipients,
		query: certificate.HTTP(&http.Transport{
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       90 * time.Second,
			ResponseHeaderTimeout: 40 * time.Second, // longer than an operation may take
			DisableCompression:    true,             // what comes is passed on as it is
		}),
	}, nil
}

// Queue returns the work that goes on behind the requests, for the process to start and stop.
func (s *Service) Queue() service.Service { return s.queue }

// Files returns what compares the settings of files with what is stored, and removes objects that
// no file uses, likewise.
func (s *Service) Files() service.Service { return s.files }

// Upkeep returns the upkeep of lead magnets' files, for the process to start and stop.
func (s *Service) Upkeep() service.Service { return s.magnets.Upkeep() }

// Webhooks returns what sends the messages of webhooks, likewise.
func (s *Service) Webhooks() service.Service { return s.webhooks.Deliverer() }

// SessionEnds returns what finds out that sessions are over, likewise.
func (s *Service) SessionEnds() service.Service { return s.closer }

// Close closes the connections that are kept for the next request. No request may be in flight.
func (s *Service) Close() {
	s.marks.Close()
	s.pdfs.Close()
	s.query.CloseIdleConnections()
	s.webhooks.Close()
	s.downloads.Close()
}

// Register adds the operations to an API, and the way to the query process if there is one.
func (s *Service) Register(a *api.API) error {
	a.RequireTLS(s.config.PublicURL)
	// visitors who shorten an address learn no more than that
	s.pages.MountBranded(a, "GET /{$}", web.NothingHere, web.Unbranded)
	a.ShowProblems(s.pages.WriteProblem)
	s.images.Register(a)
	s.account.Register(a)
	s.magnets.Register(a)
	s.links.Register(a)
	s.submissions.Register(a)
	s.landing.Register(a)
	s.viewer.Register(a)
	s.access.Register(a)
	s.recipients.Register(a)
	s.webhooks.Register(a)
	s.notices.Register(a)
	s.weekly.Serve(a)
	s.alerts.Register(a)
	s.views.Register(a)
	s.users.register(a)
	s.persons.Register(a)
	s.promotion.register(a)
	if s.config.QueryURL == "" {
		return nil
	}
	return s.proxy(a)
}
