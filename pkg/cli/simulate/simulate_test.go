// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	"berth.dev/berth/manifests"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// world are two Clusters of two nodes with 4 cpus, and a Deployment that a policy shares 2:3.
const world = `
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: Node, metadata: {name: beijing-0, labels: {site: beijing}}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: beijing-1, labels: {site: beijing}}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: hangzhou-0, labels: {site: hangzhou}}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: v1, kind: Node, metadata: {name: hangzhou-1, labels: {site: hangzhou}}, status: {capacity: {cpu: "4", memory: 8Gi, pods: "10"}}}
- {apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: beijing}, spec: {matchLabels: {site: beijing}}}
- {apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: hangzhou}, spec: {matchLabels: {site: hangzhou}}}
---
apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {staticWeightList: [{clusterNames: [beijing], weight: 2}, {clusterNames: [hangzhou], weight: 3}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 5
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      schedulerName: berth-scheduler
      containers: [{name: c, image: nginx, resources: {requests: {cpu: "1"}}}]
`

const otherWeights = `
apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: shop}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {staticWeightList: [{clusterNames: [beijing], weight: 3}, {clusterNames: [hangzhou], weight: 2}]}
`

// simulate runs berthctl simulate in a directory with the files, without a connection; arguments
// are separated by spaces.
func simulate(t *testing.T, args string, files map[string]string) clitest.Result {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := clitest.NewWorld(t)
	return clitest.Run(t.Context(), w.Options(), append([]string{"simulate"}, strings.Fields(strings.ReplaceAll(args, "DIR", dir))...)...)
}

func TestSimulate(t *testing.T) {
	tests := map[string]struct {
		args, want string
		wantCode   int
	}{
		"a file": {"-f DIR/world.yaml", `
NAMESPACE   WORKLOAD         BEIJING   HANGZHOU   WAITING
shop        deployment/web   0 -> 2    0 -> 3     0
`, 0},
		"a directory that has nothing new": {"-f DIR/world.yaml -f DIR/world.yaml", `
NAMESPACE   WORKLOAD         BEIJING   HANGZHOU   WAITING
shop        deployment/web   2         3          0
`, 0},
		"other weights": {"-f DIR/world.yaml -f DIR/weights.yaml", `
NAMESPACE   WORKLOAD         BEIJING   HANGZHOU   WAITING
shop        deployment/web   2 -> 3    3 -> 2     0

Would be evicted:
NAMESPACE   POD                    FROM       TO        REASON
shop        web-5d85774f96-44444   hangzhou   beijing   rebalancing by PropagationPolicy p
`, 0},
		"more than fits": {"-f DIR/world.yaml --scale deployment/shop/web=20", `
NAMESPACE   WORKLOAD         BEIJING   HANGZHOU   WAITING
shop        deployment/web   2 -> 8    3 -> 8     4

Would wait:
NAMESPACE   WORKLOAD         PODS   REASON
shop        deployment/web   4      0/4 nodes are available: 2 Insufficient cpu, 2 node(s) in clusters that have their share of replicas.
`, 2},
		"json": {"-f DIR/world.yaml -f DIR/weights.yaml -o json", `
{"workloads":[{"namespace":"shop","kind":"Deployment","name":"web","replicas":5,"clusters":[` +
			`{"name":"beijing","before":2,"after":3},{"name":"hangzhou","before":3,"after":2}]}],` +
			`"evictions":[{"namespace":"shop","pod":"web-5d85774f96-44444","node":"hangzhou-0","cluster":"hangzhou","to":"beijing",` +
			`"reason":"rebalancing by PropagationPolicy p"}]}
`, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"world.yaml": world, "weights.yaml": otherWeights}
			got := simulate(t, tc.args, files)
			if got.Code != tc.wantCode || got.Err != "" || got.Out != tc.want[1:] {
				t.Errorf("exit status %d, standard error %q, standard output\n%s\nwant %d and\n%s", got.Code, got.Err, got.Out, tc.wantCode, tc.want)
			}
			if again := simulate(t, tc.args, files); again != got {
				t.Errorf("the same input gives another output:\n%s", again.Out)
			}
		})
	}
}

