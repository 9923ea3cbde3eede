package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/google/uuid"

	"lodestone/cmd/lodestone-lab/bench/traffic"
)

// reportOptions are the settings of this suite alone.
type reportOptions struct {
	Rows     []int64 `name:"report-rows" default:"1000000,10000000" help:"How many events are stored while reports are measured, one after another. The largest account has four million of them, or 40 %."`
	Requests int     `name:"report-requests" default:"100" help:"Requests for each report, one after another, in one run."`
}

func (o reportOptions) suite() suite {
	s := suite{name: "report", run: o.measure}
	for _, n := range o.Rows {
		for _, r := range reports() {
			s.cases = append(s.cases, r.caseOf(n))
		}
	}
	return s
}

// timedReport is a report that is timed.
type timedReport struct {
	name    string
	days    int // before today
	queries []map[string]any
	pages   bool // GET /pages of the largest lead magnet instead
}

func (r timedReport) caseOf(rows int64) string { return fmt.Sprintf("report/%d/%s", rows, r.name) }

// reports returns the reports of docs/performance.md. The overview is the dashboard's first screen.
func reports() []timedReport {
	type query = map[string]any
	of := func(metrics ...string) query { return query{"metrics": metrics} }
	with := func(q query, more query) query { maps.Copy(q, more); return q }
	daily := func(metrics ...string) query { return with(of(metrics...), query{"interval": "day"}) }
	by := func(dimension string, metrics ...string) query {
		return with(of(metrics...), query{"dimensions": []string{dimension}, "limit": 10})
	}
	overview := []query{
		daily("visitors"), daily("submissions"), daily("readers"), daily("finish_rate"), daily("reading_ms"),
		daily("downloads"), daily("readers", "page_views"),
		by("lead_magnet_id", "link_views", "submissions", "readers", "finished"),
		by("utm_source", "readers", "finish_rate"), by("device", "readers"),
		by("generic_link_id", "link_views", "submission_rate"), by("email_domain", "readers"),
	}
	for _, q := range overview {
		q["compare"] = "previous"
	}
	year := func(dimension string, metrics ...string) []query {
		return []query{with(daily(metrics...), query{"dimensions": []string{dimension}, "limit": 10})}
	}
	counts, distinct := []string{"page_views", "reading_ms", "downloads"}, []string{"readers", "sessions", "people"}
	return []timedReport{
		{name: "30 days", days: 30, queries: []query{daily("readers", "page_views")}},
		{name: "year by device", days: 365, queries: year("device", counts...)},
		{name: "year by lead magnet", days: 365, queries: year("lead_magnet_id", counts...)},
		{name: "year by source", days: 365, queries: year("utm_source", counts...)},
		{name: "year by device, distinct", days: 365, queries: year("device", distinct...)},
		{name: "year by source, distinct", days: 365, queries: year("utm_source", distinct...)},
		{name: "overview", days: 30, queries: overview},
		{name: "pages", pages: true},
	}
}

// largeAccount is how many events the account has that is asked for.
const largeAccount = 4_000_000

func (o reportOptions) measure(ctx context.Context, b *Bench, e *Engines) error {
	options := o
	if b.Quick {
		options.Rows, options.Requests = o.Rows[:1], min(o.Requests, 10)
	}
	for _, n := range options.Rows {
		if err := options.measureRows(ctx, b, e, n); err != nil {
			return err
		}
	}
	return nil
}

