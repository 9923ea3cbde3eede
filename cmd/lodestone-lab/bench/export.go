package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"lodestone/cmd/lodestone-lab/bench/traffic"
)

// exportOptions are the settings of this suite alone.
type exportOptions struct {
	Rows int64 `name:"export-rows" default:"10000000" help:"How many events are stored while exports are measured."`
}

// fileFormat is a format of exports, and the one by which ClickHouse writes the same rows.
type fileFormat struct{ name, clickhouse string }

var fileFormats = []fileFormat{{"csv", "CSVWithNames"}, {"ndjson", "JSONEachRow"}, {"parquet", "Parquet"}}

func (f fileFormat) caseName() string { return "export/" + f.name }

func (o exportOptions) suite() suite {
	s := suite{name: "export", run: o.measure}
	for _, f := range fileFormats {
		s.cases = append(s.cases, f.caseName())
	}
	return s
}

const (
	bareExport = "ClickHouse"
	fileRate   = "MiB/s"
	aboveRest  = "MiB above rest query"
)

// exportThreads is how many threads of ClickHouse read an export, here and in query/export.
const exportThreads = "2"

// exportShare is the share of the events that the account has whose events are exported.
const exportShare = 0.99

// quickExport is how many events are stored at most with --quick.
const quickExport = 1_000_000

func (o exportOptions) measure(ctx context.Context, b *Bench, e *Engines) (err error) {
	stored := o.Rows
	if b.Quick {
		stored = min(stored, quickExport)
	}
	events := traffic.New(traffic.Config{Seed: b.Seed, Events: stored, Largest: exportShare,
		Begin: time.Now().AddDate(-1, 0, 0), Span: 350 * 24 * time.Hour})
	q, err := b.startQueried(ctx, e, events, stored, 1, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, q.stop(context.WithoutCancel(ctx))) }()
	x := &exportRun{engines: e, queried: q}
	var rows uint64
	if err := q.store.QueryRow(ctx, "SELECT count() FROM lodestone.events WHERE account_id = ?",
		q.account).Scan(&rows); err != nil {
		return fmt.Errorf("count the events to export: %w", err)
	}
	x.rows = int64(rows)
	if x.rest, err = x.memoryAtRest(); err != nil {
		return err
	}
	for _, f := range fileFormats {
		if err := b.Measure(ctx, x.caseOf(f)); err != nil {
			return err
		}
	}
	return nil
}

// exportRun is the query service on the events of an account.
type exportRun struct {
	*queried
	engines *Engines
	rows    int64
	rest    uint64 // bytes of the query process before the first export
}

// memoryAtRest returns the memory of the query process while it does nothing.
func (x *exportRun) memoryAtRest() (bytes uint64, err error) {
	m := x.process.Metered()
	watch, err := Watch(m)
	if err != nil {
		return 0, err
	}
	use, err := watch.Stop()
	return use[m.Name].Peak, err
}

func (x *exportRun) caseOf(f fileFormat) Case {
	return Case{
		Name: f.caseName(), Title: fmt.Sprintf("GET /api/v1/analytics/export as %s: %s events of one account", f.name,
			number(float64(x.rows))), Warm: 1,
		Sides: []Side{
			{Name: "export", Run: x.side(f, x.export)},
			{Name: bareExport, Run: x.side(f, x.bare)},
		},
	}
}

