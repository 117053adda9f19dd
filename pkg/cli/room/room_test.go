// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package room_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/cli/internal/clitest"
)

// room runs berthctl room; arguments are separated by spaces.
func room(t *testing.T, w *clitest.World, args string) clitest.Result {
	t.Helper()
	return clitest.Run(t.Context(), w.Options(), append([]string{"room"}, strings.Fields(args)...)...)
}

func list(cpu, pods string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourcePods: resource.MustParse(pods)}
}

func asking(cpu string) corev1.PodSpec {
	return corev1.PodSpec{
		SchedulerName: clitest.Scheduler,
		Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)},
		}}},
	}
}

// shop is a Deployment that asks for 1 cpu of two nodes of 4 in beijing, where one copy runs, and
// of a node of 2 in hangzhou, beside a tainted one. The Cluster shanghai has no nodes. The policy,
// which knows beijing only, is not asked.
func shop(t *testing.T) (*clitest.World, *clitest.Deployment) {
	t.Helper()
	w := clitest.NewWorld(t)
	for _, node := range w.Cluster("beijing", 2) {
		node.Status.Allocatable = list("4", "110")
	}
	nodes := w.Cluster("hangzhou", 2)
	nodes[0].Status.Allocatable, nodes[1].Status.Allocatable = list("2", "110"), list("64", "110")
	nodes[1].Spec.Taints = []corev1.Taint{{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}}
	w.Cluster("shanghai", 0)
	w.Policy("spread", "apps/v1", "Deployment", "web", map[string]int64{"beijing": 1})
	d := w.Deployment("web", 3)
	d.Object.Spec.Template.Spec = asking("1")
	d.ReplicaSet.Spec.Template = d.Object.Spec.Template
	d.Placed("web-a", "beijing-0", "spread", "beijing", 0).Spec.Containers = asking("1").Containers
	d.Pod("web-b").Spec.Containers = asking("1").Containers
	return w, d
}

const shopTable = `
CLUSTER    ROOM   LIMITED BY
beijing    7      0/2 nodes are available: 2 Insufficient cpu.
hangzhou   2      0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).
shanghai   0      0/0 nodes are available:
`

func TestRoom(t *testing.T) {
	tests := map[string]struct{ args, want string }{
		"kind and name":                        {"deployment/web", shopTable},
		"as kubectl prints it, in a namespace": {"deployment.apps/web -n default", shopTable},
		"a limit": {"deploy/web --limit 7", `
CLUSTER    ROOM   LIMITED BY
beijing    7      <none>
hangzhou   2      0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s).
shanghai   0      0/0 nodes are available:
`},
		"json": {"web --limit 5 -o json", `
{"namespace":"default","name":"deployment/web","limit":5,"clusters":[{"name":"beijing","room":5},` +
			`{"name":"hangzhou","room":2,"limitedBy":"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s)."},` +
			`{"name":"shanghai","room":0,"limitedBy":"0/0 nodes are available:"}]}
`},
		"yaml": {"web --limit 1 -o yaml", `
clusters:
- name: beijing
  room: 1
- name: hangzhou
  room: 1
- limitedBy: '0/0 nodes are available:'
  name: shanghai
  room: 0
limit: 1
name: deployment/web
namespace: default
`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := shop(t)
			room(t, w, tc.args).CheckOutput(t, tc.want[1:])
		})
	}
}

// TestSample checks that the copies are like the newest pod, which admission has changed, or else
// like the template, and that limits of a template become requests.
func TestSample(t *testing.T) {
	tests := map[string]struct {
		change func(*clitest.World, *clitest.Deployment)
		want   string
	}{
		"the newest pod": {
			change: func(_ *clitest.World, d *clitest.Deployment) { d.Pod("web-c").Spec.Containers = asking("2").Containers },
			want:   "3",
		},
		"limits of the template": {
			change: func(w *clitest.World, d *clitest.Deployment) {
				w.Kubernetes = slices.DeleteFunc(w.Kubernetes, func(o runtime.Object) bool {
					_, isPod := o.(*corev1.Pod)
					return isPod
				})
				d.Object.Spec.Template.Spec.Containers[0].Resources = corev1.ResourceRequirements{
					Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("4")},
				}
			},
			want: "2",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, d := shop(t)
			tc.change(w, d)
			checkBeijing(t, room(t, w, "web -o json"), tc.want)
		})
	}
}