func TestBadInput(t *testing.T) {
	deployment := world[strings.LastIndex(world, "---"):]
	tests := map[string]struct{ args, file, want string }{
		"no input":                 {"", "", "name a --filename, or use --live"},
		"a file that is not there": {"-f DIR/nothing.yaml", "", "no such file"},
		"no YAML":                  {"-f DIR/x.yaml", "a: b: c", "x.yaml: document 1: "},
		"twice":                    {"-f DIR/x.yaml", world + deployment, "Deployment shop/web is there twice, in /"},
		"an unknown kind":          {"-f DIR/x.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}", "kind Thing of example.com/v1 is not known here"},
		"no object":                {"-f DIR/x.yaml", "hello", "x.yaml: document 1: this is no object: a map with apiVersion and kind is expected"},
		"an item that is none":     {"-f DIR/x.yaml", "{apiVersion: v1, kind: List, items: [1]}", "x.yaml: document 1: items[0]: "},
		"a former version":         {"-f DIR/x.yaml", "{apiVersion: apps/v1beta1, kind: Deployment, metadata: {name: x}}", "kind Deployment of apps/v1beta1 is not known here: write it as apps/v1"},
		"a former group":           {"-f DIR/x.yaml", "{apiVersion: extensions/v1beta1, kind: DaemonSet, metadata: {name: x}}", "kind DaemonSet of extensions/v1beta1 is not known here: write it as apps/v1"},
		"an unknown field":         {"-f DIR/x.yaml", otherWeights + "  rebalanec: {}", `unknown field "spec.rebalanec"`},
		"a node in two Clusters": {"-f DIR/x.yaml", world + "---\napiVersion: berth.dev/v1alpha1\nkind: Cluster\nmetadata: {name: all}\nspec: {nodes: [beijing-0]}",
			"node beijing-0 is in two Clusters"},
		"a template that is refused": {"-f DIR/x.yaml", strings.Replace(world, `"1"`, `"-1"`, 1), "Deployment.apps \"web\" is invalid: "},
		"too many replicas":          {"-f DIR/x.yaml --scale deployment/shop/web=100000", world, "Deployment shop/web wants 100000 pods: a simulation makes at most 50000"},
		"a field that its definition forbids": {"-f DIR/x.yaml", strings.Replace(otherWeights, "weight: 3", "weight: -3", 1),
			`PropagationPolicy.berth.dev "p" is invalid: spec.placement.staticWeightList[0].weight: Invalid value: -3`},
		"a rule of its definition": {"-f DIR/x.yaml", strings.Replace(otherWeights, "weight: 3", "weight: 3, min: 5, max: 2", 1),
			`PropagationPolicy.berth.dev "p" is invalid: spec.placement.staticWeightList[0]: Invalid value: `},
		"a configuration that cannot be read": {"-f DIR/x.yaml --scheduler-config DIR/x.yaml", otherWeights, "reading the scheduler's configuration: "},
		"a CronJob that is missing":           {"-f DIR/x.yaml --run cronjob/shop/report", world, "--run cronjob/shop/report: CronJob shop/report is not there"},
		"no CronJob":                          {"-f DIR/x.yaml --run deployment/shop/web", world, "--run deployment/shop/web: Deployment shop/web makes no Jobs, only a CronJob does"},
		"no name of a CronJob":                {"-f DIR/x.yaml --run report", world, "--run: must be cronjob/NAMESPACE/NAME"},
		"a workload that is missing":          {"-f DIR/x.yaml --scale deployment/shop/api=1", world, "--scale deployment/shop/api=1: Deployment shop/api is not there"},
		"no number":                           {"-f DIR/x.yaml --scale deployment/shop/web=many", world, "--scale: must be KIND/NAMESPACE/NAME=REPLICAS"},
		"a Cluster that is missing":           {"-f DIR/x.yaml --drain cluster/shanghai", world, "--drain cluster/shanghai: cluster shanghai is not there"},
		"no Cluster":                          {"-f DIR/x.yaml --drain beijing", world, "--drain: must be cluster/NAME or node/NAME"},
		"nobody to adopt":                     {"-f DIR/x.yaml --as-berth bank", world, "--as-berth: there is no such workload"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			simulate(t, tc.args, map[string]string{"x.yaml": tc.file}).CheckFailed(t, tc.want)
		})
	}
}

