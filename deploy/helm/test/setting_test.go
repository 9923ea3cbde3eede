package charttest

import (
	"bytes"
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	core "k8s.io/api/core/v1"
)

// setting is a row of docs/configuration.md, which a test of cmd/lodestone compares with the flags.
type setting struct {
	flag     string
	variable string
	commands []string
	secret   bool
}

var row = regexp.MustCompile(
	"(?m)^\\| `--([a-z0-9-]+)`<br>`(LODESTONE_[A-Z0-9_]+)` \\| [^|]* \\| ([^|]*) \\| (.*) \\|$")

func settings(t *testing.T) []setting {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs/configuration.md"))
	require.NoError(t, err)
	var all []setting
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		all = append(all, setting{m[1], m[2], strings.Split(m[3], ", "), strings.HasSuffix(m[4], "Secret.")})
	}
	require.Greater(t, len(all), 150)
	return all
}

// parseValues reads values as a file has them.
func parseValues(text string) (map[string]any, error) {
	return loader.LoadValues(strings.NewReader(text))
}

// find returns the setting of a command that a variable gives.
func find(all []setting, command, variable string) (setting, bool) {
	i := slices.IndexFunc(all, func(s setting) bool {
		return s.variable == variable &&
			slices.Contains(s.commands, command)
	})
	if i < 0 {
		return setting{}, false
	}
	return all[i], true
}

// A setting that a process does not know would be ignored without a message.
func TestEveryVariableIsASettingOfItsProcess(t *testing.T) {
	t.Parallel()
	all := settings(t)
	for name, files := range cases {
		for _, w := range workloads(decode(t, documents(t, values(t, files...)))) {
			for _, c := range w.pod.Spec.Containers {
				command := strings.Join(slices.DeleteFunc(slices.Clone(c.Args),
					func(a string) bool { return strings.Contains(a, "/") || strings.HasPrefix(a, "--") }), " ")
				for _, e := range c.Env {
					if e.Name == "SSL_CERT_DIR" { // of every program
						continue
					}
					variable := strings.TrimSuffix(e.Name, "_FILE")
					s, known := find(all, command, variable)
					require.True(t, known, "%s: %s: lodestone %s has no %s", name, w.name, command, variable)
					require.Equal(t, s.secret, strings.HasSuffix(e.Name, "_FILE"), "%s: %s: %s", name, w.name, e.Name)
				}
			}
		}
	}
}

// commands are those that the chart runs, by the process that they are.
var commands = map[string]string{"collector": "collector", "consumer": "consumer", "query": "query", "crud": "crud",
	"migrate": "migrate", "backup": "backup create"}

// managed are settings that other values of the chart give, or that its pods depend on.
var managed = []string{
	"admin-listen", "clickhouse-copy", "clickhouse-other-copies", "clickhouse-shards", "collector-internal-url",
	"collector-listen", "collector-trusted-proxies", "collector-url", "data", "drain-delay",
	"kafka-accept-fewer-copies", "kafka-brokers",
	"kafka-sasl-mechanism", "kafka-sasl-user", "kafka-tls",
	"listen", "log-format", "log-level", "public-url", "query-url", "spool-dir", "spool-max-bytes", "spool-send-timeout",
}

// The schema refuses a setting that the process does not have, and a secret as a value. With
// -update, the other tests need what this one writes, so it runs before those that are parallel.
func TestSettingsOfTheSchema(t *testing.T) {
	all := settings(t)
	file := filepath.Join(chartDir, "values.schema.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(text, &schema))
	definitions := schema["$defs"].(map[string]any)
	for process, command := range commands {
		properties := map[string]any{}
		for _, s := range all {
			if slices.Contains(s.commands, command) && !s.secret && !slices.Contains(managed, s.flag) {
				properties[s.flag] = map[string]any{"$ref": "#/$defs/setting"}
			}
		}
		require.Greater(t, len(properties), 2, process)
		definitions[process+"Settings"] = map[string]any{"type": "object",
			"additionalProperties": false, "properties": properties}
	}
	// The secrets of the schema are all those of the processes.
	var secrets []string
	for _, s := range all {
		processes := slices.ContainsFunc(slices.Collect(maps.Values(commands)),
			func(c string) bool { return slices.Contains(s.commands, c) })
		if processes && s.secret && !slices.Contains(secrets, s.flag) {
			secrets = append(secrets, s.flag)
		}
	}
	given := schema["properties"].(map[string]any)["secrets"].(map[string]any)["properties"].(map[string]any)
	require.ElementsMatch(t, secrets, slices.Collect(maps.Keys(given)),
		"a secret is an entry of secrets in values.yaml and its schema, and of lodestone.secretsOf in templates/_settings.tpl")

	var should bytes.Buffer
	encoder := json.NewEncoder(&should)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	require.NoError(t, encoder.Encode(schema))
	golden(t, file, should.Bytes())
}

func TestTheSchemaRefuses(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]string{
		"an unknown value":                      "{replicaCount: 2}",
		"an unknown value of a process":         "{collector: {replicaCount: 2}}",
		"a setting of another process":          "{collector: {settings: {consumer-group: x}}}",
		"a secret as a setting":                 "{crud: {settings: {smtp-url: 'smtp://user:password@mail:587'}}}",
		"a secret as a value":                   "{secrets: {postgres-url: 'postgres://user:password@host/lodestone'}}",
		"no Secret for what is necessary":       "{secrets: {token-keys: {name: ''}}}",
		"a setting that the chart gives":        "{collector: {settings: {spool-dir: /tmp}}}",
		"the tag latest":                        "{image: {tag: latest}}",
		"the tag latest of a process":           "{crud: {imageTag: latest}}",
		"a tag within the repository":           "{image: {repository: 'example.com/lodestone:1'}}",
		"no limits":                             "{crud: {resources: {limits: null}}}",
		"a pod without a limit of memory":       "{crud: {resources: {limits: {memory: null}}}}",
		"a volume with the chart's name":        "{crud: {extraVolumes: [{name: secrets, emptyDir: {}}]}}",
		"an HTTPRoute without a Gateway":        "{httpRoute: {enabled: true}, url: 'https://a.example.com', collectorUrl: 'https://b.example.com'}",
		"one host for site and events":          "{ingress: {enabled: true}, url: 'https://a.example.com', collectorUrl: 'https://a.example.com:81'}",
		"a login that KEDA cannot do":           "{consumer: {keda: {enabled: true}}, kafka: {saslMechanism: aws-msk-iam}}",
		"backups without a place":               "{backup: {enabled: true}}",
		"backups in a directory of a pod":       "{backup: {enabled: true, place: /backups}}",
		"a fraction where there are none":       "{collector: {replicas: 1.5}}",
		"a copy of the events without a Secret": "{clickhouse: {copies: [{number: 2, servers: ['c.example.com:9000']}]}}",
		"a copy of the events that is none":     "{clickhouse: {copies: [{number: 66, servers: ['c.example.com:9000'], url: {name: x, key: y}}]}}",
		"a path within the site's address":      "{url: 'https://example.com/lodestone'}",
	} {
		given, err := parseValues(v)
		require.NoError(t, err, name)
		_, err = render(given)
		require.Error(t, err, name)
	}
}

