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
	"lodestone/pkg/service"
)

// probe asks both ports for an answer under our own user: with a wrong configuration the
// server may run, and even end with status 0, without serving, and one port can be closed while the other
// answers. It creates the workload of SQL users if there is none: the library forgets it with each process.
func (c *ClickHouse) probe(ctx context.Context) error {
	if text, err := c.request(ctx, http.MethodGet, "http://"+address(c.ports["http"])+"/ping", ""); err != nil || text != "Ok." {
		return fmt.Errorf("ping: %q: %w", text, cmpErr(err))
	}
	text, err := c.request(ctx, http.MethodPost, c.HTTPURL(), "SELECT count() FROM system.workloads WHERE name = 'analyst'")
	if err != nil || text != "0" && text != "1" {
		return fmt.Errorf("select: %q: %w", text, cmpErr(err))
	}
	if err := c.pingNative(ctx); err != nil {
		return fmt.Errorf("ping the native port: %w", err)
	}
	if text == "0" {
		if err := c.makeWorkload(ctx, c.workload()); err != nil {
			c.o.Log.Warn("queries of SQL users do not wait their turn", "error", err)
		}
	}
	return nil
}

func (c *ClickHouse) pingNative(ctx context.Context) (err error) {
	client, err := ch.Dial(ctx, ch.Options{
		Address: address(c.ports["tcp"]), User: clickhouseUser, Password: c.passwords[clickhouseUser], ClientName: "lodestone",
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return client.Ping(ctx)
}

// analystShare is the number of processors for each query of the analyst that runs at a time. With fewer, the queries take more
// from ingestion and the API than docs/sql.md says, on a machine that gives every thread the same.
const analystShare = 2

// workloadTimeout bounds making a workload, which is a few small statements: a probe's own bound may be short.
const workloadTimeout = 10 * time.Second

// workload returns the statements that limit SQL users. There is a thread more than queries, so that a statement that ClickHouse
// does not count among the queries does not keep them waiting. Threads can be limited only in the library, which knows
// no recursive common table expressions (see install).
func (c *ClickHouse) workload() []string {
	queries := max(1, runtime.GOMAXPROCS(0)/analystShare)
	if !c.library {
		return clickhouse.Workload(queries, 0)
	}
	return clickhouse.Workload(queries, queries+1)
}

func (c *ClickHouse) makeWorkload(ctx context.Context, statements []string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), workloadTimeout)
	defer cancel()
	for _, statement := range statements {
		if text, err := c.request(ctx, http.MethodPost, c.HTTPURL(), statement); err != nil || text != "" {
			return fmt.Errorf("%s: %q: %w", statement, text, cmpErr(err))
		}
	}
	return nil
}

// overdue is longer than the profile lets a query of SQL users run. One that still runs then is one that ClickHouse
// cannot end, as those are that wait for a thread.
const overdue = 150 * time.Second

// unlimited is how many queries and threads a workload has that holds nothing back for a moment.
const unlimited = 1000

// RepairSQL makes SQL users get answers again, who have had none: by lifting the limits of their workload for a moment, so that
// what waits for each other ends, and, on later attempts, by a restart of the server. It does nothing while their queries only take long.
func (c *ClickHouse) RepairSQL(ctx context.Context, attempt int) error {
	text, err := c.request(ctx, http.MethodPost, c.HTTPURL(), fmt.Sprintf(
		"SELECT countIf(elapsed > %d) > 0 OR count() = 0 FROM system.processes WHERE Settings['workload'] = 'analyst'", int(c.overdue.Seconds())))
	if err == nil && text == "0" {
		c.o.Log.Warn("SQL users wait for one another's queries, none of which runs for too long")
		return nil
	}
	if attempt > 1 || err != nil {
		c.o.Log.Error("restarting ClickHouse, which does not answer SQL users", "error", err)
		return c.restart()
	}
	c.o.Log.Error("lifting the limits of SQL users' workload for a moment: their queries are stuck")
	err = c.makeWorkload(ctx, clickhouse.Workload(unlimited, unlimited))
	if err == nil {
		err = c.awaitNoneWaiting(ctx)
	}
	return errors.Join(err, c.makeWorkload(ctx, c.workload()))
}

// awaitNoneWaiting returns when no query waits in a workload.
func (c *ClickHouse) awaitNoneWaiting(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, workloadTimeout)
	defer cancel()
	for {
		text, err := c.request(ctx, http.MethodPost, c.HTTPURL(), "SELECT sum(queue_length) FROM system.scheduler")
		if err == nil && text == "0" {
			return nil
		}
		if err := service.Sleep(ctx, 50*time.Millisecond); err != nil {
			return fmt.Errorf("wait until no query waits (%s do): %w", text, err)
		}
	}
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
			err = u.Err // u's own text holds the password
		}
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(response.Body, 1024))
	return strings.TrimSpace(string(text)), err
}
