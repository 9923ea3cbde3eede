package charttest

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// workload is an object that creates pods.
type workload struct {
	kind, name string
	replicas   *int32
	selector   *meta.LabelSelector // nil for a Job or CronJob
	pod        *core.PodTemplateSpec
	claims     []core.PersistentVolumeClaim
}

func (w workload) ends() bool { return w.kind == "Job" || w.kind == "CronJob" }

func workloads(objects []runtime.Object) []workload {
	var all []workload
	for _, o := range objects {
		switch o := o.(type) {
		case *apps.Deployment:
			all = append(all, workload{"Deployment", o.Name, o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template, nil})
		case *apps.StatefulSet:
			all = append(all, workload{"StatefulSet", o.Name, o.Spec.Replicas, o.Spec.Selector, &o.Spec.Template,
				o.Spec.VolumeClaimTemplates})
		case *batch.Job:
			all = append(all, workload{kind: "Job", name: o.Name, pod: &o.Spec.Template})
		case *batch.CronJob:
			all = append(all, workload{kind: "CronJob", name: o.Name, pod: &o.Spec.JobTemplate.Spec.Template})
		}
	}
	return all
}

// release is a rendered release, as the rules read it.
type release struct {
	objects     []runtime.Object
	workloads   []workload
	settings    []setting
	stopSeconds int64 // that a process may take to end
}

func newRelease(t *testing.T, objects []runtime.Object) release {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "cmd/lodestone/process.go"))
	require.NoError(t, err)
	m := regexp.MustCompile(`const stopTimeout = (\d+) \* time\.Second`).FindSubmatch(text)
	require.NotNil(t, m)
	stop, err := strconv.ParseInt(string(m[1]), 10, 64)
	require.NoError(t, err)
	return release{objects, workloads(objects), settings(t), stop}
}

