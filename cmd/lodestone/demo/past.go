package demo

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/twmb/franz-go/pkg/kgo"

	"lodestone/crud/accesslink"
	"lodestone/crud/notice"
	"lodestone/ingest/producer"
	"lodestone/ingest/retention"
	"lodestone/pkg/bot"
	"lodestone/pkg/client"
	"lodestone/pkg/config"
	"lodestone/pkg/email"
	"lodestone/pkg/event"
	"lodestone/pkg/kafka"
	"lodestone/pkg/postgres"
	"lodestone/pkg/store"
	"lodestone/pkg/token"
)

// Writer writes records to Kafka, and returns when they are acknowledged; it is implemented by
// producer.Producer.
type Writer interface {
	Write(ctx context.Context, records []producer.Record) error
}

// Stores are the stores that the past is written to, all of one installation.
type Stores struct {
	Account  uuid.UUID // that of the API's key
	Postgres *postgres.Pool
	Kafka    Writer
	Tokens   *token.Ring
}

const (
	createTimeout = time.Minute
	batchRecords  = 500 // that are written at a time, as many as a request to the collector may have
)

func errForeign(setting, wrong string) error {
	return config.Invalid(setting, wrong, "give the stores and the keys of the installation at --url")
}

// write writes the past. No mail, notice or webhook follows: those come from the transactions of
// forms and openings, not from the rows.
func (d *Demo) write(ctx context.Context) error {
	if err := d.check(ctx); err != nil {
		return err
	}
	// What is created without being known could not be deleted.
	create, cancel := context.WithTimeout(context.WithoutCancel(ctx), createTimeout)
	defer cancel()
	err := d.offer(create)
	if err == nil {
		err = d.checkKeys(ctx)
	}
	var records []producer.Record
	if err == nil {
		records, err = d.writeRows(ctx)
	}
	if err != nil {
		return d.undo(ctx, err)
	}
	for batch := range slices.Chunk(records, batchRecords) {
		if err := d.deps.Stores.Kafka.Write(ctx, batch); err != nil {
			return fmt.Errorf("the lead magnet %s has a part of its past only, delete it: write to Kafka: %w", d.magnet, err)
		}
	}
	return nil
}

// check refuses what would not last, or would send mails.
func (d *Demo) check(ctx context.Context) error {
	setting, _, err := retention.ReadSetting(ctx, d.deps.Stores.Postgres)
	if err != nil {
		return fmt.Errorf("read how long events are kept: %w", err)
	}
	for _, months := range []int{setting.Months, setting.NextMonths} {
		y, m, _ := d.plan.until.Date()
		if months > 0 && d.plan.from.Before(time.Date(y, m-time.Month(months), 1, 0, 0, 0, 0, time.UTC)) {
			return config.Invalid("--days", "goes back further than events are kept",
				"give fewer days, or see `lodestone retention show`")
		}
	}
	return d.deps.Stores.Postgres.AccountSnapshot(ctx, d.deps.Stores.Account, func(tx pgx.Tx) error {
		a, err := store.New(tx).OwnAccount(ctx)
		if err != nil {
			return fmt.Errorf("read account: %w", err)
		}
		if a.Notify == notice.Daily && a.NotifyEmail != nil {
			return errors.New("the account's next daily notice would list the demo's leads: set its notify to each or none first")
		}
		return nil
	})
}

// CheckKafka returns an error of settings if Postgres does not know the topics of Kafka. A producer
// that has started has put them on record, so the check comes before.
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

// checkKeys reports an error unless the token keys and the account are those of the API.
func (d *Demo) checkKeys(ctx context.Context) error {
	tracking, err := client.Get[struct {
		Token string `json:"tracking_token"`
	}](ctx, d.deps.API, "/api/v1/generic-links/"+d.landings[fromSite].String()+"/tracking", nil)
	if err != nil {
		return fmt.Errorf("ask for a tracking token: %w", err)
	}
	claims, err := d.deps.Stores.Tokens.Verify([]byte(tracking.Token))
	if err != nil || claims.AccountID != d.deps.Stores.Account {
		return errForeign("--token-keys", "are not those of the API")
	}
	return nil
}

// idAt returns an id as it would have been created at a time: those of later things are greater.
// Ids differ from run to run of one seed, so that nothing of two runs is one.
func idAt(at time.Time) uuid.UUID {
	id := uuid.Must(uuid.NewV7())
	for i, ms := 5, at.UnixMilli(); i >= 0; i, ms = i-1, ms>>8 {
		id[i] = byte(ms)
	}
	return id
}

// rows are the rows of the past in Postgres.
type rows struct {
	submissions store.AddPastSubmissionsParams
	links       store.AddPastAccessLinksParams
	sessions    store.AddPastSessionsParams
	forms       [landings]int64
}

