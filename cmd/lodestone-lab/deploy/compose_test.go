// Package deploy has no code. Its tests stand in for running the files of the product's directory
// deploy.
package deploy_test

import (
	"context"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/require"

	"lodestone/pkg/test/enginetest"
)

func TestMain(m *testing.M) { enginetest.Main(m) }

const (
	root        = "../../.."
	composeFile = root + "/docker-compose.yml"
	source      = root + "/deploy"
	secretsDir  = "/run/secrets/"
)

// ours are the services that run the Lodestone image.
var ours = []string{"migrate", "collector", "consumer", "query", "crud", "backup"}

// onRequest are the profiles of services that `docker compose up` does not start.
var onRequest = []string{"backup"}

// always returns the services that start with the stack.
func always() []string {
	return slices.DeleteFunc(slices.Clone(ours), func(name string) bool { return slices.Contains(onRequest, name) })
}

// environment returns what deploy/compose-env writes, fresh: the variables of .env, and the secrets
// by name.
func environment(t *testing.T) (variables, secrets map[string]string) {
	t.Helper()
	dir := t.TempDir()
	out, err := exec.CommandContext(t.Context(), source+"/compose-env", dir).CombinedOutput()
	require.NoError(t, err, string(out))
	variables, err = dotenv.Read(filepath.Join(dir, ".env"))
	require.NoError(t, err)
	files, err := os.ReadDir(filepath.Join(dir, ".secrets"))
	require.NoError(t, err)
	secrets = map[string]string{}
	for _, f := range files {
		text, err := os.ReadFile(filepath.Join(dir, ".secrets", f.Name()))
		require.NoError(t, err)
		secrets[f.Name()] = strings.TrimSpace(string(text))
	}
	return variables, secrets
}

// load resolves the file with these variables and no other.
func load(ctx context.Context, variables map[string]string) (*types.Project, error) {
	dir, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	details := types.ConfigDetails{
		WorkingDir:  dir,
		ConfigFiles: []types.ConfigFile{{Filename: composeFile}},
		Environment: variables,
	}
	return loader.LoadWithContext(ctx, details, func(o *loader.Options) {
		o.SetProjectName("lodestone", true)
		o.Profiles = onRequest
	})
}

func project(t *testing.T) (p *types.Project, variables, secrets map[string]string) {
	t.Helper()
	variables, secrets = environment(t)
	p, err := load(t.Context(), variables)
	require.NoError(t, err)
	return p, variables, secrets
}

func TestComposeEnvLeavesWhatIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func() (string, error) {
		out, err := exec.CommandContext(t.Context(), source+"/compose-env", dir).CombinedOutput()
		return string(out), err
	}
	read := func() map[string]string {
		files := map[string]string{}
		for _, pattern := range []string{".env", ".secrets/*"} {
			found, err := filepath.Glob(filepath.Join(dir, pattern))
			require.NoError(t, err)
			for _, file := range found {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				files[file] = string(text)
			}
		}
		return files
	}
	out, err := write()
	require.NoError(t, err, out)
	before := read()
	require.Len(t, before, 7)
	out, err = write()
	require.NoError(t, err, out)
	require.Equal(t, before, read())
	for name, mode := range map[string]os.FileMode{".env": 0o600, ".secrets": 0o700, ".secrets/token-keys": 0o444} {
		info, err := os.Stat(filepath.Join(dir, name))
		require.NoError(t, err)
		require.Equal(t, mode, info.Mode().Perm(), name)
	}

	require.NoError(t, os.Remove(filepath.Join(dir, ".env")))
	out, err = write()
	require.Error(t, err, "secrets that do not fit the data would be written")
	require.Contains(t, out, "bring the other one back")
}

// A variable is set by compose-env, or the file has a default for it; if one without a default is
// missing, loading fails and says what to do.
func TestVariables(t *testing.T) {
	t.Parallel()
	given, _ := environment(t)
	text, err := os.ReadFile(composeFile)
	require.NoError(t, err)
	for _, part := range strings.Split(string(text), "${")[1:] {
		expression, _, closed := strings.Cut(part, "}")
		require.True(t, closed)
		name, _, hasDefault := strings.Cut(expression, ":-")
		name, _, required := strings.Cut(name, ":?")
		require.True(t, hasDefault || required, "%s has neither a default nor an error", name)
		if !required {
			continue
		}
		require.NotEmpty(t, given[name], "compose-env does not write %s", name)
		less := maps.Clone(given)
		delete(less, name)
		_, err := load(t.Context(), less)
		require.ErrorContains(t, err, "make compose-env", name)
	}
}