// rules hold for every release, whatever its values. Each returns the violations.
var rules = map[string]func(r release) []string{
	"pods are not root and have nothing of the node": each(func(_ release, w workload) (wrong []string) {
		s := w.pod.Spec.SecurityContext
		wrong = unless(wrong, s != nil && is(s.RunAsNonRoot, true) && s.RunAsUser != nil && *s.RunAsUser > 0, "may be root")
		wrong = unless(wrong, s != nil && s.SeccompProfile != nil &&
			s.SeccompProfile.Type == core.SeccompProfileTypeRuntimeDefault, "no seccomp profile")
		wrong = unless(wrong, !w.pod.Spec.HostNetwork && !w.pod.Spec.HostPID && !w.pod.Spec.HostIPC,
			"uses a namespace of the node")
		wrong = unless(wrong, is(w.pod.Spec.AutomountServiceAccountToken, false), "has a token of Kubernetes")
		wrong = unless(wrong, is(w.pod.Spec.EnableServiceLinks, false),
			"has variables of Services, which are named like settings")
		for _, v := range w.pod.Spec.Volumes {
			wrong = unless(wrong, v.HostPath == nil, "mounts a directory of the node")
		}
		return wrong
	}),
	"containers have no privileges": eachContainer(func(_ release, _ workload, c core.Container) (wrong []string) {
		s := c.SecurityContext
		if s == nil {
			return []string{"no security context"}
		}
		wrong = unless(wrong, is(s.AllowPrivilegeEscalation, false), "may gain privileges")
		wrong = unless(wrong, is(s.ReadOnlyRootFilesystem, true), "may write to its root file system")
		wrong = unless(wrong, s.Capabilities != nil && slices.Equal(s.Capabilities.Drop, []core.Capability{"ALL"}) &&
			len(s.Capabilities.Add) == 0, "has capabilities")
		wrong = unless(wrong, s.Privileged == nil && s.RunAsNonRoot == nil && s.RunAsUser == nil &&
			s.SeccompProfile == nil, "overrides its pod")
		return wrong
	}),
	"containers have requests and limits": eachContainer(func(_ release, _ workload, c core.Container) (wrong []string) {
		for _, resource := range []core.ResourceName{core.ResourceCPU, core.ResourceMemory} {
			request, limit := c.Resources.Requests[resource], c.Resources.Limits[resource]
			wrong = unless(wrong, !request.IsZero() && !limit.IsZero() && request.Cmp(limit) <= 0,
				"no request below a limit of "+string(resource))
		}
		return wrong
	}),
	"images have a version": eachContainer(func(_ release, _ workload, c core.Container) []string {
		_, tag, _ := strings.Cut(path.Base(c.Image), ":")
		return unless(nil, tag != "" && tag != "latest", c.Image+" has no version")
	}),
	"processes are probed where they answer": eachContainer(func(_ release, w workload,
		c core.Container) (wrong []string) {
		if w.ends() {
			return nil
		}
		for path, probes := range map[string][]*core.Probe{"/healthz": {c.StartupProbe, c.LivenessProbe},
			"/readyz": {c.ReadinessProbe}} {
			for _, p := range probes {
				ok := p != nil && p.HTTPGet != nil && p.HTTPGet.Path == path && slices.ContainsFunc(c.Ports,
					func(port core.ContainerPort) bool {
						return port.Name == p.HTTPGet.Port.StrVal && listens(c, "LODESTONE_ADMIN_LISTEN", port.ContainerPort)
					})
				wrong = unless(wrong, ok, "no probe of "+path+" at the port for operators")
			}
		}
		// The checks of readiness take up to three seconds (pkg/httpserver).
		wrong = unless(wrong, c.ReadinessProbe != nil && c.ReadinessProbe.TimeoutSeconds > 3,
			"the probe of readiness is shorter than its checks")
		return wrong
	}),
	"secrets are files of Secrets that exist": eachContainer(func(r release, w workload,
		c core.Container) (wrong []string) {
		files := secretFiles(w.pod.Spec, c)
		for _, e := range c.Env {
			wrong = unless(wrong, e.ValueFrom == nil,
				e.Name+" is a secret of the environment, which children and crash reports inherit")
			wrong = unless(wrong, !regexp.MustCompile(`://[^/@]*:[^/@]*@`).MatchString(e.Value), e.Name+" has a password")
			variable, file := strings.CutSuffix(e.Name, "_FILE")
			if file {
				wrong = unless(wrong, slices.Contains(files, e.Value), e.Name+" names no file of a Secret")
				continue
			}
			secret := slices.ContainsFunc(r.settings, func(s setting) bool { return s.variable == variable && s.secret })
			wrong = unless(wrong, !secret, e.Name+" is a secret in the manifest")
		}
		for _, file := range files {
			used := slices.ContainsFunc(c.Env, func(e core.EnvVar) bool {
				return e.Value == file || e.Name == "SSL_CERT_DIR" && slices.Contains(strings.Split(e.Value, ":"), path.Dir(file))
			})
			wrong = unless(wrong, used, file+" is a secret that the process does not use")
		}
		return wrong
	}),
	"the chart has no Secret": func(r release) (wrong []string) {
		for _, o := range r.objects {
			_, secret := o.(*core.Secret)
			wrong = unless(wrong, !secret, "has a Secret")
		}
		return wrong
	},
	"mounts have a volume": eachContainer(func(_ release, w workload, c core.Container) (wrong []string) {
		for _, m := range c.VolumeMounts {
			ok := slices.ContainsFunc(w.pod.Spec.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) ||
				slices.ContainsFunc(w.claims, func(v core.PersistentVolumeClaim) bool { return v.Name == m.Name })
			wrong = unless(wrong, ok, "mounts "+m.Name+", which is not there")
		}
		return wrong
	}),
	"the spool fits its volume": eachContainer(func(_ release, w workload, c core.Container) (wrong []string) {
		for _, e := range c.Env {
			if e.Name != "LODESTONE_SPOOL_MAX_BYTES" {
				continue
			}
			bytes, err := strconv.ParseInt(e.Value, 10, 64)
			size := w.claims[0].Spec.Resources.Requests[core.ResourceStorage]
			wrong = unless(wrong, err == nil && bytes <= size.Value()*9/10, "the spool may fill its volume")
		}
		return wrong
	}),
	"a process has the time that it takes to end": each(func(r release, w workload) []string {
		grace := w.pod.Spec.TerminationGracePeriodSeconds
		if grace == nil {
			return []string{"no grace period"}
		}
		c := w.pod.Spec.Containers[0]
		wait := duration(c, "LODESTONE_DRAIN_DELAY") + duration(c, "LODESTONE_SPOOL_SEND_TIMEOUT") +
			time.Duration(r.stopSeconds)*time.Second
		end := time.Duration(*grace) * time.Second
		return unless(nil, end > wait, fmt.Sprintf("is killed after %v, of which it may take %v", end, wait))
	}),
	"a process that serves leaves its Service before it stops": each(func(r release, w workload) []string {
		serves := false
		for _, o := range r.objects {
			s, ok := o.(*core.Service)
			serves = serves || ok && s.Spec.Ports[0].Name == "http" && matches(s.Spec.Selector, w.pod.Labels)
		}
		// Proxies of Services and Ingress controllers take some seconds to follow.
		return unless(nil, !serves || duration(w.pod.Spec.Containers[0], "LODESTONE_DRAIN_DELAY") >= 5*time.Second,
			"refuses connections while it is still in its Service")
	}),
	"selectors match their pods alone": func(r release) (wrong []string) {
		for _, w := range r.workloads {
			if w.ends() {
				continue
			}
			s, err := meta.LabelSelectorAsSelector(w.selector)
			for _, other := range r.workloads {
				ok := err == nil && s.Matches(labels.Set(other.pod.Labels)) == (other.name == w.name)
				wrong = unless(wrong, ok, w.name+" and the pods of "+other.name)
			}
		}
		return wrong
	},
	"pods are spread": each(func(_ release, w workload) []string {
		if w.ends() {
			return nil
		}
		wrong := unless(nil, len(w.pod.Spec.TopologySpreadConstraints) > 0, "all pods may be on one node")
		for _, c := range w.pod.Spec.TopologySpreadConstraints {
			s, err := meta.LabelSelectorAsSelector(c.LabelSelector)
			wrong = unless(wrong, err == nil && s.Matches(labels.Set(w.pod.Labels)), "spreads other pods")
		}
		return wrong
	}),
	"a PodDisruptionBudget holds": each(func(r release, w workload) []string {
		budgets := 0
		for _, o := range r.objects {
			if b, ok := o.(*policy.PodDisruptionBudget); ok && selects(b.Spec.Selector, w.pod.Labels) {
				budgets++
			}
		}
		return unless(nil, budgets == 1 || w.ends() && budgets == 0, fmt.Sprintf("%d budgets", budgets))
	}),
	"a NetworkPolicy restricts both directions": each(func(r release, w workload) (wrong []string) {
		policies := 0
		for _, o := range r.objects {
			p, ok := o.(*networking.NetworkPolicy)
			if !ok || !selects(&p.Spec.PodSelector, w.pod.Labels) {
				continue
			}
			policies++
			wrong = unless(wrong, len(p.Spec.PolicyTypes) == 2, "a direction is open")
			for _, e := range p.Spec.Egress {
				wrong = unless(wrong, len(e.Ports) > 0 || len(e.To) > 0, "may reach everything")
			}
			for _, i := range p.Spec.Ingress {
				wrong = unless(wrong, len(i.Ports) > 0, "is reached at every port")
				for _, port := range i.Ports {
					wrong = unless(wrong, has(w.pod.Spec.Containers[0].Ports, port.Port.StrVal), "opens a port that no process has")
					wrong = unless(wrong, port.Port.StrVal != "admin" || len(i.From) > 0, "shows its metrics to everyone")
				}
			}
		}
		return unless(wrong, policies == 1, fmt.Sprintf("%d policies", policies))
	}),
	"Services lead to ports of pods": func(r release) (wrong []string) {
		for _, o := range r.objects {
			s, ok := o.(*core.Service)
			if !ok {
				continue
			}
			found := 0
			for _, w := range r.workloads {
				if matches(s.Spec.Selector, w.pod.Labels) && has(w.pod.Spec.Containers[0].Ports,
					s.Spec.Ports[0].TargetPort.StrVal) {
					found++
				}
			}
			wrong = unless(wrong, found > 0 && (found == 1 || s.Spec.Ports[0].Name == "admin"),
				s.Name+" leads to "+strconv.Itoa(found)+" processes")
		}
		return wrong
	},
	"processes reach each other by the names of Services": eachContainer(func(r release, _ workload,
		c core.Container) (wrong []string) {
		scheme := "http"
		if slices.ContainsFunc(c.Env,
			func(e core.EnvVar) bool { return e.Name == "LODESTONE_TLS_CERT" }) { // every process serves TLS then
			scheme = "https"
		}
		for _, e := range c.Env {
			if e.Name != "LODESTONE_QUERY_URL" && e.Name != "LODESTONE_COLLECTOR_INTERNAL_URL" {
				continue
			}
			ok := slices.ContainsFunc(r.objects, func(o runtime.Object) bool {
				s, ok := o.(*core.Service)
				return ok && e.Value == fmt.Sprintf("%s://%s:%d", scheme, s.Name, s.Spec.Ports[0].Port)
			})
			wrong = unless(wrong, ok, e.Name+" leads nowhere")
		}
		return wrong
	}),
	"processes listen at their ports": eachContainer(func(_ release, w workload, c core.Container) (wrong []string) {
		for _, p := range c.Ports {
			ok := p.Name == "admin" && listens(c, "LODESTONE_ADMIN_LISTEN", p.ContainerPort) ||
				p.Name == "http" && (listens(c, "LODESTONE_LISTEN", p.ContainerPort) ||
					listens(c, "LODESTONE_COLLECTOR_LISTEN", p.ContainerPort))
			wrong = unless(wrong, ok, "does not listen at "+p.Name)
		}
		return unless(wrong, w.ends() || len(c.Ports) > 0, "has no ports")
	}),
	"accounts exist": each(func(r release, w workload) []string {
		found := slices.ContainsFunc(r.objects, func(o runtime.Object) bool {
			a, ok := o.(*core.ServiceAccount)
			return ok && a.Name == w.pod.Spec.ServiceAccountName && is(a.AutomountServiceAccountToken, false)
		})
		return unless(nil, found, "has no ServiceAccount")
	}),
	"what is scaled has no fixed number": func(r release) (wrong []string) {
		for _, o := range r.objects {
			h, ok := o.(*autoscaling.HorizontalPodAutoscaler)
			if !ok {
				continue
			}
			target := slices.IndexFunc(r.workloads, func(w workload) bool {
				return w.kind == h.Spec.ScaleTargetRef.Kind && w.name == h.Spec.ScaleTargetRef.Name
			})
			wrong = unless(wrong, target >= 0 && r.workloads[target].replicas == nil,
				h.Name+" scales nothing, or against the chart")
		}
		return wrong
	},
	"a spool outlives its pod": func(r release) (wrong []string) {
		for _, o := range r.objects {
			if s, ok := o.(*apps.StatefulSet); ok {
				keep := s.Spec.PersistentVolumeClaimRetentionPolicy
				wrong = unless(wrong, keep != nil && keep.WhenDeleted == apps.RetainPersistentVolumeClaimRetentionPolicyType &&
					keep.WhenScaled == apps.RetainPersistentVolumeClaimRetentionPolicyType, s.Name+" deletes its volumes")
			}
		}
		return wrong
	},
	// Objects of the release exist only after its hooks.
	"the migration needs nothing of the release": func(r release) (wrong []string) {
		for _, o := range r.objects {
			o, ok := o.(meta.Object)
			if ok && o.GetLabels()["app.kubernetes.io/component"] == "migrate" {
				wrong = unless(wrong, o.GetAnnotations()["helm.sh/hook"] == "pre-install,pre-upgrade",
					o.GetName()+" comes too late")
			}
		}
		return wrong
	},
}