func (o reportOptions) measureRows(ctx context.Context, b *Bench, e *Engines, rows int64) (err error) {
	events := traffic.New(traffic.Config{
		Seed: b.Seed, Events: rows, Largest: min(largeAccount/float64(rows), 0.4), Magnets: 16, // the first one has a quarter
		Begin: time.Now().AddDate(-1, 0, 0), Span: 350 * 24 * time.Hour,
	})
	q, err := b.startQueried(ctx, e, events, rows, 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.stop(context.WithoutCancel(ctx))) }()
	for _, sql := range reportCopies {
		if err := q.store.Exec(ctx, sql); err != nil {
			return fmt.Errorf("add what reports are about: %w", err)
		}
	}
	size, err := q.storedBytes(ctx)
	if err != nil {
		return err
	}
	stop := e.insertMeanwhile(ctx, events, insertedMeanwhile)
	defer func() { err = errors.Join(err, stop()) }()
	client := &http.Client{Timeout: time.Minute}
	defer client.CloseIdleConnections()
	for _, r := range reports() {
		if err := o.measureReport(ctx, b, e, q, client, r, rows, size); err != nil {
			return err
		}
	}
	return nil
}

func (o reportOptions) measureReport(ctx context.Context, b *Bench, e *Engines, q *queried, client *http.Client,
	r timedReport, rows int64, size Sample) error {
	if !b.Wanted(r.caseOf(rows)) {
		return nil
	}
	ask, err := q.asker(ctx, client, r)
	if err != nil {
		return err
	}
	return b.Measure(ctx, Case{
		Name: r.caseOf(rows), Warm: 1,
		Title: fmt.Sprintf("a report of the largest account, one after another, while %d events/s are inserted: %s events",
			insertedMeanwhile, number(float64(rows))),
		Sides: []Side{{Name: "report", Run: func(ctx context.Context) (Sample, error) {
			watch, err := Watch(append(e.Processes(), q.process.Metered())...)
			if err != nil {
				return nil, err
			}
			took := NewLatencies()
			for range o.Requests {
				d, err := ask(ctx)
				if err != nil {
					_, watchErr := watch.Stop()
					return nil, errors.Join(err, watchErr)
				}
				took.Add(d)
			}
			use, err := watch.Stop()
			s := Sample{}
			s.AddLatencies(took)
			s.AddUse(use, int64(o.Requests))
			maps.Copy(s, size)
			return s, err
		}}},
	})
}

// asker returns what asks for a report once, and tells how long it took.
func (q *queried) asker(ctx context.Context, client *http.Client,
	r timedReport) (func(context.Context) (time.Duration, error), error) {
	if r.pages {
		var magnet uuid.UUID
		if err := q.store.QueryRow(ctx,
			"SELECT lead_magnet_id FROM lodestone.events WHERE account_id = ? GROUP BY lead_magnet_id ORDER BY count() DESC LIMIT 1", q.account).Scan(&magnet); err != nil {
			return nil, fmt.Errorf("choose a lead magnet: %w", err)
		}
		return func(ctx context.Context) (time.Duration, error) {
			_, took, err := get(ctx, client, q.base+"/pages?lead_magnet_id="+magnet.String(), q.key)
			return took, err
		}, nil
	}
	// The last two weeks have few events: traffic ends there.
	to := time.Now().UTC().AddDate(0, 0, -14)
	for _, query := range r.queries {
		query["from"], query["to"] = to.AddDate(0, 0, -r.days).Format(time.DateOnly), to.Format(time.DateOnly)
	}
	body, err := json.Marshal(map[string]any{"queries": r.queries})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) (time.Duration, error) {
		answer, err := exchange(ctx, client, http.MethodPost, q.base+"/query", q.key, body)
		if err == nil && answer.status != http.StatusOK {
			err = fmt.Errorf("POST /query: %d: %.300s", answer.status, answer.body)
		}
		return answer.took, err
	}, nil
}

// storedBytes returns how many bytes an event takes, merged.
func (q *queried) storedBytes(ctx context.Context) (Sample, error) {
	const of = "database = 'lodestone' AND table = 'events' AND active"
	var table, all float64
	err := q.store.QueryRow(ctx,
		"SELECT (sum(bytes_on_disk) - (SELECT sum(bytes_on_disk) FROM system.projection_parts WHERE "+of+
			")) / sum(rows), sum(bytes_on_disk) / sum(rows) FROM system.parts WHERE "+of).
		Scan(&table, &all)
	return Sample{tableBytes: table, allBytes: all}, err
}

