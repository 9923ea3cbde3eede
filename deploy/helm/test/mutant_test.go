package charttest

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// mutant breaks a release in one way.
type mutant func(r *release)

// inPod breaks the pod of the first workload that does not end, the collector.
func inPod(change func(p *core.PodTemplateSpec)) mutant {
	return func(r *release) { change(serving(r).pod) }
}

func serving(r *release) workload {
	return r.workloads[slices.IndexFunc(r.workloads, func(w workload) bool { return !w.ends() })]
}

// inCronJob breaks the pod of a CronJob.
func inCronJob(change func(p *core.PodTemplateSpec)) mutant {
	return func(r *release) {
		change(r.workloads[slices.IndexFunc(r.workloads, func(w workload) bool { return w.kind == "CronJob" })].pod)
	}
}

func inContainer(change func(c *core.Container)) mutant {
	return inPod(func(p *core.PodTemplateSpec) { change(&p.Spec.Containers[0]) })
}

// without removes the first object of a type.
func without[T runtime.Object]() mutant {
	return func(r *release) {
		i := slices.IndexFunc(r.objects, func(o runtime.Object) bool { _, ok := o.(T); return ok })
		r.objects = slices.Delete(slices.Clone(r.objects), i, i+1)
	}
}

// in changes the objects of a type.
func in[T runtime.Object](change func(o T)) mutant {
	return func(r *release) {
		for _, o := range r.objects {
			if o, ok := o.(T); ok {
				change(o)
			}
		}
	}
}

func env(name, value string) mutant {
	return inContainer(func(c *core.Container) {
		c.Env = append(slices.DeleteFunc(c.Env, func(e core.EnvVar) bool { return e.Name == name }),
			core.EnvVar{Name: name, Value: value})
	})
}

