// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package nodegrouppolicy

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
)

// The scheduler scores some of the nodes that could take a pod, not all of them: in a large cluster one in twenty, but a hundred
// at least. It counts nodes without knowing that a policy leaves few of them, so it would look at half of these. Here a sample of
// about a hundred nodes is named to it, which has nodes of every cluster that may take the pod. Samples take turns, so that every
// node has its chance. A pod that no node of its sample can take is tried with all nodes at once.
const (
	// sampleSize is how many nodes a sample has, or a few more.
	sampleSize = 100

	// sampleOfCluster is how many nodes of each cluster a sample has at least, if the cluster has as many.
	sampleOfCluster = 2

	// roomyNodes is how many nodes of a sample must have room for a pod, so that the sample is worth trying.
	roomyNodes = sampleSize / 5

	// triedSamples is how many samples are looked at for one pod.
	triedSamples = 3
)

// sample is some nodes of a set of clusters.
type sample struct {
	nodes []int32
	names sets.Set[string]
}

// sampleOf returns the names of some nodes of the set of which several seem to have room for the pod; nil if it is better to look
// at all of them.
func (n *narrowing) sampleOf(set *nodeSet, pod *corev1.Pod) sets.Set[string] {
	if set == nil || set.size < 2*max(sampleSize, sampleOfCluster*len(set.ids)) || particular(pod) {
		return nil
	}
	if set.samples == nil {
		set.samples = n.newSamples(set)
	}
	cpu, memory := requests(pod)
	for range triedSamples {
		one := &set.samples[set.next]
		set.next = (set.next + 1) % len(set.samples)
		if n.roomy(one, cpu, memory) {
			return one.names
		}
	}
	return nil
}

// newSamples divides the nodes of a set into samples. Each takes the next nodes of every cluster, of a small cluster the same ones
// again.
func (n *narrowing) newSamples(set *nodeSet) []sample {
	share := func(id int32) int {
		size := len(n.byCluster[id])
		return min(size, max(sampleOfCluster, (size*sampleSize+set.size-1)/set.size))
	}
	count, perSample := 0, 0
	for _, id := range set.ids {
		if of := share(id); of > 0 {
			count = max(count, (len(n.byCluster[id])+of-1)/of)
			perSample += of
		}
	}
	n.names += count * perSample
	samples := make([]sample, count)
	for j := range samples {
		one := sample{nodes: make([]int32, 0, perSample), names: make(sets.Set[string], perSample)}
		for _, id := range set.ids {
			of, nodes := share(id), n.byCluster[id]
			for k := range of {
				i := nodes[(j*of+k)%len(nodes)]
				one.nodes = append(one.nodes, i)
				one.names.Insert(n.nodes[i].Node().Name)
			}
		}
		samples[j] = one
	}
	return samples
}

// particular says whether a pod asks for something that a look at the room of a node does not tell.
func particular(pod *corev1.Pod) bool {
	spec := &pod.Spec
	if len(spec.NodeSelector) > 0 || spec.Affinity != nil || len(spec.TopologySpreadConstraints) > 0 || len(spec.ResourceClaims) > 0 {
		return true
	}
	for i := range spec.Volumes {
		if spec.Volumes[i].PersistentVolumeClaim != nil || spec.Volumes[i].Ephemeral != nil {
			return true
		}
	}
	for i := range spec.Containers {
		if spec.HostNetwork || len(spec.Containers[i].Ports) > 0 && hostPorts(spec.Containers[i].Ports) {
			return true
		}
	}
	return false
}

func hostPorts(ports []corev1.ContainerPort) bool {
	for i := range ports {
		if ports[i].HostPort > 0 {
			return true
		}
	}
	return false
}

// requests returns about how much a pod asks for, in thousandths of a CPU and in bytes.
func requests(pod *corev1.Pod) (cpu, memory int64) {
	for i := range pod.Spec.Containers {
		asked := pod.Spec.Containers[i].Resources.Requests
		cpu += asked.Cpu().MilliValue()
		memory += asked.Memory().Value()
	}
	return cpu, memory
}

// roomy says whether several nodes of the sample seem to have room.
func (n *narrowing) roomy(one *sample, cpu, memory int64) bool {
	found := 0
	for _, i := range one.nodes {
		info := n.nodes[i]
		free, used := info.GetAllocatable(), info.GetRequested()
		if len(info.GetPods()) < free.GetAllowedPodNumber() &&
			used.GetMilliCPU()+cpu <= free.GetMilliCPU() && used.GetMemory()+memory <= free.GetMemory() && open(info.Node()) {
			if found++; found == roomyNodes {
				return true
			}
		}
	}
	return false
}

// open says whether a node takes pods that tolerate nothing in particular.
func open(node *corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for i := range node.Spec.Taints {
		if keepsAway(&node.Spec.Taints[i]) {
			return false
		}
	}
	return true
}

// name returns the nodes that the framework is to look at for a pod, nil for all, and whether they are only a sample of those
// that may take it.
func (p *NodeGroupPolicy) name(s *state, pod *corev1.Pod, nodes []fwk.NodeInfo) (names sets.Set[string], sampled bool) {
	n := &p.shared.narrowing
	set := n.admitted(s, nodes)
	if p.sampling && !p.shared.Retries.Thorough(pod.UID) {
		if names := n.sampleOf(set, pod); names != nil {
			return names, true
		}
	}
	return n.allOf(set), false
}
