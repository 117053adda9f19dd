// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

// Package view knows who runs where: how many pods of each revision of each workload are in each
// cluster, and on which seats. It keeps no books of its own. The scheduler's snapshot, with bound
// and assumed pods, is the truth; once per scheduling cycle the view compares the generation of
// each node, or of each that matters, with the one it saw last and recounts only the nodes that
// changed. So it cannot drift, and needs no repair after a restart.
package view

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework"

	"berth.dev/berth/pkg/model/stamp"
	"berth.dev/berth/pkg/model/workload"
)

// Membership tells in which cluster a node lies. A Membership must never change its answers; when
// they change, the caller passes another one.
type Membership interface {
	// ClusterOf returns the name of the cluster of the node, and false if it lies in none.
	ClusterOf(nodeName string, labels map[string]string) (cluster string, found bool)
}

// PodLister finds pods as the informer knows them; the view uses it for pods on nodes that no
// longer exist.
type PodLister interface {
	// BoundPods returns all pods that are bound to a node.
	BoundPods() []*corev1.Pod
	// Pod returns the pod, bound or not, or nil if it is gone.
	Pod(namespace, name string) *corev1.Pod
}

// View counts pods by revision and cluster. It belongs to the scheduling cycle: none of its methods
// may be called from a queueing hint, a binding cycle or Unreserve, and they are not safe for
// concurrent use, except that ClusterID may be called concurrently between two calls of Refresh.
type View struct {
	reservations *Reservations
	pods         PodLister
	holdings     Holdings

	membership Membership
	nodes      []node
	// generations of the nodes as counted. They lie apart because every Refresh reads all of them,
	// and little else.
	generations []int64
	byName      map[string]int32
	revisions   map[workload.Revision]*Counts
	vanished    []vanishedPod

	clusterIDs   map[string]int32
	clusterNames []string

	recounted  int
	shape      int64
	unfinished bool
	part       part
}

// NoCluster is the ID of a node that lies in no cluster.
const NoCluster int32 = -1

// Holdings follows what pods hold beside their place. The view tells it which nodes and pods there
// are, each pod once for as long as it is on a node, existing or not, and has not been replaced by
// a newer state of itself.
type Holdings interface {
	// Concerns reports whether a pod holds something. It must always give the same answer for one
	// state of a pod.
	Concerns(pod *corev1.Pod) bool
	// Add and Release say that a pod came, and that it went.
	Add(pod *corev1.Pod)
	Release(pod *corev1.Pod)
	// SetNode says that there is a node or that it changed, DropNode that it is gone.
	SetNode(node *corev1.Node)
	DropNode(name string)
	// Reset takes everything back.
	Reset()
}

// node is what the view remembers of one node.
type node struct {
	info    fwk.NodeInfo
	object  *corev1.Node
	cluster int32
	entries []entry // one for each pod, in the order of info
}

// entry is how a pod counts.
type entry struct {
	// pod is the object that was looked at. It never changes: a pod that changes becomes another
	// object.
	pod      *corev1.Pod
	counted  bool
	holds    bool
	revision workload.Revision
	seat     int32
}

// unseen is the generation of a node that has not been counted.
const unseen int64 = -1

// New returns an empty view. Seats of assumed pods, which carry no stamp yet, are looked up in
// reservations.
func New(reservations *Reservations, pods PodLister, holdings Holdings) *View {
	return &View{
		reservations: reservations,
		pods:         pods,
		holdings:     holdings,
		byName:       map[string]int32{},
		revisions:    map[workload.Revision]*Counts{},
		clusterIDs:   map[string]int32{},
	}
}

// Refresh brings the view up to date with the nodes of the scheduler's snapshot and with a
// membership. With nothing changed it costs one comparison per node and does not allocate.
func (v *View) Refresh(infos []fwk.NodeInfo, membership Membership) {
	if v.unfinished {
		// The last Refresh panicked, and nobody knows how far it got.
		v.nodes, v.generations, v.vanished, v.revisions = nil, nil, nil, map[workload.Revision]*Counts{}
		v.holdings.Reset()
	}
	v.unfinished = true
	v.recounted = 0
	if membership != v.membership {
		v.membership = membership
		for i := range v.generations {
			v.generations[i] = unseen
		}
	}
	if !v.recountChanged(infos) {
		v.reshape(infos)
	}
	v.part.follow(infos)
	v.sweepVanished()
	v.unfinished = false
}

// recountChanged recounts the nodes that changed. It stops and returns false if it comes upon
// another list of nodes.
func (v *View) recountChanged(infos []fwk.NodeInfo) bool {
	if len(infos) != len(v.nodes) {
		return false
	}
	generations := v.generations[:len(infos)]
	for i, info := range infos {
		// No two nodes and no two states of one node have a generation in common.
		if generation(info) == generations[i] {
			continue
		}
		if v.nodes[i].info != info {
			return false
		}
		v.recount(&v.nodes[i])
		generations[i] = generation(info)
	}
	return true
}

// generation is GetGeneration without a dynamic call.
func generation(info fwk.NodeInfo) int64 {
	if n, ok := info.(*framework.NodeInfo); ok {
		return n.Generation
	}
	return info.GetGeneration()
}

// Recounted returns how many nodes the last Refresh recounted.
func (v *View) Recounted() int {
	return v.recounted
}