// writeRows writes what Postgres has of the past, all of it or nothing, and returns the records of
// the log.
func (d *Demo) writeRows(ctx context.Context) ([]producer.Record, error) {
	account := d.deps.Stores.Account
	r := rows{
		submissions: store.AddPastSubmissionsParams{AccountID: account},
		links:       store.AddPastAccessLinksParams{AccountID: account},
		sessions:    store.AddPastSessionsParams{AccountID: account},
	}
	log, err := d.newLog()
	if err != nil {
		return nil, err
	}
	for _, v := range d.plan.visits {
		log.view(v)
		if v.email == "" {
			continue
		}
		submission, err := r.submit(v, d.landings[v.landing])
		if err != nil {
			return nil, err
		}
		if v.verified.IsZero() {
			continue
		}
		link := idAt(v.verified)
		t, err := accesslink.NewToken(d.deps.Stores.Tokens, link)
		if err != nil {
			return nil, err
		}
		var opened int32
		for _, s := range v.sessions {
			if s.id = idAt(s.at); !s.visitor.bot {
				opened++
				r.open(s, link)
			}
			log.session(v, s, link)
		}
		l := &r.links
		l.TokenKey, l.IDs, l.Hashes, l.Sealed = t.Key, append(l.IDs, link),
			append(l.Hashes, t.Hash), append(l.Sealed, t.Sealed)
		l.Magnets, l.Links = append(l.Magnets, d.magnet), append(l.Links, d.landings[v.landing])
		l.Submissions, l.Sources = append(l.Submissions, submission), append(l.Sources, "mail")
		l.Emails, l.EmailKeys = append(l.Emails, v.email), append(l.EmailKeys, email.Key(v.email))
		l.Verified, l.Opened = append(l.Verified, v.landing == fromWebinar), append(l.Opened, opened)
		l.Created = append(l.Created, v.verified)
	}
	records, err := log.sorted()
	if err != nil {
		return nil, err
	}
	err = d.deps.Stores.Postgres.Account(ctx, account, func(tx pgx.Tx) error {
		q := store.New(tx)
		if err := d.backdate(ctx, q, r.forms); err != nil {
			return err
		}
		if err := q.AddPastSubmissions(ctx, r.submissions); err != nil {
			return fmt.Errorf("add submissions: %w", err)
		}
		if err := q.AddPastAccessLinks(ctx, r.links); err != nil {
			return fmt.Errorf("add access links: %w", err)
		}
		if err := q.AddPastSessions(ctx, r.sessions); err != nil {
			return fmt.Errorf("add sessions: %w", err)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("write the past to Postgres: %w", err)
	}
	return records, nil
}

// submit adds the form of a visit.
func (r *rows) submit(v *visit, landing uuid.UUID) (id uuid.UUID, err error) {
	id, utm, agreed, verified := idAt(v.sent), []byte(nil), "", v.verified
	if parameters := v.campaign.parameters(); parameters != nil {
		if utm, err = json.Marshal(parameters); err != nil {
			return id, fmt.Errorf("encode the parameters of a campaign: %w", err)
		}
	}
	if v.landing == fromSite {
		agreed, verified = consent, time.Time{} // it does not ask for a verification
	}
	r.forms[v.landing]++
	s := &r.submissions
	s.IDs, s.Links, s.Submitted = append(s.IDs, id), append(s.Links, landing), append(s.Submitted, v.sent)
	s.Emails, s.EmailKeys = append(s.Emails, v.email), append(s.EmailKeys, email.Key(v.email))
	s.Required, s.Verified = append(s.Required, v.landing == fromWebinar), append(s.Verified, verified)
	s.Sources, s.Referrers = append(s.Sources, string(utm)), append(s.Referrers, v.campaign.referrer)
	s.Consents = append(s.Consents, agreed)
	return id, nil
}

// open adds a session of a person, which is over.
func (r *rows) open(s *session, link uuid.UUID) {
	var seen []string
	var spent time.Duration
	for page := 1; page <= pages; page++ {
		if slices.ContainsFunc(s.actions, func(a action) bool { return a.page == page }) {
			seen = append(seen, fmt.Sprint(page))
		}
	}
	for _, a := range s.actions {
		spent += a.duration
	}
	o := &r.sessions
	o.IDs, o.Links, o.Versions = append(o.IDs, s.id), append(o.Links, link), append(o.Versions, int32(s.version))
	o.Started, o.Last = append(o.Started, s.at), append(o.Last, s.actions[len(s.actions)-1].at)
	o.Durations = append(o.Durations, spent.Milliseconds())
	o.Pages = append(o.Pages, "{"+strings.Join(seen, ",")+"}")
}

// backdate gives what the API created just now the times of the plan. That nothing is found says
// that Postgres is not the API's.
func (d *Demo) backdate(ctx context.Context, q *store.Queries, forms [landings]int64) error {
	first, second := d.plan.from, d.plan.second
	magnet := store.BackdateMagnetParams{ID: d.magnet, CreatedAt: first, UpdatedAt: second}
	found, err := q.BackdateMagnet(ctx, magnet)
	if err != nil {
		return fmt.Errorf("backdate the lead magnet: %w", err)
	}
	if found != 1 {
		return errForeign("--postgres-url", "is not the API's")
	}
	for i, at := range []time.Time{first, second} {
		file := store.BackdateFileParams{LeadMagnetID: d.magnet, Version: int32(i + 1), CreatedAt: at}
		if _, err := q.BackdateFile(ctx, file); err != nil {
			return fmt.Errorf("backdate a file: %w", err)
		}
	}
	for i, id := range d.landings {
		link := store.BackdateLinkParams{ID: id, CreatedAt: first, UpdatedAt: first, Submissions: forms[i]}
		if _, err := q.BackdateLink(ctx, link); err != nil {
			return fmt.Errorf("backdate a generic link: %w", err)
		}
	}
	return nil
}

// pastLog turns what happens into records, as the collector does with requests.
type pastLog struct {
	*Demo
	rules   map[string]string // of programs, by user agent
	salt    [32]byte          // of the address hashes, for this run
	records []dated
	err     error // the first one
}

// dated is a record with the time at which it was received.
type dated struct {
	at time.Time
	producer.Record
}

func (d *Demo) newLog() (*pastLog, error) {
	rules, err := bot.NewRules()
	if err != nil {
		return nil, fmt.Errorf("read the rules of programs: %w", err)
	}
	l := &pastLog{Demo: d, rules: map[string]string{}}
	for _, agent := range programs {
		l.rules[agent] = rules.Classify(bot.Request{UserAgent: []byte(agent)})
	}
	_, _ = rand.Read(l.salt[:]) // never fails
	return l, nil
}

// sorted returns the records in the order in which they were received.
func (l *pastLog) sorted() (list []producer.Record, err error) {
	slices.SortStableFunc(l.records, func(a, b dated) int { return a.at.Compare(b.at) })
	for _, r := range l.records {
		list = append(list, r.Record)
	}
	return list, l.err
}

func (l *pastLog) add(at time.Time, topic string, key uuid.UUID, value []byte, err error) {
	l.err = cmp.Or(l.err, err)
	l.records = append(l.records, dated{at, producer.Record{Topic: topic, Key: key[:], Value: value}})
}

func (l *pastLog) view(v *visit) {
	key := l.landings[v.landing]
	r := event.LinkView{
		AccountID: l.deps.Stores.Account, LeadMagnetID: l.magnet, GenericLinkID: key, EventID: idAt(v.at),
		IPHash: l.hash(v.visitor, v.at), UserAgent: []byte(v.visitor.agent),
		Bot: l.rules[v.visitor.agent], Origin: v.visitor.origin(),
		CreatedAt: v.at.UnixMilli(), ReceivedAt: v.at.UnixMilli(),
	}
	if !v.visitor.bot {
		r.URL = []byte(withParameters(l.urls[v.landing], v.campaign))
		r.Referrer = []byte(v.campaign.referrer)
	}
	l.add(v.at, event.LinkViewTopic, key, r.Append(nil), r.Validate())
}

func (l *pastLog) session(v *visit, s *session, link uuid.UUID) {
	for i, a := range s.actions {
		at := a.at.Add(a.duration)
		r := event.Event{
			AccountID: l.deps.Stores.Account, LeadMagnetID: l.magnet, GenericLinkID: l.landings[v.landing], AccessLinkID: link,
			SessionID: s.id, EventID: idAt(a.at), MagnetVersion: uint32(s.version), Type: a.kind,
			IPHash: l.hash(s.visitor, at), UserAgent: []byte(s.visitor.agent),
			Bot: l.rules[s.visitor.agent], Origin: s.visitor.origin(),
			CreatedAt: a.at.UnixMilli(), ReceivedAt: at.UnixMilli(),
		}
		switch {
		case s.visitor.bot: // it loads the image of a page that runs no script
			r.SessionID = uuid.Nil
		case a.kind == event.PageViewed:
			r.Page, r.DurationMS = uint32(a.page), uint32(a.duration.Milliseconds())
			r.Data = fmt.Appendf(nil, `{"page":%d,"duration_ms":%d}`, r.Page, r.DurationMS)
		case a.kind == event.DownloadCompleted: // the server reports it, whose address says nothing
			r.IPHash = [16]byte{}
		}
		l.add(at, event.Topic, link, r.Append(nil), r.Validate())
		if s.repeats && i < batchEvents {
			again := at.Add(4 * time.Second)
			r.ReceivedAt = again.UnixMilli()
			l.add(again, event.Topic, link, r.Append(nil), nil)
		}
	}
}

// hash returns what stands for a visitor's address on a day of UTC. There is no address behind it.
func (l *pastLog) hash(v *visitor, at time.Time) [16]byte {
	sum := sha256.Sum256(fmt.Appendf(l.salt[:], "%d on %d", v.number, at.Unix()/86400))
	return [16]byte(sum[:16])
}

func (v *visitor) origin() (o event.Origin) {
	if !v.bot {
		o.Language = event.FirstLanguage([]byte(v.place.language))
		o.Country, _ = event.ParseCountry(v.place.country)
	}
	return o
}