// The first step of an upgrade replaces all processes but the collectors.
func TestAnUpgradeInStepsLeavesTheCollectorsAlone(t *testing.T) {
	t.Parallel()
	pods := func(text string) map[string]*core.PodTemplateSpec {
		given, err := parseValues(text)
		require.NoError(t, err)
		all := map[string]*core.PodTemplateSpec{}
		for _, w := range workloads(decode(t, documents(t, given))) {
			all[w.name] = w.pod
		}
		return all
	}
	before, after := pods("{image: {tag: '1'}}"), pods("{image: {tag: '2'}, collector: {imageTag: '1'}}")
	require.Len(t, before, 5)
	for name := range before {
		if name == "lodestone-collector" {
			require.Equal(t, before[name], after[name])
			continue
		}
		require.Equal(t, "lodestone:2", after[name].Spec.Containers[0].Image)
	}
}

func TestSettingsReachTheProcess(t *testing.T) {
	t.Parallel()
	given, err := parseValues(
		`{collector: {settings: {collector-max-body-bytes: 1048576, collector-write-timeout: 5s}}, crud: {settings: {capture-refuse-disposable: true}}}`)
	require.NoError(t, err)
	env := map[string]string{}
	for _, w := range workloads(decode(t, documents(t, given))) {
		for _, e := range w.pod.Spec.Containers[0].Env {
			env[w.name+" "+e.Name] = e.Value
		}
	}
	require.Equal(t, "1048576", env["lodestone-collector LODESTONE_COLLECTOR_MAX_BODY_BYTES"], "not 1.048576e+06")
	require.Equal(t, "5s", env["lodestone-collector LODESTONE_COLLECTOR_WRITE_TIMEOUT"])
	require.Equal(t, "true", env["lodestone-crud LODESTONE_CAPTURE_REFUSE_DISPOSABLE"])
	require.Equal(t, "3221225472", env["lodestone-collector LODESTONE_SPOOL_MAX_BYTES"])
}

// A number of the values is the number that the process reads, whatever kind it is.
func TestNumbersOfSettingsStayNumbers(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{"crud: {settings: {trace-share", "consumer: {settings: {consumer-batch-age"} {
		process, variable := "lodestone-crud", "LODESTONE_TRACE_SHARE"
		if strings.HasPrefix(setting, "consumer") {
			process, variable = "lodestone-consumer", "LODESTONE_CONSUMER_BATCH_AGE"
		}
		for _, number := range []string{
			"0", "1", "-1", "0.05", "-0.5", "0.999", "1.5", "0.1234567890123", "0.0000001", "1e-3", "2.50", "1048576",
			"1e6", "1234567.25", "3221225472",
			"9007199254740991", "1000000000000000000", "9e18",
		} {
			given, err := parseValues("{" + setting + ": " + number + "}}}")
			require.NoError(t, err)
			var value string
			for _, w := range workloads(decode(t, documents(t, given))) {
				for _, e := range w.pod.Spec.Containers[0].Env {
					if w.name == process && e.Name == variable {
						value = e.Value
					}
				}
			}
			want, err := strconv.ParseFloat(number, 64)
			require.NoError(t, err)
			got, err := strconv.ParseFloat(value, 64)
			require.NoError(t, err, number)
			require.Equal(t, want, got, number)
			if want == math.Trunc(want) {
				_, err := strconv.ParseInt(value, 10, 64)
				require.NoError(t, err, "%s: settings that are whole take no fraction and no exponent", number)
			}
		}
	}
}