func TestSecretsAreInNoEnvironment(t *testing.T) {
	t.Parallel()
	p, _, written := project(t)
	var secrets []string
	for name, s := range p.Secrets {
		// Compose copies no other kind of secret into a container whose file system is read-only.
		require.Equal(t, name, filepath.Base(s.File))
		require.NotEmpty(t, written[name], "compose-env does not write the secret %s", name)
		secrets = append(secrets, written[name])
		if u, err := url.Parse(written[name]); err == nil && u.User != nil {
			password, _ := u.User.Password()
			secrets = append(secrets, password)
		}
	}
	require.Greater(t, len(secrets), 5)
	for name, s := range p.Services {
		for variable, value := range s.Environment {
			for _, secret := range secrets {
				if value != nil && strings.Contains(*value, secret) {
					t.Errorf("%s has a secret in its environment, which `docker inspect` shows: %s", name, variable)
				}
			}
		}
		granted := map[string]bool{}
		for _, g := range s.Secrets {
			granted[secretsDir+g.Source] = true
		}
		for variable, value := range s.Environment {
			if strings.HasSuffix(variable, "_FILE") {
				require.True(t, granted[*value], "%s reads %s and is not given it", name, *value)
				delete(granted, *value)
			}
		}
		if slices.Contains(ours, name) {
			require.Empty(t, granted, "%s is given secrets that it does not read", name)
		}
	}
}

// What one service calls another is a service of the file, at a port that this one listens on.
func TestAddresses(t *testing.T) {
	t.Parallel()
	p, _, secrets := project(t)
	listens := map[string]bool{
		"kafka:9092": true, "clickhouse:9000": true, "clickhouse:8123": true, "postgres:5432": true,
	}
	for _, name := range ours {
		for variable, value := range p.Services[name].Environment {
			if strings.HasSuffix(variable, "_LISTEN") {
				host, port, err := net.SplitHostPort(*value)
				require.NoError(t, err)
				require.Equal(t, "0.0.0.0", host, "%s must be reached from other containers", name)
				listens[name+":"+port] = true
			}
		}
	}
	for _, name := range ours {
		for variable, value := range p.Services[name].Environment {
			text := *value
			for _, s := range p.Secrets {
				if text == secretsDir+strings.TrimPrefix(s.Name, p.Name+"_") {
					text = secrets[filepath.Base(s.File)]
				}
			}
			switch {
			case strings.HasSuffix(variable, "_BROKERS"):
				require.True(t, listens[text], "%s: no one listens at %s", name, text)
			case strings.HasSuffix(variable, "_URL"), strings.HasSuffix(variable, "_URL_FILE"):
				u, err := url.Parse(text)
				require.NoError(t, err)
				if u.Hostname() != "127.0.0.1" { // what browsers are given
					require.True(t, listens[u.Host], "%s: no one listens at %s", name, u.Host)
				}
			}
		}
	}
}

func TestPorts(t *testing.T) {
	t.Parallel()
	p, variables, _ := project(t)
	published := map[string]string{}
	for name, s := range p.Services {
		for _, port := range s.Ports {
			require.Equal(t, "127.0.0.1", port.HostIP, "%s is open to the network", name)
			require.Empty(t, published[port.Published], "%s and %s want port %s", name,
				published[port.Published], port.Published)
			published[port.Published] = name
			if slices.Contains(ours, name) {
				require.True(t, listensAt(s, port.Target), "%s publishes port %d and does not listen on it", name, port.Target)
			}
		}
	}
	require.Equal(t, map[string]string{"8080": "crud", "8081": "collector", "8123": "clickhouse"}, published)
	require.Equal(t, "http://127.0.0.1:8080", variables["STACK_PUBLIC_URL"])
}

func listensAt(s types.ServiceConfig, port uint32) bool {
	for variable, value := range s.Environment {
		if strings.HasSuffix(variable, "_LISTEN") && strings.HasSuffix(*value, fmt.Sprintf(":%d", port)) {
			return true
		}
	}
	return false
}

