// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	st "k8s.io/kubernetes/pkg/scheduler/testing"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/plugins/internal/view"
	"berth.dev/berth/pkg/stamp"
	"berth.dev/berth/pkg/workload"
)

// TestCountsEqualARecount lets nodes, pods, memberships and reservations come, go and change at random, in the real cache of
// the scheduler, and compares the view with a count of everything after each step.
func TestCountsEqualARecount(t *testing.T) {
	schedulermetrics.Register()
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		r.Repeat(map[string]func(*rapid.T){
			"":                  w.check,
			"add node":          w.addNode,
			"remove node":       w.removeNode,
			"relabel node":      w.relabelNode,
			"change membership": w.changeMembership,
			"add pod":           w.addPod,
			"remove pod":        w.removePod,
			"terminate pod":     w.terminatePod,
			"finish pod":        w.finishPod,
			"change stamp":      w.changeStamp,
			"assume pod":        w.assumePod,
			"forget pod":        w.forgetPod,
			"bind pod":          w.bindPod,
		})
	})
}

// world is the scheduler's cache and a plain record of what is in it.
type world struct {
	logger       klog.Logger
	cache        schedulercache.Cache
	snapshot     *schedulercache.Snapshot
	view         *view.View
	reservations *view.Reservations

	nodes   map[string]*corev1.Node
	pods    map[string]*corev1.Pod // by UID, bound or assumed
	assumed map[string]stamp.Stamp // what Reserve gave, by UID
	members *byLabel
	serial  int

	held   map[string]int          // what the view said as Holdings, by UID
	heldAs map[string]*corev1.Pod  // the last state that was held
	heldOn map[string]*corev1.Node // the nodes as the view told them
}

// Concerns and the following make the world the view's Holdings: every pod that runs holds something.
func (w *world) Concerns(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func (w *world) Hold(pod *corev1.Pod) {
	w.held[pod.Name]++
	w.heldAs[pod.Name] = pod
}

func (w *world) Release(pod *corev1.Pod) {
	if w.held[pod.Name]--; w.held[pod.Name] == 0 {
		delete(w.held, pod.Name)
		delete(w.heldAs, pod.Name)
	}
}

func (w *world) SetNode(node *corev1.Node) { w.heldOn[node.Name] = node }
func (w *world) DropNode(name string)      { delete(w.heldOn, name) }
func (w *world) Reset()                    {}

// checkHoldings compares what was held with the record.
func (w *world) checkHoldings(r *rapid.T) {
	want, as := map[string]int{}, map[string]*corev1.Pod{}
	for _, pod := range w.pods {
		if w.Concerns(pod) {
			want[pod.Name], as[pod.Name] = 1, pod
		}
	}
	if diff := cmp.Diff(want, w.held); diff != "" {
		r.Fatalf("how often each pod is held (-want +got):\n%s", diff)
	}
	for name, pod := range as {
		if w.heldAs[name] != pod {
			r.Fatalf("pod %s is held in another state than its last", name)
		}
	}
	if !maps.Equal(w.nodes, w.heldOn) {
		r.Fatalf("nodes %v, told were %v", w.nodes, w.heldOn)
	}
}

// byLabel is a Membership that finds the cluster of a node by the value of its label.
type byLabel struct{ clusters map[string]string }

func (m *byLabel) ClusterOf(_ string, labels map[string]string) (string, bool) {
	cluster, found := m.clusters[labels["site"]]
	return cluster, found
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		logger: klog.FromContext(t.Context()), cache: schedulercache.New(t.Context(), 0, nil),
		snapshot: schedulercache.NewEmptySnapshot(), reservations: view.NewReservations(),
		nodes: map[string]*corev1.Node{}, pods: map[string]*corev1.Pod{}, assumed: map[string]stamp.Stamp{},
		members: &byLabel{map[string]string{"a": "beijing", "b": "hangzhou"}},
		held:    map[string]int{}, heldAs: map[string]*corev1.Pod{}, heldOn: map[string]*corev1.Node{},
	}
	w.view = view.New(w.reservations, w, w)
	return w
}

// BoundPods and Pod make the world the view's PodLister: it lists what is bound, as an informer does.
func (w *world) BoundPods() []*corev1.Pod {
	var pods []*corev1.Pod
	for _, uid := range slices.Sorted(maps.Keys(w.pods)) {
		if _, assumed := w.assumed[uid]; !assumed {
			pods = append(pods, w.pods[uid])
		}
	}
	return pods
}

func (w *world) Pod(namespace, name string) *corev1.Pod {
	for _, pod := range w.BoundPods() {
		if pod.Namespace == namespace && pod.Name == name {
			return pod
		}
	}
	return nil
}

var sites = []string{"a", "b", "c", ""}

