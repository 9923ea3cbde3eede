package grafanacheck

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/grafana/grafana-foundation-sdk/go/cog"
	"github.com/grafana/grafana-foundation-sdk/go/cog/plugins"
	"github.com/grafana/grafana-foundation-sdk/go/dashboard"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"lodestone/pkg/test"
	"lodestone/pkg/test/enginetest"
)

const (
	folder    = "../../../deploy/grafana"
	operation = "operation.json" // asks Prometheus
)

var update = flag.Bool("update", false, "rewrite the answers in testdata")

func TestMain(m *testing.M) {
	plugins.RegisterDefaultPlugins()
	enginetest.Main(m)
}

// query is a query of Grafana's plugin for ClickHouse, which Grafana's schema leaves open.
type query struct {
	RefID      string     `json:"refId"`
	Datasource datasource `json:"datasource"`
	EditorType string     `json:"editorType"`
	QueryType  string     `json:"queryType"`
	Format     int        `json:"format"`
	RawSQL     string     `json:"rawSql"`
}

type datasource struct {
	Type string `json:"type"`
	UID  string `json:"uid"`
}

// board is a dashboard, its queries by the titles of their panels.
type board struct {
	file    string
	model   dashboard.Dashboard //nolint:staticcheck // because files that Grafana provisions are of this schema; version 2 is of its API
	panels  []dashboard.Panel
	queries []query
}

// boards returns the dashboards that ask ClickHouse.
func boards(t *testing.T) (list []board) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "dashboards", "*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		if filepath.Base(file) == operation {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		b := board{file: filepath.Base(file)}
		// The strict decoder reports what is wrong, in an error that is empty where nothing is. It leaves
		// parts out.
		var wrong cog.BuildErrors
		if err := new(dashboard.Dashboard).UnmarshalJSONStrict(text); !errors.As(err, &wrong) { //nolint:staticcheck // files that Grafana provisions are of this schema
			require.NoError(t, err, file)
		}
		require.Empty(t, wrong, "%s: %v", file, wrong)
		require.NoError(t, json.Unmarshal(text, &b.model), file)
		for _, p := range b.model.Panels {
			require.NotNil(t, p.Panel, "%s: rows are not used", file)
			require.Len(t, p.Panel.Targets, 1, file)
			raw, err := json.Marshal(p.Panel.Targets[0])
			require.NoError(t, err)
			decoder := json.NewDecoder(bytes.NewReader(raw))
			decoder.DisallowUnknownFields()
			var q query
			require.NoError(t, decoder.Decode(&q), "%s: %s", file, raw)
			b.panels, b.queries = append(b.panels, *p.Panel), append(b.queries, q)
		}
		list = append(list, b)
	}
	return list
}

// Dashboards are of Grafana's schema, and what Grafana would silently put up with is right as well.
func TestDashboardsAreOfTheSchema(t *testing.T) {
	t.Parallel()
	uids := map[string]bool{}
	for _, b := range boards(t) {
		require.NotNil(t, b.model.Uid)
		require.False(t, uids[*b.model.Uid], "%s: its uid is another's", b.file)
		uids[*b.model.Uid] = true
		requireNoOverlap(t, b.file, b.model.Panels)
		for i, p := range b.panels {
			q := b.queries[i]
			require.Equal(t, datasource{"grafana-clickhouse-datasource", "${datasource}"}, q.Datasource)
			require.Equal(t, p.Type == "timeseries", q.Format == 0 && q.QueryType == "timeseries", "%s: %s", b.file, *p.Title)
			require.Equal(t, p.Type != "timeseries", q.Format == 1 && q.QueryType == "table", "%s: %s", b.file, *p.Title)
		}
	}
	require.Len(t, uids, 3)
}

func requireNoOverlap(t *testing.T, file string, panels []dashboard.PanelOrRowPanel) {
	t.Helper()
	ids := map[uint32]bool{}
	var taken [24][200]string
	for _, panel := range panels {
		p := panel.Panel
		require.False(t, ids[*p.Id], "%s: %s", file, *p.Title)
		ids[*p.Id] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				require.Empty(t, taken[x][y], "%s: %s lies over it", file, *p.Title)
				taken[x][y] = *p.Title
			}
		}
	}
}