// each applies a rule to every workload.
func each(rule func(r release, w workload) []string) func(r release) []string {
	return func(r release) (wrong []string) {
		for _, w := range r.workloads {
			for _, problem := range rule(r, w) {
				wrong = append(wrong, w.name+": "+problem)
			}
		}
		return wrong
	}
}

func eachContainer(rule func(r release, w workload, c core.Container) []string) func(r release) []string {
	return each(func(r release, w workload) (wrong []string) {
		for _, c := range slices.Concat(w.pod.Spec.InitContainers, w.pod.Spec.Containers) {
			wrong = append(wrong, rule(r, w, c)...)
		}
		return wrong
	})
}

func unless(wrong []string, ok bool, problem string) []string {
	if ok {
		return wrong
	}
	return append(wrong, problem)
}

func is(value *bool, should bool) bool { return value != nil && *value == should }

func matches(selector, of map[string]string) bool {
	return len(selector) > 0 && labels.SelectorFromSet(selector).Matches(labels.Set(of))
}

func selects(selector *meta.LabelSelector, of map[string]string) bool {
	s, err := meta.LabelSelectorAsSelector(selector)
	return err == nil && !s.Empty() && s.Matches(labels.Set(of))
}

func has(ports []core.ContainerPort, name string) bool {
	return slices.ContainsFunc(ports, func(p core.ContainerPort) bool { return p.Name == name })
}