// mutants have at least one for each rule, which must see it.
var mutants = map[string]map[string]mutant{
	"pods are not root and have nothing of the node": {
		"root":       inPod(func(p *core.PodTemplateSpec) { p.Spec.SecurityContext.RunAsUser = new(int64) }),
		"root later": inCronJob(func(p *core.PodTemplateSpec) { p.Spec.SecurityContext.RunAsUser = new(int64) }),
		"seccomp":    inPod(func(p *core.PodTemplateSpec) { p.Spec.SecurityContext.SeccompProfile.Type = "Unconfined" }),
		"network":    inPod(func(p *core.PodTemplateSpec) { p.Spec.HostNetwork = true }),
		"token":      inPod(func(p *core.PodTemplateSpec) { p.Spec.AutomountServiceAccountToken = nil }),
		"links":      inPod(func(p *core.PodTemplateSpec) { p.Spec.EnableServiceLinks = nil }),
		"a hostPath": inPod(
			func(p *core.PodTemplateSpec) { p.Spec.Volumes[0].HostPath = &core.HostPathVolumeSource{Path: "/"} }),
	},
	"containers have no privileges": {
		"writable": inContainer(func(c *core.Container) { c.SecurityContext.ReadOnlyRootFilesystem = nil }),
		"capability": inContainer(
			func(c *core.Container) { c.SecurityContext.Capabilities.Add = []core.Capability{"NET_ADMIN"} }),
		"escalation": inContainer(func(c *core.Container) { c.SecurityContext.AllowPrivilegeEscalation = nil }),
		"root":       inContainer(func(c *core.Container) { c.SecurityContext.RunAsUser = new(int64) }),
		"nothing":    inContainer(func(c *core.Container) { c.SecurityContext = nil }),
	},
	"containers have requests and limits": {
		"no limit":   inContainer(func(c *core.Container) { delete(c.Resources.Limits, core.ResourceMemory) }),
		"no request": inContainer(func(c *core.Container) { c.Resources.Requests = nil }),
	},
	"images have a version": {
		"latest": inContainer(func(c *core.Container) { c.Image = "example.com:5000/lodestone:latest" }),
		"no tag": inContainer(func(c *core.Container) { c.Image = "example.com:5000/lodestone" }),
	},
	"processes are probed where they answer": {
		"no probe":   inContainer(func(c *core.Container) { c.LivenessProbe = nil }),
		"wrong path": inContainer(func(c *core.Container) { c.ReadinessProbe.HTTPGet.Path = "/healthz" }),
		"wrong port": inContainer(func(c *core.Container) { c.StartupProbe.HTTPGet.Port.StrVal = "http" }),
		"too short":  inContainer(func(c *core.Container) { c.ReadinessProbe.TimeoutSeconds = 3 }),
		"loopback":   env("LODESTONE_ADMIN_LISTEN", "127.0.0.1:8090"),
	},
	"secrets are files of Secrets that exist": {
		"a password":  env("LODESTONE_X", "postgres://user:password@host/lodestone"),
		"a value":     env("LODESTONE_TOKEN_KEYS", "1:AAAA"),
		"no file":     env("LODESTONE_POSTGRES_URL_FILE", "/run/secrets/lodestone/another"),
		"environment": inContainer(func(c *core.Container) { c.Env[0].ValueFrom = &core.EnvVarSource{} }),
		"not needed": inPod(func(p *core.PodTemplateSpec) {
			p.Spec.Volumes[0].Projected.Sources[0].Secret.Items = append(p.Spec.Volumes[0].Projected.Sources[0].Secret.Items,
				core.KeyToPath{Key: "x", Path: "x"})
		}),
	},
	"the chart has no Secret":   {"a Secret": func(r *release) { r.objects = append(r.objects, &core.Secret{}) }},
	"mounts have a volume":      {"no volume": inPod(func(p *core.PodTemplateSpec) { p.Spec.Volumes = nil })},
	"the spool fits its volume": {"a small volume": env("LODESTONE_SPOOL_MAX_BYTES", "21474836480")},
	"a process has the time that it takes to end": {
		"the default": inPod(func(p *core.PodTemplateSpec) { *p.Spec.TerminationGracePeriodSeconds = 30 }),
		"none":        inPod(func(p *core.PodTemplateSpec) { p.Spec.TerminationGracePeriodSeconds = nil }),
		"a long wait": env("LODESTONE_DRAIN_DELAY", "2m"),
		"a spool":     env("LODESTONE_SPOOL_SEND_TIMEOUT", "2m"),
	},
	"a process that serves leaves its Service before it stops": {"no wait": env("LODESTONE_DRAIN_DELAY", "100ms")},
	"selectors match their pods alone": {
		"another label": inPod(func(p *core.PodTemplateSpec) { p.Labels["app.kubernetes.io/component"] = "query" }),
		"all pods":      func(r *release) { delete(serving(r).selector.MatchLabels, "app.kubernetes.io/component") },
	},
	"pods are spread": {"none": inPod(func(p *core.PodTemplateSpec) { p.Spec.TopologySpreadConstraints = nil })},
	"a PodDisruptionBudget holds": {
		"none": without[*policy.PodDisruptionBudget](),
		"of others": in(func(b *policy.PodDisruptionBudget) {
			b.Spec.Selector.MatchLabels["app.kubernetes.io/instance"] = "another"
		}),
	},
	"a NetworkPolicy restricts both directions": {
		"none":   without[*networking.NetworkPolicy](),
		"egress": in(func(p *networking.NetworkPolicy) { p.Spec.PolicyTypes = p.Spec.PolicyTypes[:1] }),
		"everything": in(func(p *networking.NetworkPolicy) {
			p.Spec.Egress = append(p.Spec.Egress, networking.NetworkPolicyEgressRule{})
		}),
		"metrics": in(func(p *networking.NetworkPolicy) { p.Spec.Ingress = slices.Concat(p.Spec.Ingress, open("admin")) }),
		"every port": in(func(p *networking.NetworkPolicy) {
			p.Spec.Ingress = append(p.Spec.Ingress, networking.NetworkPolicyIngressRule{})
		}),
	},
	"Services lead to ports of pods": {
		"no port": inContainer(func(c *core.Container) { c.Ports[0].Name, c.Ports[1].Name = "x", "y" }),
		"no pod":  in(func(s *core.Service) { s.Spec.Selector["x"] = "y" }),
	},
	"processes reach each other by the names of Services": {"no Service": env("LODESTONE_QUERY_URL", "http://query:8080")},
	"processes listen at their ports": {"loopback": env("LODESTONE_COLLECTOR_LISTEN",
		"127.0.0.1:8081")},
	"accounts exist": {"none": inPod(
		func(p *core.PodTemplateSpec) { p.Spec.ServiceAccountName = "default" })},
	"what is scaled has no fixed number": {"nothing": in(
		func(h *autoscaling.HorizontalPodAutoscaler) { h.Spec.ScaleTargetRef.Kind = "Deployment" })},
	"a spool outlives its pod": {"deleted": in(func(s *apps.StatefulSet) {
		s.Spec.PersistentVolumeClaimRetentionPolicy.WhenScaled = apps.DeletePersistentVolumeClaimRetentionPolicyType
	})},
	"the migration needs nothing of the release": {"too late": in(func(a *core.ServiceAccount) { a.Annotations = nil })},
}

func open(port string) []networking.NetworkPolicyIngressRule {
	return []networking.NetworkPolicyIngressRule{{Ports: []networking.NetworkPolicyPort{{Port: new(
		intstr.FromString(port))}}}}
}

// A rule that nothing breaks holds nothing.
func TestEveryRuleSeesItsMutants(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, slices.Collect(maps.Keys(rules)), slices.Collect(maps.Keys(mutants)))
	objects := decode(t, documents(t, values(t, cases["everything"]...)))
	for rule, all := range mutants {
		for name, change := range all {
			var copies []runtime.Object
			for _, o := range objects {
				copies = append(copies, o.DeepCopyObject())
			}
			r := newRelease(t, copies)
			change(&r)
			require.NotEmpty(t, rules[rule](r), "%s: %s", rule, name)
		}
	}
}
