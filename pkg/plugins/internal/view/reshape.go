// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package view

import (
	corev1 "k8s.io/api/core/v1"
	fwk "k8s.io/kube-scheduler/framework"
)

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

// findVanished counts the bound pods whose node is not in the snapshot, in the cluster in which
// they were placed.
func (v *View) findVanished() {
	for i := range v.vanished {
		v.remove(&v.vanished[i].entry, v.vanished[i].cluster)
	}
	v.vanished = v.vanished[:0]
	for _, pod := range v.pods.BoundPods() {
		if _, exists := v.byName[pod.Spec.NodeName]; exists {
			continue
		}
		if e := v.entryOf(pod); e.counted || e.holds {
			cluster := v.stampedCluster(pod)
			v.vanished = append(v.vanished, vanishedPod{entry: e, cluster: cluster})
			v.add(&e, cluster)
		}
	}
}

// findReturned drops the pods whose node is back in the snapshot, where they have been counted.
// With nodes that only came, and none that went away, that is all, and spares a look at every pod
// there is.
func (v *View) findReturned() {
	v.keepVanished(func(p *vanishedPod) bool {
		_, exists := v.byName[p.entry.pod.Spec.NodeName]
		return !exists
	})
}

// sweepVanished drops the pods on vanished nodes that have been deleted since, and looks again at
// those that changed.
func (v *View) sweepVanished() {
	v.keepVanished(func(p *vanishedPod) bool {
		pod := v.pods.Pod(p.entry.pod.Namespace, p.entry.pod.Name)
		if pod == nil || pod.UID != p.entry.pod.UID {
			return false
		}
		if pod != p.entry.pod {
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
