// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package agreement_test holds the scheduler, the dispatcher, the policy controller and berthctl to
// one answer: to which workload a pod belongs, how many replicas that wants, which policy is in
// force, in which cluster the pod is, and which seat it has. Were two to differ, one would evict
// what the other places.
package agreement_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugintest"
)

// chain is how the pods of a case are owned, from their own controller to the topmost; nobody owns
// bare pods.
type chain struct {
	owners []metav1.OwnerReference
	// above is how many of the owners are above the workload and do not matter.
	above int
	// wantKnown is true if the number of replicas can be known, wantFixed if the controller numbers
	// its pods.
	wantKnown, wantFixed bool
	// wantPolicy is the policy in force.
	wantPolicy string
	drawn
}

// drawn is what differs from round to round.
type drawn struct {
	// replicas of the workload, if its kind tells them; so many pods there are.
	replicas int
	// byLabels and byKind are the weights of beijing and hangzhou in the policies.
	byLabels, byKind [2]int64
}

// rounds is how many draws each chain is tried with.
const rounds = 2

// draw returns numbers for those who read the test, and from the second round on those of a
// generator, which are the same in each run.
func draw(round int, chain string) drawn {
	if round == 0 {
		return drawn{replicas: 5, byLabels: [2]int64{2, 3}, byKind: [2]int64{4, 1}}
	}
	seed := fnv.New64a()
	fmt.Fprint(seed, chain)
	random := rand.New(rand.NewPCG(seed.Sum64(), uint64(round)))
	weights := func() [2]int64 { return [2]int64{1 + random.Int64N(9), 1 + random.Int64N(9)} }
	return drawn{replicas: 1 + random.IntN(9), byLabels: weights(), byKind: weights()}
}

func ref(apiVersion, kind, name string) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: apiVersion, Kind: kind, Name: name, UID: types.UID("uid-" + name), Controller: new(true)}
}

var chains = map[string]chain{
	"Deployment": {
		owners:    []metav1.OwnerReference{ref("apps/v1", "ReplicaSet", "web-v1"), ref("apps/v1", "Deployment", "web")},
		wantKnown: true, wantPolicy: "by-labels",
	},
	"ReplicaSet":            {owners: []metav1.OwnerReference{ref("apps/v1", "ReplicaSet", "web")}, wantKnown: true, wantPolicy: "by-labels"},
	"StatefulSet":           {owners: []metav1.OwnerReference{ref("apps/v1", "StatefulSet", "web")}, wantKnown: true, wantFixed: true, wantPolicy: "by-labels"},
	"Job":                   {owners: []metav1.OwnerReference{ref("batch/v1", "Job", "web")}, wantKnown: true, wantPolicy: "by-labels"},
	"indexed Job":           {owners: []metav1.OwnerReference{ref("batch/v1", "Job", "web")}, wantKnown: true, wantFixed: true, wantPolicy: "by-labels"},
	"ReplicationController": {owners: []metav1.OwnerReference{ref("v1", "ReplicationController", "web")}, wantKnown: true, wantPolicy: "by-labels"},
	"Rollout": {
		owners:    []metav1.OwnerReference{ref("apps/v1", "ReplicaSet", "web-v1"), ref("argoproj.io/v1alpha1", "Rollout", "web")},
		wantKnown: true, wantPolicy: "by-kind",
	},
	"CloneSet":  {owners: []metav1.OwnerReference{ref("apps.kruise.io/v1alpha1", "CloneSet", "web")}, wantPolicy: "by-kind"},
	"bare pods": {wantPolicy: "by-labels"},
}

// allChains are the chains above, and for each kind that Berth reads the one in which something
// that Berth does not read owns its objects. Only of a ReplicaSet that is the workload.
func allChains() map[string]chain {
	all := maps.Clone(chains)
	for _, kind := range workload.Kinds() {
		c := chain{
			owners:    []metav1.OwnerReference{ref(kind.GroupVersion().String(), kind.Kind, "web"), ref("example.com/v1", "Operator", "shop")},
			wantKnown: true, wantFixed: kind.Kind == "StatefulSet", wantPolicy: "by-labels", above: 1,
		}
		switch kind.Kind {
		case "Deployment":
			c.owners = slices.Insert(c.owners, 0, ref("apps/v1", "ReplicaSet", "web-v1"))
		case "ReplicaSet":
			c.wantPolicy, c.above = "by-kind", 0
		case "CronJob":
			c.owners, c.above = slices.Insert(c.owners, 0, ref("batch/v1", "Job", "web-v1")), 2
		}
		all[kind.Kind+" of an operator"] = c
	}
	return all
}