// Each panel shows what happened, to the SQL user, in any choice of its variables.
func TestPanelsShowKnownData(t *testing.T) {
	t.Parallel()
	enginetest.MigratedClickHouse(t)
	server := enginetest.Server(t)
	test.WriteCampaign(func(sql string) { ask(t, server.HTTPURL(), sql) })
	v := view{from: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC), to: time.Date(2026, 3, 15, 0, 0, 0, 0,
		time.UTC), interval: 24 * time.Hour}
	one, other := v, v
	v.values = map[string][]string{"magnet": {test.CampaignID(1)}}
	one.values = map[string][]string{"magnet": {test.CampaignID(1)},
		"account": {test.CampaignID(1), test.CampaignAccount}}
	other.values = map[string][]string{"magnet": {test.CampaignID(999)}, "account": {test.CampaignID(1)}}

	var answers strings.Builder
	for _, b := range boards(t) {
		for _, variable := range b.model.Templating.List {
			if variable.Type == "query" {
				sql := *variable.Query.String
				fmt.Fprintf(&answers, "== %s, variable %s\n%s\n", b.file, variable.Name, ask(t, server.SQLURL(), sql))
			}
		}
		for i, q := range b.queries {
			title := fmt.Sprintf("%s, %s", b.file, *b.panels[i].Title)
			answer := ask(t, server.SQLURL(), v.expand(t, q.RawSQL)+"\nFORMAT TSVWithNames")
			require.Positive(t, strings.Count(answer, "\n"), "%s shows nothing", title)
			fmt.Fprintf(&answers, "== %s\n%s\n", title, answer)
			require.Equal(t, answer, ask(t, server.SQLURL(), one.expand(t, q.RawSQL)+"\nFORMAT TSVWithNames"),
				"%s, of the account", title)
			nothing := ask(t, server.SQLURL(), other.expand(t, q.RawSQL)+"\nFORMAT TSV")
			require.Subset(t, []string{"0", "nan", "\\N", "0\n", ""}, []string{nothing}, "%s, of another account", title)
		}
	}
	const golden = "testdata/answers.txt"
	if *update {
		require.NoError(t, os.WriteFile(golden, []byte(answers.String()), 0o600))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	require.Equal(t, string(want), answers.String())
}

func ask(t *testing.T, address, sql string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(sql))
	require.NoError(t, err)
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, "%s: %s", sql, body)
	return strings.TrimRight(string(body), "\n")
}

// The files that Grafana reads at its start name the data source that dashboards begin with, and no
// password.
func TestProvisioning(t *testing.T) {
	t.Parallel()
	var sources struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct {
			Name, UID, Type string
			JSONData        map[string]any    `yaml:"jsonData"`
			SecureJSONData  map[string]string `yaml:"secureJsonData"`
		}
	}
	decode(t, "provisioning/datasources/lodestone.yaml", &sources)
	require.Len(t, sources.Datasources, 1)
	source := sources.Datasources[0]
	require.Equal(t, "grafana-clickhouse-datasource", source.Type)
	require.Equal(t, map[string]string{"password": "$LODESTONE_SQL_PASSWORD"}, source.SecureJSONData)
	require.Equal(t, "analytics", source.JSONData["defaultDatabase"])
	for _, b := range boards(t) {
		first := b.model.Templating.List[0]
		require.Equal(t, "datasource", string(first.Type))
		require.Equal(t, source.UID, *first.Current.Value.String)
	}
	var prometheus struct {
		APIVersion  int `yaml:"apiVersion"`
		Datasources []struct{ Name, UID, Type, URL, Access string }
	}
	decode(t, "provisioning/datasources/prometheus.yaml", &prometheus)
	text, err := os.ReadFile(filepath.Join(folder, "dashboards", operation))
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("%q", prometheus.Datasources[0].UID))
	var providers struct {
		APIVersion int `yaml:"apiVersion"`
		Providers  []struct {
			Name, Folder, Type string
			AllowUIUpdates     bool `yaml:"allowUiUpdates"`
			Options            struct{ Path string }
		}
	}
	decode(t, "provisioning/dashboards/lodestone.yaml", &providers)
	require.Equal(t, "file", providers.Providers[0].Type)
	require.True(t, slices.Equal([]int{1, 1}, []int{sources.APIVersion, providers.APIVersion}))
}

func decode(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, file))
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(into))
}