func (w *world) addNode(r *rapid.T) {
	name := rapid.SampledFrom([]string{"n0", "n1", "n2", "n3", "n4"}).Draw(r, "node")
	if w.nodes[name] != nil {
		r.Skip()
	}
	w.nodes[name] = st.MakeNode().Name(name).Label("site", rapid.SampledFrom(sites).Draw(r, "site")).Obj()
	w.cache.AddNode(w.logger, w.nodes[name])
}

func (w *world) anyNode(r *rapid.T) string {
	if len(w.nodes) == 0 {
		r.Skip()
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(w.nodes))).Draw(r, "node")
}

func (w *world) removeNode(r *rapid.T) {
	name := w.anyNode(r)
	// Nobody knows of assumed pods on a node that is gone until they are bound.
	for uid := range w.assumed {
		if w.pods[uid].Spec.NodeName == name {
			r.Skip()
		}
	}
	if err := w.cache.RemoveNode(w.logger, w.nodes[name]); err != nil {
		r.Fatal(err)
	}
	delete(w.nodes, name)
}

func (w *world) relabelNode(r *rapid.T) {
	old := w.nodes[w.anyNode(r)]
	changed := old.DeepCopy()
	changed.Labels["site"] = rapid.SampledFrom(sites).Draw(r, "site")
	w.cache.UpdateNode(w.logger, old, changed)
	w.nodes[old.Name] = changed
}

func (w *world) changeMembership(r *rapid.T) {
	cluster := rapid.SampledFrom([]string{"beijing", "hangzhou", "atlantis"})
	clusters := map[string]string{}
	for _, site := range []string{"a", "b", "c"} {
		if rapid.Bool().Draw(r, "has cluster") {
			clusters[site] = cluster.Draw(r, "cluster")
		}
	}
	w.members = &byLabel{clusters}
}

// newPod returns a pod on a node that is not known to anybody yet.
func (w *world) newPod(r *rapid.T) *corev1.Pod {
	w.serial++
	name := fmt.Sprintf("pod-%03d", w.serial)
	pod := st.MakePod().Namespace("default").Name(name).UID(name).Node(w.anyNode(r)).Obj()
	if owner := rapid.SampledFrom([]string{"old", "new", ""}).Draw(r, "owner"); owner != "" {
		pod.OwnerReferences = []metav1.OwnerReference{{
			APIVersion: "apps/v1", Kind: "ReplicaSet", Name: owner, UID: types.UID(owner), Controller: ptr.To(true),
		}}
	}
	return pod
}

func someStamp(r *rapid.T) stamp.Stamp {
	return stamp.Stamp{
		Policy:  "web",
		Cluster: rapid.SampledFrom([]string{"beijing", "hangzhou", ""}).Draw(r, "stamped cluster"),
		Seat:    rapid.Int32Range(stamp.NoSeat, 5).Draw(r, "seat"),
	}
}

func (w *world) addPod(r *rapid.T) {
	pod := w.newPod(r)
	if rapid.Bool().Draw(r, "stamped") {
		pod.Annotations = someStamp(r).Annotations(pod, pod.Spec.NodeName)
	}
	w.pods[pod.Name] = pod
	if err := w.cache.AddPod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
}

// boundPod returns some pod that is bound.
func (w *world) boundPod(r *rapid.T) *corev1.Pod {
	pods := w.BoundPods()
	if len(pods) == 0 {
		r.Skip()
	}
	return rapid.SampledFrom(pods).Draw(r, "pod")
}

func (w *world) removePod(r *rapid.T) {
	pod := w.boundPod(r)
	delete(w.pods, pod.Name)
	w.reservations.Drop(pod.UID)
	if err := w.cache.RemovePod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
}

func (w *world) change(r *rapid.T, pod *corev1.Pod, change func(*corev1.Pod)) {
	changed := pod.DeepCopy()
	change(changed)
	w.pods[pod.Name] = changed
	if err := w.cache.UpdatePod(w.logger, pod, changed); err != nil {
		r.Fatal(err)
	}
}

func (w *world) terminatePod(r *rapid.T) {
	w.change(r, w.boundPod(r), func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} })
}

func (w *world) finishPod(r *rapid.T) {
	pod := w.boundPod(r)
	if w.nodes[pod.Spec.NodeName] == nil {
		r.Skip("an informer of the scheduler drops such a pod")
	}
	phase := rapid.SampledFrom([]corev1.PodPhase{corev1.PodSucceeded, corev1.PodFailed}).Draw(r, "phase")
	w.change(r, pod, func(p *corev1.Pod) { p.Status.Phase = phase })
}

func (w *world) changeStamp(r *rapid.T) {
	pod := w.boundPod(r)
	if w.nodes[pod.Spec.NodeName] == nil {
		r.Skip("the seat of a pod without a node is that of its last look")
	}
	w.change(r, pod, func(p *corev1.Pod) { p.Annotations = someStamp(r).Annotations(p, p.Spec.NodeName) })
}

func (w *world) assumePod(r *rapid.T) {
	pod := w.newPod(r)
	if err := w.cache.AssumePod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
	w.pods[pod.Name], w.assumed[pod.Name] = pod, someStamp(r)
	w.reservations.Put(pod.UID, w.assumed[pod.Name])
}