// reportCopies add lead magnets, page counts, access links with the persons and sources behind
// them, submissions and views of landing pages, which fit the events.
var reportCopies = []string{
	`INSERT INTO lodestone.lead_magnets (id, account_id, title, page_count, file_version, created_at, version)
	SELECT lead_magnet_id, any(account_id), concat('Guide ', substring(toString(lead_magnet_id), 1, 13)), max(page), max(magnet_version), min(created_at) - INTERVAL 1 DAY, 1
	FROM lodestone.events GROUP BY lead_magnet_id`,
	`INSERT INTO lodestone.magnet_versions (account_id, lead_magnet_id, magnet_version, page_count, version)
	SELECT account_id, lead_magnet_id, magnet_version, max(page), 1 FROM lodestone.events GROUP BY account_id, lead_magnet_id, magnet_version`,
	`INSERT INTO lodestone.access_links (id, account_id, lead_magnet_id, generic_link_id, submission_id, email_domain, person_id, source, utm_source, utm_medium, utm_campaign, referrer, is_active, created_at, version)
	SELECT access_link_id, any(account_id) AS account, any(lead_magnet_id), nullIf(any(generic_link_id), toUUID('00000000-0000-0000-0000-000000000000')) AS generic,
		if(isNull(generic), NULL, reinterpret(sipHash128(access_link_id, 'submission'), 'UUID')), concat('company', toString(cityHash64(access_link_id) % 997), '.example'),
		reinterpret(sipHash128(account, cityHash64(access_link_id) % 150000), 'UUID'), if(isNull(generic), 'api', 'form'),
		['', 'newsletter', 'linkedin', 'google', 'partner', 'webinar', 'event', 'podcast'][1 + cityHash64(access_link_id, 1) % 8], ['', 'email', 'social', 'cpc'][1 + cityHash64(access_link_id, 2) % 4],
		concat('campaign-', toString(cityHash64(access_link_id, 3) % 40)), ['', 'https://www.linkedin.com/', 'https://www.google.com/', 'https://t.co/'][1 + cityHash64(access_link_id, 4) % 4],
		true, min(created_at) - INTERVAL 1 HOUR, 1
	FROM lodestone.events GROUP BY access_link_id`,
	`INSERT INTO lodestone.submissions (id, account_id, lead_magnet_id, generic_link_id, email_domain, person_id, verification_required, verified, utm_source, utm_medium, utm_campaign, referrer, submitted_at, verified_at, version)
	SELECT assumeNotNull(submission_id), account_id, lead_magnet_id, assumeNotNull(generic_link_id), email_domain, person_id, true AS verification_required, true AS verified, utm_source, utm_medium, utm_campaign, referrer, created_at, created_at + INTERVAL 10 MINUTE, 1
	FROM lodestone.access_links WHERE submission_id IS NOT NULL`,
	`INSERT INTO lodestone.link_views (account_id, lead_magnet_id, generic_link_id, event_id, referrer, url, ip_hash, user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset)
	SELECT account_id, lead_magnet_id, generic_link_id, event_id, ['', 'https://www.linkedin.com/', 'https://www.google.com/', 'https://t.co/'][1 + cityHash64(event_id) % 4],
		concat('https://docs.example.com/l/guide?utm_source=', ['', 'newsletter', 'linkedin', 'google', 'partner', 'webinar', 'event', 'podcast'][1 + cityHash64(event_id, 1) % 8],
			'&utm_campaign=campaign-', toString(cityHash64(event_id, 3) % 40)),
		ip_hash, user_agent, bot, created_at, received_at, kafka_topic_id, kafka_partition, kafka_offset
	FROM lodestone.events WHERE cityHash64(event_id) % 8 = 0 AND generic_link_id != toUUID('00000000-0000-0000-0000-000000000000')`,
}