// side returns a run that reads a file to its end.
func (x *exportRun) side(f fileFormat, request func(context.Context, fileFormat) (*http.Request,
	error)) func(context.Context) (Sample, error) {
	return func(ctx context.Context) (Sample, error) {
		req, err := request(ctx, f)
		if err != nil {
			return nil, err
		}
		watch, err := Watch(append(x.engines.Processes(), x.process.Metered(), Client())...)
		if err != nil {
			return nil, err
		}
		begin := time.Now()
		file, err := readFile(req)
		took := time.Since(begin)
		use, watchErr := watch.Stop()
		if err = errors.Join(err, watchErr); err == nil {
			err = file.check(f, x.rows)
		}
		if err != nil {
			return nil, fmt.Errorf("export as %s: %w", f.name, err)
		}
		s := Sample{Rate: float64(x.rows) / took.Seconds(), fileRate: float64(file.bytes) / (1 << 20) / took.Seconds()}
		s.AddUse(use, x.rows)
		peak := use[x.process.Name].Peak
		s[aboveRest] = float64(peak-min(peak, x.rest)) / (1 << 20)
		return s, nil
	}
}

// export asks the API.
func (x *exportRun) export(ctx context.Context, f fileFormat) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, x.base+"/export?format="+f.name, nil)
	if err == nil {
		req.Header.Set("Authorization", "Bearer "+x.key)
	}
	return req, err
}

// bareColumns are the columns of an export, with null for what is absent, and texts as they are
// stored.
const bareColumns = `event_id AS id, access_link_id, toString(event_type) AS event_type, event_data,
	if(ip_hash = toFixedString('', 16), NULL, lower(hex(ip_hash))) AS ip_hash, nullIf(user_agent, '') AS user_agent, created_at, lead_magnet_id,
	nullIf(generic_link_id, toUUID('00000000-0000-0000-0000-000000000000')) AS generic_link_id, nullIf(session_id, toUUID('00000000-0000-0000-0000-000000000000')) AS session_id,
	nullIf(page, 0) AS page, nullIf(duration_ms, 0) AS duration_ms, magnet_version, nullIf(bot, '') AS bot, received_at`

// bare asks ClickHouse for the same rows in the same format, with the same threads.
func (x *exportRun) bare(ctx context.Context, f fileFormat) (*http.Request, error) {
	address, err := url.Parse(x.engines.ClickHouseHTTP)
	if err != nil {
		return nil, err
	}
	address.RawQuery = url.Values{
		"max_threads": {exportThreads}, "param_account": {x.account.String()}, "date_time_output_format": {"iso"},
	}.Encode()
	sql := "SELECT " + bareColumns + " FROM (SELECT * FROM lodestone.events WHERE account_id = {account:UUID}) FORMAT " +
		f.clickhouse
	return http.NewRequestWithContext(ctx, http.MethodPost, address.String(), strings.NewReader(sql))
}

// magic ends a Parquet file.
const magic = "PAR1"

// file is the size and the end of an exported file.
type file struct {
	bytes, lines int64
	end          []byte // its last bytes
}

// check returns an error unless the file has all rows.
func (f file) check(format fileFormat, rows int64) error {
	want := rows
	switch format.name {
	case "parquet":
		if !bytes.HasSuffix(f.end, []byte(magic)) {
			return errors.New("the file has no end")
		}
		return nil
	case "csv":
		want++ // of names
	}
	if f.lines != want {
		return fmt.Errorf("the file has %d lines instead of %d", f.lines, want)
	}
	return nil
}

// readFile reads an answer to its end, and keeps none of it.
func readFile(req *http.Request) (f file, err error) {
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(req)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	if resp.StatusCode != http.StatusOK {
		text, err := io.ReadAll(io.LimitReader(resp.Body, 300))
		return f, errors.Join(fmt.Errorf("status %d: %s", resp.StatusCode, text), err)
	}
	buffer := make([]byte, 128<<10)
	for {
		n, err := resp.Body.Read(buffer)
		if n > 0 {
			f.bytes += int64(n)
			f.lines += int64(bytes.Count(buffer[:n], []byte{'\n'}))
			f.end = append(f.end, buffer[max(0, n-len(magic)):n]...)
			f.end = f.end[max(0, len(f.end)-len(magic)):]
		}
		if errors.Is(err, io.EOF) {
			return f, nil
		}
		if err != nil {
			return f, err
		}
	}
}
