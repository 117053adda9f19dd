// Copyright 2026 The Berth Authors.
// SPDX-License-Identifier: Apache-2.0

package narrow

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/utils/ptr"
)

// The scheduler scores some of the nodes that could take a pod, not all of them: in a large cluster
// one in twenty, but a hundred at least. It counts nodes without knowing that a plugin leaves few
// of them, so it would look at half of these. Here a sample of about a hundred nodes is named to
// it. It has nodes of every group that may take the pod, unless these are more than that leaves two
// nodes for: then it has one node of each large group, and the small ones take turns. Samples take
// turns as well, so that every node has its chance. A pod that no node of its sample can take is
// tried with all nodes at once.
const (
	// sampleSize is how many nodes a sample has, or a few more; half of the nodes if they are fewer
	// than twice as many. Of fewer nodes than that no sample is drawn: all of them are looked at.
	sampleSize = 100

	// sampleOfGroup is how many nodes of each group a sample has at least, if the group has as many
	// and the groups are few: so many that this leaves each of them its nodes.
	sampleOfGroup = 2

	// adaptivePart is which part of many nodes an adaptive sample has, as a divisor: as many of 5,000
	// nodes as the framework would score.
	adaptivePart = 10

	// roomyPart is which part of the nodes of a sample must have room for a pod, so that the sample
	// is worth trying.
	roomyPart = 5

	// triedSamples is how many samples are looked at for one pod.
	triedSamples = 3
)

// sample is some nodes of a set of groups. It has none until it is drawn.
type sample struct {
	nodes []int32
	names sets.Set[string]
}

// Sample returns the names of some nodes of the set of which several seem to have room for the pod;
// nil if it is better to look at all of them.
func (n *Sets) Sample(set *Set, pod *corev1.Pod) sets.Set[string] {
	if set == nil || set.size < sampleSize || Particular(pod) {
		return nil
	}
	if set.samples == nil {
		set.samples = make([]sample, n.samplesOf(set))
		// Where sets replace each other, as groups come to their shares, each begins elsewhere.
		set.next = n.made % len(set.samples)
		n.made++
	}
	cpu, memory := requests(pod)
	for range triedSamples {
		one := &set.samples[set.next]
		if one.nodes == nil {
			n.draw(set, one, set.next)
		}
		set.next = (set.next + 1) % len(set.samples)
		if n.roomy(one, cpu, memory) {
			return one.names
		}
	}
	return nil
}

// wanted returns how many nodes the samples of a set have.
func (s *Set) wanted() int {
	size := sampleSize
	if s.adaptive {
		size = max(size, s.size/adaptivePart)
	}
	return min(size, s.size/2)
}

// few reports whether a set has so few groups that each has nodes in every sample.
func (s *Set) few() bool {
	return len(s.groups) <= s.wanted()/sampleOfGroup
}

// samplesOf returns how many samples it takes for every node of a set to be in one.
func (n *Sets) samplesOf(set *Set) int {
	if wanted := set.wanted(); !set.few() {
		return (set.size + wanted/2) / wanted
	}
	count := 0
	for _, group := range set.groups {
		of := n.share(set, group)
		count = max(count, (len(n.byGroup[group])+of-1)/of)
	}
	return count
}

// share returns how many nodes of a group are in each sample of a set of few groups.
func (n *Sets) share(set *Set, group int32) int {
	size := len(n.byGroup[group])
	return min(size, max(sampleOfGroup, (size*set.wanted()+set.size-1)/set.size))
}

// draw fills the sample with the given number.
func (n *Sets) draw(set *Set, one *sample, number int) {
	if set.few() {
		one.nodes = n.ofEach(set, number)
	} else {
		one.nodes = n.ofAll(set, number)
	}
	one.names = make(sets.Set[string], len(one.nodes))
	for _, i := range one.nodes {
		one.names.Insert(n.nodes[i].Node().Name)
	}
	n.names += len(one.nodes)
}

// ofEach returns the nodes of a sample of few groups: the next ones of every group, of a small one
// the same again.
func (n *Sets) ofEach(set *Set, number int) (drawn []int32) {
	for _, group := range set.groups {
		nodes, of := n.byGroup[group], n.share(set, group)
		for k := range of {
			drawn = append(drawn, nodes[(number*of+k)%len(nodes)])
		}
	}
	return drawn
}

// ofAll returns the nodes of a sample of many groups: one group after the other, every n-th node,
// where n is the number of samples.
func (n *Sets) ofAll(set *Set, number int) (drawn []int32) {
	skip := number
	for _, group := range set.groups {
		nodes := n.byGroup[group]
		for ; skip < len(nodes); skip += len(set.samples) {
			drawn = append(drawn, nodes[skip])
		}
		skip -= len(nodes)
	}
	return drawn
}

// Particular reports whether a pod asks for something that a look at the room of a node does not
// tell. No sample is drawn for it.
func Particular(pod *corev1.Pod) bool {
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

// roomy reports whether several nodes of the sample seem to have room.
func (n *Sets) roomy(one *sample, cpu, memory int64) bool {
	found := 0
	for _, i := range one.nodes {
		info := n.nodes[i]
		free, used := info.GetAllocatable(), info.GetRequested()
		if len(info.GetPods()) < free.GetAllowedPodNumber() &&
			used.GetMilliCPU()+cpu <= free.GetMilliCPU() && used.GetMemory()+memory <= free.GetMemory() && open(info.Node()) {
			if found++; found*roomyPart >= len(one.nodes) {
				return true
			}
		}
	}
	return false
}

// open reports whether a node takes pods that tolerate nothing in particular.
func open(node *corev1.Node) bool {
	if node.Spec.Unschedulable {
		return false
	}
	for i := range node.Spec.Taints {
		if KeepsAway(&node.Spec.Taints[i]) {
			return false
		}
	}
	return true
}

// Samples reports whether a profile leaves it to the plugins how many nodes are looked at, which is
// so unless it sets percentageOfNodesToScore.
func Samples(handle fwk.Handle) bool {
	profile, ok := handle.(interface{ PercentageOfNodesToScore() *int32 })
	return !ok || ptr.Deref(profile.PercentageOfNodesToScore(), 0) == 0
}

// KeepsAway reports whether a taint keeps pods away instead of asking them to stay away.
func KeepsAway(t *corev1.Taint) bool {
	return t.Effect == corev1.TaintEffectNoSchedule || t.Effect == corev1.TaintEffectNoExecute
}