func (w *world) anyAssumed(r *rapid.T) *corev1.Pod {
	if len(w.assumed) == 0 {
		r.Skip()
	}
	return w.pods[rapid.SampledFrom(slices.Sorted(maps.Keys(w.assumed))).Draw(r, "assumed")]
}

func (w *world) forgetPod(r *rapid.T) {
	pod := w.anyAssumed(r)
	w.reservations.Drop(pod.UID)
	delete(w.pods, pod.Name)
	delete(w.assumed, pod.Name)
	if err := w.cache.ForgetPod(w.logger, pod); err != nil {
		r.Fatal(err)
	}
}

func (w *world) bindPod(r *rapid.T) {
	pod := w.anyAssumed(r)
	bound := pod.DeepCopy()
	bound.Annotations = w.assumed[pod.Name].Annotations(pod, pod.Spec.NodeName)
	delete(w.assumed, pod.Name)
	w.pods[pod.Name] = bound
	if err := w.cache.AddPod(w.logger, bound); err != nil {
		r.Fatal(err)
	}
	if rapid.Bool().Draw(r, "stamp seen twice") {
		w.reservations.Drop(pod.UID)
	}
}

// count is what a Counts says of one cluster.
type count struct {
	Pods  int
	Seats []int32
}

// check compares the view with the record.
func (w *world) check(r *rapid.T) {
	if err := w.cache.UpdateSnapshot(w.logger, w.snapshot); err != nil {
		r.Fatal(err)
	}
	infos, err := w.snapshot.NodeInfos().List()
	if err != nil {
		r.Fatal(err)
	}
	w.view.Refresh(infos, w.members)
	for i, info := range infos {
		node := info.Node()
		cluster, found := w.members.ClusterOf(node.Name, node.Labels)
		want := view.NoCluster
		if found {
			want = w.view.ClusterID(cluster)
		}
		if got := w.view.ClusterOfNode(node.Name); got != want || w.view.ClusterAt(i) != want {
			r.Fatalf("node %s lies in cluster %d or %d, want %d", node.Name, got, w.view.ClusterAt(i), want)
		}
	}
	w.checkHoldings(r)
	want := w.recount()
	for _, revision := range []workload.Revision{{Owner: "old"}, {Owner: "new"}, view.BarePods("default", "web")} {
		if diff := cmp.Diff(want[revision], w.counted(revision)); diff != "" {
			r.Fatalf("pods of %v by cluster (-want +got):\n%s", revision, diff)
		}
	}
}

// counted is what the view says of a revision, by cluster; pods in no cluster are under "".
func (w *world) counted(revision workload.Revision) map[string]count {
	counts := w.view.Counts(revision)
	if counts == nil {
		return nil
	}
	byCluster, total := map[string]count{}, counts.Stray()
	if counts.Stray() > 0 {
		byCluster[""] = count{Pods: counts.Stray()}
	}
	for _, cluster := range []string{"beijing", "hangzhou", "atlantis"} {
		held := counts.Held(w.view.ClusterID(cluster))
		if held.Len() == 0 {
			continue
		}
		c := count{Pods: held.Len()}
		for seat := range int32(8) {
			if held.Has(int64(seat)) {
				c.Seats = append(c.Seats, seat)
			}
		}
		byCluster[cluster], total = c, total+c.Pods
	}
	if total != counts.Total() {
		byCluster["total"] = count{Pods: counts.Total()}
	}
	return byCluster
}

// given returns what a pod of the record was given, without a seat if nothing.
func (w *world) given(pod *corev1.Pod) (given stamp.Stamp, placed bool) {
	if given, placed = w.assumed[pod.Name]; !placed {
		given, placed = stamp.Of(pod)
	}
	if !placed {
		given.Seat = stamp.NoSeat
	}
	return given, placed
}

// recount counts all pods of the record.
func (w *world) recount() map[workload.Revision]map[string]count {
	all := map[workload.Revision]map[string]count{}
	for _, pod := range w.pods {
		given, placed := w.given(pod)
		revision := view.BarePods("default", "web")
		if len(pod.OwnerReferences) > 0 {
			revision = workload.Revision{Owner: pod.OwnerReferences[0].UID}
		} else if !placed {
			continue
		}
		if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
			continue
		}
		cluster := given.Cluster
		if node := w.nodes[pod.Spec.NodeName]; node != nil {
			cluster, _ = w.members.ClusterOf(node.Name, node.Labels)
		}
		if all[revision] == nil {
			all[revision] = map[string]count{}
		}
		c := all[revision][cluster]
		c.Pods++
		if given.Seat != stamp.NoSeat && cluster != "" && !slices.Contains(c.Seats, given.Seat) {
			c.Seats = append(c.Seats, given.Seat)
			slices.Sort(c.Seats)
		}
		all[revision][cluster] = c
	}
	return all
}
