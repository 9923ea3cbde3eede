package scope

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	native "github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"lodestone/pkg/certificate"
	"lodestone/pkg/clickhouse"
	"lodestone/pkg/config"
)

// Streams runs statements of accounts whose answers are files in a format of ClickHouse, over its
// HTTP address. A statement is confined as one of ClickHouse.Query is. It is safe for concurrent
// use.
type Streams struct {
	copies *Copies
	of     []*streams // by copy
}

// streams are those of a copy of the events.
type streams struct {
	address *url.URL // without user and password
	login   clickhouse.HTTPLogin
	client  *http.Client
	limits  Limits
	store   clickhouse.Config
	shards  int // that each answer must come from
}

// Format is a format that ClickHouse writes, with its settings.
type Format struct {
	Name     string
	Settings map[string]string
}

// OpenStreams returns Streams without connecting. The address is http://host:port, or
// http://user:password@host:port for another user than that of the native protocol.
func OpenStreams(c clickhouse.Config, address string, l Limits) (*Streams, error) {
	return OpenStreamsOf(One(c), address, l)
}

// OpenStreamsOf is OpenStreams for several copies of the events, with an address of each, in their
// order and with commas between them.
func OpenStreamsOf(c *Copies, addresses string, l Limits) (*Streams, error) {
	each := strings.Split(addresses, ",")
	if len(each) != len(c.configs) {
		return nil, config.Invalid("--clickhouse-http-url",
			fmt.Sprintf("has %d addresses for %d copies of the events", len(each), len(c.configs)),
			"give one of each, with commas between them, first that of --clickhouse-url and then those of --clickhouse-other-copies")
	}
	s := &Streams{copies: c}
	for i, address := range each {
		of, err := openStreams(c.configs[i], strings.TrimSpace(address), l)
		if err != nil {
			return nil, err
		}
		s.of = append(s.of, of)
	}
	return s, nil
}

func openStreams(c clickhouse.Config, address string, l Limits) (*streams, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, config.Invalid("--clickhouse-http-url", "cannot be used", "write http://host:port")
	}
	s := &streams{
		login: clickhouse.HTTPLogin{URL: address, Native: c}, limits: l, store: c, shards: 1 + strings.Count(c.Shards, ";"),
	}
	s.address = &url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	s.client = &http.Client{
		Transport: certificate.HTTP(&http.Transport{
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxConnsPerHost:       l.MaxConns,
			MaxIdleConnsPerHost:   l.MaxConns,
			IdleConnTimeout:       10 * time.Second, // ClickHouse keeps one for a little longer
			ResponseHeaderTimeout: l.Timeout,
			DisableCompression:    true, // the file passes as it is
			ReadBufferSize:        64 << 10,
		}),
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s, nil
}

// Close closes the connections that no stream uses.
func (s *Streams) Close() {
	for _, of := range s.of {
		of.client.CloseIdleConnections()
	}
}

// Open starts a statement for the account, and returns its answer in the format, to be closed. An
// error of it is one of the statement or of ClickHouse; IsUnavailable knows those that may pass.
// The whole stream has the time of the limits.
func (s *Streams) Open(ctx context.Context, account uuid.UUID, st Statement, f Format) (*Stream, error) {
	if err := st.check(account); err != nil {
		return nil, err
	}
	index, open := s.copies.fix(ctx)
	stream, err := s.of[index].begin(ctx, account, st, f)
	if open && isAway(err) && ctx.Err() == nil {
		if other, ok := s.copies.instead(index, err); ok {
			s.copies.move(ctx, other)
			return s.of[other].begin(ctx, account, st, f)
		}
	}
	return stream, err
}

// begin is Open for the copy.
func (s *streams) begin(ctx context.Context, account uuid.UUID, st Statement, f Format) (*Stream, error) {
	ctx, cancel := context.WithTimeout(ctx, s.limits.Timeout)
	var stream *Stream
	err := s.checkCluster(ctx)
	if err == nil {
		stream, err = s.open(ctx, account, st, f)
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("query %s: %w", st.Name, err)
	}
	stream.cancel = cancel
	return stream, nil
}

func (s *streams) open(ctx context.Context, account uuid.UUID, st Statement, f Format) (*Stream, error) {
	body, tag, err := s.ask(ctx, s.query(account, st, f), s.store.Everywhere(st.SQL))
	if err != nil {
		return nil, err
	}
	return &Stream{name: st.Name, body: body, tag: tag}, nil
}