func TestVolumes(t *testing.T) {
	t.Parallel()
	p, _, _ := project(t)
	used := map[string]string{}
	var shared []string // by those that share the backups
	for name, s := range p.Services {
		for _, v := range s.Volumes {
			switch v.Type {
			case types.VolumeTypeVolume:
				require.Contains(t, p.Volumes, v.Source, name)
				if v.Source == "backups" {
					require.Equal(t, "/backups", v.Target, name)
					shared = append(shared, name)
					continue
				}
				require.Empty(t, used[v.Source], "%s and %s share %s", name, used[v.Source], v.Source)
				used[v.Source] = name
			case types.VolumeTypeBind:
				info, err := os.Stat(v.Source)
				require.NoError(t, err, name)
				require.True(t, info.Mode().IsRegular())
				require.NotZero(t, info.Mode()&0o004,
					"%s runs as another user and cannot read %s (a checkout under a strict umask: chmod -R o+rX deploy)", name,
					v.Source)
				require.True(t, v.ReadOnly, "%s could change %s", name, v.Source)
				if strings.HasSuffix(v.Source, ".sh") {
					require.NotZero(t, info.Mode()&0o001, "%s is not executable", v.Source)
				}
			default:
				t.Errorf("%s has a %s at %s", name, v.Type, v.Target)
			}
		}
	}
	require.Len(t, used, len(p.Volumes)-1)
	require.ElementsMatch(t, []string{"clickhouse", "backup"}, shared)
	require.Equal(t, map[string]string{"kafka-data": "kafka", "clickhouse-data": "clickhouse", "postgres-data": "postgres",
		"spool-data": "collector", "erasure-log": "crud"}, used)
	spool := p.Services["collector"].Volumes[0]
	require.Equal(t, spool.Target, *p.Services["collector"].Environment["LODESTONE_SPOOL_DIR"])
	dockerfile, err := os.ReadFile(source + "/Dockerfile")
	require.NoError(t, err)
	require.Contains(t, string(dockerfile), "--chown=65532:65532 /spool "+spool.Target+"\n",
		"the process could not write to the volume")
	config, err := os.ReadFile(source + "/clickhouse/config.d/lodestone.xml")
	require.NoError(t, err)
	require.Contains(t, string(config), "<allowed_path>/backups/</allowed_path>")
	require.Equal(t, types.ShellCommand{"backup", "/backups"}, p.Services["backup"].Command)
	require.Contains(t, string(dockerfile), "--chown="+p.Services["backup"].User+" /backups /backups\n",
		"neither could write to the volume")
	erasures := p.Services["crud"].Volumes[0]
	require.Equal(t, erasures.Target, *p.Services["crud"].Environment["LODESTONE_ERASURE_LOG"])
	require.Contains(t, string(dockerfile), "--chown=65532:65532 /erasures "+erasures.Target+"\n",
		"the process could not write to the volume")
}

func TestOrderOfStart(t *testing.T) {
	t.Parallel()
	p, _, _ := project(t)
	for name, s := range p.Services {
		for other, d := range s.DependsOn {
			before := p.Services[other]
			switch d.Condition {
			case types.ServiceConditionHealthy:
				require.NotNil(t, before.HealthCheck, other)
				require.False(t, before.HealthCheck.Disable, other)
			case types.ServiceConditionCompletedSuccessfully:
				require.False(t, strings.HasPrefix(before.Restart, "always") || strings.HasPrefix(before.Restart,
					"unless"), "%s never ends", other)
			default:
				t.Errorf("%s waits for %s without a condition that tells when it is ready", name, other)
			}
		}
	}
	require.ElementsMatch(t, []string{"kafka", "clickhouse", "postgres"},
		slices.Collect(maps.Keys(p.Services["migrate"].DependsOn)))
	for _, name := range []string{"collector", "consumer", "query", "crud"} {
		require.Contains(t, p.Services[name].DependsOn, "migrate", name)
	}
	require.NotContains(t, p.Services["backup"].DependsOn, "migrate", "a restore needs empty engines")
}

// Who is in front holds for the site as for the collector: without it, all visitors share the
// limits of one.
func TestTrustedProxiesReachBothListeners(t *testing.T) {
	t.Parallel()
	variables, _ := environment(t)
	variables["STACK_TRUSTED_PROXIES"] = "172.18.0.1/32"
	p, err := load(t.Context(), variables)
	require.NoError(t, err)
	for service, variable := range map[string]string{"collector": "LODESTONE_COLLECTOR_TRUSTED_PROXIES",
		"crud": "LODESTONE_TRUSTED_PROXIES"} {
		value := p.Services[service].Environment[variable]
		require.NotNil(t, value, service)
		require.Equal(t, "172.18.0.1/32", *value, service)
	}
}

