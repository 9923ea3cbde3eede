package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/ClickHouse/ch-go"

	"lodestone/pkg/clickhouse"
)

// probe asks both ports for an answer as Lodestone's own user: with a wrong configuration the
// server may run, and even end with status 0, without serving, and one port can be closed while the
// other answers. It creates the workload of SQL users if there is none, as the library forgets it
// with each process.
func (c *ClickHouse) probe(ctx context.Context) error {
	if text, err := c.request(ctx, http.MethodGet, "http://"+address(c.ports["http"])+"/ping",
		""); err != nil || text != "Ok." {
		return fmt.Errorf("ping: %q: %w", text, cmpErr(err))
	}
	text, err := c.request(ctx, http.MethodPost, c.HTTPURL(),
		"SELECT count() FROM system.workloads WHERE name = 'analyst'")
	if err != nil || text != "0" && text != "1" {
		return fmt.Errorf("select: %q: %w", text, cmpErr(err))
	}
	if err := c.pingNative(ctx); err != nil {
		return fmt.Errorf("ping the native port: %w", err)
	}
	if text == "0" {
		if err := c.makeWorkload(ctx); err != nil {
			c.config.Log.Warn("cannot limit the queries of SQL users", "error", err)
		}
	}
	return nil
}

func (c *ClickHouse) pingNative(ctx context.Context) (err error) {
	client, err := ch.Dial(ctx, ch.Options{
		Address: address(c.ports["tcp"]), User: clickhouseUser,
		Password: c.passwords[clickhouseUser], ClientName: "lodestone",
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return client.Ping(ctx)
}

// analystShare is the number of processors for each concurrent query of the analyst. With fewer,
// the queries take more from ingestion and the API than docs/sql.md promises, on a machine that
// schedules all threads alike.
const analystShare = 2

// workloadTimeout bounds the creation of a workload, which is a few small statements: a probe's own
// bound may be short.
const workloadTimeout = 10 * time.Second

// workload returns the statements that limit SQL users. It allows one thread more than queries, so
// that a statement that ClickHouse does not count as a query does not make queries wait. Threads
// can be limited only in the library, which knows no recursive common table expressions (see
// install).
func (c *ClickHouse) workload() []string {
	queries := max(1, runtime.GOMAXPROCS(0)/analystShare)
	if !c.library {
		return clickhouse.Workload(queries, 0)
	}
	return clickhouse.Workload(queries, queries+1)
}

func (c *ClickHouse) makeWorkload(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workloadTimeout)
	defer cancel()
	for _, statement := range c.workload() {
		if text, err := c.request(ctx, http.MethodPost, c.HTTPURL(), statement); err != nil || text != "" {
			return fmt.Errorf("%s: %q: %w", statement, text, cmpErr(err))
		}
	}
	return nil
}

func cmpErr(err error) error {
	if err == nil {
		return errors.New("not the answer of our server")
	}
	return err
}

func (c *ClickHouse) request(ctx context.Context, method, address, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	response, err := c.client.Do(request)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err // the text of u contains the password
		}
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	return strings.TrimSpace(string(text)), err
}