// Shape returns a number that differs from that of an earlier Refresh if the list of nodes, or the
// cluster of one of them, has changed since.
func (v *View) Shape() int64 {
	return v.shape
}

// ClusterID returns the ID under which the view counts a cluster. IDs are small numbers that stay
// the same for the life of the view.
func (v *View) ClusterID(cluster string) int32 {
	id, found := v.clusterIDs[cluster]
	if !found {
		id = int32(len(v.clusterNames))
		v.clusterIDs[cluster] = id
		v.clusterNames = append(v.clusterNames, cluster)
	}
	return id
}

// ClusterName returns the name of the cluster that was given an ID.
func (v *View) ClusterName(id int32) string {
	return v.clusterNames[id]
}

// Clusters returns the number of IDs given out so far; all IDs are smaller.
func (v *View) Clusters() int {
	return len(v.clusterNames)
}

// ClusterOfNode returns the ID of the cluster of a node of the snapshot, or NoCluster. It may be
// called concurrently between two calls of Refresh.
func (v *View) ClusterOfNode(name string) int32 {
	if i, found := v.byName[name]; found {
		return v.nodes[i].cluster
	}
	return NoCluster
}

// ClusterAt returns the ID of the cluster of the n-th node of the last Refresh, or NoCluster.
func (v *View) ClusterAt(n int) int32 {
	return v.nodes[n].cluster
}

// Counts returns the pods of a revision by cluster. The result is nil if there are none; it is
// valid, and must not be changed, until the next Refresh.
func (v *View) Counts(revision workload.Revision) *Counts {
	return v.revisions[revision]
}

// Counted reports whether the last Refresh counted a pod, on whatever node it was then, under a
// revision.
func (v *View) Counted(pod *corev1.Pod, revision workload.Revision) bool {
	same := func(e entry) bool { return e.pod.UID == pod.UID && e.counted && e.revision == revision }
	if i, found := v.byName[pod.Spec.NodeName]; found {
		return slices.ContainsFunc(v.nodes[i].entries, same)
	}
	return slices.ContainsFunc(v.vanished, func(p vanishedPod) bool { return same(p.entry) })
}

// recount brings what is known of the node up to date. Pods that are the same objects as before are
// left as they are, so that one pod more does not cost a look at all the others.
func (v *View) recount(n *node) {
	v.recounted++
	if object := n.info.Node(); object != n.object {
		n.object = object
		v.holdings.SetNode(object)
	}
	if cluster := v.clusterOf(n.info.Node()); cluster != n.cluster {
		v.forget(n)
		n.cluster = cluster
		v.shape++
	}
	pods := n.info.GetPods()
	for i, info := range pods {
		pod := info.GetPod()
		switch {
		case i == len(n.entries):
			n.entries = append(n.entries, v.entryOf(pod))
		case n.entries[i].pod == pod:
			continue
		default:
			v.remove(&n.entries[i], n.cluster)
			n.entries[i] = v.entryOf(pod)
		}
		v.add(&n.entries[i], n.cluster)
	}
	v.forgetFrom(n, len(pods))
}

func (v *View) forget(n *node) {
	v.forgetFrom(n, 0)
}

// forgetFrom forgets the pods of the node from the given one on.
func (v *View) forgetFrom(n *node, first int) {
	rest := n.entries[first:]
	for i := range rest {
		v.remove(&rest[i], n.cluster)
	}
	clear(rest)
	n.entries = n.entries[:first]
}

func (v *View) clusterOf(n *corev1.Node) int32 {
	if n == nil || v.membership == nil {
		return NoCluster
	}
	cluster, found := v.membership.ClusterOf(n.Name, n.Labels)
	if !found {
		return NoCluster
	}
	return v.ClusterID(cluster)
}

// entryOf returns how a pod counts. A pod that is being deleted has given up its seat: its
// replacement may take it.
func (v *View) entryOf(pod *corev1.Pod) entry {
	e := entry{pod: pod, holds: v.holdings.Concerns(pod)}
	if !workload.Lives(pod) {
		return e
	}
	given, placed := v.placement(pod)
	revision, owned := workload.RevisionUnder(pod, given.Policy)
	if !owned && !placed {
		return e
	}
	e.counted, e.revision, e.seat = true, revision, given.Seat
	return e
}

// placement returns what a pod was given, from its stamp or, if that has not arrived yet, from what
// was reserved.
func (v *View) placement(pod *corev1.Pod) (given stamp.Stamp, placed bool) {
	if given, placed = stamp.Of(pod); placed {
		return given, true
	}
	if given, placed = v.reservations.Get(pod.UID); placed {
		return given, true
	}
	return stamp.Stamp{Seat: stamp.NoSeat}, false
}

func (v *View) add(e *entry, cluster int32) {
	if e.holds {
		v.holdings.Add(e.pod)
	}
	if !e.counted {
		return
	}
	counts := v.revisions[e.revision]
	if counts == nil {
		counts = &Counts{}
		v.revisions[e.revision] = counts
	}
	counts.add(cluster, e.seat)
}

func (v *View) remove(e *entry, cluster int32) {
	if e.holds {
		v.holdings.Release(e.pod)
	}
	if !e.counted {
		return
	}
	counts := v.revisions[e.revision]
	counts.remove(cluster, e.seat)
	if counts.total == 0 {
		delete(v.revisions, e.revision)
	}
}
