// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package simulator_test

import (
	"fmt"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"pgregory.net/rapid"

	berthv1alpha1 "berth.dev/berth/apis/berth/v1alpha1"
	"berth.dev/berth/pkg/plugintest"
	"berth.dev/berth/pkg/simulator"
	"berth.dev/berth/pkg/simulator/defaults"
)

// arena is a scheduler, and a snapshot that is asked what the scheduler is about to do.
type arena struct {
	*plugintest.Scheduler

	t        *testing.T
	snapshot *simulator.Snapshot
	// home is the Scheduler that it is, empty if it is the only one.
	home string
	// worlds is how many there have been, so that no two pods have the same UID.
	worlds int
}

// pools is how many ClusterResources of each kind an arena has: they travel through informers,
// which takes longer than many worlds.
const pools = 30

// newArena makes an arena for the Scheduler of a name, which has been granted a part of each pool;
// an empty name is for one that shares with nobody.
func newArena(t *testing.T, home string) *arena {
	t.Helper()
	site, all := plugintest.Site("beijing"), licences()
	objects := []runtime.Object{site, all}
	if home != "" {
		all.Status.GrantsRevision = 1
		all.Status.Grants = []berthv1alpha1.PoolGrant{{Scheduler: home, Pool: "all", Quantity: resource.MustParse("1"), Revision: 1}}
	}
	for number := range pools {
		objects = append(objects, rapid.Custom(func(rt *rapid.T) []runtime.Object { return drawPools(rt, number, home) }).Example(number)...)
	}
	a := &arena{t: t, home: home, snapshot: snapshot(t, objects...)}
	if home != "" {
		site.Status.HomeScheduler, site.Status.HomeRevision = home, 1
		for _, name := range []string{home, "other"} {
			objects = append(objects, &berthv1alpha1.Scheduler{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name)}})
		}
	}
	a.Scheduler = plugintest.New(t, objects, plugintest.Named(home))
	// A Scheduler first adopts the Clusters that it has been given.
	node := plugintest.MakeNode("beijing", 0).Capacity(map[corev1.ResourceName]string{corev1.ResourcePods: "1"}).Obj()
	// What it was granted it counts with the next pass over its grants, all of it at once.
	probe := plugintest.MakePod("probe").Label(berthv1alpha1.HomeSchedulerLabel, home).
		Annotation("pod.alpha.kubernetes.io/cluster-resource-licence", "1").Obj()
	a.Add(node)
	a.WaitFor("the Cluster and the grants", func() bool { return a.Try(probe).Node != "" })
	a.Remove(probe, node)
	return a
}

// drawPools draws the ClusterResources with a number, and what the Scheduler of the name has been
// granted of them.
func drawPools(t *rapid.T, number int, home string) []runtime.Object {
	var objects []runtime.Object
	for _, name := range []string{"licence", "bandwidth"} {
		name = fmt.Sprint(name, number)
		r := &berthv1alpha1.ClusterResource{ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID(name), Generation: 1}}
		if rapid.Bool().Draw(t, "nested") {
			r.Spec.Mode = berthv1alpha1.AllOf
		}
		for pool, selector := range map[string]map[string]string{"all": nil, "site": {plugintest.SiteLabel: "beijing"}} {
			amount := rapid.Int64Range(0, 6).Draw(t, pool)
			entry := berthv1alpha1.ClusterResourceQuantity{Name: pool, Quantity: *resource.NewQuantity(amount, resource.DecimalSI), NodeSelector: selector}
			r.Spec.Capacity = append(r.Spec.Capacity, entry)
			r.Status.Allocatable = append(r.Status.Allocatable, entry)
			if home != "" {
				r.Status.GrantsRevision = 1
				granted := rapid.Int64Range(0, amount).Draw(t, "granted")
				r.Status.Grants = append(r.Status.Grants, berthv1alpha1.PoolGrant{
					Scheduler: home, Pool: pool, Quantity: *resource.NewQuantity(granted, resource.DecimalSI), Revision: 1,
				})
			}
		}
		objects = append(objects, r)
	}
	return objects
}