// top is the workload of a pod.
func (c chain) top(pod string) berthv1alpha1.WorkloadReference {
	if len(c.owners) == 0 {
		return berthv1alpha1.WorkloadReference{APIVersion: "v1", Kind: "Pod", Name: pod}
	}
	top := c.owners[len(c.owners)-1-c.above]
	return berthv1alpha1.WorkloadReference{APIVersion: top.APIVersion, Kind: top.Kind, Name: top.Name}
}

// objects are the owners that Berth reads, made by way of JSON so that a new kind needs no code
// here.
func (c chain) objects(t *testing.T) []client.Object {
	t.Helper()
	var objects []client.Object
	for i, owner := range c.owners {
		kind := workload.KindFor(owner.APIVersion, owner.Kind)
		if kind == nil {
			continue
		}
		var selector any = metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}
		if kind.Kind == "ReplicationController" {
			selector = map[string]string{"app": "web"}
		}
		data, err := json.Marshal(map[string]any{
			"metadata": metav1.ObjectMeta{
				Namespace: plugintest.Namespace, Name: owner.Name, UID: owner.UID, OwnerReferences: c.owners[i+1 : min(i+2, len(c.owners))],
			},
			"spec": map[string]any{
				"replicas": c.replicas, "parallelism": c.replicas, "completions": 2 * c.replicas, "selector": selector,
				"template": map[string]any{"spec": map[string]any{"schedulerName": plugintest.Profile}},
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		object := kind.NewObject()
		if err := json.Unmarshal(data, object); err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	return objects
}

// policies select the workload by the absence of a label, which only an object that is read can
// show, and by its kind.
func (c chain) policies() []client.Object {
	top := c.top("")
	byLabels := plugintest.MakePolicy("by-labels").Selects(top.APIVersion, top.Kind, "").
		Weight(c.byLabels[0], "beijing").Weight(c.byLabels[1], "hangzhou")
	byLabels.Spec.ResourceSelectors[0].LabelSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
		{Key: "env", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"test"}},
	}}
	byKind := plugintest.MakePolicy("by-kind").Selects(top.APIVersion, top.Kind, "").
		Weight(c.byKind[0], "beijing").Weight(c.byKind[1], "hangzhou")
	return []client.Object{byLabels.Obj(), byKind.Obj()}
}

func (c chain) pod(number int) *corev1.Pod {
	pod := plugintest.MakePod(fmt.Sprintf("web-%d", number)).Label("app", "web").SchedulerName(plugintest.Profile).Obj()
	if c.wantFixed {
		pod.Annotations = map[string]string{batchv1.JobCompletionIndexAnnotation: strconv.Itoa(number)}
	}
	pod.OwnerReferences = c.owners[:min(1, len(c.owners))]
	return pod
}

func TestAllAgreeOnEachPod(t *testing.T) {
	for name, c := range allChains() {
		for round := range rounds {
			c.drawn = draw(round, name)
			t.Run(fmt.Sprintf("%s, %d pods, %v and %v", name, c.replicas, c.byLabels, c.byKind), c.check)
		}
	}
}

// check asks everybody about the pods of the chain.
func (c chain) check(t *testing.T) {
	var world []client.Object
	for _, o := range plugintest.Sites(2, "beijing", "hangzhou") {
		world = append(world, o.(client.Object))
	}
	world = append(append(world, c.policies()...), c.objects(t)...)
	waiting, bound, stamps := c.schedule(t, world)

	if c.wantKnown {
		c.checkDispatcher(t, append(world[:len(world):len(world)], waiting...), stamps)
	} else {
		c.checkDispatcherByTurn(t, world, waiting, bound, stamps)
	}
	world = append(world, bound...)
	c.checkController(t, world, stamps)
	c.checkCLI(t, world, stamps)
}

