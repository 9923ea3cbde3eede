package charttest

import (
	"bufio"
	"bytes"
	"errors"
	"flag"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/common"
	chartutil "helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	apps "k8s.io/api/apps/v1"
	batch "k8s.io/api/batch/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes/scheme"
	gateway "sigs.k8s.io/gateway-api/apis/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "regenerate the golden files, the schema's settings and the table of values")

const (
	chartDir = ".."
	root     = "../../.."
)

// cases are the files of values that the chart is rendered with.
var cases = map[string][]string{
	"default":        nil,
	"everything":     {"testdata/everything.yaml"},
	"grafana":        {"testdata/grafana.yaml"},
	"altinity":       {"../examples/altinity-values.yaml"},
	"strimzi":        {"../examples/strimzi-values.yaml"},
	"cloudnative-pg": {"../examples/cloudnative-pg-values.yaml"},
	"all-operators": {"../examples/altinity-values.yaml", "../examples/strimzi-values.yaml",
		"../examples/cloudnative-pg-values.yaml"},
}

// values reads files as `helm --values` does: the last one wins.
func values(t *testing.T, files ...string) map[string]any {
	t.Helper()
	all := map[string]any{}
	for _, file := range files {
		f, err := os.Open(file)
		require.NoError(t, err)
		v, err := loader.LoadValues(f)
		require.NoError(t, err, file)
		require.NoError(t, f.Close())
		all = loader.MergeMaps(all, v)
	}
	return all
}

// render returns the objects of a release by the template that they come from.
func render(v map[string]any) (map[string]string, error) { return renderAs("lodestone", v) }

func renderAs(release string, v map[string]any) (map[string]string, error) {
	chart, err := loader.Load(chartDir)
	if err != nil {
		return nil, err
	}
	all, err := chartutil.ToRenderValues(chart, v, common.ReleaseOptions{Name: release, Namespace: "default",
		IsInstall: true, Revision: 1}, nil)
	if err != nil {
		return nil, err
	}
	return engine.Render(chart, all)
}

// documents returns the YAML documents of a release, in the order of their templates.
func documents(t *testing.T, v map[string]any) [][]byte {
	t.Helper()
	rendered, err := render(v)
	require.NoError(t, err)
	return flatten(t, rendered)
}

func flatten(t *testing.T, rendered map[string]string) [][]byte {
	t.Helper()
	var all [][]byte
	for _, name := range slices.Sorted(maps.Keys(rendered)) {
		if path.Ext(name) == ".yaml" {
			all = append(all, split(t, []byte(rendered[name]))...)
		}
	}
	return all
}

func split(t *testing.T, text []byte) [][]byte {
	t.Helper()
	var all [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		var object map[string]any
		require.NoError(t, yaml.UnmarshalStrict(doc, &object), string(doc)) // a key given twice is an error
		if len(object) > 0 {
			all = append(all, doc)
		}
	}
}

// types knows the objects of Kubernetes, the Gateway API and the Prometheus operator.
func types(t *testing.T) runtime.Decoder {
	t.Helper()
	known := runtime.NewScheme()
	require.NoError(t, scheme.AddToScheme(known))
	require.NoError(t, gateway.Install(known))
	require.NoError(t, monitoring.AddToScheme(known))
	return serializer.NewCodecFactory(known, serializer.EnableStrict).UniversalDeserializer()
}

// decode returns the objects of a release in their types, and those that have a schema instead of a
// type as they are. Unknown fields are refused in both.
func decode(t *testing.T, docs [][]byte) []runtime.Object {
	t.Helper()
	decoder := types(t)
	crds, err := definitions()
	require.NoError(t, err)
	var all []runtime.Object
	for _, doc := range docs {
		if custom := crds.check(t, doc); custom {
			continue
		}
		object, _, err := decoder.Decode(doc, nil, nil)
		require.NoError(t, err, "%s", doc)
		all = append(all, object)
	}
	return all
}

// Names stay within the limits of Kubernetes, whatever the release is called: 63 characters, and 52
// of a StatefulSet, whose pods have a label with its name and a hash, and of a CronJob, whose Jobs
// have its name and a time.
func TestNamesFit(t *testing.T) {
	t.Parallel()
	release := strings.Repeat("a", 53) // Helm's limit
	rendered, err := renderAs(release, values(t, cases["everything"]...))
	require.NoError(t, err)
	objects := decode(t, flatten(t, rendered))
	require.Greater(t, len(objects), 20)
	for _, o := range objects {
		limit := 63
		switch o.(type) {
		case *apps.StatefulSet, *batch.CronJob:
			limit = 52
		}
		require.LessOrEqual(t, len(o.(meta.Object).GetName()), limit, o.(meta.Object).GetName())
	}
	r := newRelease(t, objects)
	for rule, check := range rules {
		require.Empty(t, check(r), rule)
	}
}

func TestLint(t *testing.T) {
	t.Parallel()
	for name, files := range cases {
		linter := lint.RunAll(chartDir, values(t, files...), "default")
		for _, m := range linter.Messages {
			require.LessOrEqual(t, m.Severity, support.InfoSev, "%s: %v", name, m)
		}
	}
}

// The chart has its own copies of the alerts and of the dashboard, since Helm reads no file outside
// of it. With -update, the other tests need what this one writes, so it runs before those that are
// parallel.
func TestFilesAreCopies(t *testing.T) {
	for name, source := range map[string]string{"rules.yaml": "prometheus/rules.yaml",
		"operation.json": "grafana/dashboards/operation.json"} {
		text, err := os.ReadFile(filepath.Join(root, "deploy", source))
		require.NoError(t, err)
		golden(t, filepath.Join(chartDir, "files", name), text)
	}
}

// What a change of the chart does to a release is seen in the golden files. Read them before you
// commit them.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"default", "everything"} {
		var text bytes.Buffer
		for _, doc := range documents(t, values(t, cases[name]...)) {
			text.WriteString("---\n")
			text.Write(bytes.TrimLeft(doc, "\n"))
		}
		golden(t, filepath.Join("testdata", name+".golden.yaml"), text.Bytes())
	}
}

// golden compares a file with what it should be, or writes it.
func golden(t *testing.T, file string, should []byte) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, should, 0o644))
	}
	is, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, strings.Split(string(should), "\n"), strings.Split(string(is), "\n"),
		"%s: make helm-update rewrites it", file)
}
