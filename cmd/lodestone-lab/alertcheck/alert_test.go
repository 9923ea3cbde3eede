package alertcheck

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"github.com/stretchr/testify/require"
)

const (
	file     = "../../../deploy/prometheus/rules.yaml"
	document = "../../../docs/alerts.md"
	step     = time.Minute
)

// parsed returns the rules of the file as Prometheus reads it, which refuses fields and expressions
// that it does not know.
func parsed(t *testing.T) (list []rulefmt.Rule) {
	t.Helper()
	groups, errs := rulefmt.ParseFile(file, false, model.UTF8Validation, parser.NewParser(parser.Options{}),
		slog.New(slog.DiscardHandler))
	require.Empty(t, errs)
	for _, g := range groups.Groups {
		list = append(list, g.Rules...)
	}
	require.NotEmpty(t, list)
	return list
}

// Each alert says how urgent it is, and has its section in the document, in the same order.
func TestEachAlertHasItsSection(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(document)
	require.NoError(t, err)
	var sections []string
	for _, m := range regexp.MustCompile(`(?m)^## (.+)$`).FindAllStringSubmatch(string(text), -1) {
		sections = append(sections, m[1])
	}
	var alerts []string
	for _, r := range parsed(t) {
		alerts = append(alerts, r.Alert)
		require.Contains(t, []string{"page", "ticket"}, r.Labels["severity"], r.Alert)
		require.NotEmpty(t, r.Annotations["summary"], r.Alert)
		require.Equal(t, "docs/alerts.md#"+strings.ToLower(r.Alert), r.Annotations["runbook"])
	}
	require.Equal(t, alerts, sections)
}

// faults are the series of what each alert is for, in Prometheus' notation of tests. They take the
// place of the healthy ones.
var faults = map[string][]string{
	"LodestoneProcessDown":    {`up{job="lodestone",instance="b"} 0`},
	"LodestoneEngineAway":     {`lodestone_check_failing{check="kafka",instance="a"} 1`},
	"LodestoneEventsOverPlan": {`lodestone_quota_exceeded_accounts{instance="a"} 1`},
	"LodestoneTopicMissing":   {`lodestone_kafka_missing_topics{instance="a"} 1`},
	"LodestoneKafkaSetting":   {`lodestone_kafka_setting_warnings{instance="a"} 2`},
	"LodestoneSpoolNotSent":   {`lodestone_spool_oldest_seconds{instance="a"} 0+60xN`},
	"LodestoneSendersRefused": {`lodestone_spool_refused_full_records_total{instance="a"} 0+1xN`},
	"LodestoneCollectorFails": {`lodestone_collector_requests_total{status="503",instance="a"} 0+12xN`,
		`lodestone_collector_requests_total{status="202",instance="a"} 0+60xN`},
	"LodestoneCollectorsGone":      {`lodestone_collector_requests_in_flight{instance="a"} _xN`},
	"LodestoneAcknowledgementSlow": {`lodestone_collector_ack_seconds_bucket{le="1.002833832589467",instance="a"} 0+57xN`},
	"LodestoneSpoolDamaged":        {`lodestone_spool_damaged_segments{instance="a"} 1`},
	"LodestoneSpoolExpired":        {`lodestone_spool_expired_records_total{instance="a"} 0x5 1xN`},
	"LodestoneCollectorOverload":   {`lodestone_collector_overload_refusals_total{limit="bytes",instance="a"} 0+600xN`},
	"LodestoneNoDescriptors":       {`lodestone_collector_accept_failures_total{instance="a"} 0+1xN`},
	"LodestoneSaltsMissing":        {`lodestone_collector_salt_horizon_days{instance="a"} 0`},
	"LodestoneConsumersGone":       {`lodestone_consumer_joined{instance="a"} 0`},
	"LodestoneConsumerBehind":      {`lodestone_consumer_lag_seconds{instance="a"} 130`},
	"LodestoneRecordsWait": {`lodestone_consumer_lag_records{instance="a"} 500`,
		`lodestone_consumer_rows_total{instance="a"} 0+60xN`},
	"LodestonePartitionStandsStill": {`lodestone_consumer_halted_partitions{reason="log",instance="a"} 1`},
	"LodestoneRecordsExpired":       {`lodestone_consumer_lost_records_total{instance="a"} 0x5 7xN`},
	"LodestoneDeadLetters":          {`lodestone_consumer_dead_letters_total{reason="malformed",instance="a"} 0x5 1xN`},
	"LodestoneOffsetsMissing":       {`lodestone_consumer_offset_gaps_total{instance="a"} 0x5 1xN`},
	"LodestoneCopyBehind":           {`lodestone_copy_lag_seconds{copy="2",instance="a"} 0+60xN`},
	"LodestoneCopyNotRead": {`lodestone_query_copy{copy="1",preference="1",instance="a"} 0`,
		`lodestone_query_copy{copy="2",preference="2",instance="a"} 1`},
	"LodestoneStoresDiffer":           {`lodestone_verify_differences{kind="missing",instance="a"} 1`},
	"LodestoneStoresApart":            {`lodestone_stores_apart{older="clickhouse",instance="a"} 1`},
	"LodestoneCheckDoesNotFinish":     {`lodestone_verify_last_finish_timestamp_seconds{instance="a"} 60`},
	"LodestoneCheckFails":             {`lodestone_verify_errors_total{instance="a"} 0+1xN`},
	"LodestoneCountersBehind":         {`lodestone_counter_lag_records{instance="a"} 200000`},
	"LodestoneReportsBehind":          {`lodestone_mirror_lag_seconds{instance="a"} 61`},
	"LodestoneAnswersFail":            {`lodestone_http_request_duration_seconds_count{method="GET",route="/api/v1/analytics",status="503",instance="a"} 0+6xN`, `lodestone_http_request_duration_seconds_count{method="GET",route="/api/v1/analytics",status="200",instance="a"} 0+60xN`},
	"LodestoneQueryGone":              {`lodestone_query_connections{state="open",instance="a"} _xN`},
	"LodestoneSiteGone":               {`lodestone_session_end_errors_total{instance="a"} _xN`},
	"LodestoneSQLDoesNotAnswer":       {`lodestone_sql_answering{instance="a"} 0`},
	"LodestoneLiveBehind":             {`lodestone_live_lag_seconds{instance="a"} 11`},
	"LodestoneMailsWait":              {`lodestone_queue_oldest_seconds{queue="mail",instance="a"} 301`},
	"LodestoneJobsAbandoned":          {`lodestone_queue_jobs{queue="mail",state="discarded",instance="a"} 0x5 1xN`},
	"LodestoneWebhooksWait":           {`lodestone_webhook_errors_total{instance="a"} 0+1xN`},
	"LodestoneCertificateExpires":     {`lodestone_tls_certificate_expiry_timestamp_seconds{listener="site",instance="a"} 600000`},
	"LodestoneCertificateUnusable":    {`lodestone_tls_files_unusable{listener="site",instance="a"} 1`},
	"LodestoneSecretUnusable":         {`lodestone_secret_file_refused{setting="--token-keys",instance="a"} 1`},
	"LodestoneErasureLate":            {`lodestone_erasure_lag_seconds{instance="a"} 200000`},
	"LodestoneErasureFails":           {`lodestone_erasure_errors_total{instance="a"} 0+12xN`},
	"LodestoneRevocationsNotRecorded": {`lodestone_revocation_lag_seconds{instance="a"} 61`},
	"LodestoneRetentionWaits":         {`lodestone_retention_waiting_months{instance="a"} 1`},
	"LodestoneRetentionDiffers":       {`lodestone_retention_setting_differs{instance="a"} 1`},
	"LodestoneExportFails":            {`lodestone_archive_failures_total{instance="a"} 0+0.1xN`},
}