// world is a cluster in which the order of placing does not matter for the copies of one pod.
type world struct {
	// nodes and the pods that run there.
	nodes, before []runtime.Object
	// template is what the author of a pod wrote, sample what the API server makes of it.
	template, sample *corev1.Pod
	server           *defaults.Server
}

func (a *arena) draw(t *rapid.T) *world {
	a.worlds++
	number, w := rapid.IntRange(0, pools-1).Draw(t, "pools"), &world{}
	for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
		w.nodes = append(w.nodes, drawNode(t, "beijing", i))
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "pods before") {
		w.before = append(w.before, drawPod(t, fmt.Sprintf("before-%d-%d", a.worlds, i), "beijing-0", number))
	}
	w.template = drawPod(t, fmt.Sprint("sample-", a.worlds), "", number)
	if a.home != "" {
		metav1.SetMetaDataLabel(&w.template.ObjectMeta, berthv1alpha1.HomeSchedulerLabel, a.home)
	}
	w.server = a.drawServer(t, w.template)
	w.sample = w.admit(a.t, w.template)
	return w
}

// drawServer draws what the API server adds to a pod.
func (a *arena) drawServer(t *rapid.T, template *corev1.Pod) *defaults.Server {
	server, err := defaults.New()
	if err == nil {
		err = server.Put(kata)
	}
	if err == nil && rapid.IntRange(0, 3).Draw(t, "LimitRange") == 0 {
		for i := range template.Spec.Containers {
			template.Spec.Containers[i].Resources = corev1.ResourceRequirements{}
		}
		cpu := resource.NewMilliQuantity(rapid.Int64Range(1, 20).Draw(t, "default")*100, resource.DecimalSI)
		err = server.Put(&corev1.LimitRange{
			ObjectMeta: metav1.ObjectMeta{Namespace: plugintest.Namespace, Name: "limits"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, DefaultRequest: corev1.ResourceList{corev1.ResourceCPU: *cpu},
			}}},
		})
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return server
}

// admit returns what the API server makes of a pod.
func (w *world) admit(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	admitted, err := w.server.Sample(t.Context(), pod)
	if err != nil {
		t.Fatal(err)
	}
	return admitted
}

func drawNode(t *rapid.T, site string, number int) *corev1.Node {
	cpu := rapid.IntRange(0, 8).Draw(t, "cpu")
	node := plugintest.MakeNode(site, number).Capacity(map[corev1.ResourceName]string{
		corev1.ResourceCPU: strconv.Itoa(cpu), corev1.ResourceMemory: "8Gi", corev1.ResourcePods: strconv.Itoa(rapid.IntRange(1, 6).Draw(t, "pods")),
	})
	if rapid.IntRange(0, 3).Draw(t, "disk") > 0 {
		node.Label("disk", "ssd").Label("generation", strconv.Itoa(number))
	}
	switch rapid.IntRange(0, 5).Draw(t, "trouble") {
	case 0:
		node.Taints([]corev1.Taint{{Key: "dedicated", Value: "x", Effect: corev1.TaintEffectNoSchedule}})
	case 1:
		node.Unschedulable(true)
	}
	return node.Obj()
}

