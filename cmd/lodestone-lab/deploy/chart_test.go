package deploy_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// rendering is the Helm chart with its default values, which a test of deploy/helm/test compares
// with the chart.
const rendering = root + "/deploy/helm/test/testdata/default.golden.yaml"

// manifest is the part of a Deployment, StatefulSet or Job that this test reads.
type manifest struct {
	Kind string
	Spec struct {
		Template struct {
			Spec struct {
				Containers []struct {
					Name         string
					Args         []string
					Env          []struct{ Name, Value string }
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
					} `yaml:"volumeMounts"`
				}
			}
		}
	}
}

// chart returns the processes of the Helm chart as services of the compose file are: names of hosts
// are without the release's, and secrets lie where Compose has them.
func chart(t *testing.T) *types.Project {
	t.Helper()
	text, err := os.ReadFile(rendering)
	require.NoError(t, err)
	text = bytes.ReplaceAll(text, []byte("http://lodestone-"), []byte("http://"))
	text = bytes.ReplaceAll(text, []byte("/run/secrets/lodestone/"), []byte(secretsDir))
	p := &types.Project{Services: types.Services{}}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var m manifest
		err := decoder.Decode(&m)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if !slices.Contains([]string{"Deployment", "StatefulSet", "Job"}, m.Kind) {
			continue
		}
		c := m.Spec.Template.Spec.Containers[0]
		s := types.ServiceConfig{Name: c.Name, Command: c.Args, Environment: types.MappingWithEquals{}}
		s.HealthCheck = &types.HealthCheckConfig{Test: []string{"CMD", "/lodestone", "healthcheck"}}
		for _, e := range c.Env {
			s.Environment[e.Name] = &e.Value
			if name, ok := strings.CutPrefix(e.Value, secretsDir); ok {
				s.Secrets = append(s.Secrets, types.ServiceSecretConfig{Source: name})
			}
		}
		for _, v := range c.VolumeMounts {
			if v.Name != "spool" { // the only one that a setting names
				continue
			}
			s.Volumes = append(s.Volumes, types.ServiceVolumeConfig{Type: types.VolumeTypeVolume,
				Source: "chart-" + v.Name, Target: v.MountPath})
		}
		p.Services[c.Name] = s
	}
	require.ElementsMatch(t, always(), slices.Collect(maps.Keys(p.Services)))
	return p
}