// A healthy installation raises no alert in four hours.
func TestHealthIsSilent(t *testing.T) {
	t.Parallel()
	require.Empty(t, firing(t, nil, 4*time.Hour))
}

// The series of each fault raise its alert, and no other.
func TestEachFaultRaisesItsAlert(t *testing.T) {
	t.Parallel()
	for _, r := range parsed(t) {
		t.Run(r.Alert, func(t *testing.T) {
			t.Parallel()
			fault := faults[r.Alert]
			require.NotEmpty(t, fault, "an alert needs a test")
			fired := firing(t, fault, time.Duration(r.For)+3*time.Hour)
			require.Equal(t, []string{r.Alert}, fired)
		})
	}
	require.Len(t, faults, len(parsed(t)))
}

// others are faults that raise an alert in another way, and what is near to a fault and raises
// none.
var others = map[string]struct {
	series []string
	alert  string
}{
	"no consumer that Prometheus knows": {[]string{`lodestone_consumer_joined{instance="a"} _xN`},
		"LodestoneConsumersGone"},
	"a process whose job has another name": {[]string{`up{job="events-metrics",instance="c"} 1x5 0xN`,
		`lodestone_build_info{job="events-metrics",instance="c"} 1x5 _xN`}, "LodestoneProcessDown"},
	"another program":                            {[]string{`up{job="node",instance="c"} 0`}, ""},
	"a check that never finished":                {[]string{`lodestone_verify_last_finish_timestamp_seconds{instance="a"} 0`}, "LodestoneCheckDoesNotFinish"},
	"a check that finishes for the first time":   {[]string{`lodestone_verify_last_finish_timestamp_seconds{instance="a"} 0x60 3600+60xN`}, ""},
	"checks that are switched off":               {[]string{`lodestone_verify_last_finish_timestamp_seconds{instance="a"} _xN`}, ""},
	"records that expired while no consumer ran": {[]string{`lodestone_consumer_lost_records_total{instance="a"} _x30 7xN`}, "LodestoneRecordsExpired"},
	"a check that failed once": {[]string{`lodestone_verify_errors_total{instance="a"} 0x30 1xN`},
		""},
	"records that cannot be read": {[]string{`lodestone_consumer_lag_records{instance="a"} 0x30 1+60xN`,
		`lodestone_consumer_rows_total{instance="a"} 0+60x30 1800xN`}, "LodestoneRecordsWait"},
	"records that are stored within two minutes": {[]string{`lodestone_consumer_lag_records{instance="a"} 100`,
		`lodestone_consumer_rows_total{instance="a"} 0+60xN`}, ""},
	"records that all repeat others": {[]string{`lodestone_consumer_lag_records{instance="a"} 100`,
		`lodestone_consumer_repeats_total{instance="a"} 0+60xN`}, ""},
	"an outage of Kafka that consumers make up for":    {[]string{`lodestone_consumer_lag_records{instance="a"} 0x30 9000x8 0xN`}, ""},
	"an erasure that failed in an outage":              {[]string{`lodestone_erasure_errors_total{instance="a"} 0x30 12x10 120xN`}, ""},
	"an export that failed once":                       {[]string{`lodestone_archive_failures_total{instance="a"} 0x30 1xN`}, ""},
	"one of two hundred acknowledgements takes longer": {[]string{`lodestone_collector_ack_seconds_bucket{le="1.002833832589467",instance="a"} 0+59.7xN`}, ""},
	"no acknowledgements":                              {[]string{`lodestone_collector_ack_seconds_bucket{le="1.002833832589467",instance="a"} 0`, `lodestone_collector_ack_seconds_bucket{le="+Inf",instance="a"} 0`}, ""},
	"SQL users get no answers for other reasons": {[]string{`lodestone_check_failing{check="sql",instance="a"} 1`},
		""},
	"a copy of the events is away for minutes": {[]string{`lodestone_copy_lag_seconds{copy="1",instance="a"} 1x5 60 120 180 1xN`, `lodestone_query_copy{copy="1",preference="1",instance="a"} 1x5 0x3 1xN`}, ""},
	"an engine restarts":                       {[]string{`lodestone_check_failing{check="postgres",instance="a"} 0x5 1x3 0xN`}, ""},
	"one collector of two is gone": {[]string{`lodestone_collector_requests_in_flight{instance="a"} 0x5 _xN`,
		`lodestone_collector_requests_in_flight{instance="b"} 0`}, ""},
	"a collector restarts": {[]string{`lodestone_collector_requests_in_flight{instance="a"} 0x5 _x3 0xN`}, ""},
}