// Logs are for programs that collect them.
func TestLogsAreJSON(t *testing.T) {
	t.Parallel()
	p, _, _ := project(t)
	for _, name := range ours {
		format := p.Services[name].Environment["LODESTONE_LOG_FORMAT"]
		require.NotNil(t, format, name)
		require.Equal(t, "json", *format, name)
	}
}

func TestEveryServiceIsBounded(t *testing.T) {
	t.Parallel()
	p, _, _ := project(t)
	require.Len(t, p.Services, len(ours)+3)
	for name, s := range p.Services {
		require.NotNil(t, s.Deploy, name)
		require.NotNil(t, s.Deploy.Resources.Limits, name)
		require.Positive(t, int64(s.Deploy.Resources.Limits.MemoryBytes), name)
		// A host that has fewer processors than a limit names is refused; shares fit every host.
		require.Zero(t, s.Deploy.Resources.Limits.NanoCPUs.Value(), name)
		require.NotNil(t, s.HealthCheck, name)
		require.NotNil(t, s.Logging, name)
		require.Contains(t, s.Logging.Options, "max-size", name)
		_, tag, tagged := strings.Cut(s.Image, ":")
		require.True(t, tagged && tag != "latest", "%s: %s may be another image tomorrow", name, s.Image)
		if slices.Contains(ours, name) {
			require.True(t, s.ReadOnly, name)
			if name != "backup" { // which runs as the user of ClickHouse
				require.Equal(t, "65532:65532", s.User, name)
			}
			require.Equal(t, []string{"ALL"}, s.CapDrop, name)
			// Uploads pass through a temporary file, and the image itself cannot be written to.
			require.Equal(t, name == "crud", len(s.Tmpfs) == 1 && strings.HasPrefix(s.Tmpfs[0], "/tmp:"), name)
		}
	}
}

// The image has the user, the ports and the entry point that the file counts on, and is built from
// what .dockerignore lets through.
func TestDockerfile(t *testing.T) {
	t.Parallel()
	p, _, _ := project(t)
	text, err := os.ReadFile(source + "/Dockerfile")
	require.NoError(t, err)
	dockerfile := string(text)
	for _, s := range ours {
		require.Equal(t, "deploy/Dockerfile", p.Services[s].Build.Dockerfile)
		require.Equal(t, p.Services["crud"].Image, p.Services[s].Image)
	}
	_, last, _ := strings.Cut(dockerfile, "\nFROM scratch\n")
	require.Contains(t, last, "USER 65532:65532")
	require.Contains(t, last, `ENTRYPOINT ["/lodestone"]`)
	require.Contains(t, last, "EXPOSE 8080 8081 8090")
	require.Contains(t, last, `CMD ["/lodestone", "healthcheck"]`)

	module, err := os.ReadFile(filepath.Join(root, "go.mod"))
	require.NoError(t, err)
	_, version, _ := strings.Cut(string(module), "\ngo ")
	version = version[:strings.LastIndex(strings.Fields(version)[0], ".")]
	require.Contains(t, dockerfile, "FROM golang:"+version+"-", "the compiler is older or newer than go.mod asks for")

	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-f",
		"{{if not .Standard}}{{.Dir}}{{end}}", "lodestone/cmd/lodestone")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	ignore, err := os.ReadFile(filepath.Join(root, ".dockerignore"))
	require.NoError(t, err)
	base, err := filepath.Abs(root)
	require.NoError(t, err)
	for dir := range strings.FieldsSeq(string(out)) {
		inside, err := filepath.Rel(base, dir)
		require.NoError(t, err)
		if top, _, _ := strings.Cut(inside, "/"); top != ".." {
			require.Contains(t, string(ignore), "\n!"+top+"\n", "the image is built without %s", inside)
		}
	}
}

// What embeds a front-end that was not built starts with a warning, and lacks it.
func TestDockerfileBuildsEveryFrontEnd(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(root + "/Makefile")
	require.NoError(t, err)
	list := regexp.MustCompile(`(?m)^WEB := (.+)$`).FindSubmatch(makefile)
	require.NotNil(t, list)
	dockerfile, err := os.ReadFile(source + "/Dockerfile")
	require.NoError(t, err)
	for part := range strings.FieldsSeq(string(list[1])) {
		require.Contains(t, string(dockerfile), fmt.Sprintf("COPY --from=web /src/%[1]s/dist %[1]s/dist\n", part))
	}
}