// drawPod draws a pod, which may ask for the ClusterResources with a number.
func drawPod(t *rapid.T, name, node string, number int) *corev1.Pod {
	pod := plugintest.MakePod(name).Node(node).Annotation(berthv1alpha1.PolicyAnnotation, berthv1alpha1.PolicyNone)
	requests := map[corev1.ResourceName]string{
		corev1.ResourceCPU: strconv.Itoa(rapid.IntRange(1, 30).Draw(t, "cpu")*100) + "m",
	}
	if rapid.IntRange(0, 2).Draw(t, "licence") == 0 {
		requests[corev1.ResourceName(fmt.Sprint("cluster-resource.berth.dev/licence", number))] = strconv.Itoa(rapid.IntRange(1, 2).Draw(t, "licences"))
	}
	pod.Req(requests)
	if rapid.IntRange(0, 2).Draw(t, "bandwidth") == 0 {
		pod.Annotation(fmt.Sprint("pod.alpha.kubernetes.io/cluster-resource-bandwidth", number), strconv.Itoa(rapid.IntRange(1, 2).Draw(t, "bandwidths")))
	}
	drawWish(t, pod)
	for i := range pod.Spec.Containers {
		resources := &pod.Spec.Containers[i].Resources
		for name, units := range resources.Requests {
			if name != corev1.ResourceCPU { // What is asked for of such a resource is also the limit.
				resources.Limits = corev1.ResourceList{name: units}
			}
		}
	}
	return pod.Obj()
}

// drawWish draws where a pod wants to run, and what else it takes there.
func drawWish(t *rapid.T, pod *st.PodWrapper) {
	switch rapid.IntRange(0, 11).Draw(t, "wish") {
	case 0:
		pod.ContainerPort([]corev1.ContainerPort{{HostPort: 8080, ContainerPort: 8080}})
	case 1:
		pod.NodeSelector(map[string]string{"disk": "ssd"})
	case 2:
		pod.Label("app", "x").PodAntiAffinityIn("app", "kubernetes.io/hostname", []string{"x"}, st.PodAntiAffinityWithRequiredReq)
	case 3:
		pod.Toleration("dedicated")
	case 4:
		pod.Overhead(kata.Overhead.PodFixed)
		pod.Spec.RuntimeClassName = &kata.Name
	case 5:
		pod.NodeAffinityIn("disk", []string{"ssd", "hdd"}, st.NodeSelectorTypeMatchExpressions)
	case 6:
		pod.NodeAffinityNotIn("disk", []string{"ssd"})
	case 7:
		pod.Spec.Affinity = generationAbove(rapid.SampledFrom([]string{"0", "1"}).Draw(t, "generation"))
	case 8:
		pod.Spec.InitContainers = []corev1.Container{{Name: "init", Resources: corev1.ResourceRequirements{
			Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("2")},
		}}}
	}
}

// kata is a class of pods that take more than their containers do.
var kata = &nodev1.RuntimeClass{
	ObjectMeta: metav1.ObjectMeta{Name: "kata"}, Handler: "kata",
	Overhead: &nodev1.Overhead{PodFixed: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("250m")}},
}

// generationAbove wants nodes of a later generation.
func generationAbove(least string) *corev1.Affinity {
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{
			{Key: "generation", Operator: corev1.NodeSelectorOpGt, Values: []string{least}},
		}}},
	}}}
}

// rounds is how often the worlds of a run of rapid are drawn: 2,000 of them, 100,000 with
// -rapid.checks=5000.
const rounds = 20

// TestRoomIsWhatTheSchedulerBinds holds Room to the scheduler: it binds as many copies in the
// cluster as Room says, and refuses the next for the same reasons. In some worlds the scheduler is
// one of several, and has been granted only a part of each pool.
func TestRoomIsWhatTheSchedulerBinds(t *testing.T) {
	alone, one := newArena(t, ""), newArena(t, "a")
	for range rounds {
		rapid.Check(t, func(rt *rapid.T) {
			a := alone
			if rapid.IntRange(0, 3).Draw(rt, "several schedulers") == 0 {
				a = one
			}
			a.compare(rt, a.draw(rt))
		})
	}
}

