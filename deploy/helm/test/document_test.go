package charttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// processes have values of the same names.
var processes = []string{"collector", "consumer", "query", "crud", "migrate", "backup"}

// documented is a value of the chart, or several that processes have under one name.
type documented struct {
	path      string
	processes []string
	defaults  []string
	meaning   string
}

var meaning = regexp.MustCompile(`(?m)^# -- (.*)$`)

// collect adds the values below a node of values.yaml. A value ends at a key with a meaning.
func collect(t *testing.T, all []documented, process, prefix string, node *yaml.Node) []documented {
	t.Helper()
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if prefix == "" && process == "" && slices.Contains(processes, key.Value) {
			all = collect(t, all, key.Value, "", value)
			continue
		}
		path := prefix + key.Value
		m := meaning.FindStringSubmatch(key.HeadComment)
		at := slices.IndexFunc(all, func(d documented) bool {
			return d.path == path &&
				(process == "") == (d.processes == nil)
		})
		if m == nil && at < 0 {
			require.Equal(t, yaml.MappingNode, value.Kind, "values.yaml: %s has no meaning: write a comment that begins with --",
				path)
			all = collect(t, all, process, path+".", value)
			continue
		}
		if at < 0 {
			at, all = len(all), append(all, documented{path: path, meaning: m[1]})
		}
		flow := *value
		flow.Style, flow.HeadComment = yaml.FlowStyle, ""
		text, err := yaml.Marshal(&flow)
		require.NoError(t, err)
		text = []byte(regexp.MustCompile(`\s+`).ReplaceAllString(strings.TrimSpace(string(text)), " "))
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && path == "pod" {
			text = []byte("{}")
		}
		all[at].defaults = append(all[at].defaults, string(text))
		if process != "" {
			all[at].processes = append(all[at].processes, process)
		}
	}
	return all
}

// table is the values of the chart, as docs/kubernetes.md has them.
func table(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	require.NoError(t, err)
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &document))
	var out strings.Builder
	out.WriteString("| Value | Default | Meaning |\n|---|---|---|\n")
	for _, d := range collect(t, nil, "", "", document.Content[0]) {
		name, value := "`"+d.path+"`", "`"+d.defaults[0]+"`"
		if len(d.processes) > 0 {
			name = "`" + strings.Join(d.processes, "."+d.path+"`<br>`") + "." + d.path + "`"
			if slices.ContainsFunc(d.defaults, func(v string) bool { return v != d.defaults[0] }) {
				value = "`" + strings.Join(d.defaults, "`<br>`") + "`"
			}
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", name, value, strings.ReplaceAll(d.meaning, "|", "\\|"))
	}
	return out.String()
}

// The table of values in docs/kubernetes.md agrees with values.yaml.
func TestTableOfValues(t *testing.T) {
	const begin, end = "<!-- values: a test of deploy/helm/test writes this table from values.yaml -->\n",
		"<!-- end of values -->"
	file := filepath.Join(root, "docs/kubernetes.md")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	before, rest, found := strings.Cut(string(text), begin)
	require.True(t, found)
	_, after, found := strings.Cut(rest, end)
	require.True(t, found)
	golden(t, file, []byte(before+begin+table(t)+end+after))
}

// Every value of values.yaml is in the schema, since the schema refuses others; and the other way
// around.
func TestSchemaHasNoValueThatIsNotThere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(chartDir, "values.yaml"))
	require.NoError(t, err)
	var given map[string]any
	require.NoError(t, yaml.Unmarshal(text, &given))
	text, err = os.ReadFile(filepath.Join(chartDir, "values.schema.json"))
	require.NoError(t, err)
	var schema map[string]any
	require.NoError(t, yaml.Unmarshal(text, &schema))
	for name, s := range schema["properties"].(map[string]any) {
		if name == "global" {
			continue // Helm's own, for charts within charts
		}
		require.Contains(t, given, name)
		inner, _ := s.(map[string]any)["properties"].(map[string]any)
		for property := range inner {
			require.Contains(t, given[name], property, name)
		}
	}
}
