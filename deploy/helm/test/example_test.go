package charttest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
	core "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// custom are the schemas of custom resources whose Go types are not to be had as a module, or bring
// their operator: the definitions of the operators without descriptions (all under Apache-2.0).
type custom map[string]*jsonschema.Schema

var definitions = sync.OnceValues(func() (custom, error) {
	files, err := filepath.Glob("testdata/crd/*.json")
	if err != nil {
		return nil, err
	}
	all := custom{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var definition struct {
			Group, Version, Kind string
			Schema               map[string]any
		}
		if err := json.Unmarshal(text, &definition); err != nil {
			return nil, err
		}
		compiler := jsonschema.NewCompiler()
		if err := compiler.AddResource(file, strict(definition.Schema)); err != nil {
			return nil, err
		}
		if all[definition.Group+"/"+definition.Version+" "+definition.Kind], err = compiler.Compile(file); err != nil {
			return nil, err
		}
	}
	return all, nil
})

// strict turns a schema of Kubernetes into one that refuses unknown fields.
func strict(schema map[string]any) map[string]any {
	if schema["x-kubernetes-int-or-string"] == true {
		return map[string]any{"type": []any{"integer", "string"}}
	}
	out := map[string]any{}
	for key, value := range schema {
		if strings.HasPrefix(key, "x-kubernetes-") || key == "nullable" || key == "format" {
			continue
		}
		out[key] = value
	}
	if properties, ok := schema["properties"].(map[string]any); ok {
		all := map[string]any{}
		for name, property := range properties {
			all[name] = strict(property.(map[string]any))
		}
		out["properties"] = all
		if schema["x-kubernetes-preserve-unknown-fields"] != true && schema["additionalProperties"] == nil {
			out["additionalProperties"] = false
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if inner, ok := schema[key].(map[string]any); ok {
			out[key] = strict(inner)
		}
	}
	return out
}

// check validates a document if it is of a kind with a definition, and reports whether it is.
func (c custom) check(t *testing.T, doc []byte) bool {
	t.Helper()
	var object map[string]any
	require.NoError(t, yaml.UnmarshalStrict(doc, &object))
	kind, _ := object["kind"].(string)
	version, _ := object["apiVersion"].(string)
	schema, ok := c[version+" "+kind]
	if ok {
		require.NoError(t, schema.Validate(object), "%s", doc)
	}
	return ok
}

// The operators accept the custom resources beside each file of values.
func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../examples/*.yaml")
	require.NoError(t, err)
	crds, err := definitions()
	require.NoError(t, err)
	found := 0
	for _, file := range files {
		if strings.HasSuffix(file, "-values.yaml") {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, doc := range split(t, text) {
			require.True(t, crds.check(t, doc), "%s: no definition of %s", file, doc)
			found++
		}
	}
	require.Equal(t, 6, found)
}

// A definition that accepts everything would prove nothing.
func TestUnknownFieldsOfCustomResourcesAreRefused(t *testing.T) {
	t.Parallel()
	crds, err := definitions()
	require.NoError(t, err)
	require.Len(t, crds, 7)
	for kind, schema := range crds {
		version, name, _ := strings.Cut(kind, " ")
		require.Error(t, schema.Validate(map[string]any{"apiVersion": version, "kind": name, "metadata": map[string]any{},
			"spec": map[string]any{"unknownField": 1}}), kind)
	}
}

// ClickHouse has the same configuration everywhere.
func TestClickHouseOfTheExampleIsConfiguredAsElsewhere(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../examples/altinity.yaml")
	require.NoError(t, err)
	var installation struct {
		Spec struct {
			Configuration struct {
				Files    map[string]string
				Clusters []map[string]any
			}
			Templates struct {
				PodTemplates []struct{ Spec core.PodSpec }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &installation))
	files := installation.Spec.Configuration.Files
	require.Len(t, files, 2)
	for name, is := range files {
		should, err := os.ReadFile(filepath.Join(root, "deploy/clickhouse", name))
		require.NoError(t, err)
		require.Equal(t, string(should), is, "copy deploy/clickhouse/%s to %s", name, "deploy/helm/examples/altinity.yaml")
	}
	// With a secret, the other shard checks the rights of the SQL user who asked (docs/shards.md).
	for _, cluster := range installation.Spec.Configuration.Clusters {
		require.NotContains(t, cluster, "secret")
	}
	// Each variable that the configuration takes is given.
	env := map[string]bool{}
	for _, e := range installation.Spec.Templates.PodTemplates[0].Spec.Containers[0].Env {
		env[e.Name] = true
	}
	for _, part := range strings.Split(files["users.d/lodestone.xml"], `from_env="`)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		require.True(t, env[name], name)
	}
}