// schedule lets the scheduler place the pods one after the other.
func (c chain) schedule(t *testing.T, world []client.Object) (waiting, bound []client.Object, stamps map[string]stamp.Stamp) {
	t.Helper()
	objects := make([]runtime.Object, len(world))
	for i := range world {
		objects[i] = world[i].DeepCopyObject()
	}
	s := plugintest.New(t, objects)
	stamps = map[string]stamp.Stamp{}
	for i := range c.replicas {
		pod := c.pod(i)
		waiting = append(waiting, pod.DeepCopy())
		placed := s.MustPlace(pod)
		given, stamped := stamp.Of(placed)
		if !stamped || given.Policy != c.wantPolicy || given.Cluster != plugintest.SiteOf(placed.Spec.NodeName) {
			t.Fatalf("the scheduler placed %s on %s with the stamp %+v, want one of policy %s", pod.Name, placed.Spec.NodeName, given, c.wantPolicy)
		}
		stamps[pod.Name] = given
		bound = append(bound, placed)
	}
	return waiting, bound, stamps
}

// perCluster counts the pods in each cluster.
func perCluster(stamps map[string]stamp.Stamp) map[string]int {
	counts := map[string]int{}
	for _, given := range stamps {
		counts[given.Cluster]++
	}
	return counts
}

// checkDispatcher checks that the dispatcher hands the pods, while they wait, to the homes of the
// clusters that take them.
func (c chain) checkDispatcher(t *testing.T, world []client.Object, stamps map[string]stamp.Stamp) {
	t.Helper()
	homes := dispatch(t, world)
	counts := map[string]int{}
	for pod, home := range homes {
		counts[home]++
		if c.wantFixed && home != stamps[pod].Cluster {
			t.Errorf("the dispatcher sends %s, which is numbered, to %q, the scheduler to %s", pod, home, stamps[pod].Cluster)
		}
	}
	if diff := cmp.Diff(perCluster(stamps), counts); diff != "" {
		t.Errorf("pods by cluster (-scheduler +dispatcher):\n%s", diff)
	}
}

// checkDispatcherByTurn checks that the dispatcher hands each pod, once those before it run, to the
// home of the cluster whose turn it is.
func (c chain) checkDispatcherByTurn(
	t *testing.T, world, waiting, bound []client.Object, stamps map[string]stamp.Stamp,
) {
	t.Helper()
	for i, pod := range waiting {
		homes := dispatch(t, append(append(world[:len(world):len(world)], bound[:i]...), pod))
		if got, want := homes[pod.GetName()], stamps[pod.GetName()].Cluster; got != want {
			t.Errorf("the dispatcher sends %s to %q, the scheduler to %s", pod.GetName(), got, want)
		}
	}
}

// workloads are the pods of each workload by cluster.
type workloads map[berthv1alpha1.WorkloadReference]map[string]int

// placed returns the workloads as the scheduler has placed them.
func (c chain) placed(stamps map[string]stamp.Stamp) workloads {
	all := workloads{}
	for pod, given := range stamps {
		top := c.top(pod)
		if all[top] == nil {
			all[top] = map[string]int{}
		}
		all[top][given.Cluster]++
	}
	return all
}

// checkReplicas checks what somebody says of the number of replicas of a workload.
func (c chain) checkReplicas(t *testing.T, who string, got *int32) {
	t.Helper()
	if (got != nil) != c.wantKnown || got != nil && int(*got) != c.replicas {
		t.Errorf("%s: replicas %v, want %d if they can be known", who, got, c.replicas)
	}
}

// checkController checks that the policy controller counts the pods to the same policy and leaves
// them as they are.
func (c chain) checkController(t *testing.T, world []client.Object, stamps map[string]stamp.Stamp) {
	t.Helper()
	evicted, api := control(t, world)
	if len(evicted) > 0 {
		t.Errorf("the policy controller evicts %v", evicted)
	}
	if diff := cmp.Diff(stamps, stampsOf(t, api)); diff != "" {
		t.Errorf("stamps (-scheduler +policy controller):\n%s", diff)
	}
	var policies berthv1alpha1.PropagationPolicyList
	if err := api.List(t.Context(), &policies); err != nil {
		t.Fatal(err)
	}
	for i := range policies.Items {
		p := &policies.Items[i]
		if p.Name != c.wantPolicy {
			if len(p.Status.Workloads) != 0 {
				t.Errorf("policy %s has the workloads %+v, want none", p.Name, p.Status.Workloads)
			}
			continue
		}
		c.checkWorkloads(t, p, stamps)
	}
}

