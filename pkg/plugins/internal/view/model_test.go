// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
	fwk "k8s.io/kube-scheduler/framework"
	schedulercache "k8s.io/kubernetes/pkg/scheduler/backend/cache"
	schedulermetrics "k8s.io/kubernetes/pkg/scheduler/metrics"
	clocktesting "k8s.io/utils/clock/testing"
	"pgregory.net/rapid"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
	"berth.dev/berth/pkg/plugins/internal/view"
)

// TestCountsEqualARecount lets nodes, pods, memberships and reservations come, go and change at
// random, in the real cache of the scheduler, and compares the view with a count of everything
// after each step.
func TestCountsEqualARecount(t *testing.T) {
	schedulermetrics.Register()
	rapid.Check(t, func(r *rapid.T) {
		w := newWorld(t)
		r.Repeat(map[string]func(*rapid.T){
			"":                  w.check,
			"add node":          w.addNode,
			"remove node":       w.removeNode,
			"relabel node":      w.relabelNode,
			"replace node":      w.replaceNode,
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
	clock   *clocktesting.FakePassiveClock
	moved   map[string]string // the clusters in which the view has seen nodes with new labels

	held   map[string]int          // what the view said as Holdings, by UID
	heldAs map[string]*corev1.Pod  // the last state that was held
	heldOn map[string]*corev1.Node // the nodes as the view told them
}

// Concerns and the following make the world the view's Holdings: every pod that runs holds
// something.
func (w *world) Concerns(pod *corev1.Pod) bool {
	return pod.Status.Phase != corev1.PodSucceeded && pod.Status.Phase != corev1.PodFailed
}

func (w *world) Add(pod *corev1.Pod) {
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
		moved: map[string]string{}, clock: newClock(),
		members: &byLabel{map[string]string{"a": "beijing", "b": "hangzhou"}},
		held:    map[string]int{}, heldAs: map[string]*corev1.Pod{}, heldOn: map[string]*corev1.Node{},
	}
	w.view = view.New(w.reservations, w, w)
	return w
}

// BoundPods and Pod make the world the view's PodLister: it lists what is bound, as an informer
// does.
func (w *world) BoundPods() []*corev1.Pod {
	var pods []*corev1.Pod
	for _, uid := range slices.Sorted(maps.Keys(w.pods)) {
		if _, assumed := w.assumed[uid]; !assumed {
			pods = append(pods, w.pods[uid])
		}
	}
	return pods
}

func (w *world) Pod(_, name string) *corev1.Pod {
	pod := w.pods[name]
	if _, assumed := w.assumed[name]; assumed {
		pod = pod.DeepCopy()
		pod.Spec.NodeName = ""
	}
	return pod
}

// count is what a Counts says of one cluster.
type count struct {
	Pods  int
	Seats []int32
}

// clusters are all that there ever are.
var clusters = []string{"beijing", "hangzhou", "atlantis"}

// check compares the view with the record, after a refresh of everything or of some clusters.
func (w *world) check(r *rapid.T) {
	if err := w.cache.UpdateSnapshot(w.logger, w.snapshot); err != nil {
		r.Fatal(err)
	}
	infos, err := w.snapshot.NodeInfos().List()
	if err != nil {
		r.Fatal(err)
	}
	asked := clusters
	if whole := rapid.Bool().Draw(r, "everything"); whole {
		w.view.Refresh(infos, w.members)
		clear(w.moved)
		w.checkHoldings(r)
	} else {
		asked = rapid.SliceOfNDistinct(rapid.SampledFrom(clusters), 1, 2, rapid.ID).Draw(r, "asked")
		w.refreshSome(infos, asked)
	}
	w.checkNodes(r, infos)
	w.checkCounts(r, asked, len(asked) == len(clusters))
}

// refreshSome refreshes some clusters, so late that nodes count that have come to one of them from
// a cluster that is not looked at.
func (w *world) refreshSome(infos []fwk.NodeInfo, asked []string) {
	for name, before := range w.moved {
		node := w.nodes[name]
		if node == nil {
			continue
		}
		if now, _ := w.members.ClusterOf(name, node.Labels); slices.Contains(asked, now) && !slices.Contains(asked, before) {
			w.clock.SetTime(w.clock.Now().Add(view.WholeInterval))
			break
		}
	}
	ids := make([]int32, len(asked))
	for i, cluster := range asked {
		ids[i] = w.view.ClusterID(cluster)
	}
	if w.view.RefreshClusters(infos, w.members, ids, w.clock) {
		clear(w.moved)
	}
	maps.DeleteFunc(w.moved, func(_, before string) bool { return slices.Contains(asked, before) })
}

// checkNodes compares in which clusters the nodes lie.
func (w *world) checkNodes(r *rapid.T, infos []fwk.NodeInfo) {
	for i, info := range infos {
		node := info.Node()
		if _, moved := w.moved[node.Name]; moved {
			continue
		}
		cluster, found := w.members.ClusterOf(node.Name, node.Labels)
		want := view.NoCluster
		if found {
			want = w.view.ClusterID(cluster)
		}
		if got := w.view.ClusterOfNode(node.Name); got != want || w.view.ClusterAt(i) != want {
			r.Fatalf("node %s lies in cluster %d or %d, want %d", node.Name, got, w.view.ClusterAt(i), want)
		}
	}
}

// bareRevision is that of the pods without a controller that the policy "web" placed.
var bareRevision, _ = workload.RevisionUnder(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default"}}, "web")

// checkCounts compares what the view says of the clusters that were asked for.
func (w *world) checkCounts(r *rapid.T, asked []string, whole bool) {
	all := w.recount()
	for _, revision := range []workload.Revision{revisionOf("old"), revisionOf("new"), bareRevision} {
		want := map[string]count{}
		for cluster, c := range all[revision] {
			if whole || slices.Contains(asked, cluster) {
				want[cluster] = c
			}
		}
		got := w.counted(revision, asked)
		if whole {
			w.countStrays(revision, got)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			r.Fatalf("pods of %v by cluster, of %v (-want +got):\n%s", revision, asked, diff)
		}
	}
}

// countStrays adds the pods in no cluster as "", and the total if it is wrong.
func (w *world) countStrays(revision workload.Revision, byCluster map[string]count) {
	counts := w.view.Counts(revision)
	total := counts.Stray()
	for _, c := range byCluster {
		total += c.Pods
	}
	if counts.Stray() > 0 {
		byCluster[""] = count{Pods: counts.Stray()}
	}
	if total != counts.Total() {
		byCluster["total"] = count{Pods: counts.Total()}
	}
}

// counted is what the view says of a revision, by cluster.
func (w *world) counted(revision workload.Revision, asked []string) map[string]count {
	counts := w.view.Counts(revision)
	byCluster := map[string]count{}
	for _, cluster := range asked {
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
		byCluster[cluster] = c
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
		revision := bareRevision
		if len(pod.OwnerReferences) > 0 {
			revision = revisionOf(pod.OwnerReferences[0].Name)
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