func listens(c core.Container, variable string, port int32) bool {
	return slices.ContainsFunc(c.Env, func(e core.EnvVar) bool {
		return e.Name == variable &&
			e.Value == fmt.Sprintf(":%d", port)
	})
}

// duration returns the duration that a variable has, or 0.
func duration(c core.Container, variable string) time.Duration {
	for _, e := range c.Env {
		if d, err := time.ParseDuration(e.Value); e.Name == variable && err == nil {
			return d
		}
	}
	return 0
}

// secretFiles returns the paths of the files of Secrets in a container.
func secretFiles(pod core.PodSpec, c core.Container) []string {
	var files []string
	for _, m := range c.VolumeMounts {
		for _, v := range pod.Volumes {
			if v.Name != m.Name || v.Projected == nil || !m.ReadOnly {
				continue
			}
			for _, s := range v.Projected.Sources {
				if s.Secret == nil || s.Secret.Name == "" {
					continue
				}
				for _, item := range s.Secret.Items {
					files = append(files, path.Join(m.MountPath, item.Path))
				}
			}
		}
	}
	return files
}

func TestRules(t *testing.T) {
	t.Parallel()
	for name, files := range cases {
		r := newRelease(t, decode(t, documents(t, values(t, files...))))
		require.GreaterOrEqual(t, len(r.workloads), 5, name)
		for rule, check := range rules {
			require.Empty(t, check(r), "%s: %s", name, rule)
		}
	}
}