// stampsOf reads the stamps of all pods, by name.
func stampsOf(t *testing.T, api client.Client) map[string]stamp.Stamp {
	t.Helper()
	var pods corev1.PodList
	if err := api.List(t.Context(), &pods); err != nil {
		t.Fatal(err)
	}
	stamps := map[string]stamp.Stamp{}
	for i := range pods.Items {
		stamps[pods.Items[i].Name], _ = stamp.Of(&pods.Items[i])
	}
	return stamps
}

// checkWorkloads compares the status of the policy in force with the stamps of the scheduler.
func (c chain) checkWorkloads(t *testing.T, p *berthv1alpha1.PropagationPolicy, stamps map[string]stamp.Stamp) {
	t.Helper()
	got := workloads{}
	for _, w := range p.Status.Workloads {
		c.checkReplicas(t, "the policy controller", w.Replicas)
		got[w.Ref] = map[string]int{}
		for _, in := range w.Clusters {
			if in.Current > 0 {
				got[w.Ref][in.Name] = int(in.Current)
			}
		}
	}
	if diff := cmp.Diff(c.placed(stamps), got); diff != "" {
		t.Errorf("pods by workload and cluster (-scheduler +policy controller):\n%s", diff)
	}
}

// checkCLI checks what berthctl says of each pod and of the workloads.
func (c chain) checkCLI(t *testing.T, world []client.Object, stamps map[string]stamp.Stamp) {
	t.Helper()
	for pod, given := range stamps {
		c.checkExplain(t, world, pod, given)
	}
	var all struct {
		Items []struct {
			Ref      berthv1alpha1.WorkloadReference
			Policy   string
			Replicas *int32
			Clusters []struct {
				Name    string
				Current int
			}
		}
	}
	berthctl(t, world, &all, "get", "placement")
	got := workloads{}
	for _, w := range all.Items {
		c.checkReplicas(t, "get placement", w.Replicas)
		if w.Policy != c.wantPolicy {
			t.Errorf("get placement: policy %q is in force, want %q", w.Policy, c.wantPolicy)
		}
		got[w.Ref] = map[string]int{}
		for _, in := range w.Clusters {
			if in.Current > 0 {
				got[w.Ref][in.Name] = in.Current
			}
		}
	}
	if diff := cmp.Diff(c.placed(stamps), got); diff != "" {
		t.Errorf("pods by workload and cluster (-scheduler +get placement):\n%s", diff)
	}
}

// checkExplain checks what berthctl says of a bound pod.
func (c chain) checkExplain(t *testing.T, world []client.Object, pod string, given stamp.Stamp) {
	t.Helper()
	var got struct {
		Workload struct {
			berthv1alpha1.WorkloadReference `json:",inline"`

			Replicas *int32
		}
		Policy    struct{ Name string }
		Placement struct {
			Cluster, PlacedBy, PlacedIn string
			Seat                        int32
		}
		FixedSeat *int32
	}
	berthctl(t, world, &got, "explain", "pod", pod)
	c.checkReplicas(t, "explain pod", got.Workload.Replicas)
	if diff := cmp.Diff(c.top(pod), got.Workload.WorkloadReference); diff != "" {
		t.Errorf("explain pod %s: the workload (-want +got):\n%s", pod, diff)
	}
	if got.Policy.Name != c.wantPolicy {
		t.Errorf("explain pod %s: policy %q is in force, want %q", pod, got.Policy.Name, c.wantPolicy)
	}
	p := got.Placement
	if in := (stamp.Stamp{Policy: p.PlacedBy, Cluster: p.PlacedIn, Seat: p.Seat}); in != given || p.Cluster != given.Cluster {
		t.Errorf("explain pod %s: %+v, want %+v", pod, p, given)
	}
	if (got.FixedSeat != nil) != c.wantFixed || got.FixedSeat != nil && *got.FixedSeat != given.Seat {
		t.Errorf("explain pod %s: the fixed seat %v, want %d", pod, got.FixedSeat, given.Seat)
	}
}
