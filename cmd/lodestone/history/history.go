// Package history plays weeks that are over. The public endpoints cannot: forms and openings are dated by the server's clock, and the
// collector believes no sender about more than 48 hours. So whoever has an installation's stores and token keys writes the past where the
// processes would have written it at the time: lead magnets, files and landing pages by the API, submissions, access links and sessions to
// Postgres, events and views to Kafka, in the order in which they were received. Everything behind follows by itself: the consumer stores
// each record once, counters are set, and changed rows are copied for SQL. No mail, notice or webhook is sent.
package history

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/crud/notice"
	"lodestone/ingest/producer"
	"lodestone/ingest/retention"
	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// MaxDays is how far back the past may begin.
const MaxDays = 365

// Config is what to play.
type Config struct {
	Account uuid.UUID
	Days    int
	Seed    uint64
	Until   time.Time // when the past ends: the present
}

// Validate returns every problem of the settings.
func (c Config) Validate() error {
	if c.Days < 1 || c.Days > MaxDays {
		return config.Invalid("--days", "is out of range", fmt.Sprintf("give a number from 1 to %d", MaxDays))
	}
	return nil
}

// Writer writes records to Kafka, and returns when they are acknowledged; it is implemented by producer.Producer.
type Writer interface {
	Write(ctx context.Context, records []producer.Record) error
}

// Deps is what the past is written with, all of one installation. SQL may be nil; all else is required.
type Deps struct {
	API      *client.Client // with a key of the account
	Postgres *postgres.Pool
	Kafka    Writer
	Tokens   *token.Ring
	SQL      func(ctx context.Context, query string) ([][]string, error) // the rows of an answer; nil: SQL is not compared
	Guide    []byte                                                      // the document: a PDF of twelve pages
	Settings string                                                      // how a shell gets LODESTONE_URL and LODESTONE_API_KEY, such as "after `source data/lodestone.env`"
	Out      io.Writer
}

// History is one past.
type History struct {
	cfg  Config
	deps Deps
}

// New returns the past of an account.
func New(c Config, d Deps) *History { return &History{c, d} }

// ErrDisagree means that the API, SQL and what was written differ.
var ErrDisagree = errors.New("the answers do not agree with what was written")

func errForeign(setting, wrong string) error {
	return config.Invalid(setting, wrong, "give the stores and the keys of the installation at --url")
}

// Run writes the past, and prints what the API and SQL answer about it. It returns ErrDisagree if there is a difference. Before the first
// record is written, an error leaves nothing behind.
func (h *History) Run(ctx context.Context) error {
	p, err := draw(h.cfg.Seed, h.cfg.Days, h.cfg.Until)
	if err != nil {
		return err
	}
	if err := h.check(ctx, p); err != nil {
		return err
	}
	begin := time.Now()
	o, err := h.makeOffer(ctx)
	if err != nil {
		return h.undo(ctx, o, err)
	}
	n, err := number(p, o)
	if err != nil {
		return h.undo(ctx, o, err)
	}
	if err := h.writeRows(ctx, p, &n); err != nil {
		return h.undo(ctx, o, err)
	}
	if err := h.writeRecords(ctx, p, &n); err != nil {
		return fmt.Errorf("the lead magnets %s and %s have a part of their past only, delete them: %w", o.magnets[guide], o.magnets[worksheet], err)
	}
	h.printPast(p, time.Since(begin))
	want := p.count()
	got, err := h.await(ctx, p, o, want)
	if err != nil {
		return err
	}
	return h.report(p, o, want, got)
}

// check refuses what would not last, or would send mails.
func (h *History) check(ctx context.Context, p *plan) error {
	setting, _, err := retention.ReadSetting(ctx, h.deps.Postgres)
	if err != nil {
		return fmt.Errorf("read how long events are kept: %w", err)
	}
	for _, months := range []int{setting.Months, setting.NextMonths} {
		y, m, _ := h.cfg.Until.UTC().Date()
		if months > 0 && p.from.Before(time.Date(y, m-time.Month(months), 1, 0, 0, 0, 0, time.UTC)) {
			return config.Invalid("--days", "goes back further than events are kept", "give fewer days, or see `lodestone retention show`")
		}
	}
	err = h.deps.Postgres.AccountSnapshot(ctx, h.cfg.Account, func(tx pgx.Tx) error {
		a, err := store.New(tx).OwnAccount(ctx)
		if err != nil {
			return fmt.Errorf("read account: %w", err)
		}
		if a.Notify == notice.Daily && a.NotifyEmail != nil {
			return errors.New("the account's next daily notice would list the demo's leads: set its notify to each or none first")
		}
		return nil
	})
	if err != nil {
		return err
	}
	return nil
}

// CheckKafka returns an error of settings if Postgres does not know the topics of Kafka. A producer that has started has put them on
// record, so the check comes before.
func CheckKafka(ctx context.Context, pool *postgres.Pool, cl *kgo.Client) error {
	for _, topic := range kafka.KeyedTopics() {
		id, _, err := kafka.Topic(ctx, cl, topic)
		if err != nil {
			return err
		}
		known, err := store.New(pool.Unscoped()).KnowsTopic(ctx, id)
		if err != nil {
			return fmt.Errorf("read the topics on record: %w", err)
		}
		if !known {
			return errForeign("--kafka-brokers", "is not the Kafka of this Postgres")
		}
	}
	return nil
}

// undo deletes what the API created, and returns the error.
func (h *History) undo(ctx context.Context, o offer, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	for _, magnet := range o.magnets {
		if magnet == uuid.Nil {
			continue
		}
		if _, failed := h.deps.API.Do(ctx, "DELETE", "/api/v1/lead-magnets/"+magnet.String()+"?cascade=true", nil, nil, nil); failed != nil {
			err = errors.Join(err, fmt.Errorf("delete the lead magnet %s again: %w", magnet, failed))
		}
	}
	return err
}
