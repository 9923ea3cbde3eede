package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"lodestone/pkg/build"
	"lodestone/pkg/client"
	"lodestone/pkg/engine"
)

// app holds the addresses and keys that `lodestone up` prints.
type app struct {
	command *upCommand
	engines *engine.Set
	account uuid.UUID // the demo account
	site    http.Handler
	key     string // its API key; secret

	dashboard string    // path of the page that signs the account's owner in once; secret
	devSecret string    // opens the pages for the person who started it
	dev       *devPages // nil: there are none
	mailbox   string    // path of the built-in mailbox; "" if there is no such page

	landing string // URL of the sample's page; "": there is none
}

// addSample makes the sample if it is the first start. Everything else works without it.
func (w *app) addSample(ctx context.Context, log *slog.Logger) {
	if w.command.NoSample {
		return
	}
	// Within this process: over TLS, the names of the certificate are those that visitors use.
	inside := &client.Transport{Handler: w.site, For: &http.Request{RemoteAddr: "127.0.0.1:0",
		Host: visible(w.command.Site.Listen), Header: http.Header{}}}
	own := client.New(client.Config{URL: w.local(), Key: w.key, HTTP: &http.Client{Transport: inside}})
	url, err := sample(ctx, own, w.engines.DataDir(), w.account)
	if err != nil {
		log.Warn("cannot create the sample; the next start tries again", "error", err)
		return
	}
	w.landing = url
}

// dashboardURL returns the address that signs the account's owner in to the dashboard, once.
func (w *app) dashboardURL() string {
	return strings.TrimRight(w.command.Crud.PublicURL, "/") + w.dashboard
}

func (w *app) collectorURL() string { return w.command.Crud.CollectorURL }

// settings returns the lines of lodestone.env.
func (w *app) settings() []envLine {
	k := w.engines.Kafka()
	return []envLine{
		{"LODESTONE_URL", w.command.Crud.PublicURL},
		{"LODESTONE_COLLECTOR_URL", w.collectorURL()},
		{"LODESTONE_ADMIN_URL", w.adminURL()},
		{"LODESTONE_API_KEY", w.key},
		{"LODESTONE_DASHBOARD_URL", w.dashboardURL()},
		{"LODESTONE_DEV_SECRET", w.devSecret},
		{"LODESTONE_POSTGRES_URL", w.engines.PostgresURL()},
		{"LODESTONE_KAFKA_BROKERS", strings.Join(k.Brokers, ",")},
		{"LODESTONE_KAFKA_SASL_MECHANISM", k.Mechanism},
		{"LODESTONE_KAFKA_SASL_USER", k.User},
		{"LODESTONE_KAFKA_SASL_PASSWORD", k.Password},
		{"LODESTONE_CLICKHOUSE_URL", w.engines.ClickHouseURL()},
		{"LODESTONE_CLICKHOUSE_HTTP_URL", w.engines.ClickHouseHTTPURL()},
		{"LODESTONE_SQL_URL", w.engines.SQLURL()},
		{"LODESTONE_ERASURE_LOG", w.command.Crud.Erasure.Log},
		{"LODESTONE_BACKUP_CLICKHOUSE_DIR", w.backupDir()},
	}
}

// backupDir is where the embedded ClickHouse may write backups; "" for another one.
func (w *app) backupDir() string {
	if w.command.Engines.ClickHouseURL != "" {
		return ""
	}
	return backupsOf(w.engines.DataDir())
}

// print prints all addresses and what to try. It shows no key: the file has it. Addresses that let
// their reader in, by a link that signs in once or by the secret of the pages for the person who
// started it, are for a terminal: elsewhere the output is kept, as by a service manager, and only
// the file has them.
func (w *app) print(out io.Writer, terminal bool, env string, took time.Duration) {
	program := relative(os.Args[0])
	if strings.ContainsRune(os.Args[0], filepath.Separator) && !filepath.IsAbs(program) &&
		!strings.HasPrefix(program, ".") {
		program = "." + string(filepath.Separator) + program // else a shell looks for it on the PATH
	}
	env = relative(env)
	data := dataFlag(env)
	inward := urlLine("Dashboard", w.dashboardURL()) + urlLine("Live view",
		strings.TrimRight(w.command.Crud.PublicURL, "/")+"/dashboard/live")
	private := w.devLine("Mailbox", w.mailbox)
	if !terminal {
		inward = urlLine("Dashboard", strings.TrimRight(w.command.Crud.PublicURL, "/")+"/dashboard") + urlLine("",
			"LODESTONE_DASHBOARD_URL in the file of settings signs in")
		private = ""
	}
	fmt.Fprintf(out, `
Lodestone %s is ready after %.1f s.

%s%s%s  API           %s/api/v1
  API docs      %s/api/v1/docs
  Collector     %s/v1/events
  Metrics       %s/metrics
  Settings      %s  (with the API key)

Try next, in a second terminal:

  %s demo%s
  source %s; curl -s -H "Authorization: Bearer $LODESTONE_API_KEY" "$LODESTONE_URL/api/v1/analytics?per_page=3"
`, build.Current().Version, took.Seconds(), inward, urlLine("Landing page", w.landing), private, w.command.Crud.PublicURL, w.command.Crud.PublicURL, w.collectorURL(),
		w.adminURL(),
		env, program, data, env)
	if w.engines.SQLURL() != "" {
		fmt.Fprintf(out, "  %s sql%s 'SELECT event_type, count() FROM events GROUP BY 1'\n", program, data)
	}
	fmt.Fprint(out, "\nCtrl-C stops everything; the data stay.\n")
}

// dataFlag returns the flag that names the directory of a lodestone.env to other commands, "" for
// their default.
func dataFlag(env string) string {
	if dir := filepath.Dir(env); dir != "data" {
		return " --data " + shellQuote(dir)
	}
	return ""
}

// local returns the address of the site on this machine, which alone shows what is for who sits at
// it.
func (w *app) local() string { return w.command.Site.local() }

func (w *app) adminURL() string {
	return w.command.Admin.TLS.Scheme() + "://" + visible(w.command.Admin.Listen)
}

// devLine returns the line of a page for the person who started it, "" if there is none.
func (w *app) devLine(name, path string) string {
	if w.dev == nil || path == "" {
		return ""
	}
	return urlLine(name, w.dev.address(w.local(), path))
}

func urlLine(name, url string) string {
	if url == "" {
		return ""
	}
	return fmt.Sprintf("  %-12s  %s\n", name, url)
}

// relative returns the shorter way to say a path.
func relative(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if absolute, err := filepath.Abs(path); err == nil {
		if r, err := filepath.Rel(here, absolute); err == nil && len(r) < len(path) {
			return r
		}
	}
	return path
}