// checkBeijing checks how much room there is in beijing.
func checkBeijing(t *testing.T, result clitest.Result, want string) {
	t.Helper()
	if result.Code != 0 || !strings.Contains(result.Out, `{"name":"beijing","room":`+want+`,`) {
		t.Errorf("exit status %d, standard error %q, printed\n%s\nwant room for %s in beijing", result.Code, result.Err, result.Out, want)
	}
}

// TestRoomInAPool checks that a pool limits the copies, each Cluster on its own.
func TestRoomInAPool(t *testing.T) {
	w, d := shop(t)
	capacity := []berthv1alpha1.ClusterResourceQuantity{{Name: "all", Quantity: resource.MustParse("4")}}
	w.Berth = append(w.Berth, &berthv1alpha1.ClusterResource{
		ObjectMeta: metav1.ObjectMeta{Name: "matlab", UID: "matlab", Generation: 1},
		Spec:       berthv1alpha1.ClusterResourceSpec{Capacity: capacity},
		Status:     berthv1alpha1.ClusterResourceStatus{Capacity: capacity, Allocatable: capacity},
	})
	requests := d.Pod("web-c")
	requests.Spec.Containers = asking("500m").Containers
	requests.Spec.Containers[0].Resources.Requests["cluster-resource.berth.dev/matlab"] = resource.MustParse("1")
	checkBeijing(t, room(t, w, "web -o json"), "4")
	if out := room(t, w, "web").Out; !strings.Contains(out, "matlab") {
		t.Errorf("printed\n%s\nwant the pool named", out)
	}
}

func file(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.yaml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const container = `containers: [{name: c, resources: {requests: {cpu: "3"}}}]`

func TestRoomForAFile(t *testing.T) {
	tests := map[string]string{
		"a pod": "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {schedulerName: berth-scheduler, " + container + "}\n",
		"a pod as kubectl gets it": `{apiVersion: v1, kind: Pod, metadata: {name: big, namespace: default, uid: own,
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: other, controller: true}]},
  spec: {nodeName: hangzhou-0, schedulerName: berth-scheduler, ` + container + `}, status: {phase: Succeeded}}`,
		"a workload": `{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: big}, spec: {template: {spec: {` +
			`schedulerName: berth-scheduler, ` + container + `}}}}`,
	}
	for name, content := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := shop(t)
			result := room(t, w, "-o json -f "+file(t, content))
			checkBeijing(t, result, "2")
			if result.Err != "" {
				t.Errorf("standard error %q", result.Err)
			}
		})
	}
}

// TestNotes checks what is told beside the table.
func TestNotes(t *testing.T) {
	w := clitest.NewWorld(t)
	pod := file(t, "apiVersion: v1\nkind: Pod\nmetadata: {name: small}\nspec: {containers: [{name: c}]}\n")
	result := room(t, w, "-f "+pod)
	want := "No Clusters found.\n" +
		"The pods use schedulerName \"default-scheduler\"; this is the room that berth-scheduler would find for them.\n"
	if result.Code != 0 || result.Err != want {
		t.Errorf("exit status %d, standard error %q, want %q", result.Code, result.Err, want)
	}
}