// compare asks for room, and then has the scheduler bind copies until it refuses one. Both forget
// the world afterwards.
func (a *arena) compare(rt *rapid.T, w *world) {
	there := slices.Concat(w.nodes, w.before)
	a.put(there...)
	defer func() { a.forget(there, slices.Concat(w.nodes, w.before)) }()
	room := a.ask(w.sample)
	if again := a.ask(w.sample); again != room {
		rt.Errorf("Room says %+v, and then %+v", room, again)
	}
	for bound := 0; ; bound++ {
		copied := w.admit(a.t, w.template)
		copied.Name = fmt.Sprintf("%s-%d", copied.Name, bound)
		copied.UID = types.UID(copied.Name)
		pod, attempt := a.Place(copied)
		if pod == nil {
			there = append(there, copied)
			if bound != room.Copies || attempt.Why() != room.LimitedBy {
				rt.Errorf("the scheduler binds %d copies and says %q,\nRoom says %d and %q", bound, attempt.Why(), room.Copies, room.LimitedBy)
			}
			return
		}
		there = append(there, pod)
		if bound == room.Copies {
			rt.Errorf("the scheduler binds %d copies, Room says %d: %s", bound+1, room.Copies, room.LimitedBy)
			return
		}
	}
}

func (a *arena) put(objects ...runtime.Object) {
	a.Add(objects...)
	for _, object := range objects {
		if err := a.snapshot.Put(object); err != nil {
			a.t.Fatal(err)
		}
	}
}

func (a *arena) ask(sample *corev1.Pod) simulator.Room {
	room, err := a.snapshot.RoomFor(a.t.Context(), "beijing", a.home, sample, 30)
	if a.home == "" {
		room, err = a.snapshot.Room(a.t.Context(), "beijing", sample, 30)
	}
	if err != nil {
		a.t.Fatal(err)
	}
	return room
}

// forget removes what the scheduler has and what the snapshot has, pods before their nodes.
func (a *arena) forget(bound, asked []runtime.Object) {
	a.Remove(backward(bound)...)
	for _, object := range backward(asked) {
		if err := a.snapshot.Drop(object); err != nil {
			a.t.Fatal(err)
		}
	}
}

func backward(objects []runtime.Object) []runtime.Object {
	objects = slices.Clone(objects)
	slices.Reverse(objects)
	return objects
}

func TestTrySchedule(t *testing.T) {
	node := plugintest.MakeNode("beijing", 0).Capacity(map[corev1.ResourceName]string{corev1.ResourceCPU: "2", corev1.ResourcePods: "10"}).Obj()
	s := snapshot(t, plugintest.Site("beijing"), node)
	small := plugintest.MakePod("small").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "1"}).Obj()
	large := plugintest.MakePod("large").Req(map[corev1.ResourceName]string{corev1.ResourceCPU: "2"}).Obj()
	nodeOf := func(pod *corev1.Pod) (string, string) {
		outcome, err := s.TrySchedule(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		return outcome.Node, outcome.Reasons
	}
	for _, pod := range []*corev1.Pod{small, large} {
		if node, reasons := nodeOf(pod); node != "beijing-0" || reasons != "" {
			t.Errorf("%s goes to %q: %s", pod.Name, node, reasons)
		}
	}
	placeInFork := func(pod *corev1.Pod) {
		s.Fork()
		outcome, err := s.TrySchedule(t.Context(), pod)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Place(t.Context(), pod, outcome); err != nil {
			t.Fatal(err)
		}
	}
	placeInFork(small)
	want := "0/1 nodes are available: 1 Insufficient cpu."
	if node, reasons := nodeOf(large); node != "" || reasons != want {
		t.Errorf("beside the small one, the large one goes to %q: %q, want %q", node, reasons, want)
	}
	s.Revert()
	if node, _ := nodeOf(large); node != "beijing-0" {
		t.Error("after Revert the large one finds no node")
	}
	placeInFork(small)
	s.Commit()
	if node, reasons := nodeOf(large); node != "" || reasons != want {
		t.Errorf("after Commit the large one goes to %q: %q, want %q", node, reasons, want)
	}
}