// TestSchedulerConfig simulates schedulers of other configurations.
func TestSchedulerConfig(t *testing.T) {
	const header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
	files := map[string]string{
		"world.yaml": world,
		"stock.yaml": header + "profiles: [{schedulerName: berth-scheduler}]\n",
		"part.yaml":  header + "profiles: [{schedulerName: berth-scheduler, plugins: {filter: {enabled: [{name: ClusterResource}]}}}]\n",
		"far.yaml":   string(manifests.SchedulerConfiguration) + "extenders: [{urlPrefix: \"https://far.example.com\", filterVerb: filter}]\n",
	}
	simulate(t, "-f DIR/world.yaml --scheduler-config DIR/stock.yaml", files).
		CheckFailed(t, "the scheduler's configuration has no profile of Berth: that of berth-scheduler enables none of its plugins")
	simulate(t, "-f DIR/world.yaml --scheduler-config DIR/part.yaml", files).
		CheckFailed(t, "the scheduler's configuration has no profile of Berth: that of berth-scheduler does not enable NodeGroupPolicy")
	got := simulate(t, "-f DIR/world.yaml --scheduler-config DIR/far.yaml", files)
	if want := "Not asked, though the scheduler asks them: the extender https://far.example.com.\n"; got.Code != 0 || got.Err != want {
		t.Errorf("exit status %d, standard error %q, want %q", got.Code, got.Err, want)
	}
}

// live is a cluster with a node in each site and a Deployment of the default scheduler, one of
// whose pods runs.
func live(t *testing.T) *clitest.World {
	t.Helper()
	w := clitest.NewWorld(t)
	for _, name := range []string{"beijing-0", "hangzhou-0"} {
		node := w.Node(name)
		node.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4"), corev1.ResourcePods: resource.MustParse("10")}
	}
	d := w.Deployment("web", 2)
	d.Object.Spec.Template.Spec = corev1.PodSpec{SchedulerName: "default-scheduler", Containers: []corev1.Container{{Name: "c", Image: "i"}}}
	d.ReplicaSet.Spec.Template = d.Object.Spec.Template
	pod := d.Pod("web-a")
	pod.Spec.SchedulerName, pod.Spec.NodeName, pod.Status.Phase = "default-scheduler", "beijing-0", corev1.PodRunning
	return w
}

// TestLiveWithoutBerth asks what Berth would do in a cluster that does not have it.
func TestLiveWithoutBerth(t *testing.T) {
	w := live(t)
	options := w.Options()
	w.Clients.Berth.PrependReactor("list", "*", func(action clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewNotFound(schema.GroupResource{Resource: action.GetResource().Resource}, "")
	})
	file := filepath.Join(t.TempDir(), "berth.yaml")
	content := `
{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: beijing}, spec: {nodes: [beijing-0]}}
---
{apiVersion: berth.dev/v1alpha1, kind: Cluster, metadata: {name: hangzhou}, spec: {nodes: [hangzhou-0]}}
---
apiVersion: berth.dev/v1alpha1
kind: PropagationPolicy
metadata: {name: p, namespace: default}
spec:
  resourceSelectors: [{apiVersion: apps/v1, kind: Deployment, name: web}]
  placement: {staticWeightList: [{clusterNames: [hangzhou], weight: 1}]}
`
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	got := clitest.Run(t.Context(), options, "simulate", "--live", "--as-berth", "default/web", "-f", file)
	if got.Code != 0 || !strings.Contains(got.Out, "default     deployment/web   1 -> 0    0 -> 2     0\n") ||
		!strings.Contains(got.Out, "web-a   beijing   hangzhou   rebalancing by PropagationPolicy p") {
		t.Errorf("exit status %d, %s\n%s", got.Code, got.Err, got.Out)
	}
	for _, action := range w.Clients.Kubernetes.Actions() {
		if action.GetVerb() != "list" {
			t.Errorf("it does more than read: %v", action)
		}
	}
}