// TestSchedulerConfig checks that the profile that the pods ask for is the one that counts: one
// without NodeResourcesFit has room for as much as one likes.
func TestSchedulerConfig(t *testing.T) {
	const configuration = `apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: strict
  plugins: {multiPoint: {enabled: [{name: NodeGroupPolicy}]}}
- schedulerName: stock
- schedulerName: careless
  plugins: {multiPoint: {enabled: [{name: NodeGroupPolicy}], disabled: [{name: NodeResourcesFit}, {name: NodeResourcesBalancedAllocation}]}}
`
	w, d := shop(t)
	d.Pod("web-c").Spec = asking("1")
	path := file(t, configuration)
	w.Kubernetes[len(w.Kubernetes)-1].(*corev1.Pod).Spec.SchedulerName = "careless"
	args := "web -o json --limit 50 --scheduler-config " + path
	if out := room(t, w, args+" --scheduler-names strict,careless").Out; !strings.Contains(out, `{"name":"beijing","room":50}`) {
		t.Errorf("printed\n%s\nwant no limit in beijing", out)
	}
	checkBeijing(t, room(t, w, args+" --scheduler-names strict"), "7")
	room(t, w, args).CheckFailed(t, "the scheduler's configuration has no profile berth-scheduler, only strict, stock, careless")
	room(t, w, args+" --scheduler-names stock").
		CheckFailed(t, "the scheduler's configuration has no profile of Berth: that of stock enables none of its plugins")
}

func TestWrongInput(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: big}\nspec: {" + container + "}\n"
	tests := map[string]struct{ args, content, want string }{
		"nothing":               {want: "0 workloads named"},
		"two workloads":         {args: "web db", want: "2 workloads named"},
		"a workload and a file": {args: "web", content: pod, want: "not both"},
		"no name":               {args: "a/b/c", want: "is no workload"},
		"missing":               {args: "deployment/db", want: `deployment/db not found in namespace "default"`},
		"another namespace":     {args: "web -n shop", want: `workload "web" not found in namespace "shop"`},
		"two of the name":       {args: "twin", want: "name one of deployment/twin, pod/twin"},
		"no limit":              {args: "web --limit 0", want: "--limit: must be a whole number from 1 to 100000"},
		"no such format":        {args: "web -o wide", want: "unknown output format"},
		"no such file":          {args: "-f /nowhere/pod.yaml", want: "no such file"},
		"no such configuration": {args: "web --scheduler-config /nowhere/x.yaml", want: "--scheduler-config: open"},
		"no such profile":       {args: "web --scheduler-names east", want: "no profile east"},
		"an empty file":         {content: "# nothing\n", want: "there are 0 objects in it"},
		"two pods":              {content: pod + "---\n" + pod, want: "there are 2 objects in it"},
		"an unknown field":      {content: pod + "speck: {}\n", want: `unknown field "speck"`},
		"an unknown kind":       {content: "apiVersion: v1\nkind: Pot\nmetadata: {name: x}\n", want: `"Pot"`},
		"neither pod nor workload": {content: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n",
			want: "a ConfigMap is neither a pod nor a workload that Berth knows"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			w, _ := shop(t)
			w.Deployment("twin", 1)
			w.Pod("twin", nil)
			args := tc.args
			if tc.content != "" {
				args += " -f " + file(t, tc.content)
			}
			room(t, w, args).CheckFailed(t, tc.want)
		})
	}
}

// TestWhatCannotBeRead checks that every list that fails is named, and that nothing but lists is
// asked for.
func TestWhatCannotBeRead(t *testing.T) {
	w, _ := shop(t)
	room(t, w, "web")
	for _, action := range slices.Concat(w.Clients.Kubernetes.Actions(), w.Clients.Berth.Actions()) {
		if action.GetVerb() != "list" {
			t.Errorf("%s %s", action.GetVerb(), action.GetResource().Resource)
		}
	}
	for _, kind := range []string{"nodes", "pods", "csistoragecapacities", "replicasets"} {
		t.Run(kind, func(t *testing.T) {
			w, _ := shop(t)
			w.Options()
			w.Clients.Kubernetes.PrependReactor("list", kind, func(clienttesting.Action) (bool, runtime.Object, error) {
				return true, nil, apierrors.NewForbidden(schema.GroupResource{Resource: kind}, "", nil)
			})
			room(t, w, "web").CheckFailed(t, "listing "+kind)
		})
	}
}
