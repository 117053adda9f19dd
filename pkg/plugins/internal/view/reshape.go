// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	fwk "k8s.io/kube-scheduler/framework"
)

// vanishedPod is a counted pod on a node that no longer exists. If it is not bound its Binding is
// on its way, or the outcome of that is not certain.
type vanishedPod struct {
	entry   entry
	cluster int32
}

// reshape takes over another list of nodes. What is known of nodes that stay is kept; pods on nodes
// that went away are looked up, because such a pod still is a replica of its workload, and holds
// what it holds, until the garbage collector removes it.
func (v *View) reshape(infos []fwk.NodeInfo) {
	old := make(map[fwk.NodeInfo]int, len(v.nodes))
	for i := range v.nodes {
		old[v.nodes[i].info] = i
	}
	nodes, generations := make([]node, len(infos)), make([]int64, len(infos))
	v.byName = make(map[string]int32, len(infos))
	for i, info := range infos {
		n := &nodes[i]
		n.info, n.cluster, generations[i] = info, NoCluster, unseen
		if known, found := old[info]; found {
			*n, generations[i] = v.nodes[known], v.generations[known]
			delete(old, info)
		}
		if generations[i] != generation(info) {
			v.recount(n)
			generations[i] = generation(info)
		}
		v.byName[info.Node().Name] = int32(i)
	}
	for _, gone := range old {
		v.forget(&v.nodes[gone])
		// A node that was made anew has the name of the one that is gone.
		if object := v.nodes[gone].object; object != nil {
			if _, again := v.byName[object.Name]; !again {
				v.holdings.DropNode(object.Name)
			}
		}
	}
	first := v.nodes == nil
	v.nodes, v.generations = nodes, generations
	v.shape++
	if first || len(old) > 0 {
		v.findVanished()
	} else {
		v.findReturned()
	}
}

// findVanished counts the pods whose node is not in the snapshot, in the cluster in which they were
// placed: those that are bound, and those whose Binding may still arrive.
func (v *View) findVanished() {
	for i := range v.vanished {
		v.remove(&v.vanished[i].entry, v.vanished[i].cluster)
	}
	v.vanished = v.vanished[:0]
	bound := map[types.UID]bool{}
	for _, pod := range v.pods.BoundPods() {
		if !v.exists(pod.Spec.NodeName) {
			bound[pod.UID] = true
			v.addVanished(pod)
		}
	}
	for _, pod := range v.reservations.assumed() {
		if !v.exists(pod.Spec.NodeName) && !bound[pod.UID] {
			v.addVanished(pod)
		}
	}
}

func (v *View) addVanished(pod *corev1.Pod) {
	if e := v.entryOf(pod); e.counted || e.holds {
		cluster := v.stampedCluster(pod)
		v.vanished = append(v.vanished, vanishedPod{e, cluster})
		v.add(&e, cluster)
	}
}

// exists reports whether there is a node of the name in the snapshot.
func (v *View) exists(node string) bool {
	_, found := v.byName[node]
	return found
}

// findReturned drops the pods whose node is back in the snapshot, where they have been counted.
// With nodes that only came, and none that went away, that is all, and spares a look at every pod
// there is.
func (v *View) findReturned() {
	v.keepVanished(func(p *vanishedPod) bool { return !v.exists(p.entry.pod.Spec.NodeName) })
}

// sweepVanished drops the pods on vanished nodes that have been deleted since, and looks again at
// those that changed.
func (v *View) sweepVanished() {
	v.keepVanished(func(p *vanishedPod) bool {
		pod := v.pods.Pod(p.entry.pod.Namespace, p.entry.pod.Name)
		switch {
		case pod == nil || pod.UID != p.entry.pod.UID:
			return false
		case pod.Spec.NodeName == "":
			made, reserved := v.reservations.get(pod.UID)
			return reserved && made.pod == p.entry.pod
		case v.exists(pod.Spec.NodeName):
			return false // somebody else has bound it to another node
		case pod != p.entry.pod:
			v.remove(&p.entry, p.cluster)
			p.entry = v.entryOf(pod)
			v.add(&p.entry, p.cluster)
		}
		return p.entry.counted || p.entry.holds
	})
}

func (v *View) keepVanished(keep func(p *vanishedPod) bool) {
	kept := v.vanished[:0]
	for i := range v.vanished {
		p := &v.vanished[i]
		if !keep(p) {
			v.remove(&p.entry, p.cluster)
			continue
		}
		kept = append(kept, *p)
	}
	clear(v.vanished[len(kept):])
	v.vanished = kept
}

// stampedCluster is the cluster in which a pod was placed, for pods whose node can no longer be
// asked.
func (v *View) stampedCluster(pod *corev1.Pod) int32 {
	if given, placed := v.placement(pod); placed && given.Cluster != "" {
		return v.ClusterID(given.Cluster)
	}
	return NoCluster
}
