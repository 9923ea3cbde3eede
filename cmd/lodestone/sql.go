package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
	"unicode"

	"golang.org/x/term"

	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

type sqlCommand struct {
	Data   dataConfig `embed:""`
	URL    string     `name:"sql-url" placeholder:"URL" help:"HTTP address of the read-only SQL user, as http://user:password@host:port/?database=analytics. Secret."`
	Format string     `name:"format" default:"auto" enum:"auto,table,vertical,csv,tsv,json,parquet" help:"Output format: table, vertical, csv, tsv, json (one object per line) or parquet. auto is table on a terminal, otherwise csv. A FORMAT clause in the query takes precedence."`
	Output string     `name:"output" short:"o" placeholder:"FILE" help:"File to write the answer to, once it is complete. Default: standard output."`
	Query  string     `arg:"" optional:"" help:"The query. Default: read from standard input."`
}

// sqlFormats are ClickHouse's names of the forms of an answer.
var sqlFormats = map[string]string{
	"table": "PrettyCompactMonoBlock", "vertical": "Vertical", "csv": "CSVWithNames", "tsv": "TSVWithNames",
	"json": "JSONEachRow", "parquet": "Parquet",
}

// Run answers one query.
func (c *sqlCommand) Run(ctx context.Context) error {
	client, err := newSQLClient(c.URL)
	if err != nil {
		return err
	}
	atTerminal := term.IsTerminal(int(os.Stdout.Fd()))
	format := c.Format
	if format == "auto" {
		format = "csv"
		if atTerminal && c.Output == "" {
			format = "table"
		}
	}
	if format == "parquet" && c.Output == "" && atTerminal {
		return config.Invalid("--format", "is not for a terminal", "name a file with --output")
	}
	query := c.Query
	if query == "" && !term.IsTerminal(int(os.Stdin.Fd())) {
		text, err := io.ReadAll(os.Stdin)
		if err != nil {
			return fmt.Errorf("read the query: %w", err)
		}
		query = string(text)
	}
	if strings.TrimSpace(query) == "" {
		return errors.New("there is no query: give one as the argument, or on standard input")
	}
	if c.Output != "" {
		return client.save(ctx, query, sqlFormats[format], c.Output)
	}
	if atTerminal {
		return client.show(ctx, query, sqlFormats[format], os.Stdout)
	}
	return client.write(ctx, query, sqlFormats[format], os.Stdout)
}

// sqlClient asks ClickHouse over HTTP. Its errors have neither the password nor the address's
// query.
type sqlClient struct {
	address        url.URL
	user, password string
	http           *http.Client
}

func newSQLClient(address string) (*sqlClient, error) {
	if address == "" {
		return nil, config.Invalid("--sql-url", "is missing",
			"give the address of the read-only user, or with --data the directory of a lodestone up")
	}
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, config.Invalid("--sql-url", "cannot be used", "write http://user:password@host:port/?database=analytics")
	}
	c := &sqlClient{user: u.User.Username()}
	c.password, _ = u.User.Password()
	u.User = nil
	values := u.Query()
	if values.Get("database") == "" {
		values.Set("database", clickhouse.AnalyticsDatabase)
	}
	// An answer is sent when it is complete, so that an error is never taken for the end of one.
	values.Set("wait_end_of_query", "1")
	values.Set("cancel_http_readonly_queries_on_client_close", "1")
	u.RawQuery = values.Encode()
	if u.Path == "" {
		u.Path = "/"
	}
	c.address = *u
	c.http = &http.Client{
		Transport: certificate.HTTP(&http.Transport{Proxy: http.ProxyFromEnvironment,
			DialContext: (&net.Dialer{Timeout: 5 * time.Second}).DialContext}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// ask returns the answer to a query, to be closed.
func (c *sqlClient) ask(ctx context.Context, query, format string) (io.ReadCloser, error) {
	u := c.address
	values := u.Query()
	values.Set("default_format", format)
	u.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(query))
	if err != nil {
		return nil, errors.New("make the request: --sql-url cannot be used")
	}
	req.Header.Set("X-ClickHouse-User", c.user)
	req.Header.Set("X-ClickHouse-Key", c.password)
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if failed, ok := errors.AsType[*url.Error](err); ok {
			err = failed.Err // its own text has the address
		}
		return nil, fmt.Errorf("cannot reach ClickHouse at %s: %w", u.Host, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer func() { _ = resp.Body.Close() }() // the error that counts is the server's
	text, err := io.ReadAll(io.LimitReader(resp.Body, 16<<10))
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", u.Host, err)
	}
	return nil, serverError(resp.StatusCode, string(text))
}

var (
	exceptionHead = regexp.MustCompile(`^Code: (\d+)\. DB::Exception: `)
	exceptionTail = regexp.MustCompile(`\s*\(version [^()]*(\([^()]*\))?\)\s*$`)
)

// serverError returns ClickHouse's error as one readable line.
func serverError(status int, text string) error {
	head := exceptionHead.FindStringSubmatch(text)
	if head == nil {
		return fmt.Errorf("the answer is not ClickHouse's (HTTP status %d): check the host and port of --sql-url", status)
	}
	switch head[1] {
	case "516", "194", "192": // authentication failed, a password is required, an unknown user
		return errors.New("ClickHouse does not know this user and password: check --sql-url")
	case "81":
		return errors.New("there is no such database for this user: end --sql-url with /?database=" +
			clickhouse.AnalyticsDatabase)
	}
	text = exceptionTail.ReplaceAllString(text[len(head[0]):], "")
	return errors.New(forTerminal(strings.TrimSpace(text)))
}

// write copies the answer as it is.
func (c *sqlClient) write(ctx context.Context, query, format string, to io.Writer) (err error) {
	answer, err := c.ask(ctx, query, format)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, answer.Close()) }()
	if _, err := io.Copy(to, answer); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// show prints the answer for a person, without what could steer the terminal: visitors choose the
// text of user agents and referrers.
func (c *sqlClient) show(ctx context.Context, query, format string, to io.Writer) error {
	var b strings.Builder
	if err := c.write(ctx, query, format, &b); err != nil {
		return err
	}
	if _, err := io.WriteString(to, forTerminal(b.String())); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// save writes the answer to a file, completely or not at all.
func (c *sqlClient) save(ctx context.Context, query, format, path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the error that counts is the first one
		}
	}()
	if err := errors.Join(c.write(ctx, query, format, f), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// forTerminal replaces control characters but line breaks and tabs.
func forTerminal(text string) string {
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			return unicode.ReplacementChar
		}
		return r
	}, text)
}