func TestOtherFaults(t *testing.T) {
	t.Parallel()
	for name, other := range others {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fired := firing(t, other.series, 4*time.Hour)
			if other.alert == "" {
				require.Empty(t, fired)
			} else {
				require.Equal(t, []string{other.alert}, fired)
			}
		})
	}
}

// Writing a secret's file takes a moment, and a file that is good again within minutes raises
// nothing.
func TestSecretThatIsGoodAgain(t *testing.T) {
	t.Parallel()
	require.Empty(t, firing(t, []string{`lodestone_secret_file_refused{setting="--token-keys",instance="a"} 1x3 0xN`},
		time.Hour))
}

// firing returns the alerts that fire at least once in a time, with the healthy series but for
// those of a fault.
func firing(t *testing.T, fault []string, long time.Duration) (alerts []string) {
	t.Helper()
	healthy, err := os.ReadFile("testdata/healthy.txt")
	require.NoError(t, err)
	series := map[string]string{}
	for line := range strings.Lines(string(healthy)) {
		name, values, _ := strings.Cut(strings.TrimSpace(line), "} ")
		series[name] = values
	}
	for _, line := range fault {
		name, values, _ := strings.Cut(line, "} ")
		series[name] = values
	}
	steps := int(long / step)
	var load strings.Builder
	fmt.Fprintf(&load, "load %s\n", model.Duration(step))
	for name, values := range series {
		if !strings.Contains(values, "xN") {
			values += "xN"
		}
		fmt.Fprintf(&load, "  %s} %s\n", name, strings.ReplaceAll(values, "xN", fmt.Sprintf("x%d", steps)))
	}
	store := promqltest.LoadedStorage(t, load.String())
	defer func() { require.NoError(t, store.Close()) }()
	query := rules.EngineQueryFunc(promqltest.NewTestEngine(t, false, 0, 100_000), store)
	for _, r := range parsed(t) {
		expr, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		require.NoError(t, err)
		rule := rules.NewAlertingRule(r.Alert, expr, time.Duration(r.For), 0, labels.FromMap(r.Labels),
			labels.FromMap(r.Annotations), labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
		every := max(step, time.Duration(r.For)/60) // alerts that wait for days are looked at less often
		for at := time.Unix(0, 0); at.Before(time.Unix(0, 0).Add(long)); at = at.Add(every) {
			_, err := rule.Eval(context.WithoutCancel(t.Context()), 0, at, query, nil, 0)
			require.NoError(t, err, r.Alert)
			for _, a := range rule.ActiveAlerts() {
				require.NotContains(t, a.Annotations.Get("summary"), "error expanding", r.Alert)
				require.NotContains(t, a.Annotations.Get("summary"), "no value", r.Alert)
				if a.State == rules.StateFiring && !slices.Contains(alerts, r.Alert) {
					alerts = append(alerts, r.Alert)
				}
			}
		}
	}
	return alerts
}