// checkCluster returns an error unless the server at the address reads exactly the shards of the
// settings, as each connection of the native protocol is checked: what it has for a cluster is its
// own setting, with which a file could lack rows, or have some twice.
func (s *streams) checkCluster(ctx context.Context) error {
	if s.store.Shards == "" {
		return nil
	}
	values := url.Values{"database": {s.store.ReadDatabase()}, "default_format": {"TabSeparated"}}
	for name, value := range s.store.ReadSettings() {
		values.Set(name, fmt.Sprint(value))
	}
	body, _, err := s.ask(ctx, values, "SELECT count(), uniqExact(id), toString(arraySort(groupArray(id))) FROM "+
		clickhouse.AllDatabase+".shard")
	if err != nil {
		return fmt.Errorf("ask the server of --clickhouse-http-url for the shards of its cluster: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(body, maxException))
	if err = errors.Join(err, body.Close()); err != nil {
		return fmt.Errorf("ask the server of --clickhouse-http-url for the shards of its cluster: %w", err)
	}
	if want := fmt.Sprintf("%d\t%d\t", s.shards, s.shards); !strings.HasPrefix(string(text), want) {
		fields := strings.Split(strings.TrimSpace(string(text)), "\t")
		return fmt.Errorf("the cluster of the server of --clickhouse-http-url has the shards %s, and --clickhouse-shards has %d: make its remote_servers the same (docs/shards.md): %w",
			fields[len(fields)-1], s.shards, errOtherCluster)
	}
	return nil
}

// errOtherCluster passes when the server is given its setting.
var errOtherCluster = fmt.Errorf("another cluster: %w", io.ErrUnexpectedEOF)

// ask sends a statement, and returns an answer that began without an error, with the tag of one at
// its end.
func (s *streams) ask(ctx context.Context, values url.Values, sql string) (body io.ReadCloser, tag string, err error) {
	user, password, err := s.login.Credentials()
	if err != nil {
		return nil, "", err
	}
	u := *s.address
	u.RawQuery = values.Encode()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), strings.NewReader(sql))
	if err != nil {
		return nil, "", fmt.Errorf("make the request: %w", withoutAddress(err))
	}
	req.Header.Set("X-ClickHouse-User", user)
	req.Header.Set("X-ClickHouse-Key", password)
	req.Header["Idempotency-Key"] = nil // for the client: a connection that turns out to be dead is replaced
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, "", withoutAddress(err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, resp.Header.Get("X-ClickHouse-Exception-Tag"), nil
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxException))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, "", fmt.Errorf("read the error of the statement: %w", err)
	}
	code, err := strconv.ParseInt(resp.Header.Get("X-ClickHouse-Exception-Code"), 10, 32)
	if err != nil { // something between answered, or a server that is not ClickHouse
		return nil, "", fmt.Errorf("the HTTP address of ClickHouse answered with status %d: %w",
			resp.StatusCode, io.ErrUnexpectedEOF)
	}
	return nil, "", &native.Exception{Code: int32(code), Name: "DB::Exception", Message: string(text)}
}

// query returns the parameters of the request: what confines the statement, and the format.
func (s *streams) query(account uuid.UUID, st Statement, f Format) url.Values {
	settings, params := st.confined(account, nil, s.limits) // a file has everything
	values := url.Values{}
	for name, value := range f.Settings {
		values.Set(name, value)
	}
	for name, value := range settings { // these come last, so that no format can replace one
		values.Set(name, fmt.Sprint(value))
	}
	for name, value := range params {
		values.Set("param_"+name, value)
	}
	for name, value := range s.store.ReadSettings() {
		values.Set(name, fmt.Sprint(value))
	}
	values.Set("database", s.store.ReadDatabase())
	values.Set("default_format", f.Name)
	values.Set("http_write_exception_in_output_format", "0")
	values.Set("cancel_http_readonly_queries_on_client_close", "1")
	return values
}

// withoutAddress returns the cause of a client's error, whose text has the address with its
// parameters.
func withoutAddress(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	return err
}

// Stream is the answer to a statement.
type Stream struct {
	name   string
	body   io.ReadCloser
	tag    string // random; surrounds an error of the server in the answer
	cancel context.CancelFunc
}

// Close ends the statement if it still runs.
func (s *Stream) Close() error {
	s.cancel()
	if err := s.body.Close(); err != nil {
		return fmt.Errorf("close query %s: %w", s.name, err)
	}
	return nil
}

const (
	// maxException is the size up to which the server writes an error at the end of an answer.
	maxException = 16 << 10
	chunk        = 128 << 10
)

// WriteTo implements io.WriterTo, in constant memory. An error says that the answer is not whole,
// also if all of it seems to have arrived: the server may have written an error at its end, which
// is not passed on.
func (s *Stream) WriteTo(w io.Writer) (written int64, err error) {
	buffer := make([]byte, 0, maxException+chunk)
	for {
		n, err := s.body.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if err != nil {
			if err = s.ending(buffer, err); err != nil {
				return written, fmt.Errorf("query %s: %w", s.name, err)
			}
			n, err := w.Write(buffer)
			return written + int64(n), err
		}
		if len(buffer) < cap(buffer) {
			continue
		}
		passed := len(buffer) - maxException
		n, err = w.Write(buffer[:passed])
		written += int64(n)
		if err != nil {
			return written, err
		}
		buffer = buffer[:copy(buffer, buffer[passed:])]
	}
}

// ending returns what is wrong with an answer whose last bytes are tail, nil if it is whole.
func (s *Stream) ending(tail []byte, err error) error {
	if s.tag != "" {
		if _, after, found := bytes.Cut(tail, []byte("__exception__\r\n"+s.tag+"\r\n")); found {
			return exception(string(after))
		}
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// exception reads an error as the server writes it into an answer: Code: 159. DB::Exception: …
func exception(text string) error {
	digits, message, _ := strings.Cut(strings.TrimPrefix(text, "Code: "), ". ")
	code, err := strconv.ParseInt(digits, 10, 32)
	if err != nil {
		return fmt.Errorf("the server broke off: %w", io.ErrUnexpectedEOF)
	}
	message, _, _ = strings.Cut(message, "\r\n")
	return &native.Exception{Code: int32(code), Name: "DB::Exception", Message: message}
}
